# SPDX-License-Identifier: BSD-3-Clause
"""What does not hold, what can be had beyond the papers, and the command that shows each."""
import itertools
import json
import statistics

from . import MI, bine, exchange, swing, trivance
from .patterns import bruck_steered_load, bruck_steps, trivance_lacking, trivance_schedules
from .tool import ToolError

NOTHING = "-"
# Measured, so written down: `trefoil perf` and `scripts/micro` print other numbers each time.
JOINT = """Two passes read and write six streams of bytes
        where one has four, so they take 1.5 times as long at most. Measured on 2 cores while other programs ran on both (three ranks,
        load 20 and more; medians of 25 calls, the least of 14 runs of the command): at 1 MiB two passes took 862 us and one 565, 1.5
        times, and longer in 11 of the 14 runs; at 16 MiB 13.3 and 13.6 ms, where memory is what limits both. Kernels alone in the L2
        cache: 10.7 us for two passes, 7.3 for one, 1.5 times."""


def barrier(page):
    for torus, known in (("8", 4.67), ("64", 28.9), ("8x8", 10.7), ("32x32", 46.8), ("27x27", 41.6), ("16x16x16", 47.3)):
        def cells(torus=torus, known=known):
            plain, with_it = (trivance.gains(page.tool, torus, barrier=on) for on in (False, True))
            seconds = with_it.own[32] - plain.own[32]
            page.near(f"closing barrier on {torus}", 1e6 * seconds, known)
            return [torus, f"{1e6 * plain.own[32]:.1f}", f"{1e6 * seconds:.1f}", f"{plain.over('Swing', 32):.1f}",
                    f"{with_it.over('Swing', 32):.1f}", f"{plain.over('Swing', 32) / with_it.over('Swing', 32):.1f}"]
        yield cells


def load_one(page):
    """What Trivance would gain over Swing on 16x16x16 at 128 MiB with a load of 1."""
    found = trivance.gains(page.tool, "16x16x16", barrier=False)
    size = 128 * MI
    saved = (page.tool.load("16x16x16", "trivance-b") - 1 / 3) * size / 100e9
    return 100 * (found.others["Swing"][size] / (found.own[size] - saved) - 1)


def deviations(page):
    """Claims about loads: (what, published, ours)."""
    tool = page.tool
    def load(torus, algorithm, known, d=1):
        tool.guard(torus)
        return f"{page.near(f'{algorithm} on {torus}', d * tool.load(torus, algorithm), known):.4g}"
    yield lambda: ["8x8, Recursive Doubling (B), ranks in a line", NOTHING, load("8x8", "recursive-doubling-b:single-port", 2.8125)]
    yield lambda: ["8x8, the same, dimensions in turn", NOTHING, load("8x8", "recursive-doubling-torus-b", 2.4375)]
    yield lambda: ["8x8, Swing (B) and Bine on one port, dimensions in turn", NOTHING, load("8x8", "swing-b:single-port", 2.0625)]
    yield lambda: ["64x64, ranks in a line", NOTHING, load("64x64", "recursive-doubling-b:single-port", 5.586)]
    yield lambda: ["64x64, dimensions in turn", NOTHING, load("64x64", "recursive-doubling-torus-b", 2.930)]
    yield lambda: ["64x64, Bruck (L) both ways", "75", load("64x64", "bruck-l", 75, 2)]
    yield lambda: ["64x64, Bruck (L) one way", "192", f"{page.near('Bruck one way', 2 * bruck_steered_load(64), 240):g}"]
    yield lambda: ["64x64, the same, shortest ways", NOTHING,
                   f"{page.near('Bruck shortest', 2 * sum(load for _, load in bruck_steps(64)), 132):g}"]


def rectangles(page):
    for torus, known in (("64x16", 1.221), ("128x8", 1.408), ("256x4", 1.951)):
        def cells(torus=torus, known=known):
            value = page.near(f"Swing on {torus}", 2 * page.tool.load(torus, "swing-b"), known)
            return [torus, "1.19 (equation 3)" if torus == "256x4" else "1.19 (Table 2, D = 2)", f"{value:.3f}"]
        yield cells


