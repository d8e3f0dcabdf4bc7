# SPDX-License-Identifier: BSD-3-Clause
"""The first ten minutes of a new user: on a bare Debian, with nothing but the sources and the README, whose commands are run
as they are printed. Trefoil is built, installed below the user's home and then to /usr/local; each time the first programs in
C, C++, Fortran and Python are built and run. Then comes each line of the README's table of commands.

Usage: bare_source_test.py ROOT [FOLDER [TEST...]]. With a folder the bare root is made there and stays, or is taken up again if
it is there already; then the tests that are named run alone (FirstTenMinutes.test_3_in_usr_local). Exit code 77, and a reason,
where a bare root cannot be made.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import bare_root
import pages

ROOT = pathlib.Path(sys.argv[1])
USER, HOME = "somebody", "/home/somebody"
SOURCES = f"{HOME}/sources"
COMMAND_SECONDS = 900  # of a line of the table; tune takes longest
BUILD_SECONDS = 3000  # four minutes on two idle cores


def text_of(page):
    return (ROOT / page).read_text(encoding="utf-8")


def blocks_of(page):
    return [[line.text for line in block] for block in pages.commands(page, text_of(page))]


def block_with(page, words):
    """The block of commands of a page in which these words stand."""
    found = [block for block in blocks_of(page) if any(words in line for line in block)]
    assert found, f"{page} shows no command with {words}"
    return found[0]


def packages_in(page):
    """Those of an `apt-get install` in the prose of a page."""
    found = re.search(r"\(`apt-get\s+install\s+([^`]+)`\)", text_of(page))
    assert found, f"{page} names no packages"
    return " ".join(found[1].split())


def values_of_ranks(output):
    """What the ranks print, in their order, without labels and with numbers in one form."""
    lines = [re.sub(r"^\[\d+\] ", "", line) for line in output.splitlines()]
    return sorted(" ".join(re.sub(r"\.0+\b", "", line).split()) for line in lines if line.strip())


class FirstTenMinutes(unittest.TestCase):
    """In the order of their names: nothing is installed before it is needed."""

    @classmethod
    def setUpClass(cls):
        cls.root.must(f"id {USER} || useradd --create-home --shell /bin/bash {USER}")
        # The README's user says yes when apt asks.
        (cls.root.folder / "etc/apt/apt.conf.d/90yes").write_text('APT::Get::Assume-Yes "true";\n', encoding="utf-8")
        cls.root.must("apt-get update")
        sources = cls.root.folder / SOURCES[1:]
        sources.mkdir(exist_ok=True)
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], check=True, capture_output=True).stdout
        subprocess.run(["tar", "-C", ROOT, "--null", "--files-from=-", "--ignore-failed-read", "-cf", sources.parent / "sources.tar"],
                       input=listed, check=True)
        cls.root.must(f"tar -C {SOURCES} -xf {HOME}/sources.tar && chown -R {USER} {HOME}")
        cls.needed, *cls.wanted, cls.build, cls.install = block_with("README.md", "cmake --preset install")
        cls.variables = block_with("README.md", "export PATH=")

    def user(self, lines, directory=HOME, limit=bare_root.LIMIT_SECONDS):
        """A session of the user's: lines of a shell."""
        script = self.root.folder / HOME[1:] / "session"
        script.write_text("set -e\n" + lines + "\n", encoding="utf-8")
        return self.root.must(f"bash {HOME}/session", user=USER, directory=directory, limit=limit)

    def write(self, folder, name, text):
        (self.root.folder / folder[1:] / name).write_text(text, encoding="utf-8")

    def program(self, folder, page, language, name, setting):
        """A page's first program in that language, built and run as the page says."""
        shown = pages.program(page, text_of(page), language)
        self.assertTrue(shown, f"{page} shows no program in {language}")
        self.write(folder, name, shown)
        build, start = block_with(page, f" {name} ")
        return values_of_ranks(self.user("\n".join([*setting, build, start]), folder))

    def first_programs(self, name, setting):
        folder = f"{HOME}/{name}"
        self.user(f"rm -rf {folder} && mkdir {folder} && cp -r {SOURCES}/bindings {folder}")
        expected = [f"rank {rank}: 9 18 27" for rank in range(9)]
        self.assertEqual(expected, self.program(folder, "README.md", "c", "app.c", setting))
        self.assertEqual(expected, self.program(folder, "docs/tutorial-cpp.md", "cpp", "app.cpp", setting))
        self.assertEqual(["9 18 27"] * 9, self.program(folder, "docs/tutorial-fortran.md", "fortran", "app.f90", setting))
        self.write(folder, "app.py", pages.program("docs/tutorial-python.md", text_of("docs/tutorial-python.md"), "python") +
                   "    print(comm.rank, *values, *largest)\n")
        environment = block_with("docs/tutorial-python.md", "-m venv")
        start = block_with("docs/tutorial-python.md", "app.py")
        session = [*setting, "{", *environment, "} >log", "export OPENBLAS_NUM_THREADS=1", *start]
        output = self.user("\n".join(session), folder)
        self.assertEqual([f"{rank} 9 18 27 9 18 27" for rank in range(9)], values_of_ranks(output))
        # As CMake finds it.
        self.write(folder, "CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\nproject(app LANGUAGES C)\n"
                   "find_package(trefoil REQUIRED)\nadd_executable(app app.c)\ntarget_link_libraries(app PRIVATE trefoil::trefoil)\n")
        output = self.user("\n".join([*setting, "cmake -S . -B build >log && cmake --build build >log", "trefoil run -n 2 -- build/app"]), folder)
        self.assertEqual(["rank 0: 2 4 6", "rank 1: 2 4 6"], values_of_ranks(output))

    def test_1_it_is_built(self):
        self.assertNotEqual(0, self.root.run("command -v cc || command -v cmake || command -v python3")[0], "the root is not bare")
        for line in (self.needed, *self.wanted):
            self.root.must(line)
        self.user(self.build, SOURCES, BUILD_SECONDS)

    def test_2_below_another_prefix(self):
        self.root.must(f"apt-get install {packages_in('docs/tutorial-python.md')}")
        self.user(self.install.split(" && ")[0].replace("/usr/local", "$HOME/trefoil"), SOURCES)
        self.assertNotEqual(0, self.root.run("command -v trefoil")[0])
        self.first_programs("elsewhere", self.variables)

    def test_3_in_usr_local(self):
        self.user("rm -r $HOME/trefoil")
        self.root.must(self.install, directory=SOURCES)
        self.first_programs("usual", [])
        self.assertIn("memory", self.user("trefoil info"))
        self.assertIn("TREFOIL", self.user("man -P cat trefoil-run || zcat -f /usr/local/share/man/man1/trefoil-run.1*"))

    def test_4_the_table_of_commands(self):
        prose = pages.split("README.md", text_of("README.md"))[1]
        table = [line.text for row in pages.table_commands(prose) for line in row]
        self.assertGreater(len(table), 5)
        folder = f"{HOME}/usual"
        for line in table + block_with("README.md", "--html trivance.html") + block_with("README.md", "--html race.html"):
            self.user(f"timeout {COMMAND_SECONDS} {line}", folder)
        for name in ("pages", "trivance.html", "race.html"):
            self.assertTrue((self.root.folder / folder[1:] / name).exists(), name)


def main():
    with tempfile.TemporaryDirectory() as temporary:
        FirstTenMinutes.root = bare_root.made(pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else temporary) / "root")
        unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2, failfast=True)


if __name__ == "__main__":
    main()
