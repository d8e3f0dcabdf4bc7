# SPDX-License-Identifier: BSD-3-Clause
"""The page: text, tables whose numbers are checked, plots; written, or compared with what is there."""
import textwrap

from . import plots
from .tool import TooLong

WIDTH = 100


class Page:
    def __init__(self, tool, folder):
        self.tool, self.folder = tool, folder
        self.lines, self.misses, self.met = [], [], 0
        self.left_out = 0

    # What a section says.

    def heading(self, title, level=2):
        self.lines += ["", "#" * level + " " + title, ""]

    def say(self, text, *values):
        """A paragraph. `values`: functions whose results stand for {} in it; where one takes too long the short form leaves the
        paragraph out."""
        try:
            filled = text.format(*(value() for value in values)) if values else text
        except TooLong:
            self.left_out += 1
            return
        self.lines += textwrap.wrap(" ".join(filled.split()), WIDTH, break_long_words=False, break_on_hyphens=False) + [""]

    def item(self, text, *values):
        before = len(self.lines)
        self.say(text, *values)
        wrapped = textwrap.wrap(" ".join(self.lines[before:]).strip(), WIDTH - 2, break_long_words=False, break_on_hyphens=False)
        self.lines[before:] = [("- " if i == 0 else "  ") + line for i, line in enumerate(wrapped)]

    def end_items(self):
        self.lines.append("")

    def command(self, *lines):
        for line in lines:
            wrapped = textwrap.wrap(line, WIDTH - 10, break_long_words=False, break_on_hyphens=False)
            self.lines += ["    " + ("    " if i > 0 else "") + part + (" \\" if i + 1 < len(wrapped) else "")
                           for i, part in enumerate(wrapped)]
        self.lines.append("")

    def table(self, head, rows):
        """`rows`: lists of cells, or functions that return one or several lists of cells."""
        self.lines += ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
        for row in rows:
            try:
                cells = row() if callable(row) else row
            except TooLong:
                self.left_out += 1
                continue
            for one in cells if cells and isinstance(cells[0], list) else [cells]:
                self.lines.append("| " + " | ".join(str(cell) for cell in one) + " |")
        self.lines.append("")

    def plot(self, name, caption, figure):
        """`figure`: a function that returns plots.Figure."""
        self.lines += [f"![{caption}](plots/papers-{name}.svg)", ""]
        if self.folder is not None:
            plots.draw(self.folder / f"papers-{name}.svg", figure())

    # Numbers.

    def near(self, what, value, independent, points=None):
        """The value, after it has met an independent one: within so many points, or else 1 %. To that comes half a unit of the
        last digit that the independent value has, since it is rounded: 14 leaves 1.5 points, 14.0 leaves 1.05."""
        digits = len(str(independent).partition(".")[2])
        room = (points if points is not None else 0.01 * abs(independent)) + 0.5 * 10**-digits + 1e-9
        self._judge(abs(value - independent) <= room, f"{what}: {value:.4g}, independently {independent:g}")
        return value

    def equal(self, what, value, independent):
        self._judge(value == independent, f"{what}: {value}, independently {independent}")
        return value

    def _judge(self, met, text):
        self.met += met
        if not met:
            self.misses.append(text)

    # The whole.

    def text(self):
        joined = "\n".join(self.lines).strip() + "\n"
        while "\n\n\n" in joined:
            joined = joined.replace("\n\n\n", "\n\n")
        return joined

    def compare(self, path):
        """The lines that the page at `path` does not have, in their order."""
        there = path.read_text().splitlines()
        place, missing = 0, []
        for line in self.text().splitlines():
            if line in there[place:]:
                place += there[place:].index(line) + 1
            else:
                missing.append(f"{path.name} does not have this line, or has it elsewhere; run scripts/papers: {line}")
        return missing