def odd(page):
    for torus, algorithm, known in (("128", "swing-b", 2.445), ("129", "swing-published", 3.419), ("129", "swing-b", 3.256)):
        value = page.near(f"{algorithm} on {torus}", page.tool.load(torus, algorithm), known)
        yield [torus, f"`{algorithm}`", f"{value:.3f}"]
    yield ["129", "`swing-published`, one list in both parts", f"{page.near('odd Swing, one list', same_list_load(page), 4.411):.3f}"]


def conjecture(page):
    known = {(29, ""): 177, (30, ""): 181, (32, ""): 169, (58, ""): 740, (64, ""): 677, (29, ":single-port"): 354,
             (30, ":single-port"): 183, (32, ":single-port"): 171}
    for n in (28, 29, 30, 31, 32, 56, 57, 58, 60, 62, 64):
        line = [str(n)]
        for ports in ("", ":single-port"):
            found = page.tool.summary("alltoall", str(n), "gather-scatter-tree" + ports)
            if (n, ports) in known:
                page.near(f"exchange on {n}{ports}", found["block_times"], known[n, ports])
            line.append(f"{found['block_times']:.0f}")
        yield [*line, f"{n * n // 8}"]


def outliers(page):
    """Reductions over binomial on the order given."""
    for machine, name in bine.MACHINES.items():
        found = bine.counted(page.tool, machine)
        binomial = found[bine.PAIR[0], "given"]
        for order in bine.ORDERS:
            values = [100 * value for value in bine.less(binomial, found[bine.PAIR[1], order])]
            other = [100 * value for value in bine.less(binomial, found[bine.PAIR[0], order])]
            both = [max(pair) for pair in zip(values, other)]
            yield [name, order, sum(value < -1e-9 for value in values), f"{min(values):.1f}", f"{statistics.mean(values):.1f}",
                   f"{statistics.mean(other):.1f}", sum(value < -1e-9 for value in both), f"{statistics.mean(both):.1f}"]


def chosen_share(page):
    """In how many jobs binomial in its best order crosses less than Bine in its own."""
    wins = total = 0
    for machine in bine.MACHINES:
        found = bine.counted(page.tool, machine)
        pairs = list(zip(found[bine.PAIR[0], "least"], found[bine.PAIR[1], "least"]))
        wins += sum(a < b - 1e-9 for a, b in pairs)
        total += len(pairs)
    return f"{wins} of {total}"


def worst_by_hosts(page, known={64: -125, 256: -215, 512: -14}):
    by_hosts = bine.figure_5(page, "lumi")
    values = []
    for hosts, independent in known.items():
        values.append(f"{page.near(f'Bine, worst on {hosts} hosts of LUMI', min(by_hosts[hosts]), independent, points=0.5):.0f} % on {hosts}")
    return ", ".join(values)


CHOSEN = ("trivance-l", "trivance-b", "swing-l", "swing-b", "recursive-doubling-l", "recursive-doubling-i", "recursive-doubling-b",
          "bucket", "bine-large", "bruck-l", "bruck-b")
CHOICE_SIZES = [32 * 16**i for i in range(6)]  # to 32 MiB


def tori(most):
    """All tori of two to `most` ranks with up to four dimensions of more than one rank, each once up to the order of its
    dimensions."""
    found = []
    for dimensions in (1, 2, 3, 4):
        for sizes in itertools.combinations_with_replacement(range(2, most + 1), dimensions):
            ranks = 1
            for size in sizes:
                ranks *= size
            if ranks <= most:
                found.append("x".join(map(str, reversed(sizes))))
    return found


