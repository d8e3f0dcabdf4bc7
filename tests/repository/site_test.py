# SPDX-License-Identifier: BSD-3-Clause
"""Builds the site, and follows all links inside it; a broken link in a small site must be named with page and line."""

import html.parser
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import urllib.parse

SKIPPED = 77
ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "scripts/publishing"))

# Debian's packages are the system's Python's.
if subprocess.run(["/usr/bin/python3", "-c", "import sphinx, myst_parser, furo"], stderr=subprocess.DEVNULL, check=False).returncode:
    print("skipped: there is no Sphinx with MyST and Furo (scripts/site installs them)")
    sys.exit(SKIPPED)
if os.path.realpath(sys.executable) != os.path.realpath("/usr/bin/python3"):
    os.execv("/usr/bin/python3", ["/usr/bin/python3", "-B", *sys.argv])

import build  # noqa: E402
import shelves  # noqa: E402
import site_pages  # noqa: E402


class Links(html.parser.HTMLParser):
    """What a page links to and loads, and the names of its places."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.names = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.names.update(value for key, value in attributes if key in ("id", "name") and value)
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        elif tag in ("link", "script", "img", "iframe", "source") and (found.get("href") or found.get("src")):
            self.loaded.append(found.get("src") or found.get("href"))


def findings(folder):
    """Links and files of a site that lead nowhere, and what would be loaded from elsewhere."""
    pages = {path: Links(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    found = []
    for path, page in pages.items():
        for link in page.links + page.loaded:
            parts = urllib.parse.urlsplit(link)
            name = f"{path.relative_to(folder)}: {link}"
            if parts.scheme or parts.netloc:
                found += [f"{name} is loaded from the network"] if link in page.loaded else []
                continue
            place = pathlib.Path(os.path.normpath(path.parent / urllib.parse.unquote(parts.path))) if parts.path else path
            if not place.is_file():
                found.append(f"{name} is not there")
            elif parts.fragment and place in pages and urllib.parse.unquote(parts.fragment) not in pages[place].names:
                found.append(f"{name}: there is no such place")
    return found + [f"{path.relative_to(folder)} loads what is not in the site" for path in folder.rglob("*.css")
                    if "url(/" in path.read_text(encoding="utf-8") or "url(http" in path.read_text(encoding="utf-8")]


class Whole(unittest.TestCase):
    def test_all_pages_are_there_and_all_links_lead_somewhere(self):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary, "site")
            self.assertEqual([], build.site(ROOT, folder))
            names = [page.removesuffix(".md") for page in site_pages.repository_pages(ROOT) if page != shelves.FRONT]
            for name in ["index", *names, "reference/trefoil_allreduce", "source/examples/allreduce.c"]:
                self.assertTrue((folder / f"{name}.html").is_file(), name)
            self.assertIn("trefoil_allreduce", (folder / "searchindex.js").read_text(encoding="utf-8"))
            self.assertEqual([], findings(folder))
            (folder / "planted.html").write_text('<a href="gone.html"><a href="search.html#gone"><img src="https://example.org/a.png">',
                                                 encoding="utf-8")
            self.assertEqual(3, len(findings(folder)))


class Small(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.temporary.name)
        for name, text in {"README.md": "# Front\n\n[a](docs/a.md)\n", "docs/a.md": "# A\n\n[front](../README.md#front)\n",
                           "docs/environment.md": "# Variables\n", "include/trefoil/a.h": "/* a */\n\n/* Goes. */\nTREFOIL_API int trefoil_go(void);\n"}.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text, encoding="utf-8")
        table = {"Use": ("docs/a.md",), "Reference": ("reference/index.md", "docs/environment.md")}
        patched = unittest.mock.patch.object(shelves, "SHELVES", table)
        patched.start()
        self.addCleanup(patched.stop)
        self.addCleanup(self.temporary.cleanup)

    def wrong(self, name, text):
        with open(self.root / name, "a", encoding="utf-8") as page:
            page.write(text)
        return build.site(self.root, self.root / "site")

    def test_right(self):
        self.assertEqual([], self.wrong("docs/a.md", ""))
        self.assertEqual([], findings(self.root / "site"))

    def test_broken_links_are_named_with_page_and_line(self):
        for name, line in (("docs/a.md", 5), ("README.md", 5)):
            found = self.wrong(name, "\n[b](gone.md)\n")
            self.assertTrue(any(each.startswith(f"{name}:{line}: ") and "gone.md" in each for each in found), found)
        self.assertFalse((self.root / "site").exists())

    def test_a_folder_of_others_stays(self):
        (self.root / "site").mkdir()
        (self.root / "site/mine").write_text("", encoding="utf-8")
        self.assertIn("no site", self.wrong("docs/a.md", "")[0])
        self.assertTrue((self.root / "site/mine").exists())

    def test_what_lacks_a_comment_ends_it(self):
        self.assertEqual(["a.h:6: trefoil_stop has no comment"], self.wrong("include/trefoil/a.h", "\nTREFOIL_API int trefoil_stop(void);\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
