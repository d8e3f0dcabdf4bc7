# SPDX-License-Identifier: BSD-3-Clause
"""The lines that `trefoil info --mpi` prints are ones by which programs run by Trefoil.

Usage: info.py TREFOIL KIND=PROGRAM ...; KIND is Open MPI, MPICH or MPI's standard ABI.
"""
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

from run import ALLOWED, CROWDED

TOOL = sys.argv[1]
PROGRAMS = dict(argument.split("=", 1) for argument in sys.argv[2:])


def run(command, **variables):
    with tempfile.TemporaryDirectory(prefix="mpirun-", ignore_cleanup_errors=True) as folder:  # as in run.py
        done = subprocess.run(command, env={**os.environ, **ALLOWED, **variables, "TMPDIR": folder}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


mpis = {one["kind"]: one for one in json.loads(run([TOOL, "info", "--mpi", "--json"])[1])}
text = run([TOOL, "info", "--mpi"])[1]
failures = 0
for kind, program in PROGRAMS.items():
    found = mpis.get(kind)
    if found is None:
        print(f"{kind}: its launcher is not in PATH, or was not known")
        failures += 1
        continue
    line = found["use"] + "./app"
    options = CROWDED["openmpi" if kind == "Open MPI" else "mpich"]
    words = shlex.split(found["use"].replace("RANKS", "2"))
    code, output = run([*words[:3], *options, *words[3:], program], TREFOIL_MPI_REPORT="1", TREFOIL_MPI_EARLY="0")
    good = code == 0 and line in text and os.path.exists(found["path"]) and "0 failure(s)" in output and "Trefoil calls" in output
    print(f"{kind} {found['version']}: {line}: {'ok' if good else 'FAILED: ' + output}")
    failures += not good
# Where the component lies in the user's own folder, each series of Open MPI has its line.
with tempfile.TemporaryDirectory() as home:
    folder, launcher = pathlib.Path(home).resolve() / ".openmpi/components", pathlib.Path(home) / "mpirun.openmpi"
    folder.mkdir(parents=True)
    (folder / "mca_coll_trefoil.so").touch()
    for version, line in (("4.1.4", "mpirun.openmpi -n RANKS ./app"), ("6.0.0", "not by Trefoil: "),
                          ("5.0.7", f"mpirun.openmpi -n RANKS env OMPI_MCA_mca_base_component_path={folder}:SYSTEM_DEFAULT ./app")):
        launcher.write_text(f"#!/bin/sh\necho 'mpirun (Open MPI) {version}'\n", encoding="utf-8")
        launcher.chmod(0o755)
        said = run([TOOL, "info", "--mpi"], PATH=f"{home}:{os.environ['PATH']}", HOME=home)[1]
        good = f"\n  {line}" in said
        print(f"Open MPI {version}: {'ok' if good else 'FAILED: ' + said}")
        failures += not good
# Where nothing is installed it says so, and gives no line.
empty = run([TOOL, "info", "--mpi"], PATH="/nonexistent")[1]
print("no launcher:", empty.strip())
failures += "No launcher" not in empty
sys.exit(1 if failures else 0)
