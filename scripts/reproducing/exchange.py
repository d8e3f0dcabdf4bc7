# SPDX-License-Identifier: BSD-3-Clause
"""Complete exchange: tables 1 to 5, figures 9 to 11."""
import itertools
import json
from fractions import Fraction

from .plots import Figure, Panel
from .tool import ToolError

# Start-ups S and blocks M of a rank, on 2^d x 2^d (x 2^d), from tables 3 and 4.
PLANE = {
    "T-2D1": (lambda d: 3 * (d - 1), lambda d: 9 * 2**(3 * d - 4) + (d * d - 5 * d + 3) * 2**(2 * d - 1)),
    "T-2D2": (lambda d: 3 * 2**(d - 2), lambda d: 3 * 2**(3 * d - 3)),
    "DP-2D": (lambda d: 2**(d - 1) + 2, lambda d: 2**(3 * d - 2) + 2**(2 * d)),
}
SPACE = {
    "T-3D1": (lambda d: 4 * d - 2, lambda d: 5 * 2**(4 * d - 2) + (d * d - 3 * d - 2) * 2**(3 * d - 1)),
    "T-3D2": (lambda d: 3 * 2**(d - 2) + d, lambda d: 3 * 2**(4 * d - 3) + d * 2**(3 * d - 1)),
    "DP-3D": (lambda d: 2**(d - 1) + 5, lambda d: 2**(4 * d - 2) + 5 * 2**(3 * d - 1)),
}


def t4_startups(d):
    return 4 * d - 6


def t4_blocks(d, as_printed=False):
    if d >= 7:
        return Fraction(65, 192) * 2**(3 * d - 1) + 2**(2 * d - 1) + Fraction(5, 3) * 2**(d + 2)
    last = Fraction(5, 3) * 2**(d + 2) if d >= 5 else Fraction(1, 3) * 2**(d + 2 if as_printed else d + 5)
    return Fraction(31, 96) * 2**(3 * d - 1) + 5 * 2**(2 * d - 2) + last


def c64_startups(d):
    return 8 * d - 15


def c64_blocks(d):
    if d >= 8:
        return Fraction(65, 192) * 2**(4 * d - 1) + 7 * 2**(3 * d - 1) + Fraction(5, 3) * 2**(2 * d + 4)
    last = Fraction(1, 3) * 2**(2 * d + 7) if d == 5 else Fraction(5, 3) * 2**(2 * d + 4)
    return Fraction(31, 96) * 2**(4 * d - 1) + 5 * 2**(3 * d) + last


def ours(page, torus, algorithm):
    found = page.tool.summary("alltoall", torus, algorithm)
    return found["steps"], found["msg_block_times"], found["block_times"]


def stages(page, algorithm, torus, ways, first):
    """Tables 1 and 2: the dimension that each group of ranks takes in each stage, from the schedules. `ways`: what tells groups
    apart by a rank's coordinates; `first`: the steps at which stages begin."""
    found = {}
    code, out, err = page.tool.run("plan", "alltoall", "--algorithm", algorithm, "--torus", torus, "--all-ranks", "--json")
    if code != 0:
        raise ToolError(err)
    sizes = [int(size) for size in torus.split("x")]
    for line in out.splitlines():
        schedule = json.loads(line)
        place, rank = [], schedule["rank"]
        for size in reversed(sizes):
            rank, coordinate = divmod(rank, size)
            place.insert(0, coordinate)
        steps = schedule["parts"][0]["steps"]
        for stage, (begin, end) in enumerate(zip(first, [*first[1:], len(steps)])):
            used = {"XYZ"[int(send["port"][1:])] for step in steps[begin:end] for send in step["sends"]}
            found.setdefault((stage, ways(place)), set()).update(used or {"-"})
    groups = sorted({group for _, group in found})
    return ["".join("/".join(sorted(found[stage, group])) for group in groups) for stage in range(len(first))]


