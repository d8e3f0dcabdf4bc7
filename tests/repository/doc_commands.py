# SPDX-License-Identifier: BSD-3-Clause
"""Runs the commands that the pages show, in folders of their own; each is run, or stands below with the reason why not."""

import argparse
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import pages
import sources

# Commands that are not run here, by a pattern found in them: why, and what runs them instead.
ELSEWHERE = (
    (r"^scripts/(demo|test)\b", "installs packages and builds everything; CI runs it"),
    (r"^scripts/on-debian\b", "makes a root and builds in it; the share trixie of scripts/test does the same"),
    (r"^scripts/verbs\b", "makes and boots a virtual machine; the share verbs of scripts/test does the same"),
    (r"^apt-get install\b", "installs packages; scripts/test does the same"),
    (r"\bbare_root_test\.py\b", "needs root, debootstrap and packages; it is the test repository_bare_root"),
    (r"^cmake --build build/dev|^ctest --test-dir build/dev|^build/dev/tests/", "builds and runs the tests, as scripts/test does"),
    (r"^cmake --(preset|install)\b", "builds everything; repository_installed_tree installs and uses a build"),
    (r"^cmake -S examples\b", "needs an installed Trefoil; repository_installed_tree builds and runs the examples"),
    (r"^trefoil plan --table --pages", "takes all figures of all algorithms; tool_plan runs it"),
    (r"^trefoil info --variables --markdown", "writes a page; tool_info compares it"),
    (r"--machine short-circuit\b", "tool_circuits_page runs it, and compares what it prints"),
    (r"--algorithm direct --torus 8 --circuits own\b", "is refused; tool_circuits_page runs it"),
    (r"^scripts/torusnet\b|--net torusnet\b", "needs root; tests/network runs torusnet, and ranks in its networks"),
    (r"^scripts/compare(-model|-overlap)? ", "takes minutes, and root or two MPIs; repository_compare tests its parts"),
    (r"^scripts/compare-put\b", "takes minutes, and needs the tools of UCX and libfabric"),
    (r"\btest_comm_calls_under_stress\b", "takes minutes; the test comm_calls_under_stress makes fewer calls"),
    (r"\btrefoil_communicators\b", "measures a release build; the test micro_communicators runs it"),
    (r"\btrefoil_fairness\b", "measures a release build; the test micro_fairness runs it"),
    (r"^scripts/papers\b", "takes minutes; the test papers_page works its small shapes out again"),
    (r"--allocations lumi\.jobs\b", "reads public jobs that scripts/papers downloads; tool_traffic runs such an allocation"),
    (r"^scripts/soak\b", "takes minutes; reliability_soak runs it for some seconds"),
    (r"^scripts/micro\b", "takes minutes; the test micro runs every kind of benchmark"),
    (r"^scripts/compare-mpi\b", "takes minutes; mpi_openmpi_compare and mpi_mpich_compare run it in small"),
    (r"mca_base_component_path", "needs an installed component; tests/mpi/run.py and scripts/mpi-check run it"),
    (r"libtrefoil_mpi_\w+\.so", "needs the layer for an MPI; tests/mpi/run.py and scripts/mpi-check run it"),
    (r"trefoil-fortran|pip install|-m venv|python3 app\.py", "needs an installed Trefoil; repository_installed_programs uses the languages of one"),
    (r"^srun\b", "needs Slurm"),
    (r"\btrefoil tune\b", "takes minutes, or 64 ranks; tool_tune runs it in small"),
    (r"\binfo --job\b", "asks a job that runs; tool_job starts one and asks it"),
    (r"\bTREFOIL_DUMP=|^kill -USR1\b", "a signal to a job that runs; comm_status sends one"),
)

# Commands that take long without optimisation: only `--long` runs them.
LONG = (
    r"--algorithm all\b",
    r"--torus 64x64\b",
    r"^trefoil perf put\b",
)

