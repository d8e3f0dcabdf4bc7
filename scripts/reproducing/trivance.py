# SPDX-License-Identifier: BSD-3-Clause
"""Trivance: figures 6 to 10, tables 1 and 2."""
import math

from . import KI, MI
from .gains import Gains, numbers, range_text
from .patterns import bruck_messages, bruck_steered_load, bruck_steps, bruck_time, trivance_simulated_time
from .plots import Figure, Panel

OWN = "Trivance"
BRUCK, SWING, DOUBLING, BUCKET = "Bruck", "Swing", "Recursive Doubling", "Bucket"
FAMILIES = {OWN: ("trivance-l", "trivance-b"), SWING: ("swing-l:single-port", "swing-b"),
            DOUBLING: ("recursive-doubling-torus-l", "recursive-doubling-b"), BRUCK: (None, "bruck-b"), BUCKET: (None, "bucket")}
SIZES = [32 * 4**i for i in range(12)]  # to 128 MiB
MOST_WHOLE, LEAST_PARTS = 512 * KI, 32 * KI
ALPHA, HOP = 1.8e-6, 0.2e-6
RATES = (200, 400, 800, 1600, 2400, 3200)


def gains(tool, torus, rate=800, barrier=True):
    options = ["--machine", "trivance", "--rate", f"{rate}Gbit"]
    one = [name for pair in FAMILIES.values() for name in pair if name]
    plain = tool.times(torus, one, SIZES, *options)
    # What the barrier takes is the same for all.
    extra = tool.times(torus, ["bucket"], [32], *options, "--closing-barrier", "312ns")["bucket", 32] - plain["bucket", 32]
    families = {}
    for family, (whole, parts) in FAMILIES.items():
        families[family] = {}
        for size in SIZES:
            candidates = []
            if size <= MOST_WHOLE and whole:
                candidates.append(plain[whole, size])
            if size <= MOST_WHOLE and family == BRUCK:
                candidates.append(bruck_time(torus, size, ALPHA, HOP, rate * 1e9 / 8))
            if size >= LEAST_PARTS or family == BUCKET:
                candidates.append(plain[parts, size])
            families[family][size] = min(candidates) + (extra if barrier else 0)
    result = Gains(families, OWN)
    result.plain = {size: seconds - (extra if barrier else 0) for size, seconds in result.own.items()}
    return result


def row(page, torus, label, what, published, values, independent=(), text=numbers):
    """A table row: `values` of the gains with and without the barrier."""
    def cells():
        with_barrier, without = (values(gains(page.tool, torus, barrier=barrier)) for barrier in (True, False))
        for number, (value, known) in enumerate(zip(with_barrier, independent)):
            page.near(f"Trivance, Fig. {label}, {what}, value {number}", value, known, points=1)
        return [label, what, published, text(with_barrier), text(without)]
    return cells


def end_row(page, torus, label, what, published, among=None, known=None):
    def cells():
        both = [gains(page.tool, torus, barrier=barrier).ends_text(among) for barrier in (True, False)]
        if known:
            page.equal(f"Trivance, Fig. {label}, {what}", both[0], known)
        return [label, what, published, *both]
    return cells


def rate_row(page, rate):
    def cells():
        with_barrier, without = (gains(page.tool, "32x32", rate, barrier) for barrier in (True, False))
        if rate > 200:
            over_swing = with_barrier.least_of(32, 2 * MI, (SWING,))
            page.near(f"Trivance, Fig. 8, {rate} Gbit/s, least over Swing", min(over_swing), 8.3, points=1)
            if rate == 400:
                page.near("Trivance, Fig. 8, most over Swing", max(over_swing), 15.6, points=1)
        if rate <= 400:
            page.equal(f"Trivance, Fig. 8, {rate} Gbit/s, equal", with_barrier.ends_text(), "8 to 32 MiB")
        if rate >= 2400:
            page.near(f"Trivance, Fig. 8, {rate} Gbit/s, 128 MiB", with_barrier.least(128 * MI), 0.0, points=1)
        published = "6 to 14; 4 MiB" if rate < 2400 else "6 to 14; 64 MiB"
        return ["8", f"{rate} Gbit/s, to 2 MiB; equal", published,
                *(f"{range_text(found.least_of(32, 2 * MI))}; {found.ends_text()}" for found in (with_barrier, without))]
    return cells


