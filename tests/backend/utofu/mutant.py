#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a mutant of backend utofu over the emulation with hostile seeds until it is caught.

Usage: mutant.py EXECUTABLE GTEST-FILTER [VARIABLE=value ...]. Exit code 0: caught, and told how.
The backend as it is must pass the same (test_utofu_unbroken beside it).
"""

import os
import subprocess
import sys

SEEDS = 20
SECONDS = 100  # a hang is caught, too: the suite's own limit is 60 s


def run(executable, chosen, settings, seed):
    """Whether it fails, and what it says; None: it has no such test."""
    environment = {**os.environ, **settings, "EMULATED_TOFU_SEED": str(seed)}
    try:
        done = subprocess.run(
            [executable, "--gtest_filter=" + chosen], env=environment, capture_output=True, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return True, "hangs"
    text = done.stdout + done.stderr
    wrong = done.returncode != 0 or "LEAK:" in text
    return (None if "0 tests from 0 test suites" in text else wrong), text


def cause(text):
    for word in ("MISUSE", "LEAK", "Failure"):
        lines = text.splitlines()
        for i, line in enumerate(lines):
            if word in line:
                return " ".join(lines[i : i + 3])[:300]
    return text[-300:]


def catch(executable, chosen, settings):
    """The seed that catches it."""
    for seed in range(1, SEEDS + 1):
        caught, text = run(executable, chosen, settings, seed)
        if caught is None:
            sys.exit(f"no test is called {chosen}")
        if caught:
            print(f"caught with seed {seed}: {cause(text)}", flush=True)
            return seed
    sys.exit(f"not caught by {SEEDS} seeds")


def main():
    executable, chosen, *pairs = sys.argv[1:]
    settings = dict(pair.split("=", 1) for pair in pairs)
    seed = catch(executable, chosen, settings)
    # The same tests with the same settings and seed find nothing in the backend as it is.
    failed, text = run(os.path.join(os.path.dirname(executable), "test_utofu_unbroken"), chosen, settings, seed)
    if failed is not False:
        sys.exit(f"the backend as it is fails as well: {cause(text)}")
    print("the backend as it is passes")


if __name__ == "__main__":
    main()
