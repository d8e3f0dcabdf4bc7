#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs schedules that Trefoil did not make, as users would: edited by hand, from the example in Python, random trees.
And shows that wrong ones are refused before a rank starts, and that the published schema says what the reader says.

Usage: user_schedules.py TREFOIL EXAMPLE SCHEMA [--transport "NAME"]...
"""
import argparse
import copy
import importlib.util
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from matrix import TRANSPORTS

try:
    import jsonschema
except ImportError:
    jsonschema = None

TORUS, RANKS = "3x3", 9
SEED = 20


def tree_bcast(root, seed):
    """A bcast along a random spanning tree of all ranks: in each step every rank that has the vector may pass it on."""
    chance = random.Random(seed)
    reached, missing = [root], [r for r in range(RANKS) if r != root]
    rounds = []
    while missing:
        pairs = []
        for parent in list(reached):
            if missing and chance.random() < 0.7:
                child = missing.pop(chance.randrange(len(missing)))
                pairs.append((parent, child))
                reached.append(child)
        rounds.append(pairs)
    schedules = []
    for rank in range(RANKS):
        steps = []
        for pairs in rounds:
            steps.append({
                "sends": [{"peer": c, "extents": [[0, 1]]} for p, c in pairs if p == rank],
                "receives": [{"peer": p, "applications": [{"action": "replace", "extents": [[0, 1]]}]}
                             for p, c in pairs if c == rank],
            })
        schedules.append({"collective": "bcast", "torus": TORUS, "rank": rank, "root": root,
                          "parts": [{"vector_blocks": 1, "steps": steps}]})
    return schedules


def swapped(schedules, one, other):
    """Two ranks change places in everything; ports are left to the torus."""
    name = {one: other, other: one}
    result = copy.deepcopy(schedules)
    for schedule in result:
        schedule["rank"] = name.get(schedule["rank"], schedule["rank"])
        for part in schedule["parts"]:
            for step in part["steps"]:
                for message in itertools.chain(step["sends"], step["receives"]):
                    message["peer"] = name.get(message["peer"], message["peer"])
                    message.pop("port", None)
    return result


class Tool:
    def __init__(self, path, folder):
        self.path, self.folder = path, pathlib.Path(folder)

    def run(self, *arguments, variables=None):
        return subprocess.run([self.path, *arguments], capture_output=True, text=True, timeout=300, check=False,
                              env={**os.environ, **(variables or {})})

    def export(self, collective, algorithm, *more):
        done = self.run("plan", collective, "--algorithm", algorithm, "--torus", TORUS, "--all-ranks", "--json", *more)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def perf(self, collective, schedules, transport):
        file = self.folder / "schedule.json"
        file.write_text(json.dumps(schedules), encoding="utf-8")
        out = self.folder / "out.json"
        arguments, variables = TRANSPORTS[transport]
        done = self.run("perf", collective, "--schedule", str(file), *arguments, "-c", "--iters", "1", "-w", "0",
                        "--counts", "0,1,7,1000,64Ki", "-d", "float,int32", "--json-file", str(out), variables=variables)
        return done, out


def check_right(tool, transport, name, collective, schedules):
    done, out = tool.perf(collective, schedules, transport)
    assert done.returncode == 0, f"{name} over {transport}: {done.stderr}"
    rows = json.loads(out.read_text(encoding="utf-8"))["runs"]
    places = 1 if collective == "bcast" else 2
    assert len(rows) == 2 * 5 * places, f"{name} over {transport}: {len(rows)} measurements"
    for row in rows:
        assert row["wrong"] == 0 and row["algorithm"].startswith("schedule-"), row
    print(f"{transport:<20} {name:<28} {len(rows)} measurements, 0 wrong")


def check_refused(tool, name, schedules, reason, *more):
    file = tool.folder / "wrong.json"
    file.write_text(json.dumps(schedules), encoding="utf-8")
    for command in (["perf", "allreduce", "-c"], ["plan", "allreduce", "--summary"]):
        done = tool.run(*command, "--schedule", str(file), *more)
        assert done.returncode == 2, f"{name}: {done.returncode} {done.stdout} {done.stderr}"
        assert reason in done.stderr, f"{name}: expected {reason!r}, got {done.stderr!r}"
    print(f"{'refused':<20} {name:<28} {reason}")


def edited(schedules, edit):
    result = copy.deepcopy(schedules)
    edit(result)
    return result


def check_schema(schema, good, bad):
    if jsonschema is None:
        print("jsonschema is not installed (Debian: python3-jsonschema): the schema was not checked")
        return
    validator = jsonschema.Draft7Validator(schema)
    for schedules in good:
        for one in schedules:
            validator.validate(one)
    for schedules in bad:
        assert any(not validator.is_valid(one) for one in schedules), "the schema takes what the reader refuses"
    print(f"schema: takes {sum(map(len, good))} schedules, refuses {len(bad)} mistakes of form")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tool")
    parser.add_argument("example")
    parser.add_argument("schema")
    parser.add_argument("--transport", action="append", choices=list(TRANSPORTS))
    options = parser.parse_args()
    spec = importlib.util.spec_from_file_location("example", options.example)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    with tempfile.TemporaryDirectory() as folder:
        tool = Tool(options.tool, folder)
        ring = tool.export("allreduce", "ring")
        from_python = example.ring_schedule(TORUS, [0, 1, 2, 5, 4, 3, 6, 7, 8])
        right = [
            ("ring, ranks 2 and 5 swapped", "allreduce", swapped(ring, 2, 5)),
            ("ring of the Python example", "allreduce", from_python),
            *((f"random tree from rank {root}", "bcast", tree_bcast(root, SEED + root)) for root in (0, 4, 7)),
        ]
        for transport in options.transport or ["memory, processes"]:
            for name, collective, schedules in right:
                check_right(tool, transport, name, collective, schedules)

        def step(s):
            return s[3]["parts"][0]["steps"][2]

        def lose(s):
            step(s)["receives"][0]["applications"][0]["action"] = "replace"

        check_refused(tool, "a lost contribution", edited(from_python, lose), "holds 8 of 9 contributions")
        check_refused(tool, "a wrong size", edited(from_python, lambda s: step(s)["sends"][0].update(extents=[[0, 2]])),
                      "has 2 blocks but is applied to 1")
        check_refused(tool, "a deadlock", edited(from_python, lambda s: step(s)["sends"].clear()),
                      "has no matching send in this step")
        unknown = edited(from_python, lambda s: step(s).update(colour="blue"))
        check_refused(tool, "an unknown field", unknown, 'there is no field "colour"')
        check_refused(tool, "another torus", from_python, "was made for the torus 3x3", "--torus", "9")
        typed = edited(from_python, lambda s: step(s)["sends"][0].update(peer="4"))
        check_refused(tool, "a text for a number", typed, '"peer" is "4", not a whole number')
        missing = edited(from_python, lambda s: s[3].pop("parts"))
        check_refused(tool, "a missing field", missing, '"parts" is missing')
        schema = json.loads(pathlib.Path(options.schema).read_text(encoding="utf-8"))
        exported = [tool.export(c, a) for c, a in (("allreduce", "single-copy"), ("allgather", "swing"), ("alltoall", "direct"),
                                                   ("allreduce", "trivance-l"), ("barrier", "dissemination"))]
        check_schema(schema, [s for _, _, s in right] + exported, [unknown, typed, missing])
    return 0


if __name__ == "__main__":
    sys.exit(main())
