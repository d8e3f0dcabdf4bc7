# SPDX-License-Identifier: BSD-3-Clause
"""Resident memory and descriptors over time: by gnuplot, or as text where that is missing."""
import shutil
import subprocess

WIDTH, HEIGHT = 72, 10  # characters of a text plot
PANELS = (("resident", "resident memory of all ranks, MiB", 2**20), ("files", "descriptors of all ranks", 1))


def draw(soaks, path):
    """Writes a PNG, or prints plots of characters."""
    soaks = [soak for soak in soaks if len(soak.samples) > 1]
    if not soaks:
        print("no plot: fewer than two samples")
    elif shutil.which("gnuplot"):
        subprocess.run(["gnuplot"], input=script(soaks, path), text=True, check=True, timeout=60)
        print(f"plot: {path}")
    else:
        for soak in soaks:
            for field, title, unit in PANELS:
                print(as_text(soak, field, f"{soak.transport}: {title}", unit))


def script(soaks, path):
    blocks = []
    for number, soak in enumerate(soaks):
        lines = "".join(f"{sample.seconds} {sample.resident / 2**20:.3f} {sample.files}\n" for sample in soak.samples)
        blocks.append(f"$d{number} << end\n{lines}end\n")
    panels = []
    for column, (_, title, _) in enumerate(PANELS, start=2):
        lines = [f"$d{number} using 1:{column} with lines lw 2 title '{soak.transport}'" for number, soak in enumerate(soaks)]
        panels.append(f"set ylabel '{title}'\nplot {', '.join(lines)}\n")
    return (f"set terminal pngcairo size 1000,800 background 'white'\nset output '{path}'\n"
            f"set multiplot layout 2,1 title 'Soak on {soaks[0].options.torus}, seed {soaks[0].options.seed}'\n"
            f"set grid\nset yrange [0:*]\nset xlabel 'seconds'\nset key outside right\n"
            f"{''.join(blocks)}{''.join(panels)}unset multiplot\n")


def as_text(soak, field, title, unit):
    values = [getattr(sample, field) / unit for sample in soak.samples]
    highest = max(values) or 1
    columns = [values[i * len(values) // WIDTH] for i in range(WIDTH)] if len(values) > WIDTH else values
    heights = [round(value / highest * HEIGHT) for value in columns]
    lines = [f"{highest * row / HEIGHT:10.1f} |" + "".join("*" if height >= row else " " for height in heights)
             for row in range(HEIGHT, 0, -1)]
    end = f"{soak.samples[-1].seconds:.0f} s"
    return "\n".join([title, *lines, " " * 10 + " +" + "-" * len(columns), " " * 12 + end.rjust(len(columns))])
