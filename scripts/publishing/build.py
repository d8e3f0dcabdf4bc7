# SPDX-License-Identifier: BSD-3-Clause
"""Writes the site (of scripts/site) or the manual pages of the C interface (of the build)."""

import argparse
import gzip
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import headers
import site_pages
import reference

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SECONDS = 600
# Debian's theme takes a style sheet from where a web server of Debian's offers it, and a script as only such a server can.
IMPORTED = re.compile(r"""@import url\((/javascript/[^)]*)\);|^import \w+ from "\./([^"]*)";""")


def take_in(file):
    """Puts what a file of the theme imports in its place, since the site has no server."""
    text = file.read_text(encoding="utf-8")
    found = IMPORTED.match(text)
    if found:
        other = pathlib.Path("/usr/share" + found[1]) if found[1] else file.parent / found[2]
        file.write_text(other.read_text(encoding="utf-8") + text[found.end():], encoding="utf-8")


def site(root, output):
    if output.exists() and any(output.iterdir()) and not (output / ".buildinfo").exists():
        return [f"{output} is not empty, and no site: nothing was written"]
    with tempfile.TemporaryDirectory() as temporary:
        folder, built = pathlib.Path(temporary, "pages"), pathlib.Path(temporary, "site")
        wrong = site_pages.Folder(root, folder).fill()
        if wrong:
            return wrong
        result = subprocess.run([sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going", "--no-color", "-j", "auto",
                                 "-c", HERE, "-d", pathlib.Path(temporary, "doctrees"), folder, built],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=SECONDS, check=False)
        said = result.stdout.replace(f"{folder}/index.md", "README.md").replace(f"{folder}/", "")
        if result.returncode != 0 or said.strip():
            return said.strip().splitlines() or [f"Sphinx ended with {result.returncode}"]
        for file in (built / "_static").rglob("furo.*s"):  # .css and .js
            take_in(file)
        shutil.rmtree(output, ignore_errors=True)
        shutil.copytree(built, output)
    return []


def manual(root, output):
    declarations = headers.read(root / "include/trefoil")
    wrong = headers.without_comment(declarations)
    if wrong:
        return wrong
    output.mkdir(parents=True, exist_ok=True)
    for name, text in reference.Man(declarations, version_of(declarations)).files().items():
        (output / f"{name}.gz").write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))
    return []


def version_of(declarations):
    numbers = {each.name: each.code.split()[-1] for each in declarations if each.kind == "macro"}
    return ".".join(numbers[f"TREFOIL_VERSION_{part}"] for part in ("MAJOR", "MINOR", "PATCH"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--site", metavar="FOLDER", type=pathlib.Path)
    chosen.add_argument("--manual", metavar="FOLDER", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        wrong = site(ROOT, arguments.site) if arguments.site else manual(ROOT, arguments.manual)
    except (headers.HeaderError, subprocess.TimeoutExpired) as error:
        wrong = [str(error)]
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
