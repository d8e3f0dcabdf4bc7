# SPDX-License-Identifier: BSD-3-Clause
"""The same drawn calls by the libraries of two builds, compared call by call and rank by rank."""
import collections
import json
import math
import os
import pathlib
import re
import shlex
import shutil
import tempfile
import time

from soaking import SHORT_NAMES, TRANSPORTS, free_port

from . import ROOT, die, run_bounded, shell, show
from .progress import Progress

TEXT = """\
Examples:
  scripts/compare-builds calls ../old/build/release build/release
  scripts/compare-builds calls OLD NEW --backend memory,ofi,ucx --torus 2,3x3,3x2h --calls 10000
  scripts/compare-builds calls OLD NEW --set TREFOIL_SEGMENT_BYTES=8K --set TREFOIL_LANDING_BYTES=64K

OLD and NEW are folders with a libtrefoil.so. One program (tests/reliability/calls) draws calls from a seed, alike on all
ranks, and runs first with the old library, then with the new one; ranks are started by NEW/bench/trefoil. Calls are of every
collective and vector variant, in place or not, of all types and operations, own operations among them, of 0 bytes to about
1 MiB; blocking, up to 16 in flight, persistent; repeated, or of another size each time; by every algorithm that both
libraries have, by name; on all ranks and on communicators that dup, split and sub have made; some have mistakes, and must
fail on all ranks.

Compared, for each call and rank: the status; all bits of the result, and that no other byte has changed; and, whenever no
call is in flight, the bytes and puts that each port of each communicator has sent. Puts may be late, as an acknowledgement
waits for a connection, so only those at the end count; over uTofu, where one may be missing even then, they do not. Where a
result is known (integers, whatever is only moved), it must also be right, on both sides.

At the first difference the rest of that transport and torus is left out; a command is printed that repeats the calls up to
this one. Calls come in scenes, which are made as a whole, so a few more than --calls may be made.

The emulated uTofu of tests/backend/utofu can be used; the tests' transport `strict` cannot, which no library contains.

Exit codes: 0; 1, something differs, is wrong or has not ended, or another library was loaded than OLD's or NEW's; 2, bad
input.
"""
WITH_UTOFU = TRANSPORTS | {"utofu": ("utofu", "", {})}
TIMEOUT = 30  # seconds that a call may stand still
SECONDS_OF_LAUNCH = 120  # and one more for each call
MOST_LINES = 4  # of what ranks say when they fail
PLANTS = ("flip", "values", "traffic")

Ended = collections.namedtuple("Ended", "status hash check")
Difference = collections.namedtuple("Difference", "number rank text old new")


def add_options(parser):
    parser.add_argument("old", type=pathlib.Path, help="folder with the libtrefoil.so of one build, such as build/release")
    parser.add_argument("new", type=pathlib.Path, help="of the other, whose bench/trefoil starts the ranks")
    parser.add_argument("--backend", default="memory", metavar="A,B",
                        help=f"of: {', '.join([*SHORT_NAMES, *WITH_UTOFU])} (default: memory)")
    parser.add_argument("--torus", default="2,3,2x2,3x3", metavar="A,B", help="sizes (default: %(default)s)")
    parser.add_argument("--port-threads", default="0", metavar="A,B", help="TREFOIL_PORT_THREADS (default: 0)")
    parser.add_argument("--calls", type=int, default=1000, help="for each of these (default: %(default)s)")
    parser.add_argument("--per-launch", type=int, default=500,
                        help="so many calls, then new processes with the next seed (default: %(default)s)")
    parser.add_argument("--seed", type=int, help="of all that is drawn (default: from the clock; it is printed)")
    parser.add_argument("--auto", action="store_true", help="leave a quarter of the algorithms to the library; what it chooses may differ")
    parser.add_argument("--no-puts", action="store_true", help="compare the bytes that ports send, but not their puts")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a variable of all ranks on both sides")
    parser.add_argument("--trefoil", type=pathlib.Path, help="the command that starts the ranks (default: NEW/bench/trefoil)")
    parser.add_argument("--program", type=pathlib.Path, help="a reliability_calls_rank that is built already (default: build/release, built first)")
    parser.add_argument("--emulation", type=pathlib.Path, metavar="FOLDER",
                        help="the emulated uTofu for --backend utofu (default: NEW/tests/backend/utofu/library)")
    parser.add_argument("--plant", default="none:0", metavar="WHAT:N",
                        help=f"make a difference on the new side on purpose, at call N: {', '.join(PLANTS)}")


