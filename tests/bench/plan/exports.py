# SPDX-License-Identifier: BSD-3-Clause
"""`trefoil plan --export`: the texts are read here, by rules of their own, and compared with the schedules as JSON.

GOAL: each send finds its receive, sizes are those of the messages, and the longest chain of messages is as long as the flow
model says when a message takes a second and bytes take none. dot: an edge for each message; Graphviz reads it if it is there."""

import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CASES = (
    ("allreduce", "ring", "5"),
    ("allreduce", "swing-b", "4x4"),
    ("allreduce", "trivance-b", "3x3"),
    ("allreduce", "trivance-l", "2x3"),
    ("allreduce", "bucket", "2x2x2"),
    ("reduce_scatter", "swing", "8"),
    ("allgather", "bine", "16"),
    ("alltoall", "bruck", "3x3"),
    ("bcast", "bine-dd", "4x4"),
    ("gather", "binomial-dh", "9"),
    ("barrier", "dissemination", "5"),
)
BYTES = 1 << 20

failures = []


def expect(holds, text):
    if not holds:
        failures.append(text)


def run(tool, *words):
    return subprocess.run([tool, *words], capture_output=True, text=True, timeout=120, check=False)


def messages_of(tool, case):
    """(from, to, bytes) of every message, from the schedules as JSON."""
    collective, algorithm, torus = case
    text = run(tool, "plan", collective, "-a", algorithm, "-t", torus, "--all-ranks", "--json").stdout
    found = []
    for line in text.splitlines():
        rank = json.loads(line)
        for part in rank["parts"]:
            blocks = part["vector_blocks"] // (2 if collective == "alltoall" else 1)
            share = BYTES / len(rank["parts"]) / blocks
            for step in part["steps"]:
                for send in step["sends"]:
                    size = share * sum(count for _, count in send["extents"])
                    found.append((rank["rank"], send["peer"], size))
    return found


def read_goal(text):
    """By rank: operations by label, and what each of them requires."""
    lines = [line for line in text.splitlines() if line]
    count = int(re.fullmatch(r"num_ranks (\d+)", lines[0])[1])
    ranks, here = {}, None
    for line in lines[1:]:
        if match := re.fullmatch(r"rank (\d+) \{", line):
            here = ranks.setdefault(int(match[1]), ({}, collections.defaultdict(list)))
        elif match := re.fullmatch(r"(\w+): (send|recv) (\d+)b (?:to|from) (\d+) tag (\d+)", line):
            assert match[1] not in here[0], f"{match[1]} is there twice"
            here[0][match[1]] = (match[2], int(match[3]), int(match[4]), int(match[5]))
        elif match := re.fullmatch(r"(\w+): calc 0", line):
            here[0][match[1]] = ("calc", 0, -1, 0)
        elif match := re.fullmatch(r"(\w+) requires (\w+)", line):
            assert match[1] in here[0] and match[2] in here[0], f"{line}: no such label yet"
            here[1][match[1]].append(match[2])
        else:
            assert line == "}", line
    assert len(ranks) == count
    return ranks


def longest_chain(ranks):
    """Messages one after the other: a receive is over when its send is, one message later."""
    queues = collections.defaultdict(collections.deque)
    for rank, (operations, _) in ranks.items():
        for label, (kind, _, peer, tag) in operations.items():
            if kind == "send":
                queues[rank, peer, tag].append((rank, label))
    sent_by = {}
    for rank, (operations, _) in ranks.items():
        for label, (kind, size, peer, tag) in operations.items():
            if kind == "recv":
                sender = queues[peer, rank, tag].popleft()
                expect(ranks[sender[0]][0][sender[1]][1] == size, f"{label} of rank {rank} and its send differ in size")
                sent_by[rank, label] = sender
    expect(not any(queues.values()), "sends without receives")
    depth = {}

    def of(place):
        open_places = [place]
        while open_places:
            rank, label = open_places[-1]
            needs = [(rank, other) for other in ranks[rank][1][label]]
            needs += [sent_by[rank, label]] if (rank, label) in sent_by else []
            missing = [need for need in needs if need not in depth]
            if missing:
                assert len(open_places) < 10**5, "operations wait for each other"
                open_places += missing
                continue
            depth[open_places.pop()] = max((depth[need] for need in needs), default=0) + ((rank, label) in sent_by)
        return depth[place]

    return max((of((rank, label)) for rank, (operations, _) in ranks.items() for label in operations), default=0)


