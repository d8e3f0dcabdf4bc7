# SPDX-License-Identifier: BSD-3-Clause
"""Checks what `trefoil plan --circuits --json` exports, from the schedules and the circuits alone: ports are used once,
circuits stay in their rows, every message has a way of as many hops as is said, the busiest circuit has the load that
is said, and a change is said exactly where circuits differ."""

import json
import math
import subprocess
import sys

from torus import Torus

# collective, algorithm, torus, options. Sizes and times are such that some circuits change.
CASES = (
    ("reduce_scatter", "swing", "16", ()),
    ("reduce_scatter", "swing", "8x8", ()),
    ("allgather", "swing", "4x8", ("--paired",)),
    ("reduce_scatter", "recursive-halving:single-port", "32", ()),
    ("allreduce", "recursive-doubling-b:single-port", "16", ("--tie", "one")),
    ("allreduce", "recursive-doubling-b", "16", ("--tie", "one", "--paired")),
    ("reduce_scatter", "recursive-halving:single-port", "32", ("--reconfigurable", "3us")),
    ("allreduce", "trivance-b", "27", ("--end-wiring", "ring")),
    ("allreduce", "trivance-b", "16", ("--start-wiring", "any")),
    ("allreduce", "trivance-l", "20", ()),
    ("reduce_scatter", "trivance", "3x3x3", ("--switched", "0,2")),
    ("allgather", "bine-dh", "32", ()),
    ("reduce_scatter", "swing", "17", ()),
    ("reduce_scatter", "recursive-halving:single-port", "3x5", ()),
    ("bcast", "binomial-dd", "16", ()),
    ("alltoall", "bruck", "9", ()),
)


class SwitchedTorus(Torus):
    def legs(self, start, end):
        """(dimension, from, to) for each dimension in which the two differ, ascending."""
        here, target = self.coordinates(start), self.coordinates(end)
        for j, wanted in enumerate(target):
            if here[j] != wanted:
                there = here[:j] + [wanted] + here[j + 1 :]
                yield j, self.rank(here), self.rank(there)
                here = there


