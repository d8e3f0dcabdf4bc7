# SPDX-License-Identifier: BSD-3-Clause
"""Swing: table 2 and figures 6 to 15."""
import statistics

from . import KI, MI, size_text
from .gains import Gains, numbers, range_text
from .plots import Figure, Panel

OWN = ("swing-l:single-port", "swing-b")
DOUBLING = ("recursive-doubling-torus-l", "recursive-doubling-torus-b")
SIZES = [32 * 2**i for i in range(25)]  # to 512 MiB
MORE = SIZES + [1024 * MI, 2048 * MI]
WIDE = ("64x16", "128x8", "256x4")
BOXES = ("64x64", "64x16", "128x8", "256x4", "8x8", "8x8x8", "8x8x8x8")


def has_cycles(torus):
    """Whether Hamiltonian rings matter: on rectangles. On squares Bucket has their load in fewer steps."""
    sizes = torus.split("x")
    return len(sizes) == 2 and sizes[0] != sizes[1]


def gains(tool, torus, rate=400, network="torus", sizes=tuple(SIZES)):
    names = [*OWN, *DOUBLING, "bucket", *(["hamiltonian"] if has_cycles(torus) else [])]
    times = tool.times(torus, names, sizes, "--machine", "swing", "--rate", f"{rate}Gbit", "--network", network)
    best = lambda group: {size: min(times[name, size] for name in group) for size in sizes}
    families = {"Swing": best(OWN), "Recursive Doubling": best(DOUBLING), "Bucket": best(["bucket"])}
    if has_cycles(torus):
        families["Hamiltonian rings"] = best(["hamiltonian"])
    return Gains(families, "Swing")


