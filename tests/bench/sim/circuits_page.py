# SPDX-License-Identifier: BSD-3-Clause
"""Runs the commands of docs/short-circuiting.md: each prints the lines that the page shows below it, and draws the picture
that the page has."""

import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile


def commands(page):
    """(command, lines shown below it until the next command)"""
    found = []
    for line in page.splitlines():
        text = line.strip()
        if line.startswith("    trefoil "):
            found.append((text, []))
        elif found and line.startswith("    ") and text:
            found[-1][1].append(text)
        elif not line.startswith("    ") and text:
            found.append((None, []))  # prose ends what belongs to a command
    return [(command, shown) for command, shown in found if command]


def cells(picture):
    return re.findall(r">(\d+ \(\d+\.\d\d\))<", picture.read_text(encoding="utf-8"))


def main():
    tool, root = sys.argv[1], pathlib.Path(sys.argv[2])
    page = (root / "docs/short-circuiting.md").read_text(encoding="utf-8")
    wrong = []
    all_commands = commands(page)
    if len(all_commands) < 10:
        wrong.append(f"only {len(all_commands)} commands were found on the page")
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "docs/plots").mkdir(parents=True)
        for command, shown in all_commands:
            if "--heatmap" in command and not shutil.which("gnuplot"):
                print(f"not run, there is no gnuplot: {command}")
                continue
            words = shlex.split(command)[1:]
            run = subprocess.run([tool, *words], cwd=folder, capture_output=True, text=True, check=False)
            refused = run.returncode == 2 and any("trefoil: " in line for line in shown)
            if run.returncode != 0 and not refused:
                wrong.append(f"{command}: {run.stderr}")
            printed = {" ".join(line.split()) for line in (run.stdout + run.stderr).splitlines()}
            for line in shown:
                if " ".join(line.split()) not in printed:
                    wrong.append(f"{command}\n  does not print: {line}\n  but:\n{run.stdout}")
            for picture in re.findall(r"docs/plots/\S+\.svg", command):
                drawn, kept = cells(pathlib.Path(folder) / picture), cells(root / picture)
                if not drawn or drawn != kept:
                    wrong.append(f"{picture} has other cells than {command} draws: {kept}\n{drawn}")
    for one in wrong:
        print(one)
    print(f"{len(all_commands)} commands, {len(wrong)} finding(s)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
