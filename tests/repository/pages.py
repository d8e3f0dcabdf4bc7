# SPDX-License-Identifier: BSD-3-Clause
"""Reads the pages of the documentation: blocks of commands, headings, links."""

import dataclasses
import pathlib
import re
import subprocess

# The language of a fenced block whose lines are commands. An indented block has none and is one of commands, too, unless
# its first line has no letter, as in a picture. What is no command (a file, a formula) stands in a fence that says so,
# ```text for example.
COMMANDS = {"", "sh", "bash", "shell", "console"}
LISTS = re.compile(r"\s*([-*+]|\d+[.)])\s")


@dataclasses.dataclass
class Line:
    """A line of a block: where it stands, and what it says without the block's indentation."""

    page: pathlib.Path
    number: int
    text: str

    def __str__(self):
        return f"{self.page}:{self.number}: {self.text}"


def pages(root):
    """All pages, relative to `root`."""
    root = pathlib.Path(root)
    found = [root / "README.md", root / "CONTRIBUTING.md", root / "CHANGELOG.md", root / "SECURITY.md", *sorted((root / "docs").rglob("*.md"))]
    return [path.relative_to(root) for path in found if path.is_file()]


def split(page, text):
    """(blocks, prose): blocks as (language, lines), and the lines that are in none. Indented blocks have language ""."""
    blocks, prose = [], []
    fence, block, listed, blank = None, None, False, True
    for number, raw in enumerate(text.splitlines(), 1):
        line = Line(page, number, raw)
        mark = re.match(r"\s*(```+|~~~+)\s*([\w+-]*)", raw)
        if fence is not None:
            if mark and mark[1].startswith(fence) and not mark[2]:
                fence = None
            else:
                block.append(line)
        elif mark:
            fence, block = mark[1], []
            blocks.append((mark[2], block))
        elif raw.startswith("    ") and raw.strip() and not listed and (blank or block is not None):
            if block is None:
                block = []
                blocks.append(("", block))
            block.append(Line(page, number, raw[4:]))
            blank = False
            continue
        else:
            prose.append(line)
            if raw.strip():
                listed = bool(LISTS.match(raw)) or (listed and raw.startswith(" "))
        blank = not raw.strip()
        if fence is None and not blank:
            block = None
    return [(language or ("" if re.search("[A-Za-z]", block[0].text) else "picture"), block)
            for language, block in blocks if block], prose


def is_complete(script):
    """Is this a whole command, or does it go on in the next line (a loop, a here-document, a backslash)?"""
    if script.endswith("\\"):
        return False
    result = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True, timeout=60, check=False)
    return result.returncode == 0 and "here-document" not in result.stderr


def table_commands(prose):
    """Those in the first column of a table whose heading is "Command"."""
    found, inside = [], False
    for line in prose:
        cell = re.match(r"\|\s*(.*?)\s*\|", line.text)
        inside = cell is not None and (inside or cell[1] == "Command")
        code = re.fullmatch(r"`([^`]+)`", cell[1]) if inside else None
        if code:
            found.append([Line(line.page, line.number, code[1])])
    return found


def commands(page, text):
    """The commands of a page, each a Line whose text may have several lines, in lists: one for each block, or row of a table
    of commands."""
    blocks, prose = split(page, text)
    found = []
    for language, block in blocks:
        if language not in COMMANDS:
            continue
        lines, pending = [], None
        for line in block:
            said = line.text
            if language == "console":
                if not said.startswith("$ "):
                    continue
                said = said[2:]
            # What is indented further is what the command above it prints, and so is a refusal.
            if pending is None and (not said.strip() or said.startswith(("#", " ", "trefoil: "))):
                continue
            pending = Line(page, pending.number, f"{pending.text}\n{said}") if pending else Line(page, line.number, said)
            if is_complete(pending.text):
                lines.append(pending)
                pending = None
        if pending:
            lines.append(pending)  # running it says what is wrong with it
        if lines:
            found.append(lines)
    return found + table_commands(prose)


def program(page, text, wanted="c"):
    """The first whole program in that language that the page shows; empty: none."""
    for language, block in split(page, text)[0]:
        shown = "\n".join(line.text for line in block) + "\n"
        if language == wanted and ("int main(" in shown or language not in ("c", "cpp")):
            return shown
    return ""


def without_code(text):
    """Prose without what stands in backticks, which holds no links."""
    return re.sub(r"(`+).+?\1", "", text)


def links(page, text):
    """(line, target) of every link and picture."""
    prose = split(page, text)[1]
    whole = "\n".join(without_code(line.text) for line in prose)
    found = []
    for match in re.finditer(r"\]\(([^)\s]+)[^)]*\)|(?:href|src|srcset)=\"([^\"]+)\"", whole):
        found.append((prose[whole.count("\n", 0, match.end(0))], match[1] or match[2]))
    return found


def anchors(page, text):
    """What #names lead into this page: made of the headings as sites for repositories make them."""
    found = set()
    for line in split(page, text)[1]:
        heading = re.match(r"#{1,6}\s+(.*?)\s*#*$", line.text)
        if heading:
            words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
            again, first = 0, name
            while name in found:
                again += 1
                name = f"{first}-{again}"
            found.add(name)
        found.update(re.findall(r"(?:id|name)=\"([^\"]+)\"", line.text))
    return found