def rows(page):
    small = lambda g: [g.over(name, 32) for name in (BRUCK, SWING, DOUBLING)]
    at = lambda size, *names: lambda g: [g.over(name, size) for name in names]
    least = lambda *sizes: lambda g: [g.least(size) for size in sizes]
    spread = lambda first, last, among=None: lambda g: [min(found := g.least_of(first, last, among)), max(found)]
    return [
        row(page, "8", "6a", "32 B: Bruck, Swing, Doubling", "slightly; >20; >20", small, (2.2, 22.0, 26.5)),
        row(page, "8", "6a", "128 KiB, least", "to 15", least(128 * KI), (14.0,)),
        end_row(page, "8", "6a", "Swing equal", "512 KiB", (SWING,), "512 KiB to 2 MiB"),
        end_row(page, "8", "6a", "Bucket equal", "4 MiB", (BUCKET,)),
        row(page, "64", "6b", "to 8 KiB, least", "about 10", spread(32, 8 * KI), (9.9, 11.3), range_text),
        row(page, "64", "6b", "32 KiB, least (Swing)", "Swing much better", least(32 * KI), (5.6,)),
        row(page, "64", "6b", "128, 512 KiB, least", "ahead", least(128 * KI, 512 * KI), (16.6,)),
        row(page, "8x8", "7a", "most of the least", "to 25", lambda g: [max(g.least_of(32 * KI, 2 * MI))], (15.4,)),
        row(page, "8x8", "7a", "512 KiB, Swing", "to 25", at(512 * KI, SWING), (24.1,)),
        end_row(page, "8x8", "7a", "equal", "4 MiB", None, "8 to 32 MiB"),
        end_row(page, "32x32", "7b", "equal", "8 MiB", None, "32 to 128 MiB"),
        row(page, "27x27", "9", "32 B, Bruck", "5", at(32, BRUCK), (2.8,)),
        row(page, "27x27", "9", "512 KiB, Bruck", ">10 above 32 KiB", at(512 * KI, BRUCK), (12.2,)),
        row(page, "27x27", "9", "2 MiB, Bruck", ">50 above 512 KiB", at(2 * MI, BRUCK), (32, )),
        row(page, "27x27", "9", "8 MiB, Bruck", ">50", at(8 * MI, BRUCK), (80,)),
        row(page, "27x27", "9", "32 MiB, Bucket", ">40", at(32 * MI, BUCKET), (44.3,)),
        row(page, "27x27", "9", "128 MiB, Bucket", "equal", at(128 * MI, BUCKET), (-1.7,)),
        *[rate_row(page, rate) for rate in RATES],
        row(page, "16x16x16", "10", "to 8 MiB without 128 KiB, least", "5 to 15",
            lambda g: [min(found := [g.least(size) for size in g.sizes if size <= 8 * MI and size != 128 * KI]), max(found)], (6, 14),
            range_text),
        row(page, "16x16x16", "10", "128 KiB, least", "5 to 15", least(128 * KI), (23.6,)),
        row(page, "16x16x16", "10", "128 MiB, Swing", "8", at(128 * MI, SWING), (-3.0,)),
        row(page, "16x16x16", "10", "the same, messages of its simulator", "8", simulated, (0.2,)),
    ]


def simulated(found):
    """The gain over Swing of the simulator's pattern, with the barrier that the own times have."""
    size = 128 * MI
    barrier = found.own[32] - found.plain[32]
    return [100 * (found.others[SWING][size] / (trivance_simulated_time(size, ALPHA, HOP, 100e9) + barrier) - 1)]


