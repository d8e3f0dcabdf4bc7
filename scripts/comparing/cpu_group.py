# SPDX-License-Identifier: BSD-3-Clause
"""One scheduling group for whatever a launch starts, so that all contestants get the same share of the cores.

Without it Linux makes a group of every session (autogroup), and a rank that yields does so within its group only. Launchers
differ in how many sessions they open: one for all ranks, or one for each, which then wait for whole time slices of each other.
"""
import os
import pathlib
import time

from . import prioritized

ENTER = 'echo $$ >"$0/cgroup.procs" && exec "$@"'
SHARES = {"cpu.shares": 262144, "cpu.weight": 10000}  # the most that versions 1 and 2 allow


def root_of_groups():
    """Where a group with a share of the processors can be made; None where it cannot."""
    one, two = pathlib.Path("/sys/fs/cgroup/cpu"), pathlib.Path("/sys/fs/cgroup")
    if (one / "cpu.shares").exists():
        return one
    enabled = two / "cgroup.subtree_control"
    return two if enabled.exists() and "cpu" in enabled.read_text(encoding="ascii").split() else None


class CpuGroup:
    """Use it in a `with`. Where there are no control groups, commands only get their priority."""

    def __init__(self, priority):
        self.priority, self.path = priority, None

    def __enter__(self):
        root = root_of_groups()
        if root is None or os.geteuid() != 0:
            return self
        try:
            path = root / f"trefoil-compare{os.getpid()}"
            path.mkdir()
            self.path = path
            for name, most in SHARES.items():
                if self.priority and (path / name).exists():
                    (path / name).write_text(str(most), encoding="ascii")
        except OSError:
            self.__exit__()
        return self

    def __exit__(self, *_):
        end = time.monotonic() + 5
        while self.path is not None and time.monotonic() < end:
            try:
                self.path.rmdir()
                self.path = None
            except OSError:
                time.sleep(0.05)  # what has just been ended may still be in it

    def command(self, words):
        return ["sh", "-c", ENTER, str(self.path), *words] if self.path else prioritized(words, self.priority)