def check_tags(ranks, case):
    """Messages of different parts or steps have different tags."""
    for rank, (operations, _) in ranks.items():
        places = collections.defaultdict(set)
        for label, (kind, _, peer, tag) in operations.items():
            if kind != "calc":
                places[kind, peer, tag].add(re.match(r"p\d+s\d+", label)[0])
        for (kind, peer, tag), found in places.items():
            expect(len(found) == 1, f"{case}: tag {tag} of {kind} between {rank} and {peer} is that of {sorted(found)}")


def check_goal(tool, case, folder):
    collective, algorithm, torus = case
    file = folder / "a.goal"
    done = run(tool, "plan", collective, "-a", algorithm, "-t", torus, "--bytes", str(BYTES), "--export", "goal", str(file))
    expect(done.returncode == 0, f"{case}: {done.stderr}")
    ranks = read_goal(file.read_text(encoding="utf-8"))
    check_tags(ranks, case)
    mine = sorted((rank, peer, size) for rank, (operations, _) in ranks.items()
                  for kind, size, peer, _ in operations.values() if kind == "send")
    planned = sorted((a, b, max(1, int(size + 0.5))) for a, b, size in messages_of(tool, case))
    expect(mine == planned, f"{case}: the messages differ: {len(mine)}, {len(planned)}")
    sim = run(tool, "sim", collective, "-a", algorithm, "-t", torus, "--sizes", "0", "--alpha", "1s", "--hop", "0", "--json")
    expected = json.loads(sim.stdout)["runs"][0]["seconds"]
    chain = longest_chain(ranks)
    expect(chain == round(expected), f"{case}: the longest chain has {chain} messages, the model says {expected}")


def check_dot(tool, case, folder):
    collective, algorithm, torus = case
    file = folder / "a.dot"
    done = run(tool, "plan", collective, "-a", algorithm, "-t", torus, "--export", "dot", str(file))
    expect(done.returncode == 0, f"{case}: {done.stderr}")
    text = file.read_text(encoding="utf-8")
    edges = re.findall(r"r(\d+)s(\d+) -> r(\d+)s(\d+) \[label=", text)
    expect(all(int(later) == int(step) + 1 for _, step, _, later in edges), f"{case}: an edge skips a step")
    pairs = sorted((int(a), int(b)) for a, _, b, _ in edges)
    expect(pairs == sorted((a, b) for a, b, _ in messages_of(tool, case)), f"{case}: the edges are not the messages")
    if shutil.which("dot"):
        done = subprocess.run(["dot", "-Tcanon", str(file)], capture_output=True, text=True, timeout=120, check=False)
        expect(done.returncode == 0, f"{case}: Graphviz: {done.stderr}")


def check_refusals(tool, folder):
    known = ("plan", "allreduce", "-a", "ring", "-t", "5")
    file = str(folder / "x")
    for words, text in (
        ((*known, "--export", "gaol", file), "no form \"gaol\""),
        ((*known, "--export", "goal", str(folder / "none" / "x")), "not the name of a file"),
        ((*known, "--export", "goal", str(folder)), "not the name of a file"),
        ((*known, "--summary", "--export", "goal", file), "leave --summary"),
        (("plan", "allreduce", "-a", "ring", "-t", "64x64", "--export", "goal", file), "MiB or so"),
        (("plan", "allreduce", "-a", "ring", "-t", "64x64", "--export", "dot", file), "the limit is 64 MiB"),
        (("plan", "allreduce", "-a", "single-copy", "-t", "5", "--export", "goal", file), "reads the memory"),
    ):
        done = run(tool, *words)
        expect(done.returncode == 2 and text in done.stderr, f"{words}: {done.returncode}, {done.stderr}")
        expect(not list(folder.iterdir()), f"{words}: something was written")


def main(tool):
    with tempfile.TemporaryDirectory(prefix="trefoil-exports-") as name:
        folder = pathlib.Path(name)
        check_refusals(tool, folder)
        for case in CASES:
            check_goal(tool, case, folder)
            check_dot(tool, case, folder)
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
