# SPDX-License-Identifier: BSD-3-Clause
"""Installs the build into an empty place and uses it as a stranger would: by CMake, by pkg-config, in C and C++."""

import argparse
import os
import pathlib
import sys
import tempfile

import installed_languages
import installed_programs
import installed_versions
import pages
import sources


def must(command, **options):
    code, output = sources.run(command, **options)
    if code != 0:
        sys.exit(f"failed with exit code {code}: {' '.join(map(str, command))}\n{output}")
    return output


def single_rank_environment(library_folder):
    """The caller's environment without a job: the examples then are jobs of one rank."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TREFOIL_")}
    return environment | {"LD_LIBRARY_PATH": str(library_folder)}


def run_example(program, environment, expected="rank 0 of 1: 0 of 1000 sums are wrong"):
    output = must([program], env=environment)
    if expected not in output:
        sys.exit(f"{program} ran, but printed:\n{output}")


def shown(root, page, language):
    """The first program in that language on a page."""
    return pages.program(page, (root / page).read_text(encoding="utf-8"), language)


def by_cmake(options, prefix, work, environment):
    build = work / "examples"
    must([options.cmake, "-S", options.root / "examples", "-B", build, "-G", options.generator,
          f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={options.cc}",
          f"-DCMAKE_CXX_COMPILER={options.cxx}", f"-DCMAKE_C_FLAGS={options.flags}",
          f"-DCMAKE_CXX_FLAGS={options.flags}"])
    must([options.cmake, "--build", build])
    for name in ("allreduce_c", "allreduce_cpp"):
        run_example(build / name, environment)
    run_example(build / "vendor_mpi", environment, "rank 0 of 4: 0 of 1000 sums are wrong")
    for name, expected in (("power_iteration", "6 ranks, 240 rows: largest eigenvalue"), ("choose_algorithm", "from now on: "),
                           ("data_parallel", "the same bits everywhere: right"), ("conjugate_gradient", ": right"),
                           ("halo_exchange", ": right"), ("nonblocking", ": right"), ("rows", ": right"),
                           ("in_flight", ": right"), ("shrink", "went on: right")):
        output = must([prefix / "bin" / "trefoil", "run", "--torus", "2x3", "--", build / name], env=environment)
        if expected not in output or "wrong" in output:
            sys.exit(f"{name} printed:\n{output}")
    if (build / "conjugate_gradient_fortran").exists():
        output = must([prefix / "bin" / "trefoil", "run", "--torus", "2x3", "--", build / "conjugate_gradient_fortran"],
                      env=environment)
        if ": right" not in output:
            sys.exit(f"conjugate_gradient_fortran printed:\n{output}")
    if (build / "fft3d").exists():  # with FFTW; sizes that do not divide, and more ranks than lines
        for torus, sizes in (("1", "24 20 18"), ("2x3", "11 7 5"), ("5", "3 8 1")):
            output = must([prefix / "bin" / "trefoil", "run", "--torus", torus, "--",
                           build / "fft3d", *sizes.split()], env=environment)
            if "and back: right" not in output:
                sys.exit(f"fft3d on {torus} printed:\n{output}")


def pkg_config(library_folder):
    search = os.environ | {"PKG_CONFIG_PATH": str(library_folder / "pkgconfig")}
    return must(["pkg-config", "--cflags", "--libs", "trefoil"], env=search).split()


def by_pkg_config(options, flags, work, environment):
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", *options.flags.split()]
    for name, compiler, standard in (("allreduce.c", options.cc, "-std=c99"),
                                     ("allreduce.cpp", options.cxx, "-std=c++20")):
        program = work / (name + ".program")
        must([compiler, standard, *strict, options.root / "examples" / name, *flags, "-o", program])
        run_example(program, environment)
    source = work / "readme.c"
    source.write_text(shown(options.root, "README.md", "c"), encoding="utf-8")
    must([options.cc, "-std=c99", *strict, source, *flags, "-o", work / "readme"])
    run_example(work / "readme", environment, "rank 0: 1 2 3")
    # A compiler's default may be an older C++, which is told so in one line and not in hundreds.
    source = work / "shown.cpp"
    source.write_text(shown(options.root, "docs/tutorial-cpp.md", "cpp"), encoding="utf-8")
    _, told = sources.run([options.cxx, "-std=c++17", "-fsyntax-only", "-include", "trefoil/trefoil.hpp", "-x", "c++", "/dev/null",
                           *(flag for flag in flags if flag.startswith("-I"))])
    if told.count("error:") != 1 or "-std=c++20" not in told:
        sys.exit(f"trefoil.hpp with C++17:\n{told}")


def small_projects(options, prefix, work, environment):
    """What the pages show of CMake: a project in C alone, and one in C++ that does not say which."""
    cmake = shown(options.root, "docs/building.md", "cmake")
    for language, page, expected in (("c", "README.md", "rank 0: 1 2 3"), ("cpp", "docs/tutorial-cpp.md", "rank 0: 1 2 3")):
        project = work / f"small-{language}"
        project.mkdir()
        (project / f"app.{language}").write_text(shown(options.root, page, language), encoding="utf-8")
        (project / "CMakeLists.txt").write_text(
            cmake if language == "c" else cmake.replace("LANGUAGES C", "LANGUAGES CXX").replace("app.c", "app.cpp"), encoding="utf-8")
        must([options.cmake, "-S", project, "-B", project / "build", "-G", options.generator, f"-DCMAKE_PREFIX_PATH={prefix}",
              f"-DCMAKE_C_COMPILER={options.cc}", f"-DCMAKE_CXX_COMPILER={options.cxx}", f"-DCMAKE_C_FLAGS={options.flags}",
              f"-DCMAKE_CXX_FLAGS={options.flags}"])
        must([options.cmake, "--build", project / "build"])
        run_example(project / "build" / "app", environment, expected)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--libdir", required=True, help="where libraries go below the prefix")
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--generator", required=True)
    parser.add_argument("--cc", required=True)
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--readelf", required=True)
    parser.add_argument("--nm", required=True)
    parser.add_argument("--programs", action="store_true", help="only the programs that use every function")
    parser.add_argument("--flags", default="", help="what every program needs, such as sanitizers")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        # Installed in one place and moved to another: nothing may remember the first.
        must([options.cmake, "--install", options.build, "--prefix", work / "first"])
        prefix = (work / "first").rename(work / "prefix")
        library_folder = prefix / options.libdir
        environment = single_rank_environment(library_folder)
        flags = pkg_config(library_folder)
        if options.programs:
            installed_programs.check(must, options, flags, prefix, work, environment)
            installed_languages.check(must, options, prefix, library_folder, work, environment)
            return
        by_cmake(options, prefix, work, environment)
        by_pkg_config(options, flags, work, environment)
        small_projects(options, prefix, work, environment)
        version = installed_versions.check(options, must, flags, library_folder, work, environment)
        installed_versions.check_builds(must, prefix, library_folder, work / "allreduce.c.program", work, environment)
        installed_versions.expect("the tool", f"trefoil {version}",
                                  must([prefix / "bin" / "trefoil", "--version"], env=environment).strip())
        print(f"installed, moved, and used by CMake and pkg-config; all say {version}")


if __name__ == "__main__":
    main()
