#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the timelines of `trefoil perf --trace` as a viewer would: events nest, messages have two ends, and the bytes
of all puts are the plan's volume and what the ports have counted."""

import collections
import decimal
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.abspath(sys.argv.pop(1))
MIB = 1 << 20


def run(*arguments, **options):
    return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, timeout=60, **options)


class Timeline:
    def __init__(self, file):
        # Decimal: a double has no room for the nanoseconds of a machine that has long been up.
        self.events = json.loads(pathlib.Path(file).read_text(), parse_float=decimal.Decimal)
        self.slices = [e for e in self.events if e["ph"] == "X"]

    def of(self, category):
        return [e for e in self.slices if e["cat"] == category]

    def within(self, outer, category):
        end = outer["ts"] + outer["dur"]
        return [e for e in self.of(category) if e["pid"] == outer["pid"] and outer["ts"] <= e["ts"] <= end]

    def check_nesting(self, test):
        tracks = collections.defaultdict(list)
        for e in self.slices:
            tracks[e["pid"], e["tid"]].append((e["ts"], -e["dur"], e["name"]))
        for track, slices in tracks.items():
            open_until = []
            for begin, length, name in sorted(slices):
                end = begin - length
                while open_until and open_until[-1][0] <= begin:
                    open_until.pop()
                if open_until:
                    test.assertLessEqual(end, open_until[-1][0], f"{track}: {name} outlasts {open_until[-1][1]}")
                    test.assertNotEqual(open_until[-1][1], "wait", f"{track}: {name} while there was nothing to do")
                open_until.append((end, name))

    def check_flows(self, test):
        ends = {kind: collections.Counter(e["id"] for e in self.events if e["ph"] == kind) for kind in "sf"}
        test.assertEqual(ends["s"], ends["f"])
        test.assertEqual(set(ends["s"].values()), {1}, "two messages share a number")
        at = {kind: {e["id"]: e["ts"] for e in self.events if e["ph"] == kind} for kind in "sf"}
        for number, sent in at["s"].items():
            test.assertLess(sent, at["f"][number], "a message arrived before it was put")


