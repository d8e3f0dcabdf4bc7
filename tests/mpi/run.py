# SPDX-License-Identifier: BSD-3-Clause
"""Runs an MPI program under a real mpirun, with the MPI layer, with Open MPI's component (a layer whose name begins with mca_), or without.

Usage: run.py --mpi openmpi|mpich|abi --ranks N [--layer FILE] [--expect WORD ...] [--refuse WORD ...] [--once WORD ...] [--set NAME=VALUE ...] [--uncrowded] PROGRAM [ARGUMENT ...]. Exit code 77, and a
reason, where that mpirun is missing.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

LIMIT_SECONDS = 60
# Ranks outnumber cores in tests: they must not spin. Over TCP a large message needs its sender, as on most networks.
CROWDED = {"openmpi": ["--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1", "--mca", "pml", "ob1",
                       "--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", "lo"],
           "mpich": [], "abi": []}
ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def launcher(mpi):
    """The command that starts ranks of that MPI; ends with 77 if there is none."""
    name = {"openmpi": "mpirun.openmpi", "mpich": "mpiexec.hydra", "abi": "mpicc_abi"}[mpi]
    found = shutil.which(name)
    if found and mpi == "abi":  # of any MPI that has the standard ABI
        found = os.path.join(os.path.dirname(found), "mpiexec")
    if found is None:
        print(f"skipped: there is no {name}")
        sys.exit(77)
    return found


def entry_variables(layer):
    """What brings a layer into a rank: files with ":" between, of which Open MPI's component is not preloaded. Its folder is in
    the ranks' environment: what the launcher is told of it Debian 13's passes on with a wrong value beside it."""
    files = layer.split(":") if layer else []
    components = [os.path.dirname(file) for file in files if os.path.basename(file).startswith("mca_")]
    preloaded = [file for file in files if not os.path.basename(file).startswith("mca_")]
    variables = {"OMPI_MCA_mca_base_component_path": ":".join([*components, "SYSTEM_DEFAULT"])} if components else {}
    return variables | ({"LD_PRELOAD": ":".join(preloaded)} if preloaded else {})


def command(mpi, ranks, layer, variables, program, settings=None):
    """`variables` and the layer reach the ranks alone: a launcher is no MPI program."""
    if layer:  # what is tested is Trefoil, from the first call on
        variables = {"TREFOIL_MPI_EARLY": "0", "TREFOIL_MPI_TUNE": "off", **variables, **entry_variables(layer)}
    settings = CROWDED[mpi] if settings is None else settings
    return [launcher(mpi), "-n", str(ranks), *settings, "env", *(f"{k}={v}" for k, v in variables.items()), *program]


def run(mpi, ranks, layer, variables, program, settings=None, limit=LIMIT_SECONDS):
    """(exit code, everything printed); 124 and what there was if it took too long. `settings` of the launcher's, or CROWDED."""
    # Names of this project must reach the ranks by `variables` only.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TREFOIL_")} | ALLOWED
    # Files of its own: Open MPI 4's launchers share a folder, which the one that ends removes while another makes its own in it.
    with tempfile.TemporaryDirectory(prefix="mpirun-", ignore_cleanup_errors=True) as folder:
        # A session of its own: Open MPI's launcher may stop its whole process group when a job aborts.
        process = subprocess.Popen(command(mpi, ranks, layer, variables, program, settings), env=environment | {"TMPDIR": folder},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   errors="replace", start_new_session=True)
        try:
            output, _ = process.communicate(timeout=limit)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            process.terminate()  # the launcher ends its ranks
            try:
                output, _ = process.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()  # its ranks notice, but may hold the pipe for a while
                output = "(the launcher did not end when it was asked to)\n"
            return 124, output


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", choices=tuple(CROWDED), required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--layer")
    parser.add_argument("--expect", action="append", default=[], help="what must be printed")
    parser.add_argument("--refuse", action="append", default=[], help="what must not be printed")
    parser.add_argument("--once", action="append", default=[], help="what must be printed once")
    parser.add_argument("--set", action="append", default=[], help="NAME=VALUE for the ranks")
    parser.add_argument("--limit", type=float, default=LIMIT_SECONDS, help="seconds")
    parser.add_argument("--uncrowded", action="store_true", help="as the MPI comes: there is a core for each rank")
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    code, output = run(options.mpi, options.ranks, options.layer, dict(s.split("=", 1) for s in options.set),
                       options.program, [] if options.uncrowded else None, options.limit)
    print(output, end="")
    missing = [word for word in options.expect if word not in output]
    if missing:
        print(f"not printed: {missing}")
    wrong = [word for word in options.refuse if word in output] + [word for word in options.once if output.count(word) != 1]
    if wrong:
        print(f"printed, or printed too often: {wrong}")
    sys.exit(1 if code != 0 or missing or wrong else 0)


if __name__ == "__main__":
    main()