# Programs that may be run without asking whoever runs this test.
HARMLESS = {"export", "trefoil", "mpirun", "mpiexec", "cc", "c++", "pkg-config", "python3", "cat", "diff", "echo", "head", "ls", "mkdir"}

WORDS = re.compile(r"""^\s*(?:[A-Za-z_]\w*=(?:'[^']*'|"[^"]*"|\S)*\s+)*(\S+)""")
EXAMPLE_ADDRESS = "192.0.2.10:7000"  # nobody's: RFC 5737 keeps such addresses for documents


def unknown_program(command):
    """The first program in it that is not harmless; empty: none."""
    for simple in re.split(r"&&|\|\|?|;|\n", re.sub(r"\\\n", " ", command)):
        match = WORDS.match(simple)
        program = match[1] if match else ""
        if program and not program.startswith(("#", "./")) and program not in HARMLESS:
            return program
    return ""


def plan(blocks):
    """What is to be done with the commands: (runs, long runs, findings). A run is a list of lines that run together."""
    quick, slow, found, used = [], [], [], set()
    for block in blocks:
        together = []
        for line in block:
            reasons = [pattern for pattern, _ in ELSEWHERE if re.search(pattern, line.text)]
            used.update(reasons)
            if reasons:
                continue
            program = unknown_program(line.text)
            if program:
                found.append(f"{line}\n  {program} is not run by tests/repository/doc_commands.py, and the command is not in its "
                             "table of those that are not run: add it to one of them")
                continue
            runs = slow if any(re.search(pattern, line.text) for pattern in LONG) else quick
            if "TREFOIL_RANK=" in line.text and together:
                together.append(line)
                continue
            runs.append([line])
            together = runs[-1] if "TREFOIL_RANK=" in line.text else []
    found += [f"no command has {pattern} any more; take it out of tests/repository/doc_commands.py"
              for pattern, _ in ELSEWHERE if pattern not in used]
    return quick, slow, found


def free_address():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{one.getsockname()[1]}"


