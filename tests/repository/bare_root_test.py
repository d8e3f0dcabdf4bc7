# SPDX-License-Identifier: BSD-3-Clause
"""Installs the Debian packages in a bare root, and runs there what the pages show: the tool, programs in C, C++, Fortran and
Python, and MPI programs under the component and under the layer.

Usage: bare_root_test.py ROOT [PACKAGES]; without a folder of packages scripts/packages makes them. Exit code 77, and a reason,
where a bare root cannot be made.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import bare_root
import pages

ROOT = pathlib.Path(sys.argv[1])
PACKAGES = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
USER, HOME = "somebody", "/home/somebody"


def shown(page, language):
    """The first whole program in that language on a page."""
    program = pages.program(page, (ROOT / page).read_text(encoding="utf-8"), language)
    assert program, f"{page} shows no program in {language}"
    return program


def command(page, *words):
    """The command that a page shows with all of these words."""
    found = [line.text.split("  #")[0] for block in pages.commands(page, (ROOT / page).read_text(encoding="utf-8"))
             for line in block if all(word in line.text for word in words)]
    assert found, f"{page} shows no command with {words}"
    return found[0]


def sorted_lines(output):
    """Without the rank that `trefoil run` writes before each line."""
    return sorted(re.sub(r"^\[\d+\] ", "", line) for line in output.splitlines())


class InABareRoot(unittest.TestCase):
    """The tests run in the order of their names: what a program needs to run is installed before what is needed to build."""

    @classmethod
    def setUpClass(cls):
        cls.root.must(f"useradd --create-home {USER}")
        cls.root.must("apt-get update")
        for folder in ("bindings/python", "tests/mpi", "examples"):
            shutil.copytree(ROOT / folder, cls.home() / folder, ignore=shutil.ignore_patterns("*.egg-info", "build"))
        cls.root.must(f"chown -R {USER} {HOME}")

    @classmethod
    def home(cls):
        return cls.root.folder / HOME[1:]

    def must(self, line, **variables):
        return self.root.must(line, user=USER, directory=HOME, **variables)

    def write(self, name, text):
        (self.home() / name).write_text(text, encoding="utf-8")

    def test_1_the_tool_alone(self):
        self.root.install("/packages/trefoil-tools_*.deb", "/packages/libtrefoil[0-9]*.deb")
        self.assertNotEqual(0, self.root.run("command -v cc || command -v mpirun || command -v python3")[0], "the root is not bare")
        self.must(command("README.md", "trefoil plan", "--html"))
        self.must(command("README.md", "trefoil sim", "--html"))
        for name in ("trivance.html", "race.html"):
            self.assertIn("<html", (self.home() / name).read_text(encoding="utf-8"))
        self.assertIn("memory", self.must("trefoil info"))
        self.must("trefoil explain allreduce 1M --torus 3x3")
        self.must("trefoil run -n 4 -- trefoil perf allreduce")

    def test_2_the_component_is_found_without_a_variable(self):
        self.root.install("/packages/openmpi-coll-trefoil_*.deb", "openmpi-bin")
        self.assertIn("coll: trefoil", self.must("ompi_info"))
        self.assertIn("MCA coll trefoil", self.must("ompi_info --param coll trefoil --level 9"))

    def test_3_programs_are_built_and_run(self):
        self.root.install("/packages/*.deb", "gcc", "g++", "gfortran", "pkg-config", "cmake", "make", "libc6-dev")
        self.write("app.c", shown("README.md", "c"))
        self.must(command("README.md", "cc app.c"))
        output = self.must(command("README.md", "trefoil run -n 9", "./app"))
        self.assertEqual([f"rank {rank}: 9 18 27" for rank in range(9)], sorted_lines(output))
        # By Open MPI's launcher, too, as README says.
        self.assertEqual(["rank 0: 2 4 6", "rank 1: 2 4 6"], sorted_lines(self.must("mpirun -n 2 ./app")))
        self.write("app.cpp", shown("docs/tutorial-cpp.md", "cpp"))
        self.must(command("docs/tutorial-cpp.md", "c++ ", "app.cpp"))
        self.assertEqual(9, self.must(command("docs/tutorial-cpp.md", "./app")).count("9 18 27"))
        self.write("app.f90", shown("docs/tutorial-fortran.md", "fortran"))
        self.must(command("docs/tutorial-fortran.md", "gfortran app.f90"))
        self.assertEqual(9, self.must(command("docs/tutorial-fortran.md", "./app")).count("27.0"))
        self.must(command("docs/tutorial.md", "cmake -S examples"))
        self.assertIn("rank 0 of 9: 0 of 1000 sums are wrong", self.must(command("docs/tutorial.md", "allreduce_c")))
        self.must(command("docs/tutorial-cpp.md", "power_iteration"))
        self.must("trefoil run -n 4 -- build/examples/allreduce_cpp")
        self.must("trefoil run -n 4 -- build/examples/conjugate_gradient_fortran")

    def test_4_python(self):
        self.root.install("python3-numpy", "python3-pip", "python3-setuptools", "python3-wheel")
        self.must(command("docs/tutorial-python.md", "pip install") + " --break-system-packages --no-index")
        program = shown("docs/tutorial-python.md", "python")
        self.write("app.py", program + "    print('rank', comm.rank, values.tolist())\n")
        output = self.must(command("docs/tutorial-python.md", "python3 app.py"), OPENBLAS_NUM_THREADS="1")
        self.assertEqual([f"rank {rank} [9.0, 18.0, 27.0]" for rank in range(9)], sorted_lines(output))

    def check_mpi(self, compilers, launcher, who):
        c, fortran = compilers
        self.must(f"{c} tests/mpi/mixed.c -o mpi_c")
        self.must(f"{fortran} tests/mpi/fortran_calls.f90 -o mpi_fortran")
        for program in ("mpi_c", "mpi_fortran"):
            output = self.must(f"{launcher} ./{program}", TREFOIL_MPI_REPORT="1", TREFOIL_MPI_EARLY="0")
            self.assertIn("0 failure(s)", output)
            self.assertRegex(output, rf"(?m)^trefoil: .*{who}", "Trefoil says what it ran")
            self.assertIn("reduce", output)

    def test_5_openmpi(self):
        self.root.install("libopenmpi-dev")
        self.check_mpi(("mpicc.openmpi", "mpifort.openmpi"), "mpirun.openmpi -n 2", "Open MPI")
        without = self.must("mpirun.openmpi -n 2 --mca coll ^trefoil ./mpi_c", TREFOIL_MPI_REPORT="1")
        self.assertNotIn("trefoil:", without)

    def test_6_mpich(self):
        self.root.install("mpich", "libmpich-dev")
        layer = self.root.must("dpkg -L trefoil-mpich | grep -m1 'mpich.so$'").strip()
        self.check_mpi(("mpicc.mpich", "mpifort.mpich"), f"mpiexec.mpich -n 2 -genv LD_PRELOAD {layer}", "MPICH")

    def test_7_nothing_is_left(self):
        self.root.must("apt-get purge --yes 'libtrefoil*' trefoil-tools trefoil-mpich openmpi-coll-trefoil")
        left = self.root.must("find /usr /etc /var/lib/dpkg/info -iname '*trefoil*' -not -path '/usr/local/*'")
        self.assertEqual("", left)
        self.assertNotIn("coll: trefoil", self.must("ompi_info"))


def main():
    with tempfile.TemporaryDirectory() as folder:
        root = bare_root.made(pathlib.Path(folder) / "root")
        packages = root.folder / "packages"
        packages.mkdir()
        if PACKAGES is None:
            subprocess.run([ROOT / "scripts" / "packages", "--output", packages], check=True)
        else:
            for file in PACKAGES.glob("*.deb"):
                shutil.copy(file, packages)
        InABareRoot.root = root
        unittest.main(argv=sys.argv[:1], verbosity=2, failfast=True)


if __name__ == "__main__":
    main()
