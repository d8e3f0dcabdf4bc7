# SPDX-License-Identifier: BSD-3-Clause
"""`trefoil traffic`: counts against those from the exported schedules alone, orders of hosts, refusals; and all
reductions of Fig. 5 of the Bine paper, from its authors' public job allocations (bine_jobs.json)."""

import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

PAIR = "recursive-doubling-b:single-port,bine-large:single-port"
failures = []


def expect(holds, text):
    if not holds:
        failures.append(text)


def run(tool, *arguments):
    return subprocess.run([tool, *arguments], capture_output=True, text=True, timeout=1200, check=False)


def rows(tool, *arguments):
    result = run(tool, "traffic", *arguments, "--json")
    expect(result.returncode == 0, f"{arguments}: {result.stderr}")
    return json.loads(result.stdout) if result.returncode == 0 else []


def counted(tool, collective, algorithm, torus, group_of):
    """What crosses, in vectors, from the exported schedules and nothing else."""
    text = run(tool, "plan", collective, "--algorithm", algorithm, "--torus", torus, "--all-ranks", "--json").stdout
    crossing = 0.0
    for line in text.splitlines():
        schedule = json.loads(line)
        for part in schedule["parts"]:
            blocks = part["vector_blocks"] / (2 if collective == "alltoall" else 1)
            for step in part["steps"]:
                for send in step["sends"]:
                    if group_of[schedule["rank"]] != group_of[send["peer"]]:
                        count = sum(extent[1] for extent in send["extents"])
                        crossing += count / blocks / len(schedule["parts"])
    return crossing


def check_counts(tool):
    cases = (
        ("allreduce", "trivance-b", "3x3", "a*4,b*3,a*2"),
        ("allreduce", "ring:single-port", "12", "a*5,b*7"),
        ("reduce_scatter", "swing", "4x4", "a*3,b*6,c*7"),
        ("allgather", "bucket", "2x3", "a,b,a,b,a,b"),
        ("alltoall", "bruck", "9", "a*3,b*3,c*3"),
        ("bcast", "binomial-dd", "8", "a*2,b*2,c*2,d*2"),
    )
    for collective, algorithm, torus, groups in cases:
        group_of = [g for run in groups.split(",") for g in [run.split("*")[0]] * int((run.split("*") + [1])[1])]
        (row,) = rows(tool, collective, "-a", algorithm, "-t", torus, "--groups", groups)
        wanted = counted(tool, collective, algorithm, torus, group_of)
        expect(math.isclose(row["crossing"], wanted), f"{collective} {algorithm}: {row['crossing']}, not {wanted}")
        expect(0 < row["crossing"] <= row["sent"], f"{collective} {algorithm}: {row}")


def check_orders(tool):
    ring = ("allreduce", "-a", "ring:single-port", "-t", "8")
    # A ring crosses wherever neighbours are in different groups: eight times, or twice when they are aligned.
    given, aligned, least = rows(tool, *ring, "--groups", "a,b,a,b,a,b,a,b", "--order", "given,aligned,least")
    expect(math.isclose(given["crossing"], 4 * aligned["crossing"]), f"{given} {aligned}")
    expect(least["crossing"] == aligned["crossing"] and least["order"] == "aligned", f"{least}")
    one, rotated = rows(tool, "allreduce", "-a", "recursive-doubling-b:single-port", "--groups", "a*3,b*4,a", "--order", "given,rotated")
    expect(rotated["crossing"] < one["crossing"], f"rotation does not help: {one} {rotated}")
    expect(rotated["order"].startswith("given, rotated by "), f"{rotated}")
    boxes = rows(tool, "allreduce", "-a", "bucket", "-t", "4x4", "--boxes", "2x4")
    halves = rows(tool, "allreduce", "-a", "bucket", "-t", "4x4", "--group-size", "8")
    expect(boxes[0]["crossing"] == halves[0]["crossing"] and boxes[0]["groups"] == 2, f"{boxes} {halves}")
    uneven = rows(tool, "allreduce", "-a", "bucket", "-t", "4x4", "--group-size", "6")
    expect(uneven[0]["groups"] == 3, f"16 hosts in groups of 6: {uneven}")
    sized = rows(tool, "allreduce", "-a", "bucket", "-t", "4x4", "--group-size", "8", "--bytes", "1K")
    expect(math.isclose(sized[0]["crossing_bytes"], 1024 * halves[0]["crossing"]), f"{sized}")


