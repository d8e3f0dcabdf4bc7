# SPDX-License-Identifier: BSD-3-Clause
"""How pages, messages and the comments of the interface are written: patterns of words that slow readers down, and how long pages may be. `python3 words.py ROOT` counts."""

import pathlib
import re
import sys

import messages
import pages
import sources

# A word is what has a letter and is outside of code blocks: commands, programs and figures are none.
MOST_WORDS = 35_000  # of all pages that are written by hand
MOST_OF_A_PAGE = 1_500  # except records
GENERATED = re.compile(r"docs/(algorithms|environment|papers)\.md|docs/algorithms/.*")

# (pattern, instead, a sentence that has it). Patterns with ^ are looked for at the beginning of a sentence that is no question.
AVOID = (
    (r"^Of\b", "begin with the subject: 44 of the 48, or a put that comes too late", "Of a put that comes too late nothing lands."),
    (r"^Who\b", "name the subject: a rank that", "Who is twice as slow drops out."),
    (r"^What\b", "name the subject", "What the component declines whole it does not count."),
    (r"^(So )?[Dd]id\b", "if", "Did the others begin it, then this one begins it, too."),
    (r"^Else\b", "otherwise", "Else the rank has left the others alone."),
    (r"\b(tells?|told|telling)\b", "reports, says, shows", "It tells how late frames left."),
    (r"\bfrom here on\b", "until, or from now on", "From here on nobody needs this rank."),
    (r"\b(whoever|whom)\b", "the rank that, which rank", "It goes to whoever asks."),
    (r"\b(goes|go|went) by\b", "follows, uses", "The choice goes by the price."),
    (r"(?<!there )\b(is|are|was|were) no (?!longer\b|more\b|less\b|slower\b|faster\b)", "is not a", "A number that is no power of two."),
    (r"\bholds? of\b", "applies to", "The same holds of gather."),
    (r"\bto be had\b", "possible", "Where 97 us were to be had."),
    (r"\bstands? (in|on|below|above|beside|there|here|at|behind)\b", "is", "The output stands below its command."),
    (r"\b(bears?|borne)\b", "allows, supports", "More ranks than the host bears."),
    (r"\bin words\b", "with a message", "It must end in an error in words."),
    (r"\bto and fro\b", "back and forth", "A line goes to and fro."),
    (r"\bbut for\b", "except for", "All are right but for one."),
    (r"\bmend(s|ed|ing)?\b", "fix", "The tests pass since it was mended."),
    (r"\bin turns\b", "alternately", "All contestants run in turns."),
    (r"\bof (Trefoil|MPI|the (user|program|caller|library|group|owner))'s\b", "of Trefoil, Trefoil's", "A function of the program's."),
    (r"\band (its|their|the) like\b", "and similar functions", "MPI_AINT and its like."),
    (r"\bseldom\b", "rarely", "It is seldom a peer."),
    (r"\bs(ee|aw|een|ees) off\b", "drains", "Its puts are seen off."),
    (r"\b(unless|is|was|are|were) said\b", "says, or except where noted", "Nothing is said of it."),
    (r"\banew\b", "again", "It wires them anew."),
    (r"\bone's own\b|\ban own\b", "its own", "It has an own queue."),
    (r"\bhappens? to\b", "does", "The rank that happens to win."),
    (r"\bof so (many|much)\b|^So (many|much)\b", "of that many", "A torus of so many dimensions."),
    (r"\brings? of (landing |its |\d+ )?slots\b", "slot ring, as the glossary has it", "A channel ends in a ring of landing slots."),
    (r"\bby chance only\b", "only by chance", "They differ by chance only."),
)


def is_record(page):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "publishing"))
    import shelves  # pylint: disable=import-outside-toplevel
    return page in shelves.SHELVES["Records"]


