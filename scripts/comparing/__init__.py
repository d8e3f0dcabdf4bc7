# SPDX-License-Identifier: BSD-3-Clause
"""What scripts/compare-put and scripts/compare share: building, bounded runs, spreads and tables."""
import os
import pathlib
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A session of its own is one group of the scheduler, whose weight counts before that of its processes.
PRIORITY = 'echo -20 >/proc/self/autogroup; exec nice -n -20 "$@"'
PRIORITY_HELP = "run all sides at the highest niceness (needs root): for a machine that does other things"


def die(message):
    sys.exit(f"error: {message}")


def shell(command):
    """A command with the functions of common.sh; ends the script when it fails."""
    script = f'source "{ROOT}/scripts/common.sh"; set -euo pipefail; cd "{ROOT}"; {command}'
    if subprocess.run(["bash", "-c", script], stdout=sys.stderr).returncode != 0:
        sys.exit(1)


def build_trefoil(needs, given):
    """Installs `needs` (text for require); returns the command: the one given, or the release preset's, built first."""
    if given:
        shell(f"require {needs}")
        return str(pathlib.Path(given).resolve())
    shell(f'require "${{build_needs[@]}}" {needs}; configure release -DTREFOIL_BUILD_TESTS=OFF; build release trefoil_tool')
    return str(ROOT / "build/release/bench/trefoil")


def prioritized(words, priority):
    return (["sh", "-c", PRIORITY, "sh"] if priority else []) + words


def run_bounded(words, environment, seconds, last_line=None, grace=3):
    """Runs a command in a session of its own; returns (exit code, output, errors). An exit code of None: not finished in
    time. A command that has written `last_line` has finished, even if it hangs then: it is ended after `grace` seconds."""
    output = b""
    # Temporary files of its own: launchers of Open MPI 4 that share a folder remove it below each other.
    with (tempfile.TemporaryFile() as errors,
          tempfile.TemporaryDirectory(prefix="compare-", ignore_cleanup_errors=True) as folder):
        process = subprocess.Popen(words, env={**os.environ, "TMPDIR": folder, **environment}, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=errors, start_new_session=True)
        try:
            end = time.monotonic() + seconds
            finished = False
            while time.monotonic() < end and not finished:
                if select.select([process.stdout], [], [], max(0, end - time.monotonic()))[0]:
                    data = os.read(process.stdout.fileno(), 1 << 16)
                    output += data
                    finished = not data or (last_line is not None and last_line.encode() in output)
            code = None
            if finished:
                try:
                    code = process.wait(timeout=grace)
                except subprocess.TimeoutExpired:
                    code = 0 if last_line is not None else None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            process.stdout.close()
        errors.seek(0)
        return code, output.decode(errors="replace"), errors.read().decode(errors="replace")


def spread(values, digits):
    return f"{statistics.median(values):.{digits}f} [{min(values):.{digits}f}..{max(values):.{digits}f}]"


def show(table):
    """Prints rows of cells, the first one the heads."""
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
    for line in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
