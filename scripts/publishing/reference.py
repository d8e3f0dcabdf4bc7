# SPDX-License-Identifier: BSD-3-Clause
"""The reference of the C interface, from its headers: a page for each function with its forms, each type and each macro."""

import dataclasses
import re

# What a comment says in another way than as plain text: `code`, *a term*, docs/page.md, names of the interface, recv[i], *made.
SPAN = re.compile(r"`(?P<code>[^`]+)`|(?<![\w*])\*(?P<term>\w+)\*(?![\w*])|\b(?P<page>docs/[a-z-]+\.md)\b"
                  r"|(?P<name>\b(?:trefoil|TREFOIL)_\w*(?:\(\)|\*|\.\.\.|=\w+)?)|(?P<element>\w+\[[^\]]*\]|(?<![\w*])\*[a-z]\w*)")


@dataclasses.dataclass
class Page:
    """A declaration, and those that go with it: other forms of the call, or what shares its comment."""

    name: str
    entries: list

    @property
    def brief(self):
        """The first sentence."""
        return re.split(r"(?<=[^.]\.)\s", self.entries[0].comment[0], maxsplit=1)[0].rstrip(".:")

    @property
    def section(self):
        return self.entries[0].section


def pages_of(declarations):
    """Nonblocking and persistent forms go with the blocking call."""
    functions = {each.name for each in declarations if each.kind == "function"}
    found = {}
    for each in declarations:
        blocking = {each.name.removesuffix("_init"), each.name.replace("trefoil_i", "trefoil_", 1)} & functions - {each.name}
        name = blocking.pop() if blocking else each.group
        found.setdefault(name, Page(name, [])).entries.append(each)
    for page in found.values():
        page.entries.sort(key=lambda each: each.name != page.name)
    return list(found.values())


def places_of(pages):
    """{name: page} of all that has an entry."""
    places = {each.name: page.name for page in pages for each in page.entries}
    return places | {member.name: page.name for page in pages for each in page.entries if each.kind == "enum"
                     for member in each.members}


def spans(said):
    """A paragraph in pieces: (kind, text)."""
    last = 0
    for match in SPAN.finditer(said):
        yield "text", said[last:match.start()]
        yield match.lastgroup, match[match.lastgroup]
        last = match.end()
    yield "text", said[last:]


def names_in(paragraphs):
    return [re.match(r"\w+", text)[0] for said in paragraphs for kind, text in spans(said) if kind == "name"]