def check_options(options, parser):
    for folder in (options.old, options.new):
        if not (folder / "libtrefoil.so").exists():
            parser.error(f"there is no {folder}/libtrefoil.so; give the folder of a build, such as build/release")
    options.trefoil = options.trefoil or options.new / "bench/trefoil"
    options.emulation = options.emulation or options.new / "tests/backend/utofu/library"
    for program in filter(None, (options.trefoil, options.program)):
        if not program.is_file():
            parser.error(f"there is no {program}")
    options.backends = [SHORT_NAMES.get(name, name) for name in options.backend.split(",")]
    for name in options.backends:
        if name not in WITH_UTOFU:
            parser.error(f"--backend: no transport '{name}'; there are {', '.join([*SHORT_NAMES, *WITH_UTOFU])}")
    if "utofu" in options.backends and not options.emulation.is_dir():
        parser.error(f"--emulation: there is no {options.emulation}")
    options.tori, options.threads = options.torus.split(","), options.port_threads.split(",")
    for torus in options.tori:
        if not re.fullmatch(r"[1-9]\d*[mh]?(x[1-9]\d*[mh]?)*", torus):
            parser.error(f"--torus takes sizes such as 2,3x3, not '{torus}'")
    if not all(number.isdecimal() for number in options.threads):
        parser.error(f"--port-threads takes numbers, not '{options.port_threads}'")
    if options.calls < 1 or options.per_launch < 1:
        parser.error("--calls and --per-launch take numbers above 0")
    if not all(re.match(r"\w+=", pair) for pair in options.set):
        parser.error("--set takes NAME=VALUE")
    if not re.fullmatch(rf"(none|{'|'.join(PLANTS)}):\d+", options.plant):
        parser.error(f"--plant takes {' or '.join(f'{plant}:N' for plant in PLANTS)}")
    options.seed = int(time.time()) % 10**6 if options.seed is None else options.seed


class Side:
    """A build's library, and the program that runs with it."""

    def __init__(self, name, folder, options, program):
        self.name, self.folder, self.options, self.program = name, folder.resolve(), options, program
        self.seconds = 0.0

    def library_path(self, transport):
        folders = [str(self.folder)] + ([str(self.options.emulation.resolve())] if transport == "utofu" else [])
        return ":".join(folders + list(filter(None, [os.environ.get("LD_LIBRARY_PATH")])))

    def check_loaded(self, path):
        if not (os.path.exists(path) and os.path.samefile(path, self.folder / "libtrefoil.so")):
            die(f"the {self.name} side runs {path}, not {self.folder}/libtrefoil.so")

    def known(self, names):
        """Which of these names the library has."""
        code, text, errors = run_bounded([self.program, names], {"LD_LIBRARY_PATH": self.library_path("")}, 60)
        lines = text.splitlines()
        if code != 0 or not lines:
            die(f"{self.program} does not run with the library of {self.folder}: {errors.strip()}")
        self.check_loaded(lines[0].removeprefix("loaded "))
        return set(lines[1:])

    def run(self, case, seed, calls, names, folder, plant):
        folder.mkdir()
        backend, provider, extra = WITH_UTOFU[case.transport]
        environment = {"LD_LIBRARY_PATH": self.library_path(case.transport), "TREFOIL_BACKEND": backend,
                       "TREFOIL_TIMEOUT": str(TIMEOUT), "TREFOIL_PORT_THREADS": case.threads, **extra,
                       **({"TREFOIL_PROVIDER": provider} if provider else {}),
                       **dict(pair.split("=", 1) for pair in self.options.set)}
        limit = SECONDS_OF_LAUNCH + calls
        # Rank 0 serves the store, because that of `trefoil run` may speak another version of its protocol.
        own_store = ["env", f"TREFOIL_STORE=127.0.0.1:{free_port()}"]
        begin = time.monotonic()
        code, text, errors = run_bounded(
            [self.options.trefoil, "run", "--torus", case.torus, "--time-limit", str(limit), "--", *own_store, self.program, names, folder,
             str(calls), str(seed), "auto" if self.options.auto else "named", *plant.split(":")], environment, limit + 30)
        self.seconds += time.monotonic() - begin
        ranks = math.prod(map(int, re.findall(r"\d+", case.torus)))
        records = [Record(folder / f"rank{rank}") for rank in range(ranks)]
        for record in records:
            if record.loaded:
                self.check_loaded(record.loaded)
        said = (errors or text).strip().splitlines()[:MOST_LINES]
        failure = "" if code == 0 else "\n  ".join([f"exit code {code}" if code is not None else f"not ended after {limit} s", *said])
        return records, failure


