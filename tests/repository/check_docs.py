# SPDX-License-Identifier: BSD-3-Clause
"""Checks that pages keep to 100 columns, tables and addresses excepted; with --mend it wraps paragraphs that do not. And that
docs/from-mpi.md names each function of the interface, and none that does not exist; that each error has a cure; and what words.py
knows of words and length."""

import pathlib
import re
import sys
import textwrap

import sources
import words

WIDTH = 100
ITEM = re.compile(r"( *)([-*+]|\d+\.) +")
# What would be a list, a heading, a quotation or a table at the beginning of a line.
MARK = re.compile(r" (?=(?:[-*+>#|=]+|\d+[.)])(?: |$))")
# Pages that show what the tool prints as it prints it, tables wider than that among them.
SHOW_OUTPUT = {"docs/short-circuiting.md"}


def is_long(line):
    """Too long, and might be shorter."""
    return len(line) > WIDTH and not line.lstrip().startswith("|") and " " in line.strip()[:WIDTH]


def findings_of(name, text):
    return [f"{name}:{number}: {len(line)} columns" for number, line in enumerate(text.splitlines(), 1)
            if is_long(line) and not (name in SHOW_OUTPUT and line.startswith("    "))]


def wrapped(lines):
    """One paragraph or list item, whose first line may begin with a marker."""
    item = ITEM.match(lines[0])
    first = item.group(0) if item else re.match(" *", lines[0]).group(0)
    text = " ".join([lines[0][len(first):].strip(), *(line.strip() for line in lines[1:])])
    glued = MARK.sub("\0", text)
    out = textwrap.wrap(glued, WIDTH, initial_indent=first, subsequent_indent=" " * len(first),
                        break_long_words=False, break_on_hyphens=False)
    return [line.replace("\0", " ") for line in out]


def mended_run(lines):
    """Lines without an empty one among them: paragraphs and list items; code and tables stay."""
    if lines[0].startswith("    ") and not ITEM.match(lines[0]):
        return lines
    parts = []
    for line in lines:
        alone = line.lstrip().startswith(("|", "#", "<", "!"))
        if not parts or alone or ITEM.match(line) or parts[-1][0].lstrip().startswith(("|", "#", "<", "!")):
            parts.append([line])
        else:
            parts[-1].append(line)
    out = []
    for part in parts:
        keep = part[0].lstrip().startswith(("|", "#", "<", "!")) or not any(map(is_long, part))
        out += part if keep else wrapped(part)
    return out


def mended(text):
    out, run, fenced = [], [], False
    for line in [*text.splitlines(), ""]:
        fence = line.lstrip().startswith("```")
        if fenced or fence or not line.strip():
            out += mended_run(run) if run else []
            run = []
            out.append(line)
            fenced ^= fence
        else:
            run.append(line)
    return "\n".join(out[:-1]) + "\n"


def pages(root):
    root = pathlib.Path(root)
    names = sorted(path.relative_to(root).as_posix() for path in [*root.glob("*.md"), *root.glob("docs/**/*.md")])
    return names


def headers_of(root):
    return "".join(path.read_text(encoding="utf-8") for path in sorted((root / "include/trefoil").glob("*.h")))


def functions_without_a_page(root):
    """Nonblocking and persistent forms go with the blocking one."""
    headers = headers_of(root)
    page = (root / "docs/from-mpi.md").read_text(encoding="utf-8")
    declared = set(re.findall(r"\btrefoil_\w+(?=\()", headers))
    blocking = {name for name in declared
                if not name.endswith("_init") and "trefoil_" + name.removeprefix("trefoil_i") not in declared}
    named = set(re.findall(r"\btrefoil_\w+", page))
    known = set(re.findall(r"\btrefoil_\w+", headers))
    return [f"docs/from-mpi.md: {name} is missing" for name in sorted(blocking - named)] + \
           [f"docs/from-mpi.md: there is no {name}" for name in sorted(named - known - {"trefoil_i"})]


def errors_without_a_cure(headers, page):
    """Each status of the interface has a row in a table of the page on troubles."""
    statuses = sorted(set(re.findall(r"\bTREFOIL_ERROR_\w+", headers)))
    return [f"docs/troubleshooting.md: {name} has no cure" for name in statuses
            if not re.search(rf"^\| `{name}` \|", page, re.MULTILINE)]


def main():
    root = pathlib.Path(sys.argv[1])
    if "--mend" in sys.argv:
        for name in sys.argv[3:] or pages(root):
            text = (root / name).read_text(encoding="utf-8")
            (root / name).write_text(mended(text), encoding="utf-8")
        return 0
    found = [finding for name in pages(root) for finding in findings_of(name, (root / name).read_text(encoding="utf-8"))]
    found += functions_without_a_page(root) + words.findings(root)
    found += errors_without_a_cure(headers_of(root), (root / "docs/troubleshooting.md").read_text(encoding="utf-8"))
    return sources.report(found, "pages")


if __name__ == "__main__":
    sys.exit(main())
