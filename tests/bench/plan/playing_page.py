# SPDX-License-Identifier: BSD-3-Clause
"""Pages of `trefoil plan --html`: what is refused, what a page consists of, and, with --browser, that a real one plays them.

In the browser a page checks itself (bench/player/page/selftest.js): the link loads against those of the cost summary, every
result, contributions found backwards against numbers carried forwards; then it plays to the end. Its verdicts and all errors
come from the browser's console. Without a browser the exit code is 77."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import browser as headless  # noqa: E402

# collective, arguments, speed
PAGES = (
    ("allreduce", ("--algorithm", "trivance-b", "--torus", "3x3"), 16),
    ("allreduce", ("--algorithm", "swing-b", "--torus", "4x8", "--beside", "bucket"), 16),
    ("allreduce", ("--algorithm", "bucket", "--torus", "3x3x3"), 16),
    ("allreduce", ("--algorithm", "ring", "--torus", "64", "--beside", "recursive-doubling-b"), 64),
    ("allreduce", ("--algorithm", "trivance-b", "--torus", "27x27", "--no-verify"), 8),
    ("allreduce", ("--algorithm", "single-copy", "--torus", "5"), 16),
    ("reduce_scatter", ("--algorithm", "swing:send", "--torus", "8"), 16),
    ("allgather", ("--algorithm", "bine-dh", "--torus", "16"), 16),
    ("alltoall", ("--algorithm", "bruck", "--torus", "3x3"), 16),
    ("gather", ("--algorithm", "binomial-dh", "--torus", "9", "--root", "4"), 16),
    ("scan", ("--algorithm", "doubling", "--torus", "2x3"), 16),
    ("neighbor_alltoall", ("--algorithm", "direct", "--torus", "3x4"), 16),
    ("neighbor_allgather", ("--algorithm", "direct", "--torus", "2x2x2"), 16),
    ("barrier", ("--algorithm", "dissemination", "--torus", "5"), 16),
    ("bcast", ("--algorithm", "spanning-trees:pieces-8", "--torus", "3x3"), 16),
)

CALM = "--force-prefers-reduced-motion"
PHONE = 360

failures = []


def expect(holds, text):
    if not holds:
        failures.append(text)


def run(tool, *arguments):
    return subprocess.run([tool, "plan", *arguments], capture_output=True, text=True, timeout=300, check=False)


def page_of(tool, folder, collective, arguments):
    file = folder / f"{collective}-{len(list(folder.iterdir()))}.html"
    result = run(tool, collective, *arguments, "--html", str(file))
    expect(result.returncode == 0, f"{collective} {arguments}: {result.stderr}")
    return file


def check_refusals(tool, folder):
    known = ("allreduce", "--algorithm", "ring", "--torus", "3x3")
    cases = (
        ((*known, "--html", str(folder / "none" / "a.html")), "there is no folder"),
        ((*known, "--html", str(folder)), "not the name of a file"),
        ((*known, "--html", ""), "not the name of a file"),
        ((*known, "--html", str(folder / "a.html"), "--beside", "rong"), "rong"),
        ((*known, "--html", str(folder / "a.html"), "--summary"), "leave --summary"),
        ((*known, "--html", str(folder / "a.html"), "--beside", "recursive-doubling-b:radix-3"), "radix"),
        ((*known, "--beside", "bucket"), "add --html FILE"),
        (("allreduce", "--algorithm", "rong", "--torus", "3x3", "--html", str(folder / "a.html")), "rong"),
        (("allreduce", "--algorithm", "ring", "--torus", "32x32", "--html", str(folder / "a.html")), "larger than 5 MiB"),
        (("allreduce", "--algorithm", "recursive-doubling-b", "--torus", "128x128", "--html", str(folder / "a.html")), "at most"),
    )
    for arguments, text in cases:
        result = run(tool, *arguments)
        expect(result.returncode == 2, f"{arguments}: exit code {result.returncode}, not 2")
        expect(text in result.stderr, f"{arguments}: no '{text}' in: {result.stderr}")
        expect(not list(folder.iterdir()), f"{arguments}: something was written")


def check_pages(tool, folder):
    for collective, arguments, _ in PAGES:
        file = page_of(tool, folder, collective, arguments)
        if not file.exists():
            continue
        text = file.read_text(encoding="utf-8")
        expect(len(text.encode()) <= 5 << 20, f"{file.name} has {len(text)} bytes")
        expect(not re.search(r"https?://|<link|\bsrc=|@import|url\(", text), f"{file.name} asks for something else")
        expect(all(mark not in text for mark in ("/*STYLE*/", "/*SCRIPT*/", "{DATA}")), f"{file.name} has an empty place")


def check_playing(browser, tool, folder):
    profile = pathlib.Path(tempfile.mkdtemp(prefix="trefoil-browser-"))
    try:
        places = [*((page, 1280, ()) for page in PAGES), *((page, PHONE, ()) for page in PAGES[:4]), (PAGES[1], 1280, (CALM,))]
        for (collective, arguments, speed), wide, flags in places:
            file = page_of(tool, folder, collective, arguments)
            file = headless.on_a_phone(file, PHONE) if wide == PHONE else file
            said = headless.console_of(browser, f"{file.as_uri()}#selftest&speed={speed}", profile,
                                       lambda line: line.startswith(("trefoil: ok", "trefoil: wrong")), flags=flags)
            name = " ".join((collective, *arguments, f"on {wide} pixels", *flags))
            print(name, *(f"    {line}" for line in said), sep="\n", flush=True)
            expect(said and said[-1].startswith("trefoil: ok"), f"{name}: no good end: {said}")
            expect(all(line.startswith("trefoil: ") for line in said), f"{name}: an error on the console: {said}")
            seen = f"pictures{' for less motion' if flags else ''} on {wide} pixels"
            expect(any(line.endswith(seen) for line in said), f"{name}: no {seen}: {said}")
        check_words(browser, tool, folder, profile)
    finally:
        shutil.rmtree(profile, ignore_errors=True)


def check_words(browser, tool, folder, profile):
    """A ring of 4: block 1 travels from rank to rank, and after two steps has three contributions somewhere."""
    file = page_of(tool, folder, "allreduce", ("--algorithm", "ring", "--torus", "4"))
    rank, origins = holder_after(tool, steps=2)
    said = headless.console_of(browser, f"{file.as_uri()}#step=2&rank={rank}&part=0&block=1", profile, lambda line: True)
    wanted = f"holds the contributions of {len(origins)} of 4 ranks: {words(origins)}."
    expect(said and wanted in said[0] and f"rank {rank} " in said[0], f"rank {rank} after two steps: {said}, not: {wanted}")


def holder_after(tool, steps):
    """The rank with most contributions to block 1 of part 0, and whose they are, from the exported schedules."""
    import json

    text = run(tool, "allreduce", "--algorithm", "ring", "--torus", "4", "--all-ranks", "--json").stdout
    ranks = [json.loads(line)["parts"][0] for line in text.splitlines()]
    held = [[{r} for _ in range(part["vector_blocks"])] for r, part in enumerate(ranks)]
    for step in range(steps):
        before = [[set(block) for block in blocks] for blocks in held]
        for r, part in enumerate(ranks):
            for receive in part["steps"][step]["receives"]:
                for application in receive["applications"]:
                    for first, count in application["extents"]:
                        for b in range(first, first + count):
                            came = before[receive["peer"]][b]
                            held[r][b] = came | held[r][b] if application["action"] == "reduce" else set(came)
    rank = max(range(4), key=lambda r: len(held[r][1]))
    return rank, sorted(held[rank][1])


def words(numbers):
    runs, i = [], 0
    while i < len(numbers):
        end = i
        while end + 1 < len(numbers) and numbers[end + 1] == numbers[end] + 1:
            end += 1
        runs.append(f"{numbers[i]}-{numbers[end]}" if end > i + 1 else ", ".join(map(str, numbers[i : end + 1])))
        i = end + 1
    return ", ".join(runs)


def main(tool, in_browser):
    code = headless.test_pages((lambda folder: check_refusals(tool, folder), lambda folder: check_pages(tool, folder)),
                               lambda browser, folder: check_playing(browser, tool, folder), in_browser)
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--browser" in sys.argv[2:]))