def last_ahead(found):
    """The last size before Swing is behind for the first time."""
    behind = [size for size in found.sizes if found.least(size) < 0]
    return size_text(behind[0] // 2) if behind else "512 MiB, the last one"


def fastest(size):
    """The family that is the fastest at this size."""
    return lambda found: min({"Swing": found.own, **found.others}.items(), key=lambda item: item[1][size])[0]


def first_behind(found):
    behind = [size for size in found.sizes if found.least(size) < 0]
    return size_text(behind[0]) if behind else "never"


def most(found):
    return max(found.least(size) for size in found.sizes)


def row(page, torus, label, what, published, value, known=(), text=numbers, points=1, **options):
    def cells():
        values = value(gains(page.tool, torus, **options))
        for number, (ours, independent) in enumerate(zip(values, known)):
            page.near(f"Swing, Fig. {label}, {what}, value {number}", ours, independent, points=points)
        return [label, what, published, text(values) if not isinstance(values, str) else values]
    return cells


def text_row(page, torus, label, what, published, value, known=None, **options):
    def cells():
        ours = value(gains(page.tool, torus, **options))
        if known:
            page.equal(f"Swing, Fig. {label}, {what}", ours, known)
        return [label, what, published, ours]
    return cells


def most_and_end(found):
    return f"{most(found):.1f}; {first_behind(found)}"


def peak_share(tool, torus, size, rate=400):
    found = gains(tool, torus, rate)
    return 100 * size / found.own[size] / ((torus.count("x") + 1) * rate * 1e9 / 8)


def squares(page):
    worst = []
    for side in (8, 16, 32, 64, 128):
        found = gains(page.tool, f"{side}x{side}", sizes=tuple(MORE))
        worst.append(min(found.least(size) for size in found.sizes))
    page.near("Swing, Fig. 7, worst", min(worst), -15, points=1)
    return ["7", "8x8 to 128x128, worst to 2 GiB", "-20", f"{min(worst):.1f}"]


def network_row(page, label, network, published, load):
    def cells():
        page.tool.guard("64x64")
        ours = 2 * page.tool.load("64x64", "swing-b", "--network", network)
        page.near(f"Swing, Fig. {label}, load", ours, load)
        found = gains(page.tool, "64x64", network=network)
        return [label, f"{network}: most; behind from; load times D", published,
                f"{1 + most(found) / 100:.1f}x; {first_behind(found)}; {ours:.3f}"]
    return cells


def rows(page):
    tool = page.tool
    at = lambda *sizes: lambda g: [g.least(size) for size in sizes]
    high = lambda g: [most(g)]
    def peak():
        return ["6", "512 MiB, share of the peak", "77", f"{page.near('Swing, Fig. 6, peak', peak_share(tool, '64x64', 512 * MI), 83, points=1):.0f}"]
    wide = [text_row(page, torus, "10", f"{torus}: most", "to 3x", lambda g: f"{1 + most(g) / 100:.1f}x", known)
            for torus, known in zip(WIDE, ("2.9x", "3.1x", "2.6x"))]
    return [
        row(page, "64x64", "6", "below 32 KiB", "to 50", lambda g: [min(v := g.least_of(32, 16 * KI)), max(v)], (42, 58), range_text),
        row(page, "64x64", "6", "2 MiB", "about 120", at(2 * MI), (127,)),
        text_row(page, "64x64", "6", "ahead up to", "32 MiB", last_ahead, "64 MiB"),
        row(page, "64x64", "6", "128 MiB (Bucket)", "behind", at(128 * MI), (-6,)),
        peak,
        text_row(page, "8x8", "7", "8x8: behind from", "over 32 MiB", first_behind, "16 MiB"),
        lambda: squares(page),
        *[text_row(page, "8x8", "8", f"8x8, {rate} Gbit/s: most; behind from", "no words", most_and_end, None, rate=rate)
          for rate in (100, 200, 400, 800, 1600)],
        text_row(page, "8x8", "8", "8x8, 3200 Gbit/s: behind from", "never", first_behind, "128 MiB", rate=3200),
        *wide,
        *[text_row(page, torus, "10", f"{torus}: ahead up to", "32 MiB", last_ahead) for torus in WIDE],
        *[text_row(page, torus, "10", f"{torus}: fastest at 256 MiB, 1 GiB, 2 GiB", "Hamiltonian above 512 MiB",
                   lambda g: ", ".join(fastest(size * MI)(g) for size in (256, 1024, 2048)), sizes=tuple(MORE)) for torus in WIDE],
        row(page, "256x4", "10", "256x4, 512 MiB", "-60", at(512 * MI), (-32,)),
        row(page, "8x8x8", "11", "8x8x8, most", "to 2x", high, (68,), sizes=tuple(MORE)),
        text_row(page, "8x8x8", "11", "8x8x8: behind from", "never", first_behind, "128 MiB", sizes=tuple(MORE)),
        row(page, "8x8x8x8", "11", "8x8x8x8, most", "to 2x", high, (73,), sizes=tuple(MORE)),
        network_row(page, "12", "hx2mesh", "2.5x; never", 1.062),
        network_row(page, "13", "hx4mesh", "2.5x; 128 MiB", 1.187),
        network_row(page, "14", "hyperx", "3x; never", 1.000),
    ]


def boxes(page):
    """Figure 15."""
    for label, torus, network in [*((t, t, "torus") for t in BOXES), *((n, "64x64", n) for n in ("hx2mesh", "hx4mesh", "hyperx"))]:
        def cells(label=label, torus=torus, network=network):
            found = gains(page.tool, torus, network=network)
            values = [found.least(size) for size in found.sizes]
            quarters = statistics.quantiles(values, n=4, method="inclusive")
            return [label, f"{min(values):.0f}", *(f"{quarter:.0f}" for quarter in quarters), f"{max(values):.0f}"]
        yield cells


def limits(page):
    """Table 2: Ξ."""
    for name, algorithm, published, shapes, known in (
            ("Ring", "bucket", "1", ("64x64", "16x16x16", "8x8x8x8"), ()),
            ("RD(L)", "recursive-doubling-torus-l", "2Dr", ("64x64", "16x16x16", "8x8x8x8"), (188,)),
            ("RD(B), all ports", "recursive-doubling-b", "(2^D-1)/(2^D-2)", ("64x64", "16x16x16", "8x8x8x8"), ()),
            ("Swing (L)", "swing-l:single-port", "4Dr/3", ("64x64", "16x16x16", "8x8x8x8"), (96,)),
            ("Swing (B)", "swing-b", "1.19, 1.03, 1.008", ("64x64", "16x16x16", "8x8x8x8"), ())):
        def cells(name=name, algorithm=algorithm, published=published, shapes=shapes, known=known):
            values = [(shape.count("x") + 1) * page.tool.load(shape, algorithm) for shape in shapes]
            for value, independent in zip(values, known):
                page.near(f"Swing, Table 2, {name}", value, independent)
            return [name, published, *(f"{value:.4g}" for value in values)]
        yield cells


def deficiencies(page):
    """Table 2: Λ and Ψ on 16x16."""
    d, r, p, bits = 2, 16, 256, 8
    for name, algorithm, ports, steps_text, steps, bytes_text, sent in (
            ("Ring", "hamiltonian", 2 * d, "2p / log2 p", 2 * p / bits, "1", 1),
            ("RD(L)", "recursive-doubling-torus-l", 1, "1", 1, "D log2 p", d * bits),
            ("RD(B), one port", "recursive-doubling-torus-b", 1, "2", 2, "2D", 2 * d),
            ("Bucket", "bucket", 2 * d, "2Dr / log2 p", 2 * d * r / bits, "1", 1),
            ("Swing (L)", "swing-l:single-port", 1, "1", 1, "D log2 p", d * bits),
            ("Swing (B)", "swing-b", 2 * d, "2", 2, "1", 1)):
        def cells(name=name, algorithm=algorithm, ports=ports, steps_text=steps_text, steps=steps, bytes_text=bytes_text, sent=sent):
            found = page.tool.summary("allreduce", "16x16", algorithm)
            return [name, steps_text, f"{steps:g}", f"{found['steps'] / bits:.4g}", bytes_text, f"{sent:g}",
                    f"{found['bytes_sent_max'] * d / ports:.4g}"]
        yield cells


def panel(tool, torus, title=None, **options):
    found = gains(tool, torus, **options)
    return Panel(title or torus, "gain of Swing, %", {name: found.line(name) for name in found.others}, y_range="[-60:300]")


def goodput(tool, torus):
    found = gains(tool, torus)
    everything = {"Swing": found.own, **found.others}
    return Panel(f"{torus}: goodput", "Gbit/s",
                 {name: [(size, 8e-9 * size / seconds) for size, seconds in values.items()] for name, values in everything.items()})


def write(page):
    tool = page.tool
    page.heading("Swing")
    page.say("""De Sensi et al., *Swing: Short-cutting Rings for Higher Bandwidth Allreduce*, NSDI 2024. Machine `swing`: 400 Gbit/s,
        500 ns a message, 400 ns a hop. Swing is the better one of `swing-l:single-port` and `swing-b`; the others are Recursive
        Doubling (one port, the dimensions in turn, the better one of L and B), Bucket, and Hamiltonian rings on rectangles (on
        squares Bucket has their load in fewer steps).
        Gains are T_best / T_Swing - 1, in per cent, over the best of the others.""")
    page.table(["Fig.", "what", "published", "ours"], rows(page))
    page.say("Where they differ:")
    page.item("""*Large vectors on 64x64*: a schedule of load 1.184 reaches 84 % of the peak; so the 77 % contain some loss of
        the simulated network, which also ends the lead earlier.""")
    page.item("""*8x8 and 8x8x8 fall behind earlier* here than published: Bucket has little latency on short rings, and no loss.""")
    page.item("""*256x4 at 512 MiB*: -32, not -60; the same loss, beside the load of 1.951 (see
        [the finding](#swings-equation-for-rectangles)).""")
    page.item("""*HammingMesh and HyperX*: short vectors gain nothing here, since all exchanges of Recursive Doubling are as
        short there as Swing's. ">0 everywhere" is not reproduced.""")
    page.item("""*Hx4Mesh*: Swing has the same load there as on the torus (1.187 against 1.184), so the switches gain nothing.""")
    page.end_items()
    page.command("trefoil sim allreduce -a swing-b,recursive-doubling-torus-b,bucket -t 8x8 --machine swing --sizes 512K,16M --model step --baseline swing-b")
    page.plot("swing-64x64", "Gains and goodput on 64x64 (Fig. 6)", lambda: Figure([panel(tool, "64x64"), goodput(tool, "64x64")]))
    page.plot("swing-squares", "Gains on squares (Fig. 7)", lambda: Figure([Panel("squares", "gain of Swing, %", {
        f"{n}x{n}": gains(tool, f"{n}x{n}").least_line() for n in (8, 16, 32, 64, 128)}), Panel("8x8, by rate (Fig. 8)", "gain of Swing, %", {
            f"{rate} Gbit/s": gains(tool, "8x8", rate).least_line() for rate in (100, 200, 400, 800, 1600, 3200)})]))
    page.plot("swing-rectangles", "Gains on rectangles (Fig. 10) and more dimensions (Fig. 11)", lambda: Figure(
        [panel(tool, torus) for torus in ("64x16", "128x8", "256x4", "8x8x8", "8x8x8x8")]))
    page.plot("swing-networks", "Gains on HammingMesh and HyperX (Fig. 12 to 14)", lambda: Figure(
        [panel(tool, "64x64", network, network=network) for network in ("hx2mesh", "hx4mesh", "hyperx")]))
    page.say("""**Table 2**, transmission deficiency Ξ: published, and load times D of the schedules on 64x64, 16x16x16 and
        8x8x8x8. The published limits of Swing (B) for long rings are 1.2, 1.037 and 1.0084 by its own equation.""")
    page.table(["", "published", "64x64", "16x16x16", "8x8x8x8"], limits(page))
    page.say("""The same table has the latency deficiency Λ, steps over log2 p, and the bandwidth deficiency Ψ, what goes through a rank's
        busiest port over n/D. Published for 16x16 (D = 2, r = 16, p = 256), and of the schedules there:""")
    page.table(["", "Λ", "16x16", "ours", "Ψ", "16x16", "ours"], deficiencies(page))
    page.say("""RD(L) and Swing (L) have a Ξ less than published, because the last exchange of a dimension goes both ways round.
        **Fig. 15**, gains over all sizes to 512 MiB: smallest, quartiles, largest. Published: medians of 20 to 50 %.""")
    page.table(["network", "smallest", "25 %", "median", "75 %", "largest"], boxes(page))
    page.say("""Not reproduced: packets and adaptive routing of the authors' simulator. The paper gives no rate for the faster
        traces on a board, so all links are alike here.""")