def regret(page, most=64):
    """What choosing by the step model costs in the flow model."""
    tool = page.tool
    tool.only_long()
    lost, worst, otherwise, cases = [], (0.0,), 0, 0
    for torus in tori(most):
        step = tool.times(torus, CHOSEN, CHOICE_SIZES, "--machine", "trivance")
        flow = tool.times(torus, CHOSEN, CHOICE_SIZES, "--machine", "trivance", model="flow")
        for size in CHOICE_SIZES:
            by_step = min(CHOSEN, key=lambda name: step[name, size])
            by_flow = min(CHOSEN, key=lambda name: flow[name, size])
            share = 100 * (flow[by_step, size] / flow[by_flow, size] - 1)
            cases += 1
            otherwise += share > 1e-6
            lost.append(share)
            worst = max(worst, (share, torus, size, by_step, by_flow))
    return {"tori": len(tori(most)), "cases": cases, "otherwise": 100 * otherwise / cases, "mean": statistics.mean(lost),
            "over": sum(share > 5 for share in lost), "worst": worst}


def regret_text(page):
    found = regret(page)
    share, torus, size, by_step, by_flow = found["worst"]
    return (f"over {found['tori']} tori of 2 to 64 ranks and six sizes ({found['cases']} cases) the choice differs in "
            f"{found['otherwise']:.0f} % of the cases; it costs {found['mean']:.2f} % on average, more than 5 % in {found['over']} "
            f"cases, and {share:.0f} % at worst ({torus}, {size} bytes: `{by_step}` where `{by_flow}` is faster)")


def waiting(page):
    """Folded swing-l on 3x3x3 when ranks run free, over its step-model time."""
    size = 32 * MI
    step = page.tool.times("3x3x3", ["swing-l"], [size], "--machine", "trivance")["swing-l", size]
    flow = page.tool.times("3x3x3", ["swing-l"], [size], "--machine", "trivance", model="flow")["swing-l", size]
    return page.near("waiting on 3x3x3", flow / step, 1.5)


def refused(page, name, collective):
    """What the verifier says against the published pattern on 16, the first reason; on 27 it accepts it."""
    page.equal(f"{name} on 27", page.tool.refusal(collective, trivance_schedules(name, 27)), "")
    words = page.tool.refusal(collective, trivance_schedules(name, 16)).split(";")[0]
    page.equal(f"{name} on 16 is refused", bool(words), True)
    return words


def same_list_load(page, ring="129"):
    """Load of the published odd Swing with the extra rank's list in both parts, from the schedules of the one with two lists: its
    direct messages in the second part become those of the first."""
    ranks, loads = int(ring), {}
    code, out, err = page.tool.run("plan", "allreduce", "--algorithm", "swing-published", "--torus", ring, "--all-ranks", "--json")
    if code != 0:
        raise ToolError(err)
    for line in out.splitlines():
        schedule = json.loads(line)
        for number, part in enumerate(schedule["parts"]):
            share = 1 / len(schedule["parts"]) / part["vector_blocks"]
            for step, sends in ((step, what["sends"]) for step, what in enumerate(part["steps"])):
                for send in sends:
                    direct = ranks - 1 in (schedule["rank"], send["peer"])
                    times = 2 - 2 * number if direct else 1  # the first part's twice, the second part's not at all
                    ahead = (send["peer"] - schedule["rank"]) % ranks
                    for hop in range(min(ahead, ranks - ahead)):
                        at = (schedule["rank"] + (hop if 2 * ahead < ranks else -hop)) % ranks
                        link = step, at, 2 * ahead < ranks
                        loads[link] = loads.get(link, 0) + times * share * sum(count for _, count in send["extents"])
    most = {}
    for (step, _, _), load in loads.items():
        most[step] = max(most.get(step, 0), load)
    return sum(most.values())


