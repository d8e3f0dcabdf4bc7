# SPDX-License-Identifier: BSD-3-Clause
"""The pages of the site as files for Sphinx: those of the repository, the reference, and the sources to which they link."""

import os
import pathlib
import re
import shutil

import headers
import reference
import shelves

LINK = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")
# A name of the interface in code, in no link and no heading.
NAME = re.compile(r"(?m)^(?:#| {4}).*|\[[^]]*\]\(|`(trefoil_\w+)`")
PICTURES = {".png", ".svg"}
LANGUAGES = {".c": "c", ".h": "c", ".cpp": "cpp", ".hpp": "cpp", ".f90": "fortran", ".py": "python", ".json": "json"}


def contents(caption, pages):
    """The part of a page that gives others their places in the navigation."""
    names = "\n".join(page.removesuffix(".md") for page in pages)
    return f"\n\n```{{toctree}}\n:hidden:\n{f':caption: {caption}' if caption else ''}\n\n{names}\n```\n"


def repository_pages(root):
    found = [*root.glob("*.md"), *(root / "docs").rglob("*.md")]
    return sorted(path.relative_to(root).as_posix() for path in found)


class Folder:
    """A folder that is filled with the pages. A page stays where it is in the repository, so that links hold and warnings name
    its lines; only README.md becomes index.md."""

    def __init__(self, root, folder):
        self.root, self.folder = pathlib.Path(root), pathlib.Path(folder)
        self.pages = repository_pages(self.root)
        self.sources = []
        self.places = {}  # {name of the interface: its page in the reference}

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def fill(self):
        declarations = headers.read(self.root / "include/trefoil")
        wrong = shelves.findings(self.pages) + headers.without_comment(declarations)
        if wrong:
            return wrong
        variables = re.findall(r"^\| `(TREFOIL_\w+)`", (self.root / "docs/environment.md").read_text(encoding="utf-8"), re.MULTILINE)
        markdown = reference.Markdown(declarations, variables)
        self.places, written = markdown.places, markdown.files()
        for name, text in written.items():
            self.write(f"reference/{name}", text)
        below = contents("", sorted(set(written) - {"index.md"}, key=str.lower))
        self.write("reference/index.md", written["index.md"] + below)
        for page in self.pages:
            self.page(page)
        for source in self.sources:  # a folder adds its files
            self.source(source)
        for path in (self.root / "docs").rglob("*"):
            if path.suffix in PICTURES:
                (self.folder / path.relative_to(self.root)).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, self.folder / path.relative_to(self.root))
        return []

    def page(self, page):
        text = (self.root / page).read_text(encoding="utf-8")
        text = LINK.sub(lambda match: match[1] + self.target(page, match[2]) + match[3], text)
        text = NAME.sub(lambda match: self.named(page, match[1]) or match[0], text)
        below = [each for each in self.pages if each.startswith(page.removesuffix(".md") + "/")]
        if below:
            text += contents("", ["/" + each for each in below])
        if page == shelves.FRONT:
            text += "".join(contents(name, shelf) for name, shelf in shelves.SHELVES.items())
        self.write("index.md" if page == shelves.FRONT else page, text)

    def named(self, page, name):
        """A link to the reference; nothing where that does not know the name."""
        if name not in self.places:
            return ""
        return f"[`{name}`]({os.path.relpath(f'reference/{self.places[name]}.md', os.path.dirname(page))})"

    def target(self, page, target):
        """Where a link of a page leads in the site: what is neither a page nor a picture gets a page that shows it."""
        path = os.path.normpath(os.path.join(os.path.dirname(page), target))
        if path == shelves.FRONT:
            path = "index.md"
        elif path in self.pages or pathlib.Path(path).suffix in PICTURES or not (self.root / path).exists():
            return target
        else:
            path = self.shown(path)
        return os.path.relpath(path, os.path.dirname(page))

    def shown(self, source):
        if source not in self.sources:
            self.sources.append(source)
        return f"source/{source}.md"

    def source(self, source):
        path, lines = self.root / source, ["---", "orphan: true", "---", f"# `{source}`", ""]
        if path.is_dir():
            inside = sorted(each.relative_to(self.root).as_posix() for each in path.iterdir()
                            if each.name != "__pycache__" and not each.name.startswith("."))
            for each in inside:
                lines.append(f"- [{each}]({os.path.relpath(self.shown(each), os.path.dirname(f'source/{source}'))})")
        else:
            lines += [f"~~~~~~{LANGUAGES.get(path.suffix, 'text')}", path.read_text(encoding="utf-8").rstrip("\n"), "~~~~~~"]
        self.write(f"source/{source}.md", "\n".join(lines) + "\n")
