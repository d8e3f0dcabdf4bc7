# SPDX-License-Identifier: BSD-3-Clause
"""Runs a job of four ranks in hostile surroundings, over each transport, and makes a table of what came of it."""
import argparse
import collections
import dataclasses
import fnmatch
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import surroundings
from job import TRANSPORTS, available, in_own_shared_memory

RANKS, TIMEOUT = 4, 10
LIMIT = 6 * TIMEOUT  # of a job, from its start; a machine that is busy must not be the reason
PAGE = 4096  # of a rank's report
CHOSEN = "chosen"  # the transport that Trefoil takes by itself
TRIED = (CHOSEN, "memory", "ofi net", "ucx tcp")
GOOD = ("right", "words", "refused")
# What the launcher says of itself.
REFUSAL = re.compile(r"^trefoil( run)?: (?!rank \d+ (ended|was killed)|ending|killing)\S+ \S+ \S+", re.MULTILINE)
TEXT = """\
A case is SURROUNDINGS/TRANSPORT. What counts:

  right     every rank has seen right results of all its calls, and the job's exit code is 0
  words     every rank got an error with a text from a call, and none waited longer than the time-out allows
  refused   `trefoil run` says in words why it does not start; no rank has begun
  WRONG     a rank got a wrong result
  DIED      a rank ended without a word, or by a signal
  HANG      the job had not ended after six times its TREFOIL_TIMEOUT
  SPLIT     some ranks are right, and others have an error
  UNCLEAR   the error does not name what the surroundings lack
  FAILED    an error in words, where results had to come

Most surroundings need root and namespaces; those that cannot be made here are named. The exit code is 1 after anything in
capitals, and 77 if nothing could be run.
"""


@dataclasses.dataclass
class Outcome:
    verdict: str
    seconds: float
    texts: dict  # of the ranks: word and what follows it
    log: str
    code: int


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, epilog=TEXT, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tool", help="the trefoil command")
    parser.add_argument("program", help="reliability_surrounded_rank, beside its helping programs")
    parser.add_argument("--only", default="*", metavar="A,B", help="patterns of SURROUNDINGS/TRANSPORT, with * for any (default: all)")
    parser.add_argument("--known", action="append", default=[], metavar="PATTERN",
                        help="cases with a known defect of a library below: they are shown, and decide nothing")
    parser.add_argument("--verbose", action="store_true", help="prints each rank's text")
    return parser.parse_args()


def reports(folder):
    found = {}
    for rank in range(RANKS):
        text = (folder / f"rank{rank}").read_bytes().rstrip(b"\0").decode(errors="replace")
        word, _, rest = (text.splitlines() or [""])[-1].partition(" ")
        found[rank] = (word, rest)
    return found


def judge(one, transport, code, texts, log):
    words = [word for word, _ in texts.values()]
    if "wrong" in words:
        return "WRONG"
    if code is None:
        return "HANG"
    may_fail = any(fnmatch.fnmatchcase(transport, pattern) for pattern in one.fails.split(","))
    if not any(words):
        refused = 0 < code < 128 and REFUSAL.search(log)
        return "DIED" if not refused else "refused" if may_fail else "FAILED"
    silent = [word for word in words if word not in ("right", "failed")]
    if silent or code >= 128 or any(len(rest.split()) < 5 for word, rest in texts.values() if word == "failed"):
        return "DIED"
    if len(set(words)) > 1:
        return "SPLIT"
    if words[0] == "right":
        return "right" if code == 0 else "DIED"
    if not may_fail:
        return "FAILED"
    named = any(re.search(one.says, rest) for _, rest in texts.values())
    return "words" if named else "UNCLEAR"