class Markdown:
    """The pages as {file name: text}, for a folder beside docs/; names in `variables` lead to the page of these."""

    def __init__(self, declarations, variables=()):
        self.pages = pages_of(declarations)
        self.places = places_of(self.pages)
        self.variables = set(variables)
        self.naming = {}
        for page in self.pages:
            for each in page.entries:
                for name in names_in(each.comment + each.section):
                    self.naming.setdefault(name, {})[page.name] = None

    def files(self):
        return {"index.md": self.index()} | {f"{page.name}.md": self.page(page) for page in self.pages}

    def link(self, text, page=None):
        name = re.match(r"\w+", text)[0]
        place = self.places.get(name)
        if name in self.variables:
            return f"[`{text}`](../docs/environment.md)"
        if place is None or name == page:
            return f"`{text}`"
        target = "" if place == page else f"{place}.md"
        return f"[`{text}`]({target}{'' if name == place else '#' + name.lower()})"

    def paragraph(self, said, page):
        out = ""
        for kind, text in spans(said):
            if kind == "name":
                out += self.link(text, page)
            elif kind == "page":
                out += f"[{text}](../{text})"
            elif kind in ("code", "element"):
                out += f"`{text}`"
            else:
                plain = re.sub(r"([\\*_\[\]<>#|!&])", r"\\\1", text)
                out += f"*{plain}*" if kind == "term" else plain
        return out

    def entry(self, each, page, include):
        lines = ["```c", *(["#include <trefoil/trefoil.h>", ""] if include else []), each.code, "```", ""]
        for said in each.comment:
            lines += [self.paragraph(said, page), ""]
        if each.kind == "struct":
            lines += [f"- `{member.declared}`: {self.paragraph(' '.join(member.comment), page)}" for member in each.members]
        elif each.kind == "enum":
            for member in each.members:
                lines += [f"## `{member.name}`", "", f"Value `{member.value}`: {self.paragraph(' '.join(member.comment), page)}.", ""]
                naming = [self.link(name, page) for name in self.naming.get(member.name, ()) if name != page]
                lines += ["Named by " + ", ".join(naming) + ".", ""] if naming else []
        return [*lines, ""]

    def page(self, page):
        # Words that a search takes, which else knows whole names only.
        words = sorted({word for each in page.entries for word in each.name.lower().split("_")} - {"trefoil"})
        lines = ["---", f"myst: {{html_meta: {{keywords: '{', '.join(words)}'}}}}", "---", "", f"# `{page.name}`", ""]
        for number, each in enumerate(page.entries):
            lines += [f"## `{each.name}`", ""] if number else []
            shared = number and each.comment == page.entries[0].comment
            lines += self.entry(dataclasses.replace(each, comment=[]) if shared else each, page.name, number == 0)
        if page.section:
            lines += [f"## Rules for all of `{page.entries[0].header}`", ""]
            for said in page.section:
                lines += [self.paragraph(said, page.name), ""]
        return "\n".join(lines)

    def index(self):
        lines = ["# The C interface", "", "Written from the headers. `#include <trefoil/trefoil.h>` includes all of them.", ""]
        for header in dict.fromkeys(page.entries[0].header for page in self.pages):
            lines += [f"## `{header}`", ""]
            for page in self.pages:
                if page.entries[0].header == header:
                    names = ", ".join(self.link(each.name) for each in page.entries)
                    lines.append(f"- {names}: {self.paragraph(page.brief, None)}.")
            lines.append("")
        return "\n".join(lines)


class Man:
    """The same as manual pages of section 3, {file name: text}."""

    def __init__(self, declarations, version):
        self.pages = pages_of(declarations)
        self.places = places_of(self.pages)
        self.version = version

    def files(self):
        found = {}
        for page in self.pages:
            found[f"{page.name}.3"] = self.page(page)
            found |= {f"{each.name}.3": f".so man3/{page.name}.3\n" for each in page.entries[1:]}
        return found

    @staticmethod
    def escaped(text):
        return re.sub(r"^([.'])", r"\\&\1", text.replace("\\", "\\e").replace("-", "\\-"), flags=re.MULTILINE)

    def paragraph(self, said):
        out = "".join(self.escaped(text) if kind == "text" else f"\\f{'I' if kind == 'term' else 'B'}{self.escaped(text)}\\fP"
                      for kind, text in spans(said))
        return re.sub(r"^([.'])", r"\\&\1", out)

    def page(self, page):
        names, brief = ", ".join(each.name for each in page.entries), self.escaped(page.brief.replace("`", ""))
        lines = [f'.TH {page.name} 3 "" "Trefoil {self.version}"', ".nh", ".ad l", ".SH NAME", f"{names} \\- {brief}",
                 ".SH SYNOPSIS", ".nf", "#include <trefoil/trefoil.h>"]
        for each in page.entries:
            lines += ["", self.escaped(each.code)]
        lines += [".fi", ".SH DESCRIPTION"]
        said_before = None
        for each in page.entries:
            if each.comment != said_before:
                lines += [f".SS {each.name}"] if said_before else []
                for said in each.comment:
                    lines += [".PP", self.paragraph(said)]
            said_before = each.comment
            for member in each.members:
                lines += [".TP", f".B {self.escaped(member.declared)}", self.paragraph(" ".join(member.comment))]
        if page.section:
            lines.append(".SH NOTES")
            for said in page.section:
                lines += [".PP", self.paragraph(said)]
        others = {self.places.get(name) for each in page.entries for name in names_in(each.comment + each.section)} - {None, page.name}
        if others:
            lines += [".SH SEE ALSO", ",\n".join(f".BR {name} (3)" for name in sorted(others)).replace(" (3),", " (3),")]
        return "\n".join(lines) + "\n"
