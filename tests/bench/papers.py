# SPDX-License-Identifier: BSD-3-Clause
"""Runs `scripts/papers --pattern`, `--jobs` and `--only` as readers of docs/papers.md do: the verifier refuses in words what the
papers publish and what loses contributions, and proves the rest; names that there are not are refused."""
import json
import pathlib
import subprocess
import sys
import tempfile

failures = []


def expect(holds, text):
    if not holds:
        failures.append(text)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def papers(root, *words):
    return run(sys.executable, "-B", str(root / "scripts/papers"), *words)


def verified(tool, root, folder, pattern, collective):
    """`trefoil plan` over a pattern's schedules, as JSON."""
    made = papers(root, "--pattern", pattern)
    expect(made.returncode == 0, f"{pattern}: {made.stderr}")
    file = folder / "pattern.json"
    file.write_text(made.stdout, encoding="utf-8")
    return run(tool, "plan", collective, "--schedule", str(file), "--summary", "--json")


def check_patterns(tool, root, folder):
    for pattern, collective, words in (
            ("trivance-l:16", "allreduce", "counts a contribution twice in block 0"),
            ("trivance-b:16", "reduce_scatter", "at the end rank 0 has heard from only 9 of 16 ranks")):
        done = verified(tool, root, folder, pattern, collective)
        expect(done.returncode == 2 and "the verifier says: " in done.stderr and words in done.stderr and not done.stdout,
               f"{pattern}: {done.returncode}, {done.stderr}")
    for pattern, collective, steps, figure, value in (
            ("trivance-l:27", "allreduce", 3, "sum_link_load", 13), ("trivance-b:27", "reduce_scatter", 3, "sum_link_load", 1),
            ("exchange:16", "alltoall", 15, "block_times", 16 * 16 / 8), ("exchange:10", "alltoall", 9, "ranks", 10),
            ("joined:5x5", "allreduce", 2, "sum_link_load", 4), ("joined:7x7x7", "allreduce", 3, "ranks", 343),
            ("apart:3", "allreduce", 2, "ranks", 3)):
        done = verified(tool, root, folder, pattern, collective)
        found = json.loads(done.stdout) if done.returncode == 0 else {}
        expect(found.get("verified") and found["steps"] == steps and abs(found[figure] - value) < 1e-6,
               f"{pattern}: {done.returncode}, {done.stderr}, {found}")


def check_jobs(tool, root, folder):
    made = papers(root, "--jobs", "leonardo")
    lines = made.stdout.splitlines()
    expect(made.returncode == 0 and len(lines) == 1116, f"{len(lines)} jobs of Leonardo: {made.stderr}")
    file = folder / "jobs"
    file.write_text("\n".join(lines[:9]) + "\n", encoding="utf-8")
    done = run(tool, "traffic", "allreduce", "-a", "bine-large:single-port", "--allocations", str(file), "--json")
    expect(done.returncode == 0 and len(json.loads(done.stdout)) == 9, f"traffic over jobs: {done.stderr}")


def check_refusals(root):
    for words, text in (
            (("--only", "rong"), "choose from 'intro', 'trivance'"), (("--jobs", "fugaku"), "choose from"),
            (("--pattern", "trivance-x:16"), "no pattern 'trivance-x:16'"), (("--pattern", "trivance-l:1"), "from 2 to 1024"),
            (("--pattern", "exchange:7"), "even, from 4"), (("--pattern", "joined:6x6"), "5x5"), (("--pattern", ""), "no pattern ''"),
            (("--only", "intro", "--trefoil", "/nowhere"), "no trefoil at /nowhere")):
        done = papers(root, *words)
        expect(done.returncode == 2 and text in done.stderr and not done.stdout, f"{words}: {done.returncode}, {done.stdout}{done.stderr}")


def main():
    tool, root = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="trefoil-papers-") as folder:
        check_patterns(tool, root, pathlib.Path(folder))
        check_jobs(tool, root, pathlib.Path(folder))
    check_refusals(root)
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
