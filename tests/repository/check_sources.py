# SPDX-License-Identifier: BSD-3-Clause
"""Checks how files begin (licence, purpose), that none grows beyond one idea, what the library's code must not do to a
program, and the format of code."""

import concurrent.futures
import os
import re
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


# What opens a descriptor that can be written to. In the library a Descriptor takes it (topo/descriptor.hpp), so that none is 0 to 2.
OPENS = re.compile(
    r"(?<![\w.>:])(?:::)?(?:(?:memfd_create|socket|socketpair|accept4|eventfd|epoll_create1?|timerfd_create|signalfd|pidfd_open"
    r"|inotify_init1?|shm_open|mkostemp|dup)\([^)]|(?:open|openat)\([^;]*?\bO_(?:WRONLY|RDWR))"
)
TAKEN = re.compile(r"\bDescriptor(?: \w+)?\(\s*$")


def bare_descriptors(path, text):
    """Where the library opens a descriptor that may be 0, 1 or 2."""
    return [
        f"{path}:{text.count(chr(10), 0, found.start()) + 1}: a descriptor that no Descriptor takes (topo/descriptor.hpp)"
        for found in OPENS.finditer(text)
        if not TAKEN.search(text, 0, found.start()) and not re.search(r"\bDescriptor $", text[: found.start()])
    ]


# printf writes a decimal comma where the locale has one; topo/decimals.hpp does not.
BY_LOCALE = re.compile(r'"[^"\n]*%[-+#0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?[aefgAEFG][^"\n]*"')


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
        if path.parts[0] in sources.ROOMS and path.suffix in sources.CODE:
            found += bare_descriptors(path, text) if path.as_posix() != "topo/descriptor.cpp" else []
            found += [f"{path}: {words[0]} is printed as the locale says (topo/decimals.hpp)" for words in BY_LOCALE.finditer(text)]
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
