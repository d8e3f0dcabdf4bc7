# SPDX-License-Identifier: BSD-3-Clause
"""Reads C headers: each declaration with the comment above it, which is its text in the reference."""

import dataclasses
import re

TOKEN = re.compile(r"""(?P<comment>/\*.*?\*/)|(?P<directive>^[ ]*\#(?:\\\n|[^\n])*)|(?P<string>"(?:\\.|[^"\\\n])*")
                       |(?P<word>\w+)|(?P<mark>[^\s\w])""", re.DOTALL | re.MULTILINE | re.VERBOSE)


class HeaderError(Exception):
    """A header that cannot be read, or in which comments are missing."""


@dataclasses.dataclass
class Token:
    kind: str
    text: str
    begin: int  # places in the text of the header
    end: int


@dataclasses.dataclass
class Member:
    """An enumerator, or a field of a struct."""

    name: str
    declared: str  # "TREFOIL_SUM = 0", "size_t size"
    value: str  # of an enumerator
    comment: list
    line: int


@dataclasses.dataclass
class Declaration:
    kind: str  # "function", "enum", "struct", "type", "macro"
    name: str
    code: str  # as the reference shows it
    header: str
    line: int
    comment: list = dataclasses.field(default_factory=list)  # paragraphs
    group: str = ""  # the declaration whose comment this one shares: itself, or one right above
    section: list = dataclasses.field(default_factory=list)  # paragraphs that hold for all that follow them in the header
    members: list = dataclasses.field(default_factory=list)


def paragraphs(comment):
    """Of a comment's text, without its marks."""
    first, *others = comment[2:-2].split("\n")
    lines = [first.strip(), *(re.sub(r"^\s*(\*(?!\S))?", "", line).strip() for line in others)]
    return [" ".join(part.split()) for part in "\n".join(lines).split("\n\n") if part.strip()]


def tokens(text):
    """What a C compiler sees, without the lines of conditions: of `#ifdef __cplusplus` the other branch."""
    hidden = 0
    for match in TOKEN.finditer(text):
        token = Token(match.lastgroup, match[0], match.start(), match.end())
        if token.kind == "directive":
            directive = token.text.strip()
            if hidden:
                hidden += directive.startswith("#if")
                hidden -= directive.startswith("#endif") or (hidden == 1 and directive.startswith("#else"))
                continue
            hidden = directive == "#ifdef __cplusplus"
        if not hidden and not (token.kind == "directive" and not token.text.startswith("#define")):
            yield token