def run(tool, *arguments):
    done = subprocess.run([tool, "plan", *arguments, "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(arguments)}: exit code {done.returncode}: {done.stderr}")
    return done.stdout


def messages_by_step(tool, collective, algorithm, torus):
    """By step number: (from, to, port, share of the vector)."""
    steps = {}
    lines = run(tool, collective, "-a", algorithm, "-t", torus, "--all-ranks").splitlines()
    for schedule in map(json.loads, lines):
        parts = schedule["parts"]
        for part in parts:
            blocks = part["vector_blocks"] / (2 if collective == "alltoall" else 1)
            for number, step in enumerate(part["steps"]):
                for send in step["sends"]:
                    share = sum(count for _, count in send["extents"]) / blocks / len(parts)
                    steps.setdefault(number, []).append((schedule["rank"], send["peer"], send["port"], share))
    return steps, json.loads(lines[0])["steered"]


def distances(to, into):
    """Hops to `to` from every rank that reaches it; into[r]: the ranks with a circuit to r."""
    known, edge = {to: 0}, [to]
    while edge:
        reached = []
        for at in edge:
            for before in into.get(at, ()):
                if before not in known:
                    known[before] = known[at] + 1
                    reached.append(before)
        edge = reached
    return known


class Wires:
    """The circuits of one dimension."""

    def __init__(self, circuits):
        self.parallel, self.into, self.leaving = {}, {}, {}
        for circuit in circuits:
            ends = circuit["from"], circuit["to"]
            if ends not in self.parallel:
                self.into.setdefault(ends[1], []).append(ends[0])
                self.leaving.setdefault(ends[0], []).append(ends[1])
            self.parallel[ends] = self.parallel.get(ends, 0) + 1
        # The port by which a circuit leaves, to tell which way "one way" is.
        self.ports = {(c["from"], c["to"], c["out"]) for c in circuits}
        self.load, self.single = {}, {}
        self.known = {}

    def carry(self, start, end, share, one_way, port):
        far = self.known.setdefault(end, distances(end, self.into)) if end not in self.known else self.known[end]
        if start not in far:
            return None
        waiting = {start: share}
        first = True
        for hops in range(far[start], 0, -1):
            following = {}
            for at, bytes_here in waiting.items():
                ways = [peer for peer in self.leaving[at] if far.get(peer) == hops - 1]
                if first and one_way and len(ways) > 1:
                    ways = [peer for peer in ways if (at, peer, port) in self.ports][:1] or ways[:1]
                for peer in ways:
                    part = bytes_here / len(ways)
                    following[peer] = following.get(peer, 0) + part
                    self.load[at, peer] = self.load.get((at, peer), 0) + part
            waiting, first = following, False
        return far[start]

    def busiest(self, one_way, sent):
        if one_way:
            # Parallel circuits: each message takes the one of its port.
            by_port = {}
            for start, end, port, share in sent:
                if self.parallel.get((start, end), 0) > 1:
                    by_port[start, end, port] = by_port.get((start, end, port), 0) + share
                    self.load[start, end] = 0
            most = max(by_port.values(), default=0)
        else:
            most = 0
        return max([most, *(load / self.parallel[ends] for ends, load in self.load.items())], default=0)


def check_step(step, sent, torus, steered, one_way):
    outs = {(c["from"], c["out"]) for c in step["circuits"]}
    ins = {(c["to"], c["in"]) for c in step["circuits"]}
    if len(outs) != len(step["circuits"]) or len(ins) != len(step["circuits"]):
        return "a port is used twice"
    wires = []
    for j in range(len(torus.sizes)):
        mine = [c for c in step["circuits"] if int(c["out"][1:]) == j]
        for c in mine:
            away = [i for i, _, _ in torus.legs(c["from"], c["to"])]
            if away != [j] or int(c["in"][1:]) != j:
                return f"{c} leaves its row"
        wires.append(Wires(mine))
    farthest = 0
    along = [[] for _ in torus.sizes]
    for start, end, port, share in sent:
        hops = 0
        for j, here, there in torus.legs(start, end):
            own = int(port[1:]) == j
            way = port if own else f"+{j}"
            along[j].append((here, there, way, share))
            one = wires[j].carry(here, there, share, one_way or (steered and own), way)
            if one is None:
                return f"there is no way from {here} to {there}"
            hops += one
        farthest = max(farthest, hops)
    if farthest != step["hops"]:
        return f"{step['hops']} hops are said, {farthest} are needed"
    load = max(w.busiest(one_way or steered, sent_along) for w, sent_along in zip(wires, along))
    if not math.isclose(load, step["load"], rel_tol=1e-9, abs_tol=1e-12):
        return f"a load of {step['load']} is said, {load} comes about"
    return None


def torus_itself(torus):
    ends = []
    for rank in range(torus.ranks):
        at = torus.coordinates(rank)
        for j, size in enumerate(torus.sizes):
            for by in (1, -1) if size > 1 else ():
                ends.append((rank, torus.rank(at[:j] + [(at[j] + by) % size] + at[j + 1 :])))
    return sorted(ends)


def check(tool, collective, algorithm, name, options):
    torus = SwitchedTorus(name)
    sent, steered = messages_by_step(tool, collective, algorithm, name)
    if "--reconfigurable" not in options:
        options = (*options, "--reconfigurable", "300ns")
    wrong = []
    for circuits in ("own", "shifted"):
        arguments = (collective, "-a", algorithm, "-t", name, "--circuits", circuits, "--bytes", "64K", *options)
        try:
            plan = json.loads(run(tool, *arguments))
        except RuntimeError as error:
            refused = "exit code 2" in str(error) and ": step " in str(error)
            if circuits == "own" and refused:
                print(f"refused: {str(error).strip()}")
                continue
            raise
        steps = plan["steps"]
        if not plan["proved"] or not plan["schedules_proved"]:
            wrong.append(f"{arguments}: not proved")
        if [s["step"] for s in steps] != sorted(sent):
            wrong.append(f"{arguments}: other steps than those in which anybody sends")
        stands = torus_itself(torus)
        seconds, changes = 0, 0
        for index, step in enumerate(steps):
            why = check_step(step, sent[step["step"]], torus, steered, "one" in options)
            if why:
                wrong.append(f"{arguments}, step {step['step']}: {why}")
            ends = sorted((c["from"], c["to"]) for c in step["circuits"])
            free = index == 0 and "any" in options
            if step["changed"] != (ends != stands and not free):
                wrong.append(f"{arguments}, step {step['step']}: changed is {step['changed']}")
            stands = ends
            changes += step["changed"]
            own = plan["alpha"] + step["hops"] * plan["hop"] + step["load"] * plan["bytes"] / plan["rate"]
            if not math.isclose(own, step["seconds"], rel_tol=1e-9):
                wrong.append(f"{arguments}, step {step['step']}: {step['seconds']} s, not {own} s")
            seconds += own
        if "ring" in options and stands != torus_itself(torus):
            changes += 1
        seconds += changes * plan["reconfigurable"]
        if changes != plan["changes"] or not math.isclose(seconds, plan["seconds"], rel_tol=1e-9):
            wrong.append(f"{arguments}: {plan['changes']} changes, {plan['seconds']} s; not {changes}, {seconds} s")
    return wrong


def main():
    tool = sys.argv[1]
    wrong = [why for case in CASES for why in check(tool, *case)]
    for why in wrong:
        print(why)
    print(f"{len(CASES)} schedules, {len(wrong)} finding(s)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
