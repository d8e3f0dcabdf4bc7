# SPDX-License-Identifier: BSD-3-Clause
"""Checks what scripts/compare makes of times: medians, ratios round by round, intervals, bounds, and runs that hang, fail or
are interrupted; the frames of scripts/compare-model; and what scripts/compare-builds makes of the records of drawn calls."""

import collections
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import sys
import tempfile
import time
import types
import unittest

sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "scripts"))
from comparing import calls, contestants, frames, head_to_head, intervals, places, progress, report, run_bounded  # noqa: E402
from torus_network import geometry, links  # noqa: E402



def script(name):
    """A script of the project as a module."""
    path = str(pathlib.Path(sys.argv[1]) / "scripts" / name)
    loader = importlib.machinery.SourceFileLoader(name, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


TIMES = {
    "Trefoil, one thread: auto": [10.0, 20.0, 12.0],
    "Trefoil, one thread: ring": [8.0, None, 11.0],
    "Open MPI, default": [40.0, 40.0, 44.0],
    "Open MPI, ring": [30.0, 60.0, 22.0],
    "MPICH, default": [None, None, None],
}


class Ratios(unittest.TestCase):
    def setUp(self):
        self.at = report.Sizes(1024, 6e-6, TIMES)

    def test_the_best_has_the_smallest_median(self):
        self.assertEqual("Trefoil, one thread: ring", self.at.best(report.is_ours))
        self.assertEqual("Open MPI, ring", self.at.best(lambda name: not report.is_ours(name)))

    def test_ratios_are_of_the_same_round(self):
        self.assertEqual([3.75, 2.0], self.at.ratios("Open MPI, ring", "Trefoil, one thread: ring"))

    def test_a_bound_is_told_as_a_fraction(self):
        self.assertAlmostEqual(0.5, self.at.fraction("Trefoil, one thread: auto"))

    def test_who_has_failed_always_is_left_out(self):
        self.assertNotIn("MPICH, default", self.at.times)
        row = report.ratio_rows([self.at])[1]
        self.assertIn("2.88 [2.00..3.75]", row)
        self.assertEqual("failed", report.ratio_rows([report.Sizes(8, None, {})])[1][1])


class Intervals(unittest.TestCase):
    def test_coverage_is_that_of_the_sign_test(self):
        self.assertAlmostEqual(1 - 2 / 64, intervals.coverage(6, 1))
        self.assertAlmostEqual(1 - 2 * 8 / 128, intervals.coverage(7, 2))

    def test_six_values_are_enough_for_95_percent(self):
        self.assertEqual((3.5, 1, 6), intervals.median_interval([6, 1, 5, 2, 4, 3])[:3])
        self.assertGreaterEqual(intervals.median_interval(range(6))[3], 0.95)
        self.assertEqual("[94 % interval]", intervals.heading(5))
        self.assertEqual("(one launch)", intervals.heading(1))
        self.assertEqual((7, 7, 7, 0.0), intervals.median_interval([7]))

    def test_with_many_values_the_extremes_do_not_count(self):
        median, low, high, likely = intervals.median_interval([1000, -1000, *range(1, 19)])
        self.assertEqual((9.5, 5, 14), (median, low, high))
        self.assertTrue(0.95 <= likely < 0.97)

    def test_the_head_to_head_has_the_best_peer_and_what_auto_chose(self):
        times = {"Trefoil: auto": [10.0, 10.0], "Open MPI, default": [30.0, 50.0], "Gloo": [15.0, 25.0]}
        at = report.Sizes(64, 5e-6, times)
        row = head_to_head.rows([at], {64: "linear"}, 2)[1]
        self.assertEqual(("64", "linear", "Gloo", "2.00 [1.50..2.50]", "50 %"), (row[0], row[1], row[3], row[5], row[7]))
        times["Gloo"][1] = None  # a launch that has failed
        few = report.Sizes(64, None, {**times, "Open MPI, default": [90.0, 50.0]})
        self.assertEqual("1.50 (one launch)", head_to_head.rows([few], {}, 2)[1][5])
        times["Gloo"][1] = 25.0
        summary = head_to_head.summary_row("bcast", "back to back", [at])
        self.assertEqual(("2.00 at 64 B", "2.00", "50 %", "1.00 at 64 B"), summary[2:])
        self.assertEqual("1.25", head_to_head.launch_rows([at])[2][1])

    def test_nothing_to_compare_with_is_told_as_such(self):
        rows = head_to_head.rows([report.Sizes(64, None, {"Trefoil: auto": [1.0]}), report.Sizes(8, None, {})], {}, 1)
        self.assertEqual("-", rows[1][5])
        self.assertEqual("failed", rows[2][2])
        self.assertEqual("-", head_to_head.summary_row("bcast", "", [report.Sizes(8, None, {})])[2])


class Interruption(unittest.TestCase):
    def test_what_was_measured_before_it_is_kept(self):
        compare = script("compare")
        place = types.SimpleNamespace(title="", ranks=2, calls=lambda *_: 3, clean=lambda: None)
        options = types.SimpleNamespace(sizes=[64], rounds=2, algorithms="auto")
        launches = []

        class Contestant:
            name = "Trefoil"

            def launch(self, *_):
                launches.append(1)
                if len(launches) == 2:
                    raise KeyboardInterrupt
                yield contestants.Row("Trefoil: auto", 16, {"loop": 1.0, "with_barriers": 2.0}, 0, "linear")
                yield contestants.Row(contestants.BOUND, 16, {"loop": 0.5, "with_barriers": 0.5}, 0)

        with contextlib.redirect_stderr(io.StringIO()):
            found, interrupted = compare.compare(place, "allreduce", options, [Contestant()], None, progress.Progress(2))
        self.assertTrue(interrupted)
        at = found.sizes("with_barriers", {64: None})[0]
        self.assertEqual({"Trefoil: auto": [2.0, None]}, at.times)
        self.assertAlmostEqual(0.5e-6, at.bound)
        self.assertIn("interrupted by SIGINT in round 2", found.problems[0]["failed"])


class ProgressAndLoad(unittest.TestCase):
    def test_what_is_left_follows_from_what_is_done(self):
        now = [0.0]
        shown = progress.Progress(10, clock=lambda: now[0])
        self.assertEqual("", shown.left())
        now[0] = 60.0
        shown.step()
        self.assertEqual(", about 9 min left", shown.left())

    def test_the_busy_program_has_one_core_and_is_ended(self):
        with progress.Busy(True) as busy:
            self.assertEqual({max(os.sched_getaffinity(0))}, os.sched_getaffinity(busy.process.pid))
        self.assertEqual(-9, busy.process.returncode)
        with progress.Busy(False) as idle:
            self.assertIsNone(idle.process)


class Places(unittest.TestCase):
    def test_bounds_of_a_torus(self):
        place = places.Torus("3x3", "100mbit", ".", None)
        place.ranks, place.directions = 9, 4
        # D * rate * N / (N - 1) is the greatest algorithm bandwidth of an allreduce, D = 2 dimensions.
        self.assertAlmostEqual(1e6 / (2 * place.rate * 9 / 8), place.bound("allreduce", 1e6))
        self.assertAlmostEqual(place.bound("allreduce", 1e6) / 2, place.bound("allgather", 1e6))
        self.assertAlmostEqual(place.bound("allgather", 1e6), place.bound("scatter", 1e6))
        place.network = types.SimpleNamespace(torus=types.SimpleNamespace(sizes=[3, 3]))
        # Of 9 blocks, 3 cross each link: in a row each rank sends 3 to either neighbour.
        self.assertAlmostEqual(3 * 1e6 / 9 / place.rate, place.bound("alltoall", 1e6))
        self.assertTrue(0.99 < place.rate / 12.5e6 < 1)
        # Ranks of a node share its links: a reduction's bytes leave it once, those of an alltoall for each rank.
        nodes = places.Torus("3x3", "100mbit", ".", None, per_node=2)
        nodes.ranks, nodes.directions, nodes.network = 18, 4, place.network
        self.assertAlmostEqual(place.bound("allreduce", 1e6), nodes.bound("allreduce", 1e6))
        self.assertAlmostEqual(2 * place.bound("alltoall", 1e6), nodes.bound("alltoall", 1e6))

    def test_bounds_of_a_damaged_torus_are_those_of_the_tool(self):
        with tempfile.TemporaryDirectory() as folder:
            tool = pathlib.Path(folder) / "trefoil"
            tool.write_text("#!/bin/sh\necho \"{\\\"vectors\\\": 0.5, \\\"asked\\\": \\\"$*\\\"}\"\n", encoding="utf-8")
            tool.chmod(0o755)
            place = places.Torus("3x3:cable=+0@4", "100mbit", folder, str(tool))
            place.is_whole = False
            self.assertAlmostEqual(0.5 * 1e6 / place.rate, place.bound("allreduce", 1e6))

    def test_fewer_calls_for_longer_vectors(self):
        self.assertEqual(5000, places.round_calls(1e9, 5, 5000))
        self.assertEqual(3, places.round_calls(0.1, 3, 200))

    def test_few_calls_where_ranks_outnumber_cores(self):
        place = places.Memory(4096)
        self.assertTrue(place.crowded)
        self.assertLessEqual(place.calls("allreduce", 8), 200)

    def test_whole_vectors_only_while_they_are_short(self):
        self.assertTrue(contestants.suits("swing-l", 64 << 10))
        self.assertFalse(contestants.suits("swing-l", 1 << 20))
        self.assertTrue(contestants.suits("swing-b", 1 << 20))
        self.assertTrue(contestants.suits("linear", 1 << 20, "alltoall"))


class FrameByFrame(unittest.TestCase):
    RATE, DELAY = 8e6, 0.01  # a byte in a microsecond
    FULL = links.FRAME / 1e6  # seconds of a full frame

    def seconds(self, torus, steps, *messages, calls=1):
        """Messages (source, target, port, step) of four full frames each."""
        sends = collections.defaultdict(list)
        for source, target, port, step in messages:
            sends[source, 0, step].append((target, port, 1))
        times = frames.spread(geometry.Torus(torus), (sends, [steps]), 4 * frames.PAYLOAD, self.RATE, self.DELAY, 0, 0, 1, calls)
        return times[0]

    def test_a_message_cuts_through(self):
        self.assertAlmostEqual(4 * self.FULL + 3 * self.DELAY, self.seconds("8", 1, (0, 3, "+0", 0)))

    def test_a_message_goes_the_way_of_its_port(self):
        self.assertAlmostEqual(4 * self.FULL + 5 * self.DELAY, self.seconds("8", 1, (0, 3, "-0", 0)))

    def test_a_step_waits_for_what_it_receives(self):
        self.assertAlmostEqual(8 * self.FULL + 2 * self.DELAY, self.seconds("8", 2, (0, 1, "+0", 0), (1, 2, "+0", 1)))

    def test_inputs_take_turns(self):
        # Rank 1 has sent two frames of its own when the first of rank 0 comes by, then they take turns; so its fourth is the
        # sixth on the link. Rank 2 has waited for it, and answers.
        seconds = self.seconds("8", 2, (0, 3, "+0", 0), (1, 2, "+0", 0), (2, 1, "-0", 1))
        self.assertAlmostEqual((6 + 4) * self.FULL + 2 * self.DELAY, seconds)

    def test_calls_follow_each_other(self):
        once = self.seconds("4", 1, (0, 1, "+0", 0), (1, 0, "-0", 0))
        self.assertAlmostEqual(once, self.seconds("4", 1, (0, 1, "+0", 0), (1, 0, "-0", 0), calls=3))


class DrawnCalls(unittest.TestCase):
    LINES = ("call 1 allreduce", "ended 1 success 0a right", "sent 1 all 3/8 1/0", "call 2 scan", "call 3 bcast",
             "ended 3 success 0b -", "ended 2 unsupported 0c right", "sent 3 all 2/16 2/0", "end 3")

    def differences(self, old=LINES, new=LINES, with_puts=True):
        """(number, old, new) of each."""
        with tempfile.TemporaryDirectory() as folder:
            records = []
            for lines in (old, new):
                path = pathlib.Path(folder) / "rank0"
                path.write_text("".join(line.replace(" ", "\t") + "\n" for line in lines), encoding="utf-8")
                records.append([calls.Record(path)])
        return [(found.number, found.old, found.new) for found in calls.compare(*records, with_puts)]

    def replaced(self, *pairs):
        return tuple(dict(pairs).get(line, line) for line in self.LINES)

    def test_the_same_in_another_order_is_equal(self):
        self.assertEqual([], self.differences())
        turned = [*self.LINES[:5], self.LINES[6], self.LINES[5], *self.LINES[7:]]
        self.assertEqual([], self.differences(new=turned))

    def test_bits_and_status_count(self):
        new = self.replaced(("ended 3 success 0b -", "ended 3 success 0f -"))
        self.assertEqual([(3, "success, not checked, bits 0b", "success, not checked, bits 0f")], self.differences(new=new))
        new = self.replaced(("ended 2 unsupported 0c right", "ended 2 success 0c right"))
        self.assertEqual([2], [found[0] for found in self.differences(new=new)])

    def test_what_is_wrong_on_both_sides_or_has_not_ended_is_found(self):
        both = self.replaced(("ended 1 success 0a right", "ended 1 success 0a wrong"))
        self.assertEqual([1], [found[0] for found in self.differences(both, both)])
        self.assertEqual([(2, "has not ended", "has not ended"), (3, "has not ended", "has not ended")],
                         self.differences(self.LINES[:5], self.LINES[:5]))
        self.assertEqual((2, "unsupported, right, bits 0c", "was not made"), self.differences(new=self.LINES[:3])[0])

    def test_after_another_call_nothing_is_compared(self):
        new = self.replaced(("call 2 scan", "call 2 exscan"), ("ended 3 success 0b -", "ended 3 success 0f -"))
        self.assertEqual([(2, "", "is exscan")], self.differences(new=new))

    def test_bytes_count_at_once_and_puts_in_the_end(self):
        late = self.replaced(("sent 1 all 3/8 1/0", "sent 1 all 2/8 1/0"), ("sent 3 all 2/16 2/0", "sent 3 all 3/16 2/0"))
        self.assertEqual([], self.differences(new=late))
        missing = self.replaced(("sent 1 all 3/8 1/0", "sent 1 all 2/8 1/0"))
        self.assertEqual([(1, "3 puts", "2 puts")], self.differences(new=missing))
        self.assertEqual([], self.differences(new=missing, with_puts=False))
        more = self.replaced(("sent 1 all 3/8 1/0", "sent 1 all 3/9 1/0"), ("sent 3 all 2/16 2/0", "sent 3 all 2/15 2/0"))
        self.assertEqual([1, 3], [found[0] for found in self.differences(new=more, with_puts=False)])


class Runs(unittest.TestCase):
    def test_a_program_that_hangs_after_its_last_line_has_finished(self):
        start = time.monotonic()
        code, output, _ = run_bounded(["sh", "-c", "echo done; sleep 60"], {}, 30, last_line="done", grace=0.2)
        self.assertEqual((0, "done\n"), (code, output))
        self.assertLess(time.monotonic() - start, 10)

    def test_a_program_that_hangs_before_is_ended_and_has_not(self):
        self.assertIsNone(run_bounded(["sh", "-c", "sleep 60"], {}, 0.3)[0])

    def test_failures_are_told(self):
        self.assertEqual((3, "", "bad\n"), run_bounded(["sh", "-c", "echo bad >&2; exit 3"], {}, 30))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
