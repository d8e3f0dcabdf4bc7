# SPDX-License-Identifier: BSD-3-Clause
"""Finds the files that the repository's checks look at."""

import pathlib
import subprocess

ROOMS = ("topo", "algorithms", "backend", "threads", "comm")
FOLDERS = ROOMS + ("include", "bindings", "mpi", "bench", "tests", "examples", "scripts", "cmake", ".ci")
CODE = {".c", ".h", ".cpp", ".hpp"}
# What Python, pip and fuzzers leave among sources.
NOT_SOURCES = {"__pycache__", "corpus", "build", "trefoil.egg-info"}
OTHER = {".py", ".cmake", ".map", ".in", ".sh", ".json"}


def files(root):
    """Every file of the project below `root`, as paths relative to it. Not build trees, nor what fuzzers are fed with,
    which are any bytes."""
    root = pathlib.Path(root)
    found = [root / "CMakeLists.txt"]
    for folder in FOLDERS:
        found += sorted((root / folder).rglob("*"))
    return [path.relative_to(root) for path in found if path.is_file() and not NOT_SOURCES & set(path.parts)]


def code(root):
    return [path for path in files(root) if path.suffix in CODE]


def headers(root):
    return [path for path in code(root) if path.suffix in {".h", ".hpp"}]


def run(command, **options):
    """Runs a command and returns (exit code, everything it printed)."""
    result = subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
        **options,
    )
    return result.returncode, result.stdout


def report(findings, what):
    """Prints the findings and gives the exit code of a check."""
    for finding in findings:
        print(finding)
    print(f"{what}: {len(findings)} finding(s)")
    return 1 if findings else 0
