# SPDX-License-Identifier: BSD-3-Clause
"""Asks `trefoil`, each question once."""
import contextlib
import json
import math
import os
import shutil
import subprocess
import tempfile

from . import ROOT

MOST_RANKS = 1024  # of the short form
BUILDS = ("release", "dev", "fast")


class ToolError(Exception):
    """The command is missing, or refuses."""


class TooLong(Exception):
    """A question that the short form leaves out."""


def ranks_of(torus):
    return math.prod(int(size) for size in torus.split("x"))


class Tool:
    def __init__(self, path=None, short=False):
        built = [str(ROOT / "build" / name / "bench/trefoil") for name in BUILDS]
        candidates = [path] if path else [*built, shutil.which("trefoil") or ""]
        found = [candidate for candidate in candidates if candidate and os.access(candidate, os.X_OK)]
        if not found:
            raise ToolError(f"no trefoil at {path}" if path else "no trefoil: build the release preset, or name one by --trefoil")
        self.path, self.short, self.answers = found[0], short, {}

    def run(self, *arguments):
        result = subprocess.run([self.path, *arguments], capture_output=True, text=True, timeout=3600, check=False)
        return result.returncode, result.stdout, result.stderr

    def ask(self, *arguments):
        """The JSON that the command prints."""
        if arguments not in self.answers:
            code, out, err = self.run(*arguments)
            if code != 0:
                raise ToolError(f"trefoil {' '.join(arguments)}: {err.strip()}")
            self.answers[arguments] = json.loads(out)
        return self.answers[arguments]

    @contextlib.contextmanager
    def file_of(self, schedules):
        """The name of a file that has them, as long as the context lasts."""
        with tempfile.NamedTemporaryFile("w", prefix="trefoil-papers-", suffix=".json") as file:
            file.writelines(json.dumps(schedule) + "\n" for schedule in schedules)
            file.flush()
            yield file.name

    def refusal(self, collective, schedules):
        """What the verifier says against them; nothing where it accepts them."""
        with self.file_of(schedules) as name:
            code, _, err = self.run("plan", collective, "--schedule", name, "--summary")
        words = err.partition("the verifier says: ")[2].strip()
        if (code, bool(words)) not in ((0, False), (2, True)):
            raise ToolError(f"trefoil plan {collective} --schedule: exit code {code}: {err.strip()}")
        return words

    def proved(self, collective, schedules):
        """The summary of schedules that it proves first."""
        with self.file_of(schedules) as name:
            code, out, err = self.run("plan", collective, "--schedule", name, "--summary", "--json")
        if code != 0:
            raise ToolError(f"trefoil plan {collective} --schedule: {err.strip()}")
        found = json.loads(out)
        assert found["verified"]
        return found

    def times_of(self, collective, schedules, sizes, *options):
        """Of schedules of one's own, by bytes."""
        with self.file_of(schedules) as name:
            code, out, err = self.run("sim", collective, "--schedule", name, "--sizes", ",".join(map(str, sizes)), "--model", "step",
                                      "--json", *options)
        if code != 0:
            raise ToolError(f"trefoil sim {collective} --schedule: {err.strip()}")
        return {run["bytes"]: run["seconds"] for run in json.loads(out)["runs"]}

    def only_long(self):
        if self.short:
            raise TooLong

    def guard(self, torus):
        if self.short and ranks_of(torus) > MOST_RANKS:
            raise TooLong

    def times(self, torus, algorithms, sizes, *options, collective="allreduce", model="step"):
        """{(algorithm, bytes): seconds}"""
        self.guard(torus)
        if model == "flow" and ranks_of(torus) > 64:
            self.only_long()
        answer = self.ask("sim", collective, "--torus", torus, "--algorithm", ",".join(algorithms), "--sizes",
                          ",".join(str(size) for size in sizes), "--model", model, "--json", *options)
        return {(run["algorithm"], run["bytes"]): run["seconds"] for run in answer["runs"]}

    def load(self, torus, algorithm, *options, collective="allreduce"):
        """The vectors that cross the busiest link, summed over the steps."""
        gigabyte = 10**9
        free = ("--alpha", "0", "--hop", "0", "--rate", "8Gbit")
        return self.times(torus, [algorithm], [gigabyte], *free, *options, collective=collective)[algorithm, gigabyte]

    def summary(self, collective, torus, algorithm):
        self.guard(torus)
        # The proof of larger tori takes minutes; the tests have smaller ones of the same builders.
        unproved = ["--no-verify"] if ranks_of(torus) > MOST_RANKS else []
        return self.ask("plan", collective, "--algorithm", algorithm, "--torus", torus, "--summary", "--json", *unproved)
