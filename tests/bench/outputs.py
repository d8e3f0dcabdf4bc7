# SPDX-License-Identifier: BSD-3-Clause
"""What the command says when its output cannot be written, when its input is wrong, and while it takes long: each subcommand reports
an output that it has lost, no message has the words of a library, and a terminal shows a line of progress."""

import concurrent.futures
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile
import time

TOOL = sys.argv[1]
QUICK_PERF = ("perf", "allreduce", "--ranks", "2", "--launch", "threads", "-b", "8", "-e", "8", "--iters", "1")
QUICK_PUT = ("perf", "put", "--launch", "threads", "--sizes", "8", "--iters", "2", "--repetitions", "1")
QUICK_TUNE = ("tune", "-n", "2", "--launch", "threads", "--backend", "memory", "--ports-only")
PLAN = ("plan", "allreduce", "-a", "ring", "-t", "4")
SIM = ("sim", "allreduce", "-a", "ring", "-t", "4", "--sizes", "1K")
# Commands by what they print.
PRINTING = (("run", "-n", "2", "--", "echo", "hello"), QUICK_PERF, QUICK_PUT, ("plan", "allreduce"), PLAN, (*PLAN, "--summary"),
            (*PLAN, "--all-ranks", "--json"), ("plan", "allreduce", "-t", "4", "--bound"), ("plan", "allreduce", "--table", "-t", "4"),
            ("explain", "allreduce", "8", "-t", "4"), ("explain", "allreduce", "--map", "-t", "4", "--sizes", "8", "--json"), SIM,
            (*SIM, "--json"), (*SIM, "--reconfigurable", "1us"),
            ("traffic", "allreduce", "-a", "ring", "--groups", "a*2,b*2"), ("info",), ("info", "--json"), ("info", "--variables"),
            ("info", "--mpi"), ("manual", "--completion", "bash"), ("--help",), ("--version",), ("perf", "--help"))
# Commands by the files that they write: {} is the file.
WRITING = ((*QUICK_PERF, "--json-file", "{}"), (*QUICK_PERF, "--trace", "{}"), (*QUICK_PUT, "--json-file", "{}"),
           (*QUICK_TUNE, "--output", "{}"), (*PLAN, "--html", "{}"), (*PLAN, "--export", "dot", "{}"), (*SIM, "--html", "{}"),
           (*SIM, "--plot", "{}.svg"), (*SIM, "--reconfigurable", "1us", "--heatmap", "{}.json"),
           ("explain", "allreduce", "--map", "-t", "4", "--sizes", "8", "--plot", "{}.svg"), ("manual", "--pages", "{}"),
           ("plan", "--table", "--torus", "4", "--pages", "{}"))
WRONG = ("", "prf", "perf", "perf allreduce --iters 0", "perf allreduce --iters many", "perf allreduce --iters", "perf allreduce --bogus",
         "perf allreduce extra", "perf allreduce --check maybe", "perf allreduce -b 8 --sizes 8", "perf put --iters 0", "perf put more",
         "perf -t 3 put", "perf allreduce --late 0.1", "perf allreduce --port-threads-by nobody", "run -n 0 -- true", "run -n", "run --bind all -n 2 -- true",
         "run --bogus -- true", "plan allreduce --root many -a ring -t 4", "plan allreduce --export dot", "explain allreduce 8 -t 3 --root x",
         "sim allreduce -t 3 --per-port x", "tune --per-node 2 -n 2", "tune -n 1", "info --json --variables", "info --markdown",
         "manual --completion tcsh", "manual --pages a --completion bash", "traffic allreduce --group-size x", "info --job /dev/null",
         "plan allreduce --schedule /dev/null", "sim allreduce -t 3 --machine /dev/null", "sim allreduce --schedule /no/such/file")
LIBRARIES = re.compile(r"following argument|Could not convert|not in range|required (TEXT|INT|FLOAT)|is required$|json\.exception|terminate called|"
                       r"what\(\)|std::|basic_string|nlohmann|CLI11|\bexcludes\b|INT\b|UINT\b|FLOAT\b|BOOLEAN\b", re.MULTILINE)
TELLS = re.compile(r"cannot|nothing can be written|is not a regular file|could not be written|could not write|there is no folder|is not the name of a file|not a directory", re.IGNORECASE)
found = []


def run(words, out=subprocess.PIPE, before=""):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TREFOIL_")} | {"TREFOIL_TIMEOUT": "60"}
    command = ["sh", "-c", f'{before} exec "$0" "$@"', TOOL, *words] if before else [TOOL, *words]
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, text=True, timeout=120, check=False,
                          env=environment)


def expect_report(what, done):
    if done.returncode == 0 or not TELLS.search(done.stderr):
        found.append(f"{what}: exit code {done.returncode}, and it says {done.stderr!r}")


