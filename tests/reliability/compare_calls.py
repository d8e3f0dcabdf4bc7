# SPDX-License-Identifier: BSD-3-Clause
"""Runs scripts/compare-builds calls with one library on both sides: all is equal, and differences made on purpose are found."""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT, TOOL, PROGRAM, LIBRARY = map(pathlib.Path, sys.argv[1:])
BUILD = LIBRARY.parent
COMMON = ["--trefoil", TOOL, "--program", PROGRAM, "--torus", "2", "--seed", "1"]


def compare(*words, **environment):
    done = subprocess.run([ROOT / "scripts/compare-builds", "calls", *words], capture_output=True, text=True, timeout=100,
                          check=False, env={**os.environ, **environment})
    return done.returncode, done.stdout + done.stderr


def check_equal():
    code, text = compare(BUILD, BUILD, *COMMON, "--calls", "200", "--per-launch", "100")
    assert code == 0, text
    row = re.search(r"^memory +2 +0 +(\d+) +(\d+) +(\d+) +0 ", text, re.MULTILINE)
    assert row, text
    calls, refused, equal = map(int, row.groups())
    assert calls == equal and 200 <= calls < 500 and 0 < refused < calls / 4, text


def check_plants():
    """A plant is found at its call, or soon: a call may have no values, and traffic is compared when no call is in
    flight any more. The printed command finds it again."""
    for plant, number, most in (("flip", 20, 0), ("values", 33, 40), ("traffic", 40, 40)):
        code, text = compare(BUILD, BUILD, *COMMON, "--calls", "80", "--plant", f"{plant}:{number}")
        assert code == 1, (plant, text)
        found = re.search(r"^DIFFERENT: call (\d+) of seed 1, rank 0: ", text, re.MULTILINE)
        assert found, (plant, text)
        first = int(found[1])
        assert number <= first <= number + most, (plant, text)
    again = shlex.split(re.search(r"^  again: scripts/compare-builds calls (.*)", text, re.MULTILINE)[1])
    code, text = compare(*again)
    assert code == 1 and f"DIFFERENT: call {first} of seed 1, rank 0: " in text, text


def check_library():
    """The loader takes another library than is meant, and that is noticed."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "libtrefoil.so").write_bytes(b"")
        code, text = compare(folder, BUILD, *COMMON, "--calls", "1", LD_LIBRARY_PATH=str(BUILD))
        assert code == 1 and "the old side runs " in text, text
        soname = BUILD.joinpath("libtrefoil.so").readlink().name
        (pathlib.Path(folder) / "libtrefoil.so").unlink()
        (pathlib.Path(folder) / "libtrefoil.so").symlink_to(soname)
        (pathlib.Path(folder) / soname).symlink_to(LIBRARY.resolve())
        code, text = compare(folder, BUILD, *COMMON, "--calls", "1", LD_LIBRARY_PATH=str(BUILD))
        assert code == 0, text


def check_refusals():
    for words, why in ((("/no/such/folder", BUILD), "there is no /no/such/folder/libtrefoil.so"),
                       ((BUILD, BUILD, "--backend", "carrier"), "no transport 'carrier'"),
                       ((BUILD, BUILD, "--torus", "2x0"), "--torus takes sizes"),
                       ((BUILD, BUILD, "--calls", "0"), "--calls and --per-launch take"),
                       ((BUILD, BUILD, "--plant", "bug:1"), "--plant takes")):
        code, text = compare(*words, "--trefoil", TOOL, "--program", PROGRAM)
        assert code == 2 and why in text, (words, text)


check_equal()
check_plants()
check_library()
check_refusals()