def table_1(page):
    found = stages(page, "t4", "8x8", lambda place: (place[0] % 2, place[1] % 2), [2, 5])
    page.equal("exchange, Table 1", found, ["XYYX", "YXXY"])
    return ", then ".join(" ".join(stage) for stage in found)


def table_2(page):
    found = stages(page, "c64", "8x8x8", lambda place: sum(place) % 4, [9, 10, 11, 12])
    page.equal("exchange, Table 2", found, ["XYZ-", "-XYZ", "Z-XY", "YZ-X"])
    return "; ".join(" ".join(stage) for stage in found)


def table_3(page):
    for d in (3, 4, 5, 6, 7):
        def cells(d=d):
            formula = t4_blocks(d) if d >= 4 else None
            line = [f"{2**d}x{2**d}", f"{t4_startups(d)}", f"{float(formula):.0f}" if formula else "-"]
            if d <= 5:
                steps, blocks, load = ours(page, f"{2**d}x{2**d}", "t4")
                if d >= 4:
                    page.equal(f"exchange, Table 3, start-ups on {2**d}x{2**d}", steps, t4_startups(d))
                    page.near(f"exchange, Table 3, T4 on {2**d}x{2**d}", blocks, float(formula))
                line += [f"{steps}", f"{blocks:.0f}"]
            else:
                line += ["", ""]
            return line + [f"{startups(d)}, {blocks_(d)}" for startups, blocks_ in PLANE.values()]
        yield cells


def table_4(page):
    for d in (3, 4, 5, 6):
        def cells(d=d):
            shape = "x".join([str(2**d)] * 3)
            line = [shape, str(c64_startups(d)) if d >= 5 else "-", f"{float(c64_blocks(d)):.0f}" if d >= 5 else "-"]
            if d <= 4:
                found = [ours(page, shape, name) for name in ("c64", "c64:binary")]
                line += ["; ".join(f"{steps}, {blocks:.0f}" for steps, blocks, _ in found)]
            else:
                line += [""]
            return line + [f"{startups(d)}, {blocks_(d)}" for startups, blocks_ in SPACE.values()]
        yield cells


def limit(blocks, base):
    return float(blocks(60) / base(60))


def table_5(page):
    known = {"T-2D1": 3.32, "T-2D2": 2.22, "DP-2D": 1.48, "T-3D1": 7.38, "T-3D2": 2.22, "DP-3D": 1.48}
    for table, base in ((PLANE, t4_blocks), (SPACE, c64_blocks)):
        for name, (_, blocks) in table.items():
            value = limit(blocks, base)
            shown = f"{value:.2f}"
            page.near(f"exchange, Table 5, {name}", value, known[name], points=0)
            yield [name, f"{known[name]}", shown]


def figure_10(page):
    known = {4: (1.89, 1.33, 1.11), 5: (2.94, 1.81, 1.36), 6: (3.47, 2.05, 1.4545)}
    for d, values in known.items():
        found = [float(blocks(d) / t4_blocks(d)) for _, blocks in PLANE.values()]
        for name, value, said in zip(PLANE, found, values):
            page.near(f"exchange, Fig. 10, {name}, d = {d}", value, said, points=0)
        yield [str(d), ", ".join(f"{said:.2f}" if said != 1.4545 else "1.46" for said in values), ", ".join(f"{value:.2f}" for value in found)]


def ratio(table, startups, blocks, name, d, relation):
    """T_other / T_ours where a start-up takes as long as `relation` blocks."""
    return float((table[name][0](d) * relation + table[name][1](d)) / (startups(d) * relation + blocks(d)))


RELATIONS = (10000, 2000, 400)  # of Fig. 10: a start-up over the time of a byte


def figure_10_blocks():
    for d, relation in itertools.product((4, 5, 6), RELATIONS):
        yield [d, relation, *("{:.2f}, {:.2f}, {:.2f}".format(*(ratio(PLANE, t4_startups, t4_blocks, name, d, relation / b)
                                                                for name in PLANE)) for b in (16, 256, 4096))]