class Reader:
    """Goes through one header."""

    def __init__(self, header, text):
        self.header, self.text = header, text
        self.found, self.pending, self.section = [], None, []

    def line(self, place):
        return self.text.count("\n", 0, place) + 1

    def adjoin(self, before, after):
        """No empty line is between these places."""
        return not re.search(r"\n\s*\n", self.text[before:after])

    def fail(self, token, why):
        raise HeaderError(f"{self.header}:{self.line(token.begin)}: {why}: {' '.join(token.text.split())[:60]}")

    def read(self):
        statement, depth, ended = [], 0, 0
        for token in tokens(self.text):
            if token.kind == "comment" and not statement:
                self.free()
                self.pending = token
                continue
            if token.kind == "directive":
                if statement:
                    self.fail(token, "a directive inside a declaration")
                declaration = self.macro(token)
            else:
                statement.append(token)
                depth += token.text in "({" and token.kind == "mark"
                depth -= token.text in ")}" and token.kind == "mark"
                if token.text != ";" or depth:
                    continue
                declaration = self.statement(statement)
            if declaration and all(each.name != declaration.name for each in self.found):
                self.attach(declaration, statement[0].begin if statement else token.begin, ended)
            ended, statement = token.end, []
        self.free()
        if statement:
            self.fail(statement[0], "a declaration without an end")
        return self.found

    def free(self):
        """A comment to which no declaration adjoins holds for all that follow; the first two say what the file is."""
        if self.pending and self.line(self.pending.begin) > 2:
            self.section = paragraphs(self.pending.text)
        self.pending = None

    def attach(self, declaration, begin, ended):
        declaration.line, declaration.group = self.line(begin), declaration.name
        if self.pending and self.adjoin(self.pending.end, begin) and self.line(self.pending.begin) > 2:
            declaration.comment, self.pending = paragraphs(self.pending.text), None
        self.free()
        if not declaration.comment and self.found and self.adjoin(ended, begin):
            declaration.comment, declaration.group = self.found[-1].comment, self.found[-1].group
        declaration.section = self.section
        self.found.append(declaration)

    def macro(self, token):
        name, _, value = token.text.removeprefix("#define").replace("\\\n", " ").strip().partition(" ")
        if name.endswith("_H") and not value:
            return None
        return Declaration("macro", re.match(r"\w+", name)[0], " ".join(f"#define {name} {value}".split()), self.header, 0)

    def statement(self, parts):
        words = [token.text for token in parts if token.kind != "comment"]
        source = self.text[parts[0].begin:parts[-1].end]
        if words[0] == "TREFOIL_API" and "(" in words:
            return self.function(words[words.index("(") - 1], source)
        if words[:2] in (["typedef", "enum"], ["typedef", "struct"]) and words[2] == "{" and words[-3] == "}":
            code = re.sub(r"\n\s*(?=\n)", "", re.sub(r" */\*.*?\*/", "", source, flags=re.DOTALL))
            if words[1] == "enum":
                code = f"typedef enum {{ ... }} {words[-2]};"
            found = Declaration(words[1], words[-2], code, self.header, 0)
            found.members = self.members(parts[3:-3], "," if words[1] == "enum" else ";", words[1] == "enum")
            return found
        if words[0] == "typedef" and words[2:5] and "(" not in words:
            return Declaration("type", words[-2], source, self.header, 0)
        if words[0] == "typedef" and words[words.index("(") + 1] == "*":
            return Declaration("type", words[words.index("(") + 2], " ".join(source.split()), self.header, 0)
        return self.fail(parts[0], "a declaration of no known kind")

    def function(self, name, source):
        source = re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL).removeprefix("TREFOIL_API")
        head, _, rest = " ".join(source.split()).partition("(")
        arguments = rest.removesuffix(");").strip().split(", ")
        code = f"{head}({', '.join(arguments)});"
        if len(code) > 60:
            code = f"{head}(\n    " + ",\n    ".join(arguments) + ");"
        return Declaration("function", name, code, self.header, 0)

    def members(self, parts, separator, is_enum):
        """A comment belongs to the member that ends on its line, or else to the next one."""
        found, current, above, number = [], [], [], -1
        for token in [*parts, Token("mark", separator, parts[-1].end, parts[-1].end)]:
            if token.kind == "comment":
                said = paragraphs(token.text)
                previous = found[-1] if found and not current else None
                if current:  # the last enumerator has no comma
                    above = said
                elif previous and previous.line == self.line(token.begin):
                    previous.comment = said
                else:
                    above = said
            elif token.text != separator:
                current.append(token)
            elif current:
                declared = " ".join(self.text[current[0].begin:current[-1].end].split())
                name = current[0].text if is_enum else current[-1].text
                if is_enum:
                    given = declared.partition("= ")[2]
                    number = int(given, 0) if given else number + 1
                    declared = f"{name} = {given or number}"
                found.append(Member(name, declared, declared.partition("= ")[2], above, self.line(current[-1].end)))
                current, above = [], []
        return found


def read(folder):
    """All declarations of the headers of a folder, in the order in which trefoil.h includes them."""
    paths = sorted(folder.glob("*.h"), key=lambda path: (path.name != "trefoil.h", path.name))
    return [each for path in paths for each in Reader(path.name, path.read_text(encoding="utf-8")).read()]


def without_comment(declarations):
    """What the reference cannot say anything about, as findings."""
    found = [f"{each.header}:{each.line}: {each.name} has no comment" for each in declarations if not each.comment]
    return found + [f"{each.header}:{member.line}: {member.name} of {each.name} has no comment"
                    for each in declarations for member in each.members if not member.comment]
