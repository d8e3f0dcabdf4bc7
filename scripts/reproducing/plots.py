# SPDX-License-Identifier: BSD-3-Clause
"""Plots by gnuplot: panels of lines over the size of the vector."""
import dataclasses
import subprocess

from . import size_text
from .tool import ToolError

COLOURS = ("#d62728", "#1f77b4", "#2ca02c", "#ff7f0e", "#9467bd", "#17becf", "#8c564b", "#333333")


@dataclasses.dataclass
class Panel:
    title: str
    y: str
    lines: dict  # name: [(x, y)]
    x: str = "vector"
    log_y: bool = False
    sizes: bool = True  # x is bytes
    y_range: str = ""
    points: bool = False  # no lines


@dataclasses.dataclass
class Figure:
    panels: list
    columns: int = 2


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def script_of(path, figure):
    columns = min(figure.columns, len(figure.panels))
    rows = -(-len(figure.panels) // columns)
    script = [f"set terminal svg size {columns * 470},{rows * 330} font 'sans,11' background '#ffffff'",
              f"set output {quoted(str(path))}", f"set multiplot layout {rows},{columns}",
              "set grid xtics ytics lt 1 lc rgb '#cccccc'", "set key outside bottom center horizontal samplen 2"]
    for panel in figure.panels:
        script += [f"set title {quoted(panel.title)}", f"set ylabel {quoted(panel.y)}", f"set xlabel {quoted(panel.x)}",
                   "set logscale y" if panel.log_y else "unset logscale y", "set autoscale",
                   f"set yrange {panel.y_range}" if panel.y_range else ""]
        if panel.sizes:
            every = sorted({x for points in panel.lines.values() for x, _ in points})
            step = max(1, len(every) // 7)
            ticks = ", ".join(f"{quoted(size_text(x))} {x}" for x in every[::step])
            script += ["set logscale x 2", f"set xtics ({ticks}) rotate by -35"]
        else:
            script += ["unset logscale x", "set xtics autofreq norotate"]
        if not panel.lines:
            continue
        drawn = []
        for number, (name, points) in enumerate(panel.lines.items()):
            script += [f"$d{number} << EOD", *(f"{x} {y:.6g}" for x, y in points), "EOD"]
            colour = COLOURS[number % len(COLOURS)]
            style = "points pt 7 ps 0.25" if panel.points else "linespoints pt 7 ps 0.4 lw 1.5"
            drawn.append(f"$d{number} using 1:2 with {style} lc rgb '{colour}' title {quoted(name)}")
        script.append("plot " + ", ".join(drawn))
    return "\n".join([*script, "unset multiplot", ""])


def draw(path, figure):
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        result = subprocess.run(["gnuplot"], input=script_of(path, figure), capture_output=True, text=True, timeout=120, check=False)
    except FileNotFoundError as missing:
        raise ToolError("gnuplot is missing (Debian: gnuplot-nox)") from missing
    if result.returncode != 0:
        raise ToolError(f"gnuplot: {result.stderr.strip()}")