def bruck_beyond(page):
    """The gain over Bruck at 32 B on 32x32 if its last step sent by both distances."""
    found = gains(page.tool, "32x32")
    barrier = found.own[32] - found.plain[32]
    return 100 * ((bruck_time("32x32", 32, ALPHA, HOP, 100e9, beyond=True) + barrier) / found.own[32] - 1)



def figure(tool, torus, barrier=True):
    found = gains(tool, torus, barrier=barrier)
    return Panel(f"{torus}, {'with' if barrier else 'without'} the closing barrier", "slower than Trivance by, %",
                 {name: found.line(name) for name in found.others}, y_range="[-60:120]")


def line_loads(page):
    """Table 1: Θ of a ring of n, published and exact."""
    tool = page.tool
    log2, log3 = math.log2, lambda n: math.log(n, 3)
    published = [("Ring", "ring", "1", lambda n: 1), ("Rec. Doubling (B)", "recursive-doubling-b", "log2 n / 2", lambda n: log2(n) / 2),
                 ("Swing (B)", "swing-b", "log2 n / 3", lambda n: log2(n) / 3), ("Bruck (B)", "bruck-b", "2 log3 n", lambda n: 2 * log3(n)),
                 ("Trivance (B)", "trivance-b", "2/3 log3 n", lambda n: 2 / 3 * log3(n)),
                 ("Rec. Doubling (L)", "recursive-doubling-torus-l", "n", lambda n: n), ("Swing (L)", "swing-l:single-port", "n/3", lambda n: n / 3),
                 ("Bruck (L)", None, "3n/2", lambda n: 1.5 * n), ("Trivance (L)", "trivance-l", "n/2", lambda n: n / 2)]
    known = {("recursive-doubling-torus-l", 64): 47, ("swing-l:single-port", 64): 24, ("trivance-l", 64): 33, ("swing-b", 64): 2.109,
             ("trivance-b", 81): 2.667, ("trivance-l", 81): 40}
    for name, algorithm, formula, value in published:
        def cells(name=name, algorithm=algorithm, formula=formula, value=value):
            ours = []
            for n in (64, 81):
                exact = tool.load(str(n), algorithm) if algorithm else bruck_steered_load(n)
                if (algorithm, n) in known:
                    page.near(f"Trivance, Table 1, {name} on {n}", exact, known[algorithm, n])
                ours.append(f"{exact:.4g}")
            return [name, formula, f"{value(64):.4g}", ours[0], f"{value(81):.4g}", ours[1]]
        yield cells


def line_steps(page):
    """Table 1: Λ and Δ of a ring of n, published and exact."""
    log2, log3 = math.log2, lambda n: math.log(n, 3)
    one = lambda n: 1
    for name, algorithm, steps_text, steps, bytes_text, sent in (
            ("Ring", "ring", "2n / log3 n", lambda n: 2 * n / log3(n), "1", one),
            ("Rec. Doubling (B)", "recursive-doubling-b", "2 log2 3", lambda n: 2 * log2(3), "1", one),
            ("Swing (B)", "swing-b", "2 log2 3", lambda n: 2 * log2(3), "1", one),
            ("Bruck (B)", "bruck-b", "2", lambda n: 2, "1", one), ("Trivance (B)", "trivance-b", "2", lambda n: 2, "1", one),
            ("Rec. Doubling (L)", "recursive-doubling-torus-l", "log2 3", lambda n: log2(3), "log2 n / 2", lambda n: log2(n) / 2),
            ("Swing (L)", "swing-l:single-port", "log2 3", lambda n: log2(3), "log2 n / 2", lambda n: log2(n) / 2),
            ("Bruck (L)", None, "1", one, "log3 n", log3), ("Trivance (L)", "trivance-l", "1", one, "log3 n", log3)):
        ours = []
        for n in (64, 81):
            if algorithm:
                found = page.tool.summary("allreduce", str(n), algorithm)
                ours.append((found["steps"] / log3(n), found["bytes_sent_max"] / 2))
            else:
                ours.append((len(bruck_steps(n)) / log3(n), bruck_messages(n) / 2))
        values = lambda formula: "; ".join(f"{formula(n):.3g}" for n in (64, 81))
        yield [name, steps_text, values(steps), "; ".join(f"{pair[0]:.3g}" for pair in ours), bytes_text, values(sent),
               "; ".join(f"{pair[1]:.3g}" for pair in ours)]


