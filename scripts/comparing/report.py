# SPDX-License-Identifier: BSD-3-Clause
"""The outcome of a comparison: ratios with spread, all times, JSON, and plots by gnuplot."""
import statistics
import subprocess

from . import spread

AUTO, DEFAULT = ": auto", "Open MPI, default"
COLOURS = {"Open MPI": ("#000000", "#555555", "#888888", "#aaaaaa"), "MPICH": ("#8b4513",), "Gloo": ("#556b2f",), "Trefoil": (
    "#d62728", "#1f77b4", "#2ca02c", "#ff7f0e", "#9467bd", "#17becf", "#e377c2", "#bcbd22", "#8c564b", "#006d5b")}


def median(times):
    return statistics.median(times)


def text_of(microseconds):
    digits = 3 if microseconds < 10 else 1 if microseconds < 1000 else 0
    return f"{microseconds:.{digits}f}"


class Sizes:
    """All launches at one size: {name: [microseconds of each round]}; a round in which a launch failed has None."""

    def __init__(self, size, bound, times):
        self.size, self.bound = size, bound
        self.times = {name: values for name, values in times.items() if any(v is not None for v in values)}

    def present(self, name):
        return [value for value in self.times[name] if value is not None]

    def best(self, wanted):
        """The name with the smallest median among those wanted; None where there is none."""
        names = [name for name in self.times if wanted(name)]
        return min(names, key=lambda name: median(self.present(name)), default=None)

    def ratios(self, slow, fast):
        """How many times as fast, round by round."""
        return [a / b for a, b in zip(self.times[slow], self.times[fast]) if a is not None and b is not None]

    def cell(self, name):
        values = self.present(name)
        return f"{text_of(median(values))} [{text_of(min(values))}..{text_of(max(values))}]"

    def ratio_cell(self, slow, fast):
        ratios = self.ratios(slow, fast) if slow in self.times and fast in self.times else []
        return spread(ratios, 2) if ratios else "-"

    def fraction(self, name):
        return self.bound * 1e6 / median(self.present(name)) if self.bound else None


def is_ours(name):
    return name.startswith("Trefoil")


def ratio_rows(all_sizes):
    rows = [("bytes", "best of Trefoil", "us", "of the bound", "best of the others", "us", "best other / best Trefoil",
             "Open MPI default / best Trefoil", "best Trefoil / auto")]
    for at in all_sizes:
        ours, theirs = at.best(is_ours), at.best(lambda name: not is_ours(name))
        auto = at.best(lambda name: is_ours(name) and name.endswith(AUTO))
        if ours is None:
            rows.append((str(at.size), "failed") + ("-",) * 7)
            continue
        rows.append((str(at.size), ours.removeprefix("Trefoil, "), at.cell(ours),
                     f"{100 * at.fraction(ours):.1f} %" if at.bound else "-", theirs or "-",
                     at.cell(theirs) if theirs else "-", at.ratio_cell(theirs, ours), at.ratio_cell(DEFAULT, ours),
                     at.ratio_cell(ours, auto)))
    return rows


def time_rows(all_sizes):
    names = list(dict.fromkeys(name for at in all_sizes for name in at.times))
    rows = [("us, median [lowest..highest] of the launches' medians", *(str(at.size) for at in all_sizes))]
    for name in names:
        rows.append((name, *(at.cell(name) if name in at.times else "-" for at in all_sizes)))
    return rows


def markdown(rows):
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]]) + "\n"


def style(name, names):
    """Of a line: one colour per algorithm of a library, dashed with a thread per port, thick what users get by default."""
    library = next(library for library in COLOURS if name.startswith(library))
    algorithms = list(dict.fromkeys(other.split(": ")[-1] for other in names if other.startswith(library)))
    colour = COLOURS[library][algorithms.index(name.split(": ")[-1]) % len(COLOURS[library])]
    return (f"lw {2.5 if name.endswith((AUTO, 'default')) else 1} dt {2 if 'per port' in name else 1} "
            f"lc rgb '{colour}'")


def plot(folder, collective, all_sizes, title):
    """Time and, where there is a bound, its fraction over the size, as SVG."""
    names = list(dict.fromkeys(name for at in all_sizes for name in at.times))
    for kind, label in (("time", "us"), ("fraction", "fraction of the bound")):
        blocks, lines = [], []
        for name in names:
            points = [(at.size, median(at.present(name)) if kind == "time" else at.fraction(name))
                      for at in all_sizes if name in at.times]
            points = [(size, value) for size, value in points if value is not None]
            if not points:
                continue
            blocks.append("".join(f"{size} {value}\n" for size, value in points))
            lines.append(f"$d{len(blocks)} using 1:2 with linespoints pt 7 ps 0.4 {style(name, names)} title '{name}'")
        if not blocks:
            continue
        data = "".join(f"$d{number + 1} << end\n{block}end\n" for number, block in enumerate(blocks))
        scale = "set logscale xy\n" if kind == "time" else "set logscale x\nset yrange [0:1.1]\n"
        script = (f"set terminal svg size 1000,600 background 'white'\nset output '{folder / f'{collective}-{kind}.svg'}'\n"
                  f"set title '{collective}: {title}'\nset xlabel 'bytes'\nset ylabel '{label}'\nset key outside right font ',9'\n"
                  f"set grid\n{scale}{data}plot {', '.join(lines)}\n")
        subprocess.run(["gnuplot"], input=script, text=True, check=True, timeout=60)