def check_printing(words):
    what = "trefoil " + " ".join(words)
    done = run(words)
    if done.returncode != 0 or not done.stdout:
        found.append(f"{what}: exit code {done.returncode}: {done.stderr!r}")
    with open("/dev/full", "w", encoding="utf-8") as full:
        expect_report(f"{what} >/dev/full", run(words, out=full))
    expect_report(f"{what} >&-", run(words, out=None, before="exec >&-;"))


def check_writing(folder):
    for words in WRITING:
        for place in (folder / "none" / "file", pathlib.Path("/dev/full")):
            filled = [word.replace("{}", str(place)) for word in words]
            if place.name == "full" and (filled[-1] != str(place) or "--pages" in filled):
                continue  # a suffix or a folder: /dev/full has none
            if "manual" in filled:
                filled = [word.replace("{}", "/dev/null/pages") for word in words]
            expect_report("trefoil " + " ".join(filled), run(filled))


def check_words():
    for line in WRONG:
        done = run(line.split())
        if done.returncode not in (2, 3) or not done.stderr:
            found.append(f"trefoil {line}: exit code {done.returncode}: {done.stderr!r}")
        if LIBRARIES.search(done.stderr):
            found.append(f"trefoil {line} has a library's words: {done.stderr!r}")


def check_variables():
    """What would change the answer is followed, or there is a warning."""
    def said(line, **variables):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TREFOIL_")}
        return subprocess.run([TOOL, *line], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=120, check=False, env=environment | variables)

    for line in (QUICK_PERF, QUICK_PUT, ("explain", "allreduce", "8", "-t", "4"), (*PLAN, "--bytes", "8", "--summary")):
        done = said(line, TREFOIL_ALGORITM="ring")
        if "TREFOIL_ALGORITM; did you mean TREFOIL_ALGORITHM?" not in done.stderr:
            found.append(f"trefoil {' '.join(line)} does not warn of a misspelt variable: {done.stderr!r}")
    for line in (QUICK_PERF, ("explain", "allreduce", "8", "-t", "4")):
        done = said(line, TREFOIL_ALGORITHM="ring")
        if "ring" not in done.stdout:
            found.append(f"trefoil {' '.join(line)} does not follow TREFOIL_ALGORITHM: {done.stdout}")
    for line, name, value in ((("explain", "allreduce", "8", "-t", "4"), "TREFOIL_LEARN", "1"), (QUICK_TUNE, "TREFOIL_ALGORITHM", "ring")):
        with tempfile.TemporaryDirectory() as folder:
            words = (*line, "--output", f"{folder}/tuning.json") if line[0] == "tune" else line
            if name not in said(words, **{name: value}).stderr:
                found.append(f"trefoil {' '.join(line)} does not warn of {name}")


def on_a_terminal(words):
    """(seconds, what stderr shows there)"""
    terminal, other = pty.openpty()
    begin = time.monotonic()
    with subprocess.Popen([TOOL, *words], stdout=subprocess.DEVNULL, stderr=other) as child:
        os.close(other)
        shown = b""
        while True:
            try:
                part = os.read(terminal, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
        child.wait(timeout=120)
    os.close(terminal)
    return time.monotonic() - begin, shown.decode()


def check_progress():
    """A command that takes seconds shows how far it is, and a quick one nothing."""
    def plan(side):
        words = ("plan", "allreduce", "-a", "bucket", "-t", f"{side}x{side}", "--summary", "--no-verify")
        return f"trefoil {' '.join(words)}", *on_a_terminal(words)

    what, seconds, shown = plan(32)
    if seconds < 0.8 and shown:
        found.append(f"{what} was quick, and showed {shown!r}")
    _, seconds, _ = plan(64)
    what, seconds, shown = plan(min(256, int(64 * max(1, 3.5 / seconds) ** 0.37)))  # the time grows with the power of 2.7
    if seconds < 2.5:
        print("progress: this machine is too fast to see it")
    elif "adding up the costs" not in shown or not shown.endswith("\r"):
        found.append(f"{what} took {seconds:.1f} s on a terminal, and showed {shown!r}")


def main():
    if sys.argv[2:] == ["progress"]:
        check_progress()
        sys.exit("\n".join(found) or None)
    with tempfile.TemporaryDirectory() as folder:
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            done = [*map(lambda words: pool.submit(check_printing, words), PRINTING), pool.submit(check_writing, pathlib.Path(folder)),
                    pool.submit(check_words), pool.submit(check_variables)]
        for each in done:
            each.result()
    if found:
        sys.exit("\n".join(found))
    print(f"{len(PRINTING)} commands that print, {len(WRITING)} that write files, {len(WRONG)} wrong ones")


if __name__ == "__main__":
    main()
