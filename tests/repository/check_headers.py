# SPDX-License-Identifier: BSD-3-Clause
"""Compiles headers alone: internal ones as C++20; public ones as C++20, and .h ones also as C99.

usage: check_headers.py public|internal ROOT CC CXX [PATTERN...]    (patterns of headers to leave out)

An internal header with `#pragma once` that some .cpp includes before anything else is left out: each build compiles it so.
"""

import concurrent.futures
import os
import pathlib
import re
import sys

import sources

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")


def commands(path, root, c_compiler, cxx_compiler):
    """How to compile a header alone. It is included twice, so that a missing guard is noticed."""
    public = path.parts[0] == "include"
    include = f"-I{root}/include" if public else f"-I{root}"
    common = (include, f"-I{root}/include", "-fsyntax-only", *WARNINGS)
    found = [(cxx_compiler, "-std=c++20", "-x", "c++", *common)]
    if path.suffix == ".h":
        found += [(cxx_compiler, "-std=c++11", "-x", "c++", *common),
                  (c_compiler, "-std=c99", "-x", "c", *common)]
    return found


def compile_alone(path, command, root):
    name = path.relative_to("include") if path.parts[0] == "include" else path
    text = f'#include "{name}"\n#include "{name}"\nint only_so_that_the_unit_is_not_empty;\n'
    code, output = sources.run([*command, "-"], input=text, cwd=root)
    return f"{path} does not compile alone with {command[0]} {command[1]}:\n{output}" if code else ""


def compiled_by_builds(root):
    """Headers that a .cpp includes first, by their path from the root (or, in tests, from the .cpp's own folder); also by a
    name that a CMakeLists.txt defines."""
    found = set()
    for lists in root.glob("*/**/CMakeLists.txt"):
        found |= set(re.findall(r'="([\w/]+\.hpp)"', lists.read_text(encoding="utf-8")))
    for path in sources.code(root):
        if path.suffix != ".cpp":
            continue
        first = re.search(r'^#include ([<"])(.*)[>"]', (root / path).read_text(encoding="utf-8"), re.MULTILINE)
        if first and first[1] == '"':
            found |= {first[2], str(path.parent / first[2])}
    return found


def to_compile(root, skip):
    first = compiled_by_builds(root)
    for path in sources.headers(root):
        if any(path.match(pattern) for pattern in skip):
            continue
        once = "#pragma once" in (root / path).read_text(encoding="utf-8")
        if path.parts[0] == "include" or not once or str(path) not in first:
            yield path


def findings(root, c_compiler, cxx_compiler, skip=(), public=True, internal=True):
    root = pathlib.Path(root)
    jobs = [(path, command) for path in to_compile(root, skip)
            if (public if path.parts[0] == "include" else internal)
            for command in commands(path, root, c_compiler, cxx_compiler)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda job: compile_alone(*job, root), jobs)
    return [result for result in results if result]


if __name__ == "__main__":
    which, *arguments = sys.argv[1:]
    sys.exit(sources.report(findings(*arguments[:3], skip=arguments[3:], public=which == "public", internal=which == "internal"),
                            f"{which} headers"))