class Trace(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.file = pathlib.Path(self.directory.name, "out.json")

    def measure(self, *arguments):
        figures = self.file.with_name("figures.json")
        result = run("perf", *arguments, "--iters", 2, "-w", 1, "--trace", self.file, "--json-file", figures, "--resources")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(sorted(f.name for f in self.file.parent.iterdir()), ["figures.json", "out.json"])
        timeline = Timeline(self.file)
        timeline.check_nesting(self)
        timeline.check_flows(self)
        return timeline, json.loads(figures.read_text())

    def test_puts_are_the_plan(self):
        for collective, algorithm, torus, size, launch in [
                ("allreduce", "bucket", "3x2", 6 * 64 * 1024, "processes"),
                ("allreduce", "trivance-b", "3", 9 * 64 * 1024, "threads"),
                ("bcast", "binomial-dd", "2x2", 64 * 1024, "threads")]:
            with self.subTest(algorithm=algorithm):
                timeline, _ = self.measure(collective, "-a", algorithm, "--torus", torus, "-b", size, "-e", size,
                                           "--in-place", "out" if collective == "allreduce" else "in", "--launch",
                                           launch)
                plan = json.loads(run("plan", collective, "-a", algorithm, "--torus", torus, "--summary", "--json",
                                      "--no-verify").stdout)
                calls = [c for c in timeline.of("call") if algorithm in c["name"] and f"of {size // 4} " in c["name"]]
                ranks = plan["ranks"]
                workers = len(calls) // (3 * ranks)
                self.assertEqual(len(calls), 3 * ranks * workers)
                bytes_put = sum(p["args"]["bytes"] for c in calls for p in timeline.within(c, "put")
                                if workers == 1 or p["tid"] == c["tid"])
                self.assertEqual(bytes_put, 3 * round(plan["bytes_sent_total"] * size))

    def test_names_what_happens(self):
        timeline, _ = self.measure("allreduce", "-a", "bucket", "--torus", "3x3", "-b", MIB, "-e", MIB)
        names = {e["name"] for e in timeline.events}
        for pattern in [r"step 2 of part 1", r"segment 0", r"wait", r"put [\d.]+ KiB to rank 3 through [+-][01]",
                        r"arrival from rank 6 through [+-][01]", r"reduce [\d.]+ KiB", r"copy [\d.]+ KiB",
                        r"(prepare )?allreduce of 262144 float \(sum\) by bucket"]:
            self.assertTrue(any(re.fullmatch(pattern, name) for name in names), pattern)
        processes = {e["args"]["name"].split(" on ")[0] for e in timeline.events if e["name"] == "process_name"}
        self.assertEqual(processes, {f"rank {r}" for r in range(9)})

    def test_shows_what_is_read_from_other_ranks(self):
        timeline, _ = self.measure("allreduce", "-a", "single-copy", "--torus", "2x2", "-b", MIB, "-e", MIB, "--launch",
                                   "processes")
        pulls = {e["name"] for e in timeline.of("copy")}
        self.assertTrue({"pull 256 KiB from rank 0", "pull 256 KiB from rank 3"} <= pulls, pulls)

    def test_ports_count_what_the_timeline_shows(self):
        timeline, figures = self.measure("allreduce", "-a", "ring", "--torus", "3", "-b", MIB, "-e", MIB, "--launch",
                                         "threads")
        shown = collections.Counter()
        for put in timeline.of("put"):
            if put["name"].startswith("put") and "by ring" in self.call_of(timeline, put):
                shown[put["args"]["port"]] += put["args"]["bytes"]
        for port in figures["resources"]["ports"]:
            # The reductions that bring the ranks' figures together are counted, too.
            self.assertLessEqual(shown[port["port"]], port["bytes"])
            self.assertLess(port["bytes"] - shown[port["port"]], 64 * 1024)

    @staticmethod
    def call_of(timeline, event):
        for call in timeline.of("call"):
            same = (call["pid"], call["tid"]) == (event["pid"], event["tid"])
            if same and call["ts"] <= event["ts"] <= call["ts"] + call["dur"]:
                return call["name"]
        return ""

    def test_a_place_that_does_not_exist_is_refused(self):
        nowhere = self.file.with_name("none") / "out.json"
        result = run("perf", "allreduce", "--torus", "3", "--trace", nowhere)
        self.assertEqual(result.returncode, 2)
        self.assertIn(f"cannot write --trace {nowhere}", result.stderr)

        # As any program meets it: every rank's communicator is refused.
        result = run("perf", "allreduce", "--torus", "3", "--launch", "threads",
                     env={**os.environ, "TREFOIL_TRACE": str(nowhere)})
        self.assertEqual(result.returncode, 2)
        self.assertIn(f"TREFOIL_TRACE={nowhere}: cannot write {nowhere.with_suffix('')}", result.stderr)

    def test_a_full_ring_keeps_the_end_and_says_so(self):
        pattern = self.file.with_name("rank%r.json")
        result = run("perf", "allreduce", "--torus", "3", "--iters", 50, "-b", 64, "-e", 64, "--launch", "threads",
                     env={**os.environ, "TREFOIL_TRACE": str(pattern), "TREFOIL_TRACE_EVENTS": "64"})
        self.assertEqual(result.returncode, 0)
        self.assertIn("TREFOIL_TRACE_EVENTS (64)", result.stderr)
        for rank in range(3):
            timeline = Timeline(self.file.with_name(f"rank{rank}.json"))
            timeline.check_nesting(self)
            self.assertLessEqual(len(timeline.slices), 64 * 4)
            self.assertTrue(any(e["name"].endswith("earlier events were dropped") for e in timeline.events))
            last = max(timeline.of("call"), key=lambda call: call["ts"])
            self.assertTrue(last["name"].startswith("barrier"), last["name"])

    def test_without_a_trace_nothing_is_written(self):
        self.assertEqual(run("perf", "barrier", "--torus", "3", cwd=self.directory.name).returncode, 0)
        self.assertEqual(list(self.file.parent.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
