# SPDX-License-Identifier: BSD-3-Clause
"""The texts in the sources that users can see: strings of C, C++, JavaScript, Python and shell that have several words, but for those of static_assert. words.py
looks for its patterns in them. `python3 messages.py FILE` prints them."""

import ast
import pathlib
import re
import sys

ROOMS = ("include", "backend", "algorithms", "threads", "topo", "comm", "bench", "mpi", "bindings")
C_TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|R"(?P<mark>\w*)\((?P<raw>.*?)\)(?P=mark)"|"(?P<text>(?:[^"\\\n]|\\.)*)"|'(?:[^'\\\n]|\\.)+'""",
                     re.DOTALL)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
STATIC_ASSERT = re.compile(r"\bstatic_assert\([^;]*$")
JS_TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?P<text>(?:[^"\\\n]|\\.)*)"|'(?:[^'\\\n]|\\.)*'|`(?P<raw>(?:[^`\\]|\\.)*)`""", re.DOTALL)
SHELL_TOKEN = re.compile(r"""(?:^|(?<=\s))\#[^\n]*|<<-?\s*'?(?P<mark>[A-Z]+)'?[^\n]*\n(?P<raw>.*?)\n\s*(?P=mark)\n|"(?P<text>(?:[^"\\]|\\.)*)"|'(?P<single>[^']*)'""",
                         re.DOTALL)
HTML_TEXT = re.compile(r"(?:title|aria-label|content)=\"(?P<text>[^\"]*)\"|>(?P<raw>[^<>]+)<", re.DOTALL)


def plain(text):
    text = re.sub(r"\\n|\n", " ", text)
    return re.sub(r"\\(.)", r"\1", text)


def tokens(text, pattern):
    """(line number, text) of strings; those of C with nothing but space between them are one."""
    found, end = [], -1
    for match in pattern.finditer(text):
        groups = match.groupdict()
        said = next((groups[name] for name in ("text", "raw", "single") if groups.get(name) is not None), None)
        if said is None or STATIC_ASSERT.search(text, max(0, match.start() - 300), match.start()):
            continue
        said = plain(said)
        if pattern is C_TOKEN and found and end >= 0 and not COMMENT.sub("", text[end:match.start()]).strip():
            found[-1] = (found[-1][0], found[-1][1] + said)
        else:
            found.append((text.count("\n", 0, match.start()) + 1, said))
        end = match.end()
    return found


def docstrings(tree):
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and node.body and isinstance(node.body[0], ast.Expr):
            yield node, node.body[0].value


def strings_of_python(text, documented):
    """Without docstrings, which are comments; with them if `documented`, as help() shows them. That of a program is its --help."""
    tree = ast.parse(text)
    skipped = {id(value) for node, value in docstrings(tree)
               if not documented and not (isinstance(node, ast.Module) and text.startswith("#!"))}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped.update(id(part) for part in ast.walk(node) if part is not node)
            said = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            found.append((node.lineno, " ".join(said.split())))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            found.append((node.lineno, " ".join(node.value.split())))
    return sorted(found)


def is_prose(said):
    """Two words or more beside each other, of letters: no path, no command, no key."""
    return re.search(r"[A-Za-z']{2,} [a-z]{2,}", said) is not None


def messages_of(path, text):
    """(line number, text) of what users can see in a source."""
    if path.suffix in (".c", ".cpp", ".h", ".hpp"):
        found = tokens(text, C_TOKEN)
    elif path.suffix == ".js":
        found = tokens(text, JS_TOKEN)
    elif path.suffix == ".html":
        found = tokens(text, HTML_TEXT)
    elif path.suffix == ".py" or text.startswith("#!/usr/bin/env python3"):
        found = strings_of_python(text, "bindings" in path.parts)
    else:
        found = tokens(text, SHELL_TOKEN)
    return [(line, said) for line, said in found if is_prose(said)]


def sources_of(root):
    for room in ROOMS:
        for path in sorted((root / room).rglob("*")):
            if path.suffix in (".c", ".cpp", ".h", ".hpp", ".js", ".html", ".py"):
                yield path
    for path in sorted((root / "scripts").rglob("*")):
        if path.is_file() and path.suffix in ("", ".py", ".sh"):
            yield path


if __name__ == "__main__":
    for line, said in messages_of(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")):
        print(f"{line}: {said}")