def figure():
    panels = []
    for relation in (2500, 500, 100, 1):
        panels.append(Panel(f"Fig. 9: over T4, ts / (b tx) = {relation}", "ratio", {
            name: [(d, ratio(PLANE, t4_startups, t4_blocks, name, d, relation)) for d in range(4, 11)] for name in PLANE},
            x="d (2^d x 2^d nodes)", sizes=False))
    for relation, d in itertools.product(RELATIONS, (4, 5, 6)):
        panels.append(Panel(f"Fig. 10: d = {d}, ts / tx = {relation}", "ratio over T4", {
            name: [(b, ratio(PLANE, t4_startups, t4_blocks, name, d, relation / b)) for b in (2**k for k in range(15))]
            for name in PLANE}, x="block b"))
    for relation in (2500, 1):
        panels.append(Panel(f"Fig. 11: over C64, ts / (b tx) = {relation}", "ratio", {
            name: [(d, ratio(SPACE, c64_startups, c64_blocks, name, d, relation)) for d in range(5, 11)] for name in SPACE},
            x="d (2^d x 2^d x 2^d nodes)", sizes=False, log_y=True))
    return Figure(panels, 3)


def write(page):
    page.heading("Complete exchange")
    page.say("""Tseng, Ni and Sheu, *Toward Optimal Complete Exchange on Wormhole-Routed Tori*, IEEE TPDS 2000. A rank sends
        and receives one message at a time; a phase costs its largest message: T = S ts + M b tx with S start-ups and M blocks. S
        and M of our schedules are `steps` and `msg_block_times` of `trefoil plan`. The schemes of Suh and Yalamanchili (T-2D1,
        T-2D2, T-3D1, T-3D2) and diagonal propagation (DP) have costs in the paper but no definition, so they appear as
        formulas: S, M.""")
    page.say("""**Table 1**, the stages of T4 for ranks whose coordinates modulo 2 are 00, 01, 10 and 11: published X Y Y X, then
        swapped; by the schedule on 8x8: {}. **Table 2**, those of C64 for its groups 0 to 3: published X Y Z -; - X Y Z; Z - X Y; Y Z
        - X; by the schedule on 8x8x8: {}.""", lambda: table_1(page), lambda: table_2(page))
    page.say("**Table 3**, two dimensions; T4 by the formulas (with the correction below) and by our schedules:")
    page.table(["torus", "S", "M", "ours: S", "M", "T-2D1", "T-2D2", "DP-2D"], table_3(page))
    page.command("trefoil plan alltoall --algorithm t4 --torus 16x16 --summary")
    page.say("""The formulas begin with d = 4; on 8x8 our `t4` has one more start-up per dimension than they predict. 32x32 and
        16x16 agree. The printed last term for d = 4 is wrong: [finding](#misprints).""")
    page.say("""**Table 4**, three dimensions. C64 is printed for d from 5 on (32768 ranks), where proving our schedule takes
        too long for this page; `c64` and `c64:binary` on smaller tori:""")
    page.table(["torus", "C64: S", "M", "ours: S, M", "T-3D1", "T-3D2", "DP-3D"], table_4(page))
    page.say("**Table 5**, M over that of T4 (C64 in three dimensions) for large d:")
    page.table(["", "published", "formulas"], table_5(page))
    page.say("**Fig. 10**, large blocks: T_other / T_T4 for T-2D1, T-2D2 and DP.")
    page.table(["d", "published", "formulas"], figure_10(page))
    page.say("""Its curves over the block, at ts/tx = 10,000, 2,000 and 400 (drawn in the paper, no numbers at hand), from the formulas:""")
    page.table(["d", "ts/tx", "b = 16", "256", "4096"], figure_10_blocks())
    page.plot("exchange", "Ratios of Fig. 9, 10 and 11 from the formulas", figure)
    page.say("""On all ports, `sdx` and `orbit` reach the bisection bound, n³/8 blocks on n x n, of which T4 has 1.35 times as much
        in the limit ([alltoall.md](alltoall.md#figures)).""")
