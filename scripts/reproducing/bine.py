# SPDX-License-Identifier: BSD-3-Clause
"""Bine trees: figures 1, 5, 14 and 16, tables 3 to 5."""
import functools
import json
import math
import pathlib
import statistics
import tempfile

from . import ROOT, size_text
from .patterns import crossing, growing_allgather
from .plots import Figure, Panel
from .tool import ToolError

JOBS = ROOT / "tests/bench/traffic/bine_jobs.json"
PAIR = ("recursive-doubling-b:single-port", "bine-large:single-port")
MACHINES = {"leonardo": "Leonardo", "lumi": "LUMI"}
MEDIANS = {"leonardo": {4: 0, 8: 0, 16: 0, 32: 13.0, 64: 15.8, 128: 16.0, 256: 22.2},
           "lumi": {4: 0, 8: 0, 16: 0, 32: 4.4, 64: 9.0, 128: 16.3, 256: 18.8, 512: 18.2, 1024: 18.4, 2048: 22.1}}
PUBLISHED = {"allreduce": ("11/20", "19/26"), "allgather": ("11/20", "19/26"), "reduce_scatter": ("11/20", "17/23"),
             "alltoall": ("15/20", "15/15"), "bcast": ("88/94", "89/92"), "gather": ("9/25", "12/20"), "scatter": ("9/25", "12/20")}
PAIRS = {"allreduce": PAIR, "allgather": ("recursive-doubling:single-port", "bine:single-port"),
         "reduce_scatter": ("recursive-halving:single-port", "bine:single-port"), "alltoall": ("bruck", "bine:single-port"),
         "gather": ("binomial-dh:single-port", "bine-dh:single-port"), "scatter": ("binomial-dh:single-port", "bine-dh:single-port"),
         "bcast": ("binomial-dh:single-port", "bine-large:single-port")}
ORDERS = ("given", "rotated", "aligned", "least")


@functools.cache
def jobs():
    return json.loads(JOBS.read_text())


def hosts(runs):
    return sum(runs[1::2])


def groups_of(runs):
    return [group for group, count in zip(runs[::2], runs[1::2]) for _ in range(count)]


def groups_text(runs):
    return ",".join(f"{group}*{count}" for group, count in zip(runs[::2], runs[1::2]))


def allocations(every):
    """Lines for `trefoil traffic --allocations`."""
    return [f"{number}: {groups_text(runs)}\n" for number, runs in enumerate(every)]


def truncated(reduction):
    return math.trunc(round(reduction * 1e4, 6)) / 100