def odd_sizes_on_one_port(page, sizes=range(3, 34, 2)):
    """Odd n whose one-port tree costs more than that of the next power of two, and those whose does not."""
    costs = lambda n: page.tool.summary("alltoall", str(n), "gather-scatter-tree:single-port")["block_times"]
    more = [n for n in sizes if costs(n) > costs(1 << n.bit_length())]
    page.equal("the first odd size that costs more on one port", more[0], 7)
    return ", ".join(map(str, more)), ", ".join(str(n) for n in sizes if n not in more)


def lacking(page):
    return ", ".join(f"{trivance_lacking(n)} of {n}" for n in (16, 32, 64))


def write(page):
    page.heading("Findings")
    page.say("Each finding has the command that shows it. `near` and `equal` in `scripts/reproducing` are the numbers with independent values.")

    page.heading("A closing barrier hides published gains", 3)
    page.say("""Trivance's published times contain a barrier after the collective, along a binary tree. It takes as long for every
        algorithm and so shrinks all relative gains: over Swing at 32 B, with and without, in per cent, and times in us.""")
    page.table(["torus", "Trivance alone", "barrier", "gain without", "with", "ratio"], barrier(page))
    page.command("trefoil sim allreduce -a trivance-l,swing-l:single-port -t 8 --sizes 32 --model step --baseline swing-l:single-port",
                 "trefoil sim allreduce -a trivance-l,swing-l:single-port -t 8 --sizes 32 --model step --baseline swing-l:single-port --closing-barrier 312ns")

    page.heading("A gain on 16x16x16 that correct schedules do not have", 3)
    page.say("""Fig. 10 of Trivance has 8 % over Swing at 128 MiB. The loads times D are {} for `trivance-b` and {} for `swing-b`, so
        Swing is ahead. A Trivance of load 1 would gain {} %, less than published; what the figure shows is the pattern of the next
        finding, which is not an allreduce.""",
             lambda: f"{page.near('16x16x16 Trivance', 3 * page.tool.load('16x16x16', 'trivance-b'), 1.102):.3f}",
             lambda: f"{page.near('16x16x16 Swing', 3 * page.tool.load('16x16x16', 'swing-b'), 1.034):.3f}",
             lambda: f"{page.near('16x16x16, load 1', load_one(page), 5.5, points=1):.1f}")
    page.command("trefoil sim allreduce -a trivance-b,swing-b -t 16x16x16 --sizes 128M --model step --baseline swing-b")

    page.heading("Published Trivance loses contributions", 3)
    page.say("""For sizes other than powers of three the paper takes distances 3^k and a shorter last one. Whole vectors (L) then count
        ranks twice. In its reduce-scatter (B) a rank sends each block in that of the steps leading to its owner which has least so
        far, whether what it should pass on has arrived or not: run symbolically, {} ranks lack a contribution at the end (how ties
        are broken matters; an independent run had 5, 21 and 3). On powers of three the patterns are right. The verifier
        refuses them with a message; our `trivance-l` and `trivance-b` for other sizes are constructions of our own, and proved.""",
             lambda: lacking(page))
    page.command("scripts/papers --pattern trivance-b:16 > pattern.json; trefoil plan reduce_scatter --schedule pattern.json --summary",
                 "scripts/papers --pattern trivance-l:16 > pattern.json; trefoil plan allreduce --schedule pattern.json --summary")
    page.say("It says of the first one on 16: *{}*; and of the second one: *{}*. On 27 it accepts both.",
             lambda: refused(page, "trivance-b", "reduce_scatter"), lambda: refused(page, "trivance-l", "allreduce"))

    page.heading("Swing's equation for rectangles", 3)
    page.say("""Equation 3 of Swing lacks a factor 2D: two phases, and the normalisation by n/D. On 256x4 the deficiency is 0.9375 +
        4 * 0.2534 = 1.951, not 1.19.""")
    page.table(["torus", "published", "ours"], rectangles(page))
    page.command("trefoil plan allreduce --algorithm swing-b --torus 64x16 --summary")

    page.heading("Odd Swing", 3)
    page.say("""On p ranks, p odd, the paper's scheme "adds 1/p". That is true of the bytes. But the extra rank exchanges single blocks
        with half of all ranks in the first step, and those messages share one side of it. Load times D:""")
    page.table(["ring", "algorithm", "ours"], list(odd(page)))
    page.command("trefoil sim allreduce -a swing-published,swing-b -t 129 --sizes 1M --model step --baseline swing-published")

    page.heading("The exchange conjecture", 3)
    page.say("""The complete-exchange paper conjectures that a ring of n costs no more than the next power of two. Some cost more: hops over the
        wrap are shorter than 2^l, so one node serves more. Block-times of `gather-scatter-tree` on all ports and on one; 29, 30, 57,
        58, 60 and 62 cost more than 32 and 64. At odd n one port takes two substeps: of the odd n to 33, {} cost more than the next
        power of two, {} do not. The bound is n²/8.""", lambda: odd_sizes_on_one_port(page)[0], lambda: odd_sizes_on_one_port(page)[1])
    page.table(["n", "all ports", "one port", "bound"], list(conjecture(page)))
    page.command("trefoil plan alltoall --algorithm gather-scatter-tree --torus 29 --summary",
                 "trefoil plan alltoall --algorithm gather-scatter-tree --torus 32 --summary")

    page.heading("Misprints", 3)
    page.item("""Complete exchange, Table 3, T4 on 16x16: as printed {} blocks; Theorem 2 and our schedule have {}. The last term is
        (1/3) 2^(d+5); Fig. 10 was drawn with the right one.""", lambda: f"{float(exchange.t4_blocks(4, True)):.1f}",
              lambda: f"{float(exchange.t4_blocks(4)):.0f}")
    page.item("""Table 4, C64: start-ups 8d - 25 should be 9 + 4 (2 (d - 2) - 2) = 8d - 15: 25, not 15, for d = 5.""")
    page.item("""Swing: deficiency 1.19, "so at most 81 % of the peak"; 1 / 1.19 is 84 %, and 64x64 reaches {} % at 512 MiB.""",
              lambda: f"{swing.peak_share(page.tool, '64x64', 512 * MI):.0f}")
    page.item("""Trivance: the last distance on a ring must be half of what is missing, rounded up: 2 for n = 7. The formula in the
        paper's text gives 1 there (so an independent reading of it), its simulator has 2.""")
    page.end_items()
    page.command("scripts/papers --only exchange", "trefoil plan alltoall --algorithm t4 --torus 16x16 --summary",
                 "trefoil plan alltoall --algorithm c64 --torus 8x8x8 --summary")
    page.say("""Loads that papers state or that follow from their settings, recomputed (on 64x64 times D = 2 for Bruck). The command prints a
        second for each vector:""")
    page.table(["", "published", "ours"], deviations(page))
    page.command("trefoil sim allreduce -a recursive-doubling-b:single-port,recursive-doubling-torus-b,swing-b:single-port -t 8x8 "
                 "--model step --alpha 0 --hop 0 --rate 8Gbit --sizes 1000000000")

    page.heading("Bine's negative outliers, and what removes them", 3)
    page.say("""The paper says that Bine adds traffic only below 64 nodes, and draws boxes without outliers. Some of the public
        jobs of LUMI have much more: {}. We expected a better placement of ranks on hosts to remove them. It does not:
        ranks two further on the ring do the same in Bine's butterfly, so all rotations are one of two, while groups that are
        powers of two suit binomial trees perfectly, and aligning hosts makes more of those. *Rotated* takes the best of all
        rotations, *aligned* puts the hosts of a group side by side, *least* is the best of all these; reductions are over binomial
        on the order given.""", lambda: worst_by_hosts(page))
    page.table(["machine", "order", "negative", "worst", "mean", "binomial's mean", "of both: negative", "mean"], list(outliers(page)))
    page.say("""They disappear if one counts before choosing, which takes microseconds: the tree that crosses less, each on
        its best order, is never worse than binomial on the order given, and has the best means (last columns). On their best
        orders binomial crosses less in {} jobs.""", lambda: chosen_share(page))
    page.command("scripts/papers --jobs lumi > lumi.jobs",
                 "trefoil traffic allreduce -a recursive-doubling-b:single-port,bine-large:single-port --allocations lumi.jobs --order given,rotated,aligned,least")

    page.heading("Choosing by the step model", 3)
    page.say("""`auto` chooses by the step model, which is quick. The flow model shows what that costs where ranks run freely: {}.
        Machine `trivance`.""", lambda: regret_text(page))
    page.command("trefoil sim allreduce -a bucket,trivance-b,swing-b -t 4x4 --sizes 32K,2M --model step",
                 "trefoil sim allreduce -a bucket,trivance-b,swing-b -t 4x4 --sizes 32K,2M --model flow")

    page.heading("Waiting can pay", 3)
    page.say("""Folded `swing-l` on 3x3x3 takes {} times its step-model time when ranks run free (32 MiB): ranks that are ahead take
        links from those that all others wait for.""", lambda: f"{waiting(page):.2f}")
    page.command("trefoil sim allreduce -a swing-l -t 3x3x3 --sizes 32M --model step", "trefoil sim allreduce -a swing-l -t 3x3x3 --sizes 32M --model flow")

    page.heading("Joint reductions", 3)
    page.say("""Trivance reduces its two arrivals in one pass over memory. The pattern `apart:3` is `trivance-b` on three ranks with the same
        messages, but two passes; a trace shows one `reduce two inputs` where it has two. {}""".format(JOINT))
    page.command("scripts/papers --pattern apart:3 > apart.json; trefoil perf allreduce --schedule apart.json --algorithm trivance-b "
                 "--launch threads --in-place in -b 1M -e 16M -f 16 --iters 25",
                 "scripts/micro --benchmark_filter='^(reduce|joint)/float/sum/'")

    page.heading("Results that are new enough to publish")
    for text in (
            """**Most published gains hold, some claims do not**: five papers recomputed from the schedules that run, in models of
            which one agrees with SimGrid ([simulator.md](simulator.md#simgrid)), on one core in minutes.""",
            """**Percentages that include a closing barrier** hide half to 72 % of a latency gain; a model with and without shows
            it.""",
            """**Counting before choosing removes Bine's negative outliers**, and no order of ranks does: 3,030 public jobs. The
            better one of Bine and binomial, each on its best order, has no negative reduction and the best mean.""",
            """**Complete exchange at the bisection bound on every ring** (`sdx`, and `orbit` without forwarding), 1.35 times better
            than T4 in the limit, and a conjecture refuted by n = 29.""",
            """**One-port exchange at the bisection bound** on every ring of a multiple of 8, in n - 1 start-ups and without
            forwarding, where the published tree has 1.34 times as much: [above](#one-port-exchange-at-the-bisection-bound).""",
            """**All ports joined**: an allreduce of log p steps to the base 2D + 1 where neighbourhoods tile the torus, half the steps
            of Trivance on 5x5 and 7x7x7: [above](#all-ports-joined).""",
            """**Odd sizes**: proved Swing and Trivance for every size, where the published schemes pile messages up beside one node
            or lose contributions.""",
            """**Wiring as a shortest path**: the optimal changes of circuits for any schedule, where the paper has a threshold
            ([short-circuiting.md](short-circuiting.md)).""",
            """**Swing gains nothing on Hx4Mesh** for large vectors: loads 1.187 there and 1.184 on the torus, and no better order was
            found. **Waiting can pay**: free-running ranks lose a third on 3x3x3, in the flow model; not tried on an emulated
            torus.""",
    ):
        page.item(text)
    page.end_items()
    page.say("""Open here: joint reductions on hosts with a core per rank; one-port exchange at the bound with few start-ups; joined ports on
        shapes that neighbourhoods do not tile.""")