class Record:
    """What one rank has written (tests/reliability/calls/record.hpp)."""

    def __init__(self, path):
        self.loaded, self.calls, self.ended, self.sent, self.end = "", {}, {}, [], None
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
            word, *fields = line.split("\t")
            if word == "loaded":
                self.loaded = fields[0]
            elif word == "call":
                self.calls[int(fields[0])] = fields[1]
            elif word == "ended" and len(fields) == 4:
                self.ended[int(fields[0])] = Ended(*fields[1:])
            elif word == "sent":
                self.sent.append((int(fields[0]), fields[1], fields[2:]))
            elif word == "end":
                self.end = int(fields[0])


def what_ended(record, number):
    ended = record.ended.get(number)
    if ended:
        return f"{ended.status}, {ended.check if ended.check != '-' else 'not checked'}, bits {ended.hash}"
    return "has not ended" if number in record.calls else "was not made"


def is_wrong(ended):
    return ended is not None and ended.check not in ("right", "-")


def different_calls(rank, old, new):
    found = []
    for number in sorted(old.calls.keys() | new.calls.keys()):
        text, other = old.calls.get(number), new.calls.get(number)
        if text and other and text != other:
            found.append(Difference(number, rank, text, "", f"is {other}"))
            break  # from here on the two make other calls
        before, after = old.ended.get(number), new.ended.get(number)
        if before is None or before != after or is_wrong(before):
            found.append(Difference(number, rank, text or other, what_ended(old, number), what_ended(new, number)))
    return found


def numbers_of(ports):
    return [tuple(map(int, port.split("/"))) if "/" in port else (-1, -1) for port in ports]


def different_traffic(rank, old, new, with_puts):
    """Bytes at each quiet point; puts of a communicator if they differ at the end, from where on they did."""
    found, apart = [], {}
    totals = collections.defaultdict(int)
    for (number, name, ports), (_, _, others) in zip(old.sent, new.sent):
        for port, (before, after) in enumerate(zip(numbers_of(ports), numbers_of(others))):
            text = f"port {port} of communicator {name}, after {old.calls.get(number, '?')}"
            if before[1] != after[1]:
                found.append(Difference(number, rank, text, f"{before[1]} bytes", f"{after[1]} bytes"))
            totals[name, port] += after[0] - before[0]
            if totals[name, port] == 0:
                apart.pop((name, port), None)
            else:
                apart.setdefault((name, port), Difference(number, rank, text, f"{before[0]} puts", f"{after[0]} puts"))
    return found + (list(apart.values()) if with_puts else [])


def compare(old, new, with_puts):
    """All differences of all ranks, the first call first."""
    found = []
    for rank, (before, after) in enumerate(zip(old, new)):
        found += different_calls(rank, before, after)
        if before.end is not None and after.end is not None:
            found += different_traffic(rank, before, after, with_puts)
    return sorted(found, key=lambda difference: difference[:2])


class Case:
    """One transport, torus and number of port threads: how many calls were alike."""

    def __init__(self, transport, torus, threads):
        self.transport, self.torus, self.threads = transport, torus, threads
        self.calls = self.refused = self.different = 0
        self.seconds = [0.0, 0.0]

    def text(self):
        return f"{self.transport}, {self.torus}, {self.threads} port threads"

    def row(self):
        rates = [f"{self.calls / seconds:.0f}" if seconds else "-" for seconds in self.seconds]
        return (self.transport, self.torus, self.threads, str(self.calls), str(self.refused),
                str(self.calls - self.different), str(self.different), *rates)


