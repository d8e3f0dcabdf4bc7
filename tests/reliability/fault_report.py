# SPDX-License-Identifier: BSD-3-Clause
"""Summaries of cases of the table of faults: on the screen, and as tables of a page."""
import collections
import re
import statistics
import textwrap

from fault_case import FAULTS, PHASES, RESOURCES
from job import TRANSPORTS
from mpi_case import MPIS
from mpi_case import PHASES as MPI_PHASES

STATUS = {2: "UNSUPPORTED", 3: "NOT_FOUND", 4: "MISMATCH", 5: "TIMEOUT", 6: "PEER_LOST", 7: "BUSY", 8: "OUT_OF_MEMORY",
          9: "SYSTEM", 10: "INTERNAL", 1: "INVALID_ARGUMENT"}
BAD = ("hang", "wrong", "crash")
# Neither Trefoil's doing nor a lack of words: a launcher ends the rank, or MPI's own beginning or end waits for the dead.
BY_MPI = {"ended": "ended by the launcher", "below": "hang in MPI"}
WIDTH = 100
LONGEST = 150  # characters of a usual message


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

    def cell(self):
        if not self.cases:
            return ""
        bad = [f"{self.classes[name]} {name}" for name in BAD if self.classes[name]]
        bad += [f"{self.left} left"] if self.left else []
        if bad:
            return ", ".join(bad)
        if self.by_mpi:
            return ", ".join(f"{self.classes[name]} {text}" for name, text in BY_MPI.items() if self.classes[name])
        if not self.failed:
            return "finished"
        return f"{self.times()} {self.named}/{self.told}" if self.told else f"{self.times()} failed"

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


def general(text):
    """What a message says first, without what differs from case to case."""
    text = re.sub(r"; (rank \d+ found it|told by rank|look|this rank has found).*", "", text)
    text = re.sub(r"(\bon host|\(host) [^\s),]+", r"\1 H", text)
    text = re.sub(r"[+-]?\d+(\.\d+)*(:\d+)?", "N", text)
    text = re.sub(r"\b(allreduce|bcast|reduce|gather|alltoall|barrier)\b", "CALL", text)
    return text if len(text) <= LONGEST else text[:LONGEST].rsplit(" ", 1)[0] + " ..."


def usual(outcomes, most=2):
    """The most frequent statuses with their messages, and their share."""
    said = collections.Counter((one["status"], general(one["text"]))
                               for outcome in outcomes for one in outcome["survivors"].values() if one["status"])
    total = sum(said.values())
    return [(STATUS.get(status, str(status)), text, 100 * number / total)
            for (status, text), number in said.most_common(most)]


def table(rows):
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]]) + "\n"


def phases_table(outcomes, faults):
    """By fault and phase, a column for each transport."""
    names = list(grouped(outcomes, "transport", (*TRANSPORTS, *MPIS)))
    rows = [["fault", "phase", *names]]
    for fault in faults:
        of_fault = [outcome for outcome in outcomes if outcome["fault"] == fault]
        for phase, some in grouped(of_fault, "phase", (*PHASES, *MPI_PHASES)).items():
            cells = [Summary([one for one in some if one["transport"] == name]).cell() for name in names]
            rows.append([fault, phase, *cells])
    return table(rows) if len(rows) > 1 else ""


def messages(outcomes):
    lines = []
    for fault, some in grouped(outcomes, "fault", FAULTS).items():
        said = usual(some)
        words = "; ".join(f"`TREFOIL_ERROR_{status}` ({share:.0f} %)" for status, _, share in said) or "none fails"
        lines += textwrap.wrap(f"- *{fault}* ({FAULTS[fault]}): {words}", WIDTH, subsequent_indent="  ",
                               break_long_words=False, break_on_hyphens=False)
        for _, text, _ in said:
            lines += ["", "  ```text", *textwrap.wrap(text, WIDTH - 2, initial_indent="  ", subsequent_indent="  ",
                                                     break_long_words=False, break_on_hyphens=False), "  ```"]
        lines.append("")
    return "\n".join(lines)


def markdown(outcomes, seed):
    """What stands between the marks of the page."""
    total = Summary(outcomes)
    under_mpi = [outcome for outcome in outcomes if outcome["transport"] in MPIS]
    others = [outcome for outcome in outcomes if outcome["transport"] not in MPIS]
    text = (f"{total.cases} cases, seed {seed}, {len(total.survivors)} survivors: {total.classes['hang']} hangs, "
            f"{total.classes['wrong']} wrong sums, {total.classes['crash']} crashes, {total.left} things left behind. "
            f"{total.finished} survivors finished with right results; of {total.told} that failed and have somebody to "
            f"name, {total.named} "
            f"({100 * total.share:.1f} %) named the right rank first.")
    parts = ["\n".join(textwrap.wrap(text, WIDTH)) + "\n", table([["", *ROW_HEADS], *summaries(outcomes)]),
             "What the survivors of each fault saw most; N is any number, H a host, CALL a collective:\n",
             messages(outcomes),
             "In each cell: median (worst) seconds from the fault to the error, and how many survivors named the\n"
             "right rank first of those that failed. *finished*: none failed, all results were right.\n",
             phases_table(others, [name for name in FAULTS if name not in RESOURCES]), phases_table(others, RESOURCES),
             phases_table(under_mpi, FAULTS)]
    return "\n".join(part for part in parts if part)
