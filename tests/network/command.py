# SPDX-License-Identifier: BSD-3-Clause
"""The command scripts/torusnet, as the tests of it call it; every wait is bounded."""
import pathlib
import subprocess
import sys
import time

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))
from torus_network import state  # noqa: E402

SECONDS = 120


def torusnet(*words):
    """(exit code, everything it printed)"""
    done = subprocess.run([SCRIPTS / "torusnet", *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=SECONDS, check=False)
    return done.returncode, done.stdout


def interrupted_up(words, name, delay, number):
    """A signal meets `up` so many seconds after the network's state is there: (exit code, errors). What came up before the
    signal is taken down."""
    process = subprocess.Popen([SCRIPTS / "torusnet", "up", *words, "--name", name], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + SECONDS
    while not state.path_of(name).exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.005)
    time.sleep(delay)
    process.send_signal(number)
    errors = process.communicate(timeout=SECONDS)[1]
    print(f"interrupted after {delay} s: {errors.strip() or 'too late'}")
    if process.returncode == 0:
        torusnet("down", "--name", name)
    return process.returncode, errors
