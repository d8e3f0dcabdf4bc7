# SPDX-License-Identifier: BSD-3-Clause
"""Short-circuited rings: figures 1 to 3."""
from .gains import numbers

ONE_PORT = ("--single-port", "--machine", "short-circuit", "--tie", "one", "--fallback", "asked")
HOPS = ("100ns", "500ns", "1us")
# T and speed-up over Ring for 32 B on 32 nodes, by r; 0: Ring runs.
KNOWN = {"10ns": ((1, 5.74), (1, 6.10), (1, 6.15)), "100ns": ((1, 3.44), (1, 5.34), (1, 5.74)),
         "1us": ((4, 1.19), (2, 2.58), (1, 3.44)), "10us": ((5, 0), (5, 0), (4, 1.19))}


def run(tool, torus, algorithm, size, change, hop, *options):
    answer = tool.ask("sim", "reduce_scatter", "--torus", torus, "--algorithm", algorithm, "--sizes", str(size), "--reconfigurable",
                      change, "--hop", hop, "--json", *options)
    return answer["runs"][0]


def figure_1(page):
    known = (1.00, 1.57, 1.60, 2.13)
    values = []
    for size, independent in zip((32, 16000, 18000, 64000000), known):
        found = run(page.tool, "16", "recursive-doubling", size, "1s", "10ns", *ONE_PORT)
        values.append(page.near(f"short circuits, Fig. 1, {size} B", found["static_seconds"] / found["ring_seconds"], independent))
    found = run(page.tool, "16", "recursive-doubling", 16000, "1s", "1us", *ONE_PORT)
    slow = page.near("short circuits, Fig. 1, 1 us", found["static_seconds"] / found["ring_seconds"], 1.01)
    return ", ".join(f"{value:.2f}" for value in values), f"{slow:.2f}"


def figure_2(page):
    for change, line in KNOWN.items():
        cells = [change]
        for hop, (threshold, speed) in zip(HOPS, line):
            found = run(page.tool, "32", "recursive-doubling", 32, change, hop, *ONE_PORT)
            published = found["published"]
            best = published["thresholds"]["reduce_scatter"]
            page.equal(f"short circuits, Fig. 3, r {change}, hop {hop}", best, threshold)
            gain = published["ring_seconds"] / published["seconds_with_fallback"]
            page.near(f"short circuits, Fig. 2, r {change}, hop {hop}", gain, speed or 1)
            cells.append(f"{best} ({'Ring' if published['fallback'] else f'{gain:.2f}'})")
        yield cells


def large(page, size, known):
    values = []
    for hop, independent in zip(HOPS, known):
        published = run(page.tool, "32", "recursive-doubling", size, "10ns", hop, *ONE_PORT)["published"]
        page.equal(f"short circuits, {size} B, hop {hop}", published["thresholds"]["reduce_scatter"], 1)
        values.append(page.near(f"short circuits, Fig. 2, {size} B, hop {hop}",
                                published["ring_seconds"] / published["seconds_with_fallback"], independent))
    return ", ".join(f"{value:.2f}" for value in values)


CASES = ((1 << 10, "1us", "500ns"), (1 << 20, "1us", "500ns"), (64 << 20, "10us", "100ns"))


def sixteen(page):
    """16 nodes, in us: what the paper's scheme takes, and what other schedules do."""
    both = ("--machine", "short-circuit", "--circuits", "shifted")
    rows = [("Ring, one port", "recursive-doubling", ONE_PORT, lambda r: r["published"]["ring_seconds"], (7.51, 17.3, 631)),
            ("the paper's, with its fallback", "recursive-doubling", ONE_PORT, lambda r: r["published"]["seconds_with_fallback"],
             (4.51, 14.8, 631)),
            ("Ring, two ports", "recursive-doubling", both, lambda r: r["ring_seconds"], (7.50, 12.4, 316)),
            ("halving, mirrored, shifted rings", "recursive-doubling", both, lambda r: r["seconds"], (4.01, 9.74, 345)),
            ("Swing, static", "swing", both, lambda r: r["static_seconds"], (5.01, 12.5, 483)),
            ("Swing, wired", "swing", both, lambda r: r["seconds"], (4.00, 8.92, 335)),
            ("Trivance, static", "trivance", both, lambda r: r["static_seconds"], (4.01,)),
            ("Trivance, wired", "trivance", both, lambda r: r["seconds"], (3.01,))]
    for name, algorithm, options, value, known in rows:
        cells = [name]
        for number, (size, change, hop) in enumerate(CASES):
            ours = 1e6 * value(run(page.tool, "16", algorithm, size, change, hop, *options))
            if number < len(known):
                page.near(f"short circuits, 16 nodes, {name}, {size} B", ours, known[number])
            cells.append(f"{ours:.3g}")
        yield cells


def write(page):
    page.heading("Short-circuited rings")
    page.say("""Hammer, Schmid, Singh and Addanki, *Short-circuiting Rings for Low-Latency AllReduce*, arXiv 2510.03491. The page
        [short-circuiting.md](short-circuiting.md) explains the model, the scheme, its plots and what was left open; here are the
        figures. Links have 800 Gbit/s and no start-up. Our copy of the paper lacks all plotted values, so the numbers beside
        ours are independent ones, not published ones; the paper's text has words only.""")
    page.say("""**Fig. 1**, static halving over Ring, 16 nodes, 10 ns a hop: "about 2 times slower for large messages, less for small
        ones": {} at 32 B, 16 kB, 18 kB and 64 MB; {} at 16 kB where a hop takes 1 us ("less as delays grow").""",
             lambda: figure_1(page)[0], lambda: figure_1(page)[1])
    page.say("""**Fig. 2 and 3**, reduce-scatter on 32 nodes of 32 B: the best threshold T and the speed-up over Ring, by the time r
        of a change and that of a hop. "Small T when r is low or delays high" holds.""")
    page.table(["r", "100 ns", "500 ns", "1 us"], figure_2(page))
    page.say("""From 4 MB on T = 1 wherever anything is gained, as published, and the gain shrinks with the vector: {} at 4 MB and
        {} at 32 MB, for r = 10 ns and hops of 100 ns, 500 ns and 1 us. With r = 10 us Ring runs for 4 MB and short hops, so the
        paper's r ended below that.""", lambda: large(page, 4000000, (1.07, 1.31, 1.59)), lambda: large(page, 32000000, (1.01, 1.04, 1.08)))
    page.say("""**Other schedules** on 16 nodes, reduce-scatter, in us. A hop takes 500 ns and r is 1 us; in the last column 100 ns and
        10 us.""")
    page.table(["", "1 KiB", "1 MiB", "64 MiB"], sixteen(page))
