# SPDX-License-Identifier: BSD-3-Clause
"""The Fortran module and the Python bindings, from an installed tree."""

import re
import shutil
import sys

import installed_programs
import pages
import sources

PYTHON = "/usr/bin/python3"  # Debian's, which has numpy; the one that runs this may be another


def run_shown(must, options, command, source, language, expected, environment):
    """The program that the page shows, by three ranks."""
    page = f"docs/tutorial-{language}.md"
    source.write_text(pages.program(page, (options.root / page).read_text(encoding="utf-8"), language), encoding="utf-8")
    output = must(["bash", "-ec", command], env=environment)
    if output.count(expected) != 3:
        sys.exit(f"the program in {language} of {page} printed:\n{output}")


def fortran(must, options, prefix, library_folder, work, environment):
    search = environment | {"PKG_CONFIG_PATH": str(library_folder / "pkgconfig")}
    flags = must(["pkg-config", "--cflags", "--libs", "trefoil-fortran"], env=search).split()
    program = work / "fortran_calls"
    must(["gfortran", "-J", work, options.root / "tests/bindings/fortran_calls.f90", *flags, "-o", program])
    installed_programs.run(prefix, program, environment)
    shown = work / "app.f90"
    run_shown(must, options, f"cd {work}; gfortran {shown} {' '.join(flags)} -o app; {prefix}/bin/trefoil run -n 3 -- ./app", shown,
              "fortran", "9.0000", environment)


def python(must, options, prefix, work, environment):
    # A copy: pip leaves what it builds beside the sources.
    shutil.copytree(options.root / "bindings/python", work / "python")
    must([PYTHON, "-m", "pip", "install", "--no-build-isolation", "--no-index", "--no-deps", "--root-user-action=ignore",
          "--target", work / "site", work / "python"], env=environment)
    found = environment | {"PYTHONPATH": str(work / "site"), "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [prefix / "bin" / "trefoil", "run", "--torus", "3", "--", PYTHON]
    code, output = sources.run([*command, options.root / "tests/bindings/python_calls.py"], env=found)
    if code != 0 or len(re.findall(r"rank \d of 3 is right", output)) != 3:
        sys.exit(f"the Python bindings: exit code {code}:\n{output}")
    shown = work / "app.py"
    run_shown(must, options, f"echo 'print(values, largest)' | sed 's/^/    /' >> {shown}; {' '.join(map(str, command))} {shown}", shown,
              "python", "[3. 6. 9.] [3. 6. 9.]", found)
    output = must([*command, options.root / "examples/data_parallel.py"], env=found)
    if "the same bits everywhere: right" not in output:
        sys.exit(f"data_parallel.py printed:\n{output}")


def check(must, options, prefix, library_folder, work, environment):
    if (library_folder / "libtrefoil_fortran.so").exists():
        fortran(must, options, prefix, library_folder, work, environment)
    else:
        print("skipped: the Fortran module, which this build lacks")
    missing = [name for name in ("numpy", "pip", "setuptools") if sources.run([PYTHON, "-c", f"import {name}"])[0] != 0]
    if missing:
        print(f"skipped: the Python bindings, as {PYTHON} lacks {', '.join(missing)}")
    elif options.flags:
        print("skipped: the Python bindings, as a library with sanitizers cannot be loaded into Python")
    else:
        python(must, options, prefix, work, environment)
