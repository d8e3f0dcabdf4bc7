# SPDX-License-Identifier: BSD-3-Clause
"""The lines that `trefoil info --mpi` prints are ones by which programs run by Trefoil.

Usage: info.py TREFOIL KIND=PROGRAM ...; KIND is Open MPI or MPICH.
"""
import json
import os
import shlex
import subprocess
import sys

from run import ALLOWED, CROWDED

TOOL = sys.argv[1]
PROGRAMS = dict(argument.split("=", 1) for argument in sys.argv[2:])


def run(command, **variables):
    done = subprocess.run(command, env={**os.environ, **ALLOWED, **variables}, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=60, check=False)
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
# Where nothing is installed it says so, and gives no line.
empty = run([TOOL, "info", "--mpi"], PATH="/nonexistent")[1]
print("no launcher:", empty.strip())
failures += "No launcher" not in empty
sys.exit(1 if failures else 0)