class Place:
    """Where commands run: a folder per page with the examples and the programs that the pages speak of."""

    def __init__(self, options, work):
        self.options, self.work, self.programs = options, work, {}
        self.bin = work / "bin"
        self.bin.mkdir()
        (self.bin / "trefoil").symlink_to(options.tool)
        library = options.library.parent
        (work / "trefoil.pc").write_text(
            "Name: trefoil\nDescription: the build\nVersion: 0\n"
            f"Cflags: -I{options.root}/include\nLibs: {library}/{options.library.name} -Wl,-rpath,{library}\n", encoding="utf-8")
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("TREFOIL_")} | {
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "PKG_CONFIG_PATH": str(work),
            "TREFOIL_TIMEOUT": "60",
            "TMPDIR": str(work),  # launchers of Open MPI 4 that share a folder remove it below each other
            # mpirun starts nobody as root, and no more ranks than cores, unless told.
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
        }

    def program(self, name):
        """An example of that name, or else the one for allreduce."""
        if name not in self.programs:
            folder = self.options.root / "examples"
            stem = re.sub("_(c|cpp)$", "", name)
            source = next((folder / (stem + end) for end in (".c", ".cpp") if (folder / (stem + end)).is_file()),
                          folder / "allreduce.c")
            target = self.work / f"program-{len(self.programs)}"
            compiler = [self.options.cc] if source.suffix == ".c" else [self.options.cxx, "-std=c++20"]
            code, output = sources.run(["bash", "-c", " ".join(
                [*compiler, *self.options.flags.split(), str(source), "-o", str(target),
                 "$(pkg-config --cflags --libs trefoil)"])], env=self.environment)
            if code != 0:
                sys.exit(f"cannot compile {source}:\n{output}")
            self.programs[name] = target
        return self.programs[name]

    def folder(self, page):
        folder = self.work / str(page).replace("/", "-")
        if not folder.exists():
            folder.mkdir()
            shutil.copytree(self.options.root / "examples", folder / "examples")
        return folder

    def choose_mpi(self, command):
        """Makes `mpirun` the one whose options the command has. Returns why there is none."""
        name = "mpich" if "-genv" in command else "openmpi"
        found = shutil.which(f"mpirun.{name}")
        for program in ("mpirun", "mpiexec"):
            path = self.bin / program
            path.unlink(missing_ok=True)
            if found:  # no link: MPICH looks for its other programs beside itself
                path.write_text(f'#!/bin/sh\nexec {found} "$@"\n', encoding="utf-8")
                path.chmod(0o755)
        return "" if found else f"there is no mpirun.{name}"

    def bring(self, folder, page, script):
        """The programs and sources that a command speaks of and no earlier one made."""
        for path in re.findall(r"(?<!\S)(\./[\w.-]+|build/examples/\w+)", script):
            if not (folder / path).exists():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).symlink_to(self.program(pathlib.Path(path).name))
        for name in re.findall(r"(?<!\S)\w+\.(?:c|cpp)\b", script):
            shown = pages.program(page, (self.options.root / page).read_text(encoding="utf-8"), name.rsplit(".", 1)[1])
            if shown and not (folder / name).exists():
                (folder / name).write_text(shown, encoding="utf-8")

    def run(self, lines, limit):
        """Runs commands at the same time, the usual one alone. Returns (what was wrong, why it was skipped)."""
        folder = self.folder(lines[0].page)
        script = "\n".join(line.text for line in lines)
        if "--plot " in script and not shutil.which("gnuplot", path=self.environment["PATH"]):
            return "", "there is no gnuplot"
        if re.search(r"\bmpi(run|exec)\b", script):
            skipped = self.choose_mpi(script)
            if skipped:
                return "", skipped
        self.bring(folder, lines[0].page, script)
        address = free_address()
        running = [subprocess.Popen(["timeout", "--kill-after=10", str(limit), "bash", "-c",
                                     line.text.replace(EXAMPLE_ADDRESS, address)], cwd=folder, env=self.environment,
                                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                   for line in lines]
        wrong = []
        for line, process in zip(lines, running):
            output = process.communicate()[0].decode(errors="replace")
            if process.returncode != 0:
                wrong.append(f"{line}\n  exit code {process.returncode}, and at the end:\n{output[-2000:]}")
        return "\n".join(wrong), ""


def run_all(place, runs, limit):
    found = []
    for lines in runs:
        begin = time.monotonic()
        wrong, skipped = place.run(lines, limit)
        told = "FAILED" if wrong else f"skipped: {skipped}" if skipped else "ok"
        first = str(lines[0]).split("\n", maxsplit=1)[0]
        print(f"{time.monotonic() - begin:6.1f} s  {told:<7} {first}", flush=True)
        found += [wrong] if wrong else []
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--tool", type=pathlib.Path, required=True, help="the built trefoil")
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--flags", default="", help="with which programs are compiled")
    parser.add_argument("--long", action="store_true", help="the commands that take long, instead of the others")
    parser.add_argument("--page", default="", help="only those of this page")
    parser.add_argument("--list", action="store_true", help="only tell what would be run")
    options = parser.parse_args()
    blocks = [block for page in pages.pages(options.root)
              for block in pages.commands(page, (options.root / page).read_text(encoding="utf-8"))]
    quick, slow, found = plan(blocks)
    chosen = [run for run in (slow if options.long else quick) if str(run[0]).startswith(options.page)]
    if options.list:
        print("\n".join(str(line) for lines in chosen for line in lines))
        return sources.report(found, "commands")
    with tempfile.TemporaryDirectory() as work:
        found += run_all(Place(options, pathlib.Path(work)), chosen, 900 if options.long else 120)
    print(f"{len(chosen)} run, {len(slow) + len(quick) - len(chosen)} left to the other tests, "
          f"{sum(map(len, blocks)) - sum(map(len, quick + slow))} not run")
    return sources.report(found, "commands")


if __name__ == "__main__":
    sys.exit(main())
