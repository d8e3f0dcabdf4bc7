# SPDX-License-Identifier: BSD-3-Clause
"""Programs against an installed tree: compiled without any warning, and run by several ranks."""

import re
import shutil
import sys

import check_symbols
import sources

# What careful projects turn on. In C and C++, for gcc and clang.
COMMON = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion", "-Wcast-qual", "-Wcast-align",
          "-Wundef", "-Wdouble-promotion", "-Wmissing-declarations", "-Werror")
OF_C = ("-Wstrict-prototypes", "-Wmissing-prototypes", "-Wc++-compat")
OF_CXX = ("-Wold-style-cast", "-Wzero-as-null-pointer-constant", "-Wnon-virtual-dtor", "-Woverloaded-virtual")
OF_GXX = ("-Wuseless-cast", "-Wextra-semi")

RANKS = 3


def compilers(options):
    """The build's own, and gcc and clang where they are installed: (name, C compiler, C++ compiler, flags for C++)."""
    clang_is_own = "clang" in options.cxx
    found = [("own", options.cc, options.cxx, OF_CXX + (() if clang_is_own else OF_GXX))]
    other = ("gcc", "gcc", "g++", OF_CXX + OF_GXX) if clang_is_own else ("clang", "clang", "clang++", OF_CXX)
    # Sanitizers of two compilers do not go together.
    if not options.flags and shutil.which(other[1]) and shutil.which(other[2]):
        found.append(other)
    return found


def build(must, options, flags, source, standard, compiler, program):
    """Compiles as a stranger would, with all warnings; a .c file as C++ if the standard says so."""
    _, cc, cxx, of_cxx = compiler
    plus = "++" in standard
    own = [cxx, *of_cxx, "-x", "c++"] if plus else [cc, *OF_C]
    must([*own, f"-std={standard}", *COMMON, *options.flags.split(), source, "-x", "none", *flags, "-o", program])


def run(prefix, program, environment):
    """RANKS ranks, each of which must say that it is right."""
    code, output = sources.run([prefix / "bin" / "trefoil", "run", "--torus", RANKS, "--", program], env=environment)
    right = len(re.findall(rf"rank \d of {RANKS} is right", output))
    if code != 0 or right != RANKS:
        sys.exit(f"{program}: exit code {code}, {right} of {RANKS} ranks are right:\n{output}")


def check_uses(nm, program, functions):
    """A program that is to use every function."""
    code, output = sources.run([nm, "-D", "--undefined-only", "--format=posix", program])
    used = {line.split("@")[0].split()[0] for line in output.splitlines() if line}
    missing = sorted(functions - used)
    if code != 0 or missing:
        sys.exit(f"{program} does not use {', '.join(missing)}\n" if missing else output)


def check(must, options, flags, prefix, work, environment):
    folder = options.root / "tests" / "include" / "installed"
    functions = check_symbols.functions_of(prefix / options.libdir / "libtrefoil.so", options.nm)
    for compiler in compilers(options):
        for source, standard in (("every_function.c", "c99"), ("every_function.c", "c++11"), ("every_function.cpp", "c++20")):
            program = work / f"{source}.{standard}.{compiler[0]}"
            build(must, options, flags, folder / source, standard, compiler, program)
            check_uses(options.nm, program, functions)
            run(prefix, program, environment)
        older = work / f"older_structs.{compiler[0]}"
        build(must, options, flags, folder / "older_structs.c", "c99", compiler, older)
        run(prefix, older, environment)