def texts(page, text):
    """(line, text, whether its beginning is that of a sentence) of paragraphs, list items, headings and cells, without code."""
    found, open_ = [], None
    for line in [*pages.split(page, text)[1], None]:
        raw = pages.without_code(line.text).strip() if line else ""
        raw = re.sub(r"\]\([^)]*\)", "]", raw)
        cells = [cell for cell in raw.strip("|").split("|")] if raw.startswith("|") else []
        item = pages.LISTS.match(line.text) if line else None
        if (not raw or cells or item or raw.startswith(("#", "<", "!"))) and open_:
            found.append(open_)
            open_ = None
        if cells:
            found += [(line, cell.strip(), False) for cell in cells]
        elif raw.startswith("#"):
            found.append((line, raw.strip("# "), False))
        elif raw and not raw.startswith(("<", "!")):
            open_ = (open_[0], f"{open_[1]} {raw}", True) if open_ else (line, pages.LISTS.sub("", raw, count=1) if item else raw, True)
    return found


def sentences(text):
    """Without what is emphasised at the beginning: the name of an item."""
    text = re.sub(r"^[*_]+[^*_]+[*_]+[:.,]?\s*", "", text)
    return [one for one in re.split(r"(?<=[.!?:])\s+(?=[A-Z*_`\[])", text) if one]


def findings_of(page, text, fragments=False):
    """`fragments`: what begins with a small letter may continue another text, so it is not the beginning of a sentence."""
    found = []
    for line, said, begins in texts(pathlib.Path(page), text):
        for sentence in sentences(said) if begins else [said]:
            for pattern, instead, _ in AVOID:
                if pattern.startswith("^") and (not begins or sentence.rstrip().endswith("?") or fragments and sentence[0].islower()):
                    continue
                match = re.search(pattern, sentence, 0 if "^" in pattern else re.IGNORECASE)
                if match:
                    found.append(f"{page}:{line.number}: \"{sentence[max(0, match.start() - 30):match.end() + 30]}\": {instead}")
    return found


def comments(text):
    """(line number, text) of the comments that the reference is written from, and those of the C++ interface."""
    for match in re.finditer(r"/\*(.*?)\*/|((?:^ *///[^\n]*\n)+)", text, re.DOTALL | re.MULTILINE):
        lines = [re.sub(r"^\s*(\*|///) ?", "", line) for line in (match[1] or match[2]).splitlines()]
        yield text.count("\n", 0, match.start()) + 1, " ".join(" ".join(lines).split())


def findings_in_comments(name, text):
    return [finding.replace(f"{name}:1:", f"{name}:{number}:") for number, said in comments(text)
            for finding in findings_of(name, said)]


def findings_in_messages(name, text):
    return [finding.replace(f"{name}:1:", f"{name}:{number}:") for number, said in messages.messages_of(pathlib.PurePath(name), text)
            for finding in findings_of(name, said, fragments=True)]


def words(text):
    prose = " ".join(line.text for line in pages.split(pathlib.Path(), text)[1])
    return sum(bool(re.search("[A-Za-z]", word)) for word in prose.split())


def by_hand(root):
    return {str(page): words((root / page).read_text(encoding="utf-8")) for page in pages.pages(root) if not GENERATED.fullmatch(str(page))}


def too_long(counts):
    found = [f"{page} has {count} words; at most {MOST_OF_A_PAGE}: divide it, or move measurements to a record"
             for page, count in sorted(counts.items()) if count > MOST_OF_A_PAGE and not is_record(page)]
    if sum(counts.values()) > MOST_WORDS:
        found.append(f"the pages have {sum(counts.values())} words; at most {MOST_WORDS}: shorten the longest")
    return found


def findings(root):
    root = pathlib.Path(root)
    found = too_long(by_hand(root))
    for page in pages.pages(root):
        found += findings_of(str(page), (root / page).read_text(encoding="utf-8"))
    for header in sorted((root / "include").rglob("*.h*")):
        found += findings_in_comments(header.relative_to(root).as_posix(), header.read_text(encoding="utf-8"))
    for source in messages.sources_of(root):
        found += findings_in_messages(source.relative_to(root).as_posix(), source.read_text(encoding="utf-8"))
    return found


def main():
    counts = by_hand(pathlib.Path(sys.argv[1]))
    for page, count in sorted(counts.items(), key=lambda item: item[1]):
        print(f"{count:6} {page}")
    print(f"{sum(counts.values()):6} words by hand, of at most {MOST_WORDS}")
    return sources.report(findings(sys.argv[1]), "words")


if __name__ == "__main__":
    sys.exit(main())