def torus_loads(page):
    """Table 2: load times D."""
    tool = page.tool
    rows_ = [("Rec. Doubling (L)", "recursive-doubling-torus-l", "D²r", ("64x64", "8x8x8", "8x8x8x8"), lambda d, r: d * d * r, (188, 45)),
             ("Swing (L)", "swing-l:single-port", "D²r/3", ("64x64", "8x8x8", "8x8x8x8"), lambda d, r: d * d * r / 3, (96, 36)),
             ("Bruck (L)", None, "3Dr/2", ("81x81", "27x27x27", "9x9x9x9"), lambda d, r: 1.5 * d * r, ()),
             ("Trivance (L)", "trivance-l", "Dr/2", ("81x81", "27x27x27", "9x9x9x9"), lambda d, r: d * r / 2, ()),
             ("Bucket", "bucket", "1", ("64x64", "16x16x16", "8x8x8x8"), lambda d, r: 1, ()),
             ("Swing (B)", "swing-b", "below", ("64x64", "32x32x32", "16x16x16x16"),
              lambda d, r: 2**d * (2**d - 1) / ((2**d - 2) * (2**d + 1)), (1.184, 1.036, 1.008)),
             ("Trivance (B)", "trivance-b", "below", ("81x81", "27x27x27", "9x9x9x9"), lambda d, r: (3**d - 1) / (3**d - 3),
              (1.317, 1.082, 1.024)),
             ("Rec. Doubling (B)", "recursive-doubling-b", "below", ("64x64", "32x32x32", "16x16x16x16"),
              lambda d, r: (2**d - 1) / (2**d - 2), (1.477, 1.166, 1.071)),
             ("Bruck (B)", "bruck-b", "below", ("81x81", "27x27x27", "9x9x9x9"), lambda d, r: 3 * (3**d - 1) / (3**d - 3),
              (3.885, 3.222, 3.000))]
    for name, algorithm, _, shapes, value, known in rows_:
        def cells(name=name, algorithm=algorithm, shapes=shapes, value=value, known=known):
            line = [name]
            for number, shape in enumerate(shapes):
                tool.guard(shape)
                d, r = shape.count("x") + 1, int(shape.split("x")[0])
                exact = d * tool.load(shape, algorithm) if algorithm else d * bruck_steered_load(r)
                if number < len(known):
                    page.near(f"Trivance, Table 2, {name} on {shape}", exact, known[number])
                line.append(f"{value(d, r):.4g}; {exact:.4g} on {shape}")
            return line
        yield cells


