# SPDX-License-Identifier: BSD-3-Clause
"""Compiles every header alone: internal ones as C++20; public ones as C++20, and .h ones also as C99."""

import concurrent.futures
import os
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


def findings(root, c_compiler, cxx_compiler, skip=()):
    jobs = [(path, command) for path in sources.headers(root)
            if not any(path.match(pattern) for pattern in skip)
            for command in commands(path, root, c_compiler, cxx_compiler)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda job: compile_alone(*job, root), jobs)
    return [result for result in results if result]


if __name__ == "__main__":
    sys.exit(sources.report(findings(*sys.argv[1:4], skip=sys.argv[4:]), "headers"))