def check_files(tool, folder):
    hosts = folder / "hosts"
    hosts.write_text("# the job's hosts\nn1 left\nn2 left\nn7 right\nn8 right\n", encoding="utf-8")
    by_file = rows(tool, "allreduce", "-a", "ring", "--hosts", str(hosts))
    by_text = rows(tool, "allreduce", "-a", "ring", "--groups", "x*2,y*2")
    expect(by_file[0]["crossing"] == by_text[0]["crossing"], f"{by_file} {by_text}")
    bad = folder / "bad"
    cases = (
        ("n1 left\nn2\n", "--hosts", "line 2: the group of host n2 is unknown"),
        ("n1 left\nn1 right\n", "--hosts", "host n1 is in group right here and in left before"),
        ("# none\n", "--hosts", "has no hosts"),
        ("one a*2\n", "--allocations", "line 1: no ':'"),
        ("one: a*2\ntwo: a*x\n", "--allocations", "line 2: 'a*x' is not a run of hosts"),
    )
    for text, option, wanted in cases:
        bad.write_text(text, encoding="utf-8")
        refused(tool, wanted, "allreduce", "-a", "ring", option, str(bad))


def refused(tool, wanted, *arguments):
    result = run(tool, "traffic", *arguments)
    expect(result.returncode == 2 and wanted in result.stderr, f"{arguments}: {result.returncode}, {result.stderr}")


def check_refusals(tool):
    refused(tool, "has 5 hosts, but the torus 3x3 has 9 ranks", "allreduce", "-a", "ring", "-t", "3x3", "--groups", "a*2,b*3")
    refused(tool, "do not fill the torus 4x4", "allreduce", "-a", "ring", "-t", "4x4", "--boxes", "3x4")
    refused(tool, "add --torus", "allreduce", "-a", "ring", "--group-size", "4")
    refused(tool, "say once", "allreduce", "-a", "ring", "-t", "4x4", "--boxes", "2x2", "--group-size", "4")
    refused(tool, "say once", "allreduce", "-a", "ring")
    refused(tool, "0' is not a run of hosts", "allreduce", "-a", "ring", "--groups", "a*0")
    refused(tool, "no order 'best'", "allreduce", "-a", "ring", "--groups", "a*2,b*2", "--order", "best")
    refused(tool, "rong", "allreduce", "-a", "rong", "--groups", "a*2,b*2")
    refused(tool, "moves no data", "barrier", "-a", "dissemination", "--groups", "a*2,b*2")
    refused(tool, "cannot read", "allreduce", "-a", "ring", "--hosts", "/nowhere/hosts")


def truncated(reduction):
    return math.trunc(round(reduction * 1e4, 6)) / 100


def check_jobs(tool, folder):
    """Published: 100 (1 - Bine / binomial), truncated to 0.01."""
    data = json.loads(pathlib.Path(__file__).with_name("bine_jobs.json").read_text(encoding="utf-8"))
    exact = 0
    medians = {}
    for machine in ("leonardo", "lumi"):
        jobs = data[machine]
        file = folder / machine
        file.write_text("".join(f"{i}: " + ",".join(f"{g}*{n}" for g, n in zip(runs[::2], runs[1::2])) + "\n"
                                for i, (_, runs) in enumerate(jobs)), encoding="utf-8")
        found = rows(tool, "allreduce", "-a", PAIR, "--allocations", str(file))[1::2]
        expect(len(found) == len(jobs), f"{machine}: {len(found)} of {len(jobs)} jobs")
        by_hosts = {}
        for (published, runs), row in zip(jobs, found):
            ours = truncated(row["less"] or 0)
            exact += abs(ours - published) < 1e-9
            expect(abs(ours - published) < 1e-9, f"{machine}, {runs}: {ours}, published {published}")
            by_hosts.setdefault(row["hosts"], []).append(ours)
        medians[machine] = {hosts: round(statistics.median(of), 1) for hosts, of in sorted(by_hosts.items())}
    print(f"{exact} reductions agree with Fig. 5; medians by hosts: {medians}")
    expect(exact == 3030, f"{exact} of 3030 reductions agree")


def main(tool):
    with tempfile.TemporaryDirectory(prefix="trefoil-traffic-") as name:
        folder = pathlib.Path(name)
        check_counts(tool)
        check_orders(tool)
        check_files(tool, folder)
        check_refusals(tool)
        check_jobs(tool, folder)
    for failure in failures[:20]:
        print("FAILED:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
