# SPDX-License-Identifier: BSD-3-Clause
"""Checks that what the pages of the documentation link to is there: files, and headings of other pages."""

import pathlib
import sys

import pages
import sources


def finding(root, page, target):
    """What is wrong with a link of `page`; empty: nothing, or it leads out of the repository."""
    if ":" in target.split("/")[0]:
        return ""
    path, _, anchor = target.partition("#")
    place = (root / page.parent / path).resolve() if path else root / page
    if root.resolve() not in [place, *place.parents] and path:
        return f"{target} leads out of the repository"
    if not place.exists():
        return f"there is no {target}"
    if anchor and place.suffix == ".md":
        known = pages.anchors(page, place.read_text(encoding="utf-8"))
        if anchor not in known:
            return f"{target}: no heading is #{anchor}; there are {', '.join(sorted(known))}"
    return ""


def findings(root):
    root = pathlib.Path(root)
    found = []
    for page in pages.pages(root):
        for line, target in pages.links(page, (root / page).read_text(encoding="utf-8")):
            wrong = finding(root, page, target)
            if wrong:
                found.append(f"{page}:{line.number}: {wrong}")
    return found


if __name__ == "__main__":
    sys.exit(sources.report(findings(sys.argv[1]), "links"))
