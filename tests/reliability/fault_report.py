# SPDX-License-Identifier: BSD-3-Clause
"""Summaries of cases of the table of faults: on the screen, and as tables of a page."""
import collections
import statistics
import textwrap

from fault_case import FAULTS, PHASES
from job import TRANSPORTS
from mpi_case import MPIS
from mpi_case import PHASES as MPI_PHASES

BAD = ("hang", "wrong", "crash")
# Neither Trefoil's doing nor a lack of words: a launcher ends the rank, or MPI's own beginning or end waits for the dead.
BY_MPI = ("ended", "below")
WIDTH = 100


class Summary:
    """Of some cases, all their survivors together."""

    def __init__(self, outcomes):
        self.cases = len(outcomes)
        self.survivors = [one for outcome in outcomes for one in outcome["survivors"].values()]
        judged = self.survivors + [outcome["victim"] for outcome in outcomes if outcome["victim"]]
        self.classes = collections.Counter(one["class"] for one in judged)
        self.by_mpi = sum(self.classes[name] for name in BY_MPI)
        self.left = sum(len(outcome["left"]) for outcome in outcomes)
        self.not_struck = sum(not outcome["struck"] for outcome in outcomes)
        self.bad = sum(self.classes[name] for name in BAD) + self.left + self.not_struck
        of_survivors = collections.Counter(one["class"] for one in self.survivors)
        self.named, self.finished = of_survivors["named"], of_survivors["finished"]
        self.told = self.named + of_survivors["other"] + of_survivors["fence"]
        self.failed = self.told + of_survivors["failed"]
        self.share = self.named / self.told if self.told else 1.0
        self.seconds = [one["seconds"] for one in self.survivors if one["seconds"] is not None]

    def times(self):
        if not self.seconds:
            return "-"
        return f"{statistics.median(self.seconds):.1f} ({max(self.seconds):.1f})"

    def row(self):
        return [str(self.cases), str(len(self.survivors)), str(self.finished), str(self.failed),
                f"{100 * self.share:.1f}" if self.told else "-",
                self.times(), *[str(self.classes[name]) for name in BAD], str(self.left), str(self.by_mpi)]


ROW_HEADS = ["cases", "survivors", "finished", "failed", "% named", "s", *BAD, "left", "MPI"]


def grouped(outcomes, field, names):
    found = {name: [outcome for outcome in outcomes if outcome[field] == name] for name in names}
    return {name: some for name, some in found.items() if some}


def summaries(outcomes):
    rows = []
    for field, names in (("transport", (*TRANSPORTS, *MPIS)), ("fault", FAULTS), ("phase", (*PHASES, *MPI_PHASES))):
        rows += [[name, *Summary(some).row()] for name, some in grouped(outcomes, field, names).items()]
    return rows + [["all", *Summary(outcomes).row()]]


def print_tables(outcomes):
    table = [["", *ROW_HEADS], *summaries(outcomes)]
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    for row in table:
        print("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))).rstrip())


def table(rows):
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]]) + "\n"


def markdown(outcomes, seed):
    """What stands between the marks of the page."""
    total = Summary(outcomes)
    text = (f"{total.cases} cases, seed {seed}, {len(total.survivors)} survivors: {total.classes['hang']} hangs, "
            f"{total.classes['wrong']} wrong sums, {total.classes['crash']} crashes, {total.left} things left behind. "
            f"{total.finished} survivors finished with right results; of {total.told} that failed and have somebody to "
            f"name, {total.named} "
            f"({100 * total.share:.1f} %) named the right rank first.")
    return "\n".join(["\n".join(textwrap.wrap(text, WIDTH)) + "\n", table([["", *ROW_HEADS], *summaries(outcomes)])])