def ended(process):
    """The exit code, or None after it had to be killed with all that it has started."""
    try:
        return process.wait(LIMIT)
    except subprocess.TimeoutExpired:
        return None
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def run(one, transport, tool, program):
    with tempfile.TemporaryDirectory(prefix="surrounded-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o777)
        for rank in range(RANKS):
            path = folder / f"rank{rank}"
            path.write_bytes(bytes(PAGE))
            path.chmod(0o666)
        backend, provider, extra = TRANSPORTS.get(transport, ("", "", {}))
        own = {"TREFOIL_BACKEND": backend, "TREFOIL_PROVIDER": provider, "TREFOIL_TIMEOUT": str(TIMEOUT), "FOLDER": name,
               "TOOLS": str(pathlib.Path(program).parent)} | extra | one.variables
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("TREFOIL_", "SURROUNDINGS_"))}
        launch = [tool, "run", "-n", str(RANKS), "--grace", str(LIMIT), "--"]
        begin = time.monotonic()
        with open(folder / "log", "w+", errors="replace", encoding="utf-8") as log:
            process = subprocess.Popen(one.command(launch, [program, name]), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       env=environment | {key: value for key, value in own.items() if value}, start_new_session=True)
            code = ended(process)
        seconds = time.monotonic() - begin
        texts, text = reports(folder), (folder / "log").read_text(errors="replace", encoding="utf-8")
    return Outcome(judge(one, transport, code, texts, text), seconds, texts, text, code)


def possible(one, program):
    """A line that fails where the surroundings cannot be made: they themselves, around nothing."""
    environment = os.environ | {"TOOLS": str(pathlib.Path(program).parent), "TREFOIL_RANK": "3", "TREFOIL_SIZE": "4"}
    if one.needs and subprocess.run(["sh", "-c", one.needs], env=environment, capture_output=True, check=False).returncode != 0:
        return False
    for space in (one.space, one.each_space):
        if space and subprocess.run(["sh", "-c", f"exec {space} true"], env=environment, capture_output=True, check=False).returncode:
            return False
    return True


def describe(one, transport, outcome, verbose):
    texts = collections.Counter(rest for word, rest in outcome.texts.values() if word == "failed")
    first = texts.most_common(1)[0][0] if texts else "" if outcome.verdict != "refused" else outcome.log.strip()
    print(f"{one.group:<13} {one.name:<34} {transport:<8} {outcome.verdict:<8} {outcome.seconds:5.1f} s  {first[:150]}", flush=True)
    if verbose or outcome.verdict not in GOOD:
        for rank, (word, rest) in outcome.texts.items():
            print(f"      rank {rank}: {word or 'never began'} {rest}")
        print(f"      exit code {outcome.code}")
        print("      " + outcome.log.strip()[-3000:].replace("\n", "\n      "), flush=True)


def main():
    options = arguments()
    options.tool, options.program = os.path.abspath(options.tool), os.path.abspath(options.program)
    in_own_shared_memory("SURROUNDINGS_INNER")
    transports = [CHOSEN] + available(options.tool, [name for name in TRIED if name != CHOSEN])
    patterns = options.only.split(",")
    counts, bad, impossible, surrounded = collections.Counter(), [], [], set()
    for one in surroundings.ALL:
        chosen = [transport for transport in transports
                  if any(fnmatch.fnmatchcase(f"{one.name}/{transport}", pattern) for pattern in patterns)]
        if chosen and not possible(one, options.program):
            impossible.append(one.name)
            continue
        for transport in chosen:
            outcome = run(one, transport, options.tool, options.program)
            describe(one, transport, outcome, options.verbose)
            counts[outcome.verdict] += 1
            surrounded.add(one.name)
            name = f"{one.name}/{transport}"
            if outcome.verdict not in GOOD and not any(fnmatch.fnmatchcase(name, pattern) for pattern in options.known):
                bad.append(name)
    print(f"{sum(counts.values())} jobs in {len(surrounded)} surroundings: "
          + ", ".join(f"{number} {verdict}" for verdict, number in counts.most_common()))
    if impossible:
        print("cannot be made here: " + "; ".join(impossible))
    if not counts:
        return 77
    if bad:
        print("FAILED: " + "; ".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
