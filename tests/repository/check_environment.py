# SPDX-License-Identifier: BSD-3-Clause
"""Checks that each TREFOIL_* variable that is read or told of stands in the one table, and each of the table on its page; and
that the page on building has CMake's options."""

import pathlib
import re
import sys

import sources

TABLE = "comm/setup/environment_table.cpp"
PAGE = "docs/environment.md"
NAME = re.compile(r"\bTREFOIL_[A-Z][A-Z0-9_]*\b")
LITERAL = re.compile(r'"(TREFOIL_[A-Z][A-Z0-9_]*)"')
OPTIONS_PAGE = "docs/building.md"
OPTION = re.compile(r"\boption\((TREFOIL_[A-Z_]+)|\bset\((TREFOIL_[A-Z_]+)[^)]*\bCACHE\b|^trefoil_optional\(([A-Z]+)", re.MULTILINE)


def rows(text):
    """The variables of the table, and the old names that are refused."""
    table = text[: text.index("struct Renamed")]
    return re.findall(r'^    \{"(TREFOIL_\w+)", "', table, re.MULTILINE), \
        set(re.findall(r'^    \{"(TREFOIL_\w+)", "TREFOIL_', text[len(table):], re.MULTILINE))


def cmake_options(root):
    """What a build may be told by -D."""
    found = set()
    for path in sources.files(root):
        if path.name == "CMakeLists.txt" or path.suffix == ".cmake":
            for option, cached, library in OPTION.findall((root / path).read_text(encoding="utf-8")):
                found.add(option or cached or f"TREFOIL_WITH_{library}")
    return {name for name in found if name != "TREFOIL_WITH_"}  # in the function that makes one


def of_the_interface(text):
    """Words of the C headers that look like variables: macros and enumerators."""
    return set(NAME.findall(text))


def findings(root, pages):
    root = pathlib.Path(root)
    known, old = rows((root / TABLE).read_text(encoding="utf-8"))
    words = of_the_interface("".join(header.read_text(encoding="utf-8") for header in sorted((root / "include/trefoil").glob("*.h"))))
    options, found = cmake_options(root), []
    for path in sources.files(root):
        if path.parts[0] in ("tests", "examples") or (path.suffix not in sources.CODE and path.parts[0] != "scripts"):
            continue
        for name in set(LITERAL.findall((root / path).read_text(encoding="utf-8"))) - words - old:
            if name not in known:
                found.append(f"{path}: {name} has no row in {TABLE}")
    for page in pages:
        for name in set(NAME.findall((root / page).read_text(encoding="utf-8"))) - words - old:
            if name not in known and name not in options and not any(each.startswith(name) for each in [*known, *options]):
                found.append(f"{page}: there is no variable {name}")
    told = re.findall(r"^\| `(TREFOIL_\w+)` \|", (root / PAGE).read_text(encoding="utf-8"), re.MULTILINE)
    if told != known:
        found.append(f"{PAGE} has not the variables of {TABLE}; write it again, as it says")
    page = (root / OPTIONS_PAGE).read_text(encoding="utf-8") if options else ""
    found += [f"{OPTIONS_PAGE} has not the option {name}" for name in sorted(options) if f"`{name}`" not in page]
    return found


if __name__ == "__main__":
    all_pages = sorted(path.relative_to(sys.argv[1]) for path in pathlib.Path(sys.argv[1], "docs").glob("*.md"))
    sys.exit(sources.report(findings(sys.argv[1], [pathlib.Path("README.md"), *all_pages]), "environment variables"))
