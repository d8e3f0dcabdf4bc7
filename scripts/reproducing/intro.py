# SPDX-License-Identifier: BSD-3-Clause
"""What the page is."""


def write(page):
    page.lines.append("# The papers, reproduced")
    page.say("")
    page.say("""Trefoil's algorithms come from five papers. This page has each of their tables and figures that a model can
        reproduce: what is published beside what our schedules and models say, why the two differ where they do, and what cannot
        be reproduced. The verifier proves every algorithm on the shapes of the tests; larger tori
        are priced by the same builders, without a proof of their own. We had no plotted values: *published* is what the
        papers' texts and tables say. So "about" and "up to" are exact to half a unit of the last digit, and sizes that
        are given as words to one plotted point.""")
    page.say("""`scripts/papers` writes the whole page again. Where independent values are known (worked out apart from
        Trefoil) it refuses to write one that misses them: gains within one percentage point, loads and times within
        1 %, beside half a unit of the last digit that the independent value has (14 leaves 1.5
        points). The test `papers_page` works out the small shapes again and compares them with this page.""")
    page.command("scripts/papers")
    page.say("""The models are those of [simulator.md](simulator.md). The default is the step model: all ranks wait after each
        step. Sizes of whole vectors are in bytes; loads are in vectors.""")
