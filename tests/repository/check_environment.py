# SPDX-License-Identifier: BSD-3-Clause
"""Checks that each TREFOIL_* variable that is read or told of stands in the one table, and each of the table on its page."""

import pathlib
import re
import sys

import sources

TABLE = "comm/setup/environment.cpp"
PAGE = "docs/environment.md"
NAME = re.compile(r"\bTREFOIL_[A-Z][A-Z0-9_]*\b")
LITERAL = re.compile(r'"(TREFOIL_[A-Z][A-Z0-9_]*)"')
# Read by the tools of the repository itself, by nothing that is installed.
OF_BUILDS = re.compile(r"TREFOIL_(BUILD|WITH|WARNINGS|SANITIZE|HAVE)")


def rows(text):
    """The variables of the table, and the old names that are refused."""
    table = text[: text.index("struct Renamed")]
    return re.findall(r'^    \{"(TREFOIL_\w+)", "', table, re.MULTILINE), \
        set(re.findall(r'^    \{"(TREFOIL_\w+)", "TREFOIL_', text[len(table):], re.MULTILINE))


def of_the_interface(text):
    """Words of the C headers that look like variables: macros and enumerators."""
    return set(NAME.findall(text))


def findings(root, pages):
    root = pathlib.Path(root)
    known, old = rows((root / TABLE).read_text(encoding="utf-8"))
    words = of_the_interface("".join(header.read_text(encoding="utf-8") for header in sorted((root / "include/trefoil").glob("*.h"))))
    found = []
    for path in sources.files(root):
        if path.parts[0] in ("tests", "examples") or (path.suffix not in sources.CODE and path.parts[0] != "scripts"):
            continue
        for name in set(LITERAL.findall((root / path).read_text(encoding="utf-8"))) - words - old:
            if name not in known:
                found.append(f"{path}: {name} has no row in {TABLE}")
    for page in pages:
        for name in set(NAME.findall((root / page).read_text(encoding="utf-8"))) - words - old:
            if name not in known and not OF_BUILDS.match(name) and not any(each.startswith(name) for each in known):
                found.append(f"{page}: there is no variable {name}")
    told = re.findall(r"^\| `(TREFOIL_\w+)` \|", (root / PAGE).read_text(encoding="utf-8"), re.MULTILINE)
    if told != known:
        found.append(f"{PAGE} has not the variables of {TABLE}; write it again, as it says")
    return found


if __name__ == "__main__":
    all_pages = sorted(path.relative_to(sys.argv[1]) for path in pathlib.Path(sys.argv[1], "docs").glob("*.md"))
    sys.exit(sources.report(findings(sys.argv[1], [pathlib.Path("README.md"), *all_pages]), "environment variables"))
