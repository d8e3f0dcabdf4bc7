# SPDX-License-Identifier: BSD-3-Clause
"""How far a comparison is, and a program that keeps one core busy beside it."""
import os
import subprocess
import sys
import time

# Ends by itself when its parent has ended: nobody may be left to end it.
SPIN = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    for i in range(10**6):\n        pass\n"


def duration(seconds):
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 100 * 60 else f"{seconds / 3600:.1f} h"


class Progress:
    """One line for each launch on a terminal, and for each round elsewhere."""

    def __init__(self, launches, clock=time.monotonic):
        self.launches, self.done, self.clock, self.start = launches, 0, clock, clock()

    def left(self):
        """Text; empty before the first launch has ended."""
        if not self.done:
            return ""
        each = (self.clock() - self.start) / self.done
        return f", about {duration(each * (self.launches - self.done))} left"

    def show(self, what, always):
        if always or sys.stderr.isatty():
            print(f"{what}: {self.done} of {self.launches} launches{self.left()}", file=sys.stderr, flush=True)

    def step(self):
        self.done += 1


class Busy:
    """Use it in a `with`: another program has the last core that this one may use, as far as the scheduler lets it."""

    def __init__(self, wanted):
        self.process, self.wanted = None, wanted

    def __enter__(self):
        if self.wanted:
            core = max(os.sched_getaffinity(0))
            self.process = subprocess.Popen([sys.executable, "-c", SPIN], start_new_session=True)
            os.sched_setaffinity(self.process.pid, {core})
        return self

    def __exit__(self, *_):
        if self.process:
            self.process.kill()
            self.process.wait()
