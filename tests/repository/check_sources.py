# SPDX-License-Identifier: BSD-3-Clause
"""Checks how files begin (licence, purpose), that none grows beyond one idea, and the format of code."""

import concurrent.futures
import os
import shutil
import sys

import sources

LICENCE = "SPDX-License-Identifier: BSD-3-Clause"
MOST_LINES = 500
NO_COMMENTS = {".json", ".xml"}  # hwloc's own parser knows no comments


def beginning(path, lines):
    """What is wrong with the first lines of a file; empty when nothing is."""
    if lines and lines[0].startswith("#!"):
        lines = lines[1:]
    if not lines or LICENCE not in lines[0]:
        return f"{path}: the first line does not name the licence ({LICENCE})"
    purpose = lines[1].strip() if len(lines) > 1 else ""
    if not purpose.startswith(("//", "/*", "#", "!", ".\\\"", '"""')) or len(purpose.split()) < 3:
        if path.name != "CMakeLists.txt":
            return f"{path}: the second line does not say what the file is for"
    return ""


def findings(root):
    found = []
    for path in sources.files(root):
        text = (sources.pathlib.Path(root) / path).read_text(encoding="utf-8")
        lines = text.splitlines()
        wrong = "" if path.suffix in NO_COMMENTS else beginning(path, lines)
        if wrong:
            found.append(wrong)
        if len(lines) > MOST_LINES:
            found.append(f"{path}: {len(lines)} lines; is it one idea?")
        if path.suffix == ".hpp" and "#pragma once" not in lines:
            found.append(f"{path}: no #pragma once")
    return found


def format_findings(root, clang_format):
    paths = [sources.pathlib.Path(root) / path for path in sources.code(root)]
    cores = os.cpu_count()
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        results = pool.map(lambda some: sources.run([clang_format, "--dry-run", "-Werror", *some], cwd=root),
                           [paths[i::cores] for i in range(cores)])
        return [line for code, output in results if code != 0 for line in output.splitlines()]


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(sources.report(format_findings(sys.argv[1], shutil.which(sys.argv[2])), "format"))
    sys.exit(sources.report(findings(sys.argv[1]), "sources"))