def again(options, case, seed, calls):
    words = ["scripts/compare-builds", "calls", options.old, options.new, "--backend", case.transport, "--torus", case.torus,
             "--port-threads", case.threads, "--seed", seed, "--calls", calls, "--per-launch", calls]
    words += [word for pair in options.set for word in ("--set", pair)]
    words += ["--auto"] if options.auto else []
    words += ["--no-puts"] if options.no_puts else []
    for name, value, default in (("trefoil", options.trefoil, options.new / "bench/trefoil"), ("program", options.program, None),
                                 ("emulation", options.emulation, options.new / "tests/backend/utofu/library"),
                                 ("plant", options.plant, "none:0")):
        words += [f"--{name}", value] if value != default else []
    return shlex.join(map(str, words))


def one_launch(options, sides, case, seed, calls, names):
    """True: all was alike."""
    with tempfile.TemporaryDirectory(prefix="calls-") as folder:
        runs = []
        for side in sides:
            plant = options.plant if side.name == "new" else "none:0"
            before = side.seconds
            runs.append(side.run(case, seed, calls, names, pathlib.Path(folder) / side.name, plant))
            case.seconds[len(runs) - 1] += side.seconds - before
    (old, old_failure), (new, new_failure) = runs
    differences = compare(old, new, not options.no_puts and case.transport != "utofu")
    case.calls += max([0, *new[0].calls, *old[0].calls])
    case.refused += sum(ended.status != "success" for ended in new[0].ended.values())
    case.different += len({difference.number for difference in differences})
    for side, failure in (("old", old_failure), ("new", new_failure)):
        if failure:
            print(f"FAILED: {case.text()}, seed {seed}, {side} side: {failure}")
    if differences:
        first = differences[0]
        print(f"DIFFERENT: call {first.number} of seed {seed}, rank {first.rank}: {case.text()}: {first.text}\n"
              f"  old: {first.old}\n  new: {first.new}\n  again: {again(options, case, seed, first.number)}", flush=True)
    return not (differences or old_failure or new_failure)


def write_names(options, sides, path):
    """The algorithms that may be named: what the new command lists and both libraries have."""
    code, listed, errors = run_bounded([options.trefoil, "info", "--json"], {}, 60)
    if code != 0:
        die(f"{options.trefoil} info fails: {errors.strip()}")
    names = [f"{a['collective']} {a['name']}{suffix}" for a in json.loads(listed)["algorithms"]
             for suffix in ["", *(f":{modifier}" for modifier in a["modifiers"])]]
    path.write_text("\n".join(names) + "\n", encoding="utf-8")
    old, new = [side.known(path) for side in sides]
    for side, only in (("old", old - new), ("new", new - old)):
        if only:
            print(f"only the {side} library has: {', '.join(sorted(only))}")
    path.write_text("\n".join(name for name in names if name in old & new) + "\n", encoding="utf-8")
    return len(old & new)


def compare_calls(options):
    for name in [name for name in os.environ if name.startswith("TREFOIL_")]:
        del os.environ[name]
    if not options.program:
        shell('require "${build_needs[@]}" "${test_needs[@]}"; configure release; build release reliability_calls_rank')
    program = (options.program or ROOT / "build/release/tests/reliability/reliability_calls_rank").resolve()
    sides = [Side("old", options.old, options, program), Side("new", options.new, options, program)]
    cases = [Case(transport, torus, threads) for transport in options.backends for torus in options.tori for threads in options.threads]
    launches = -(-options.calls // options.per_launch)
    progress, alike = Progress(len(cases) * launches), True
    folder = tempfile.mkdtemp(prefix="calls-names-")
    try:
        names = pathlib.Path(folder) / "names"
        print(f"seed {options.seed}, {write_names(options, sides, names)} algorithms with modifiers", flush=True)
        for case in cases:
            for launch in range(launches):
                progress.show(case.text(), launch == 0)
                calls = min(options.per_launch, options.calls - launch * options.per_launch)
                same = one_launch(options, sides, case, options.seed + launch, calls, names)
                progress.step()
                alike = alike and same
                if not same:
                    break
    finally:
        shutil.rmtree(folder)
    show([("transport", "torus", "threads", "calls", "refused", "equal", "different", "old calls/s", "new calls/s"),
          *(case.row() for case in cases)])
    print("calls: of each rank; refused: of them, by both libraries alike; calls/s: start of the processes included")
    return 0 if alike else 1
