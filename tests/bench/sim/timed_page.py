# SPDX-License-Identifier: BSD-3-Clause
"""Pages of `trefoil sim --html`: what is refused, what a page tells, and, with --browser, that a real one plays them.

In the browser a page checks itself (bench/player/page/timed_selftest.js): nothing happens before its cause, links carry what
the messages weigh, all ranks have their results; then it plays to the end. Without a browser the exit code is 77."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import browser as headless  # noqa: E402

# arguments, speed
PAGES = (
    (("allreduce", "-a", "trivance-b", "-t", "3x3", "--sizes", "1M"), 2),
    (("allreduce", "-a", "swing-b,bucket", "-t", "4x8", "--sizes", "1M"), 4),
    (("allreduce", "-a", "bucket", "-t", "3x3x3", "--sizes", "1M"), 4),
    (("allreduce", "-a", "ring,swing-b", "-t", "64", "--sizes", "1M"), 4),
    (("allreduce", "-a", "trivance-b", "-t", "27x27", "--sizes", "8M"), 1),
    (("allreduce", "-a", "swing-b", "-t", "4x4", "--sizes", "64K", "--network", "mesh", "--lockstep"), 8),
    (("allreduce", "-a", "bucket", "-t", "4x4", "--sizes", "1M", "--slow", "+0@5=0.5", "--jitter", "2us"), 8),
    (("allreduce", "-a", "swing-b", "-t", "2x3", "--sizes", "1M", "--copy", "20GB", "--reduce", "10GB"), 8),
    (("allgather", "-a", "bine", "-t", "16", "--sizes", "1M", "--per-port", "1"), 8),
    (("scan", "-a", "doubling", "-t", "2x3", "--sizes", "32K"), 8),
    (("alltoall", "-a", "bruck", "-t", "3x3", "--sizes", "1M"), 8),
    (("barrier", "-a", "dissemination", "-t", "5", "--sizes", "0"), 8),
    (("bcast", "-a", "bine-dd", "-t", "4x4", "--root", "5", "--sizes", "1M", "--closing-barrier", "312ns"), 8),
    (("reduce_scatter", "-a", "recursive-doubling,trivance", "-t", "16", "--sizes", "1M", "--machine", "short-circuit",
      "--reconfigurable", "1us", "--circuits", "shifted"), 8),
    (("reduce_scatter", "-a", "swing", "-t", "8x8", "--sizes", "1M", "--machine", "short-circuit", "--reconfigurable", "1us"), 8),
    (("allreduce", "-a", "recursive-doubling", "-t", "8", "--sizes", "1M", "--machine", "short-circuit", "--reconfigurable", "100ns",
      "--tie", "one", "--single-port", "--end-wiring", "ring", "--change-barrier", "50ns"), 8),
)

failures = []


def expect(holds, text):
    if not holds:
        failures.append(text)


def run(tool, *arguments):
    return subprocess.run([tool, "sim", *arguments], capture_output=True, text=True, timeout=300, check=False)


def page_of(tool, folder, arguments):
    file = folder / f"{len(list(folder.iterdir()))}.html"
    result = run(tool, *arguments, "--html", str(file))
    expect(result.returncode == 0, f"{arguments}: {result.stderr}")
    return file


def check_refusals(tool, folder):
    page = ("--html", str(folder / "a.html"))
    known = ("allreduce", "-a", "ring", "-t", "3x3", "--sizes", "1M")
    cases = (
        ((*known, "--html", str(folder / "none" / "a.html")), "there is no folder"),
        ((*known, "--html", str(folder)), "not the name of a file"),
        ((*known, "--json", *page), "leave --json"),
        ((*known, "--baseline", "ring", *page), "--baseline"),
        ((*known, "--model", "step", *page), "flow model"),
        ((*known, "--network", "hyperx", *page), "hyperx"),
        ((*known, "--network", "switch", *page), "switch"),
        ((*known, "--host", "1", "--host-rate", "100GB", *page), "nodes of several ranks"),
        (("allreduce", "-a", "ring", "-t", "3x3,4", "--sizes", "1M", *page), "one torus"),
        (("allreduce", "-a", "ring", "-t", "3x3", *page), "one size"),
        (("allreduce", "-t", "3x3", "--sizes", "1M", *page), "beside each other"),
        (("allreduce", "-a", "rong", "-t", "3x3", "--sizes", "1M", *page), "rong"),
        (("allreduce", "-a", "single-copy", "-t", "5", "--sizes", "1M", *page), "reads the memory"),
        (("allreduce", "-a", "ring", "-t", "32x32", "--sizes", "1M", *page), "larger than 5 MiB"),
        (("allreduce", "-a", "recursive-doubling-b", "-t", "128x128", "--sizes", "1M", *page), "at most"),
        (("allreduce", "-a", "ring", "-t", "1", "--sizes", "1M", *page), "nothing to play"),
        ((*known, "--reconfigurable", "1us", "--heatmap", "x.svg", *page), "exclude each other"),
    )
    for arguments, text in cases:
        result = run(tool, *arguments)
        expect(result.returncode == 2, f"{arguments}: exit code {result.returncode}, not 2")
        expect(text in result.stderr, f"{arguments}: no '{text}' in: {result.stderr}")
        expect(not list(folder.iterdir()), f"{arguments}: something was written")


def check_pages(tool, folder):
    """A page needs nothing else, and its times are those of the list."""
    for arguments, _ in PAGES:
        file = page_of(tool, folder, arguments)
        if not file.exists():
            continue
        text = file.read_text(encoding="utf-8")
        expect(len(text.encode()) <= 5 << 20, f"{file.name} has {len(text)} bytes")
        expect(not re.search(r"https?://|<link|\bsrc=|@import|url\(", text), f"{file.name} asks for something else")
        plans = json.loads(re.search(r'type="application/json">(.*?)</script>', text, re.S)[1])
        listed = json.loads(run(tool, *arguments, "--json").stdout)["runs"]
        told = [plan["time"]["seconds"] for plan in plans]
        expect(len(told) == len(listed), f"{arguments}: {len(told)} plans, {len(listed)} runs")
        for seconds, one in zip(told, listed):
            expect(abs(seconds - one["seconds"]) <= 1e-9 * seconds, f"{arguments}: {seconds} s, the list says {one['seconds']}")


def check_playing(browser, tool, folder):
    profile = pathlib.Path(tempfile.mkdtemp(prefix="trefoil-browser-"))

    def play(file, arguments, speed, *flags):
        said = headless.console_of(browser, f"{file.as_uri()}#selftest&speed={speed}", profile,
                                   lambda line: line.startswith(("trefoil: ok", "trefoil: wrong")), flags=flags)
        name = " ".join((*arguments, file.name, *flags))
        print(name, *(f"    {line}" for line in said), sep="\n", flush=True)
        expect(said and said[-1].startswith("trefoil: ok"), f"{name}: no good end: {said}")
        expect(all(line.startswith("trefoil: ") for line in said), f"{name}: an error on the console: {said}")

    try:
        for arguments, speed in PAGES:
            play(page_of(tool, folder, arguments), arguments, speed)
        play(headless.on_a_phone(page_of(tool, folder, PAGES[0][0])), PAGES[0][0], 8)
        play(page_of(tool, folder, PAGES[0][0]), PAGES[0][0], 8, "--force-prefers-reduced-motion")
    finally:
        shutil.rmtree(profile, ignore_errors=True)


def main(tool, in_browser):
    code = headless.test_pages((lambda folder: check_refusals(tool, folder), lambda folder: check_pages(tool, folder)),
                               lambda browser, folder: check_playing(browser, tool, folder), in_browser)
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--browser" in sys.argv[2:]))