def write(page):
    page.heading("Trivance")
    page.say("""Juerss, Addanki and Schmid, *Trivance: Latency-Optimal AllReduce by Shortcutting Multiport Networks*, arXiv
        2602.17254. Machine `trivance`: 800 Gbit/s, 1.8 us a step (1.5 us and the two ends of a message), 200 ns a hop. Each
        family is represented by its better variant: whole vectors (L, up to 512 KiB), or reduce-scatter and allgather (B,
        from 32 KiB).
        Swing and Recursive Doubling (L) have one port, as in the paper; (B) and Bucket all of them. Bruck (L) goes one way round,
        by distances 3^k and 2*3^k; where sizes are not powers of three it would count ranks twice, and is priced as a traffic
        pattern (`scripts/reproducing/patterns.py`).""")
    page.say("""Numbers are gains in per cent, (T_other - T_Trivance) / T_Trivance; *least* is over the fastest of the others.
        The published times end with a barrier along a binary tree, which the text does not mention (`--closing-barrier 312ns`);
        so there are two columns. Sizes grow by factors of four, so *equal* lies between two of them.""")
    page.table(["Fig.", "what", "published", "ours, with the barrier", "without"], rows(page))
    page.say("""Where they differ:""")
    page.item("""*Equality comes later* on 8x8 and 32x32 because `trivance-b` here has other distances than 3^k on sizes other
        than powers of three, with less load (our own construction).""")
    page.item("""*Ring of 64*: one value is a point away from the independent one (5.6), since `swing-l` and `trivance-l` take
        different ways on ties. Both stay behind "Swing much better", which no model reproduces.""")
    page.item("""*Fig. 8*: independent values have 8.3 to 15.6, which is the gain over Swing from 400 Gbit/s on. At 200 Gbit/s
        Swing is closer at 2 MiB. For short vectors Bruck is closer: on rings of 32 its last step needs only what is missing, 27 further, which is 5 back. If it
        sent by 54, too, the gain at 32 B would be {}, above that over Swing. At 2400 and 3200 Gbit/s Trivance is ahead by at most
        a point at 128 MiB, so that *equal* lies there.""", lambda: f"{bruck_beyond(page):.1f}")
    page.item("""*16x16x16, 128 MiB*: see [the findings](#a-gain-on-16x16x16-that-correct-schedules-do-not-have).""")
    page.item("""*27x27, Bruck above 512 KiB*: ">50" holds from 8 MiB on, at 2 MiB it is 32.""")
    page.end_items()
    page.command("trefoil sim allreduce -a trivance-l,bruck-l-one-way,swing-l:single-port -t 27x27 --sizes 32 --model step --closing-barrier 312ns")
    page.plot("trivance", "Time over Trivance's, by size", lambda: Figure(
        [figure(page.tool, torus) for torus in ("8", "64", "8x8", "32x32", "27x27", "16x16x16")]))
    page.plot("trivance-barrier", "The same without the closing barrier", lambda: Figure(
        [figure(page.tool, torus, False) for torus in ("8", "64", "8x8", "32x32", "27x27", "16x16x16")]))
    page.say("""**Table 1**, what the busiest link of a ring carries, in vectors: the published limit, its value, and what the
        schedules have. The value of Bruck (L) counts links in one direction; by shortest routes it is {} on 64 and {} on 81.""",
             lambda: f"{sum(load for _, load in bruck_steps(64)):g}", lambda: f"{sum(load for _, load in bruck_steps(81)):g}")
    page.table(["", "limit", "n = 64", "ours", "n = 81", "ours"], line_loads(page))
    page.say("""In the same table: Λ, steps over log3 n, and Δ, what a rank sends over two vectors. The published limit, its values on 64 and
        81, and those of the schedules:""")
    page.table(["", "Λ", "64; 81", "ours", "Δ", "64; 81", "ours"], line_steps(page))
    page.say("""Recursive Doubling (L) has 47, not 64, because the last exchange is half round the ring and goes both ways.
        **Table 2**, load times D on a torus of D dimensions of r: published limit; ours. Limits: Swing (B) 2^D (2^D - 1) /
        ((2^D - 2) (2^D + 1)), Recursive Doubling (B) (2^D - 1) / (2^D - 2), Trivance (B) (3^D - 1) / (3^D - 3), Bruck (B) three
        times that; (L) D²r, D²r/3 for Swing, 3Dr/2 for Bruck, Dr/2 for Trivance. The paper's columns 4r, 6r and 8r of Recursive
        Doubling (L) fit its formula only for D = 2.""")
    page.table(["", "D = 2", "D = 3", "D = 4"], torus_loads(page))
    page.say("""Not reproduced: packets and adaptive ties of the authors' simulator, whose plotted values we did not have. The
        variant for other sizes that it uses in Fig. 10 is not an allreduce: [finding](#published-trivance-loses-contributions).""")