def count(tool, collective, algorithms, jobs_, orders=("given",)):
    """{(algorithm, order): vectors that cross, by job}"""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "jobs"
        path.write_text("".join(allocations(jobs_)))
        code, out, err = tool.run("traffic", collective, "-a", ",".join(algorithms), "--allocations", str(path), "--order",
                                  ",".join(orders), "--json")
    if code != 0:
        raise RuntimeError(err)
    rows = json.loads(out)
    every = len(algorithms) * len(orders)
    found = {}
    for number, row in enumerate(rows):
        key = algorithms[number % len(algorithms)], orders[number % every // len(algorithms)]
        found.setdefault(key, []).append(row["crossing"])
    return found


@functools.cache
def counted(tool, machine):
    """Of the jobs of Fig. 5, in all orders."""
    return count(tool, "allreduce", PAIR, [runs for _, runs in jobs()[machine]], ORDERS)


def less(before, after):
    return [1 - b / a if a > 0 else 0.0 for a, b in zip(before, after)]


def figure_5(page, machine):
    """Reductions by number of hosts."""
    found = counted(page.tool, machine)
    ours = [truncated(value) for value in less(found[PAIR[0], "given"], found[PAIR[1], "given"])]
    published = [reduction for reduction, _ in jobs()[machine]]
    page.equal(f"Bine, Fig. 5, {machine}", sum(abs(a - b) < 1e-9 for a, b in zip(ours, published)), len(published))
    by_hosts = {}
    for value, (_, runs) in zip(ours, jobs()[machine]):
        by_hosts.setdefault(hosts(runs), []).append(value)
    return dict(sorted(by_hosts.items()))


def figure_5_rows(page):
    for machine, name in MACHINES.items():
        for size, values in figure_5(page, machine).items():
            median = statistics.median(values)
            page.near(f"Bine, Fig. 5, {name}, {size} hosts", median, MEDIANS[machine][size], points=0)
            quarters = statistics.quantiles(values, n=4, method="inclusive")
            yield [name, size, len(values), f"{median:.1f}", f"{quarters[0]:.1f} to {quarters[2]:.1f}", f"{min(values):.1f}",
                   f"{max(values):.1f}", sum(value < 0 for value in values)]


def reductions(page, machine, collective):
    """Of the jobs of at least 16 hosts."""
    chosen = [runs for _, runs in jobs()[machine] if hosts(runs) >= 16]
    if collective == "bcast":
        found = count(page.tool, "bcast", ["bine-large:single-port"], chosen)["bine-large:single-port", "given"]
        scatter = count(page.tool, "scatter", ["binomial-dh:single-port"], chosen)["binomial-dh:single-port", "given"]
        steps = {size: growing_allgather(size) for size in {hosts(runs) for runs in chosen}}
        before = [first + crossing(steps[hosts(runs)], groups_of(runs)) for first, runs in zip(scatter, chosen)]
        return less(before, found)
    found = count(page.tool, collective, PAIRS[collective], chosen)
    return less(found[PAIRS[collective][0], "given"], found[PAIRS[collective][1], "given"])


def table_rows(page):
    for collective, published in PUBLISHED.items():
        row = [collective]
        for machine, said in zip(("lumi", "leonardo"), published):
            values = [100 * value for value in reductions(page, machine, collective)]
            row += [said, f"{round(statistics.mean(values))}/{round(max(values))}"]
        yield row


def known_allocations(page):
    """The two jobs of Leonardo behind maxima of Table 4."""
    large, small = jobs()["leonardo_tables"]
    found = count(page.tool, "allgather", PAIRS["allgather"], [large["runs"]])
    allgather = 100 * less(found[PAIRS["allgather"][0], "given"], found[PAIRS["allgather"][1], "given"])[0]
    page.near("Bine, Table 4, allgather, 2048 ranks", allgather, 26.5, points=0)
    runs = small["runs"]
    bine = count(page.tool, "bcast", ["bine-large:single-port"], [runs])["bine-large:single-port", "given"][0]
    scatter = count(page.tool, "scatter", ["binomial-dh:single-port"], [runs])["binomial-dh:single-port", "given"][0]
    bcast = 100 * (1 - bine / (scatter + crossing(growing_allgather(hosts(runs)), groups_of(runs))))
    page.near("Bine, Table 4, bcast, 256 ranks", bcast, 91.9, points=0)
    return f"{allgather:.1f}", f"{bcast:.1f}"


def leaves(page):
    """Fig. 1: bcast on 8 nodes, two below each leaf switch."""
    found = count(page.tool, "bcast", ["binomial-dd:single-port", "binomial-dh:single-port"], [[0, 2, 1, 2, 2, 2, 3, 2]])
    doubling, halving = (found[name, "given"][0] for name in ("binomial-dd:single-port", "binomial-dh:single-port"))
    return page.equal("Bine, Fig. 1, doubling", doubling, 6), page.equal("Bine, Fig. 1, halving", halving, 3)


def tree_rows(page):
    """Fig. 16: whom rank 0 of 4x4 reaches, in the order of the steps."""
    for name, algorithm, known in (("standard", "bine-dh:single-port", [11, 3, 15, 1]), ("torus", "bine-torus-dh", [3, 12, 1, 4])):
        code, out, _ = page.tool.run("plan", "bcast", "--algorithm", algorithm, "--torus", "4x4", "--rank", "0", "--json")
        steps = json.loads(out)["parts"][0]["steps"] if code == 0 else []
        peers = [send["peer"] for step in steps for send in step.get("sends", [])]
        page.equal(f"Bine, Fig. 16, {name}", peers, known)
        shown = [f"({peer // 4},{peer % 4})" for peer in peers] if name == "torus" else [str(p if p < 8 else p - 16) for p in peers]
        yield [name, f"`{algorithm}`", ", ".join(shown)]


def schedules_of(page, *arguments):
    """Of all ranks."""
    code, out, err = page.tool.run("plan", *arguments, "--all-ranks", "--json")
    if code != 0:
        raise ToolError(err)
    return [json.loads(line) for line in out.splitlines()]


def postorder(page):
    """Fig. 16: the first blocks of the data when the tree is walked in postorder from rank 0."""
    children = {schedule["rank"]: [send["peer"] for step in schedule["parts"][0]["steps"] for send in step["sends"]]
                for schedule in schedules_of(page, "bcast", "--algorithm", "bine-torus-dh", "--torus", "4x4")}
    def below(rank):
        return [one for child in children[rank] for one in below(child)] + [rank]
    found = below(0)
    page.equal("Bine, Fig. 16, postorder", found[:2], [10, 14])
    return " and ".join(map(str, found[:2]))


def part_orders(page):
    """Fig. 18: the directions that the parts take, as E, N, W and S."""
    code, out, err = page.tool.run("plan", "reduce_scatter", "--algorithm", "bine", "--torus", "4x4", "--rank", "0", "--json")
    if code != 0:
        raise ToolError(err)
    letters = {"+0": "E", "+1": "N", "-0": "W", "-1": "S"}
    found = ["".join(letters[send["port"]] for step in part["steps"] for send in step["sends"]) for part in json.loads(out)["parts"]]
    page.equal("Bine, Fig. 18, orders in common", sorted(set(found) & {"ENWS", "NWSE", "WSEN", "SENW"}), ["ENWS", "WSEN"])
    return ", ".join(found)


def bound(page, ranks=256):
    """What crosses between groups as large as the binomial distance, Bine's share of binomial's: by steps, the least one."""
    shares = []
    peers = [[[] for _ in range(ranks)] for _ in range(2)]
    for place, name in enumerate(("recursive-doubling:single-port", "bine-dh:single-port")):
        for schedule in schedules_of(page, "allgather", "--algorithm", name, "--torus", str(ranks)):
            peers[place][schedule["rank"]] = [step["sends"][0]["peer"] for step in schedule["parts"][0]["steps"]]
    for own in range(len(peers[0][0])):
        step = {abs(peers[0][0][k]): k for k in range(len(peers[0][0]))}[2**own]
        size = 2**own
        # Bine's step with the distance that belongs to this one, 2/3 of it in the limit.
        other = min(range(len(peers[1][0])), key=lambda k: abs(min(peers[1][0][k], ranks - peers[1][0][k]) - 2 * size / 3))
        crossing_of = lambda table, k: sum(rank // size != table[rank][k] // size for rank in range(ranks))
        shares.append(crossing_of(peers[1], other) / crossing_of(peers[0], step))
    return shares


LAYOUTS = {16 << 10: "PPPPPPSS", 1 << 20: "BSSBBBBB", 512 << 20: "TSSTTTTT"}  # published fastest, 8 to 1024 nodes


def layout_times(ranks, size, alpha=2e-6, rate=25e9, copy=10e9, message=0.5e-6):
    """Fig. 14: an allgather in which each step costs alpha and its bytes; what the layouts cost beside that. Permute: a copy of the
    vector. Send: one more message, a block. Block by block: a cost for each further message. Two transmissions: one more message
    in every step."""
    steps = int(math.log2(ranks))
    plain = steps * alpha + size * (1 - 1 / ranks) / rate
    return {"P": plain + size / copy, "S": plain + alpha + size / ranks / rate, "B": plain + message * (ranks - 1 - steps),
            "T": plain + alpha * steps}


def layout_rows(page):
    for size, published in LAYOUTS.items():
        ours = "".join(min(times := layout_times(2**k, size), key=times.get) for k in range(3, 11))
        page.equal(f"Bine, Fig. 14, permute first, {size} B", ours.count("P") > 0, size < 1 << 20)
        yield [size_text(size), " ".join(published), " ".join(ours), f"{sum(a == b for a, b in zip(ours, published))} of 8"]


def overlap_rows(page, ranks=256, copy=10e9):
    """Appendix B: allgather while blocks are permuted. From the schedule's steps and the rule of the appendix."""
    alpha, hop, rate = 2e-6, 0.0, 25e9
    for size in (64 << 10, 1 << 20, 64 << 20):
        arriving = [size * 2**k / ranks for k in range(int(math.log2(ranks)))]
        times = [alpha + hop + v / rate for v in arriving]
        apart = sum(times) + size / copy
        overlapped = times[0] + sum(max(t, v / copy) for t, v in zip(times[1:], arriving)) + arriving[-1] / copy
        yield [f"{size >> 10} KiB", f"{apart * 1e6:.1f}", f"{overlapped * 1e6:.1f}", f"{apart / overlapped:.2f}"]


def box_figure(page):
    lines = {}
    for machine, name in MACHINES.items():
        by_hosts = figure_5(page, machine)
        lines[f"{name}, median"] = [(math.log2(size), statistics.median(values)) for size, values in by_hosts.items()]
        for part, label in ((0, "25 %"), (2, "75 %")):
            lines[f"{name}, {label}"] = [(math.log2(size), statistics.quantiles(values, n=4, method="inclusive")[part])
                                         for size, values in by_hosts.items()]
    all_points = {f"{MACHINES[machine]}, every job": [
        (math.log2(hosts(runs)), max(published, -100)) for published, runs in jobs()[machine]] for machine in MACHINES}
    return Figure([Panel("Fig. 5: boxes", "less traffic between groups, %", lines, x="log2 of hosts", sizes=False),
                   Panel("every job (below -100: at -100)", "less traffic between groups, %", all_points, x="log2 of hosts", sizes=False,
                         points=True)])


def write(page):
    page.heading("Bine trees")
    page.say("""De Sensi et al., *Bine Trees: Enhancing Collective Operations by Optimizing Communication Locality*, SC 2025.
        `trefoil traffic` ([traffic.md](traffic.md)) counts the data between groups of hosts: all bytes whose sender and
        receiver lie in different groups. One rank per host, ranks in a line, powers of two; a *reduction* is 1 - Bine /
        binomial.""")
    page.say("""**Fig. 5**: the public jobs of its authors' PICO repository (two weeks of LUMI, one of Leonardo). All {} reductions
        agree with the published ones to the last digit. Medians are the published ones; the paper's boxes show no outliers, which are the
        three columns on the right.""", lambda: str(sum(len(jobs()[machine]) for machine in MACHINES)))
    page.table(["machine", "hosts", "jobs", "median", "quartiles", "least", "most", "negative"], figure_5_rows(page))
    page.plot("bine-jobs", "Reductions of all jobs by number of hosts (Fig. 5)", lambda: box_figure(page))
    page.say("""**Fig. 1**: bcast on 8 nodes, two below each leaf: {} vectors cross with doubling distances and {} with halving ones;
        published 6 and 3.""", lambda: f"{leaves(page)[0]:g}", lambda: f"{leaves(page)[1]:g}")
    page.command("trefoil traffic bcast -a binomial-dd:single-port,binomial-dh:single-port --groups a*2,b*2,c*2,d*2")
    page.say("""**The bound of 33 %**: a Bine partner is (1 - (-2)^(s-i)) / 3 away in step i where a binomial one is 2^(s-i-1) away,
        two thirds of it in the limit. Where groups are contiguous and as large as the binomial distance, all of binomial's
        messages of that step cross; of Bine's, counted on 256 ranks for distances 4 to 128: {} of them. So 1/3 is a limit, not a bound for
        every step: the shares come from both sides.""",
             lambda: ", ".join(f"{share:.3f}" for share in bound(page)[2:]))
    page.say("""**Tables 3 and 4**, average/maximum reduction in per cent. The paper's averages are of measured allocations that are
        not all public; ours are of the jobs of Fig. 5 with at least 16 hosts. So they need not agree; they only show that the
        counts are comparable. Two allocations of Leonardo are known: on 2048 ranks allgather has {} (published 26), on 256
        ranks bcast {} (published 92).""", lambda: known_allocations(page)[0], lambda: known_allocations(page)[1])
    page.table(["", "LUMI, published", "ours", "Leonardo, published", "ours"], table_rows(page))
    page.say("""bcast is of large vectors: binomial scatters along a halving tree and gathers with distances that grow, Bine scatters
        along a doubling tree and gathers with distances that shrink. Table 5 (MareNostrum 5) has no public allocations, and the
        binomial reduce of Tables 3 to 5 is not defined well enough to count.""")
    page.say("""**Fig. 16** (Appendix D), the tree on 4x4 from rank 0: published -5, 3, -1, 1 for the standard tree, and (0,3),
        (3,0), (0,1), (1,0) for the one that takes the dimensions of the torus in turn.""")
    page.table(["tree", "algorithm", "partners"], tree_rows(page))
    page.command("trefoil plan bcast --algorithm bine-torus-dh --torus 4x4 --rank 0")
    page.say("""In postorder of that tree the data begins with blocks {}, as published (10 first, 14 second). Butterflies of that kind with
        distances that grow are `swing:single-port`, those with distances that shrink `bine-torus-dh`.""", lambda: postorder(page))
    page.say("""**Fig. 18**, the directions that the four parts take on a 2-D torus: published ENWS, NWSE, WSEN, SENW; those of `bine` with
        all ports on 4x4: {}. Two are the same; the other two go round the other way, so that plain and mirrored parts begin with the
        same dimension in turn. In every step the four parts have four directions, in both.""", lambda: part_orders(page))
    page.command("trefoil plan reduce_scatter --algorithm bine --torus 4x4 --rank 0")
    page.say("""**Appendix B**, an allgather of 256 ranks whose blocks are permuted while the next step is under way: T = t_0 + sum of
        max(t_k, v_(k-1)/c) + v_last/c, against the sum of t_k + n/c. With 2 us a step, 25 GB/s on the link and copies of c = 10
        GB/s, in us. It is a formula here and no schedule: Trefoil's receivers put each block to its place as it arrives, so that
        nothing is left to permute.""")
    page.table(["vector", "permuted at the end", "overlapped", "ratio"], list(overlap_rows(page)))
    page.say("""**Fig. 14**, which layout makes allgather the fastest on 8, 16, ... 1024 nodes of LUMI (P permute, S send, B block by block,
        T two transmissions): measured by the paper, and what a model says in which permuting costs a copy of the vector at 10 GB/s,
        sending a further message of one block, blocks apart 0.5 us each, and two transmissions a further 2 us in each step (2 us a
        step, 25 GB/s). The model shows that copies are for short vectors only, and that two transmissions win where even one block
        is long; it does not show the measured values.""")
    page.table(["vector", "published", "model", "alike"], layout_rows(page))
    page.say("""Not reproduced, because measured: the values of Fig. 14 and all run times, among them those of Fugaku (Fig. 11b).""")
