# SPDX-License-Identifier: BSD-3-Clause
"""Makes Debian packages by scripts/packages, looks at what they are and have, and uses them unpacked, without installing."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1])
PACKAGES = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None  # made before, to try this test alone
LIMIT_SECONDS = 1500
# What lintian says on purpose (docs/integrating.md), and about who has made them where nobody has said it.
KNOWN_TAGS = {"maintscript-calls-ldconfig", "package-name-doesnt-match-sonames", "shared-library-lacks-version",
              "bogus-mail-host", "bogus-mail-host-in-debian-changelog"}


def must(*command, **options):
    result = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            timeout=LIMIT_SECONDS, check=False, **options)
    if result.returncode != 0:
        raise AssertionError(f"exit code {result.returncode} of {command}:\n{result.stdout[-3000:]}")
    return result.stdout


def version_of_project():
    """(version, its interface), such as 0.1.0 and 0.1."""
    text = (ROOT / "include" / "trefoil" / "trefoil.h").read_text(encoding="utf-8")
    parts = [re.search(rf"^#define TREFOIL_VERSION_{part} (\d+)$", text, re.MULTILINE).group(1)
             for part in ("MAJOR", "MINOR", "PATCH")]
    version = ".".join(parts)
    return version, ".".join(parts[:2]) if parts[0] == "0" else parts[0]


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.temporary.name)
        made = PACKAGES
        if made is None:
            made = folder / "packages"
            must(ROOT / "scripts" / "packages", "--output", made)
        cls.version, interface = version_of_project()
        cls.library = f"libtrefoil{interface}"
        cls.fortran = f"libtrefoil-fortran{interface}"
        cls.files = {file.name.split("_")[0]: file for file in sorted(made.glob("*.deb"))}
        cls.unpacked = folder / "root"
        for file in cls.files.values():
            must("dpkg", "-x", file, cls.unpacked)
        cls.folder = folder
        cls.libraries = cls.unpacked / "usr" / "lib" / must("gcc", "-print-multiarch").strip()
        # Without a job around it a program is a job of one rank.
        cls.environment = {k: v for k, v in os.environ.items() if not k.startswith("TREFOIL_")}
        cls.environment["LD_LIBRARY_PATH"] = str(cls.libraries)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def field(self, package, name):
        return must("dpkg-deb", "-f", self.files[package], name).strip()

    def contents(self, package):
        """The files and links of a package, as paths from the root."""
        lines = must("dpkg-deb", "-c", self.files[package]).splitlines()
        return [line.split()[5].removeprefix(".") for line in lines if not line.startswith("d")]

    def test_names_and_versions(self):
        self.assertEqual({self.library, self.fortran, "libtrefoil-dev", "trefoil-tools", "openmpi-coll-trefoil", "trefoil-mpich"},
                         set(self.files))
        architecture = must("dpkg", "--print-architecture").strip()
        for package, file in self.files.items():
            self.assertEqual(f"{package}_{self.version}_{architecture}.deb", file.name)
            self.assertEqual([package, self.version, architecture],
                             [self.field(package, name) for name in ("Package", "Version", "Architecture")])
            self.assertIn("Trefoil runs collectives", self.field(package, "Description"))

    def test_each_has_what_it_is_for_and_nothing_twice(self):
        wanted = {self.library: [f"/{self.library.replace('libtrefoil', 'libtrefoil.so.')}"],
                  self.fortran: [f"/{self.fortran.replace('libtrefoil-fortran', 'libtrefoil_fortran.so.')}"],
                  "libtrefoil-dev": ["/usr/include/trefoil/trefoil.h", "/usr/include/trefoil/trefoil.hpp", "/libtrefoil.so", "/man3/trefoil_iallreduce.3.gz",
                                     "/fortran/trefoil.mod", "/trefoil-config.cmake", "/pkgconfig/trefoil.pc"],
                  "trefoil-tools": ["/usr/bin/trefoil", "/man1/trefoil-perf.1.gz", "/completions/trefoil"],
                  "openmpi-coll-trefoil": ["/mca_coll_trefoil.so"],
                  "trefoil-mpich": ["/libtrefoil_mpi_mpich.so"]}
        owners = {}
        for package in self.files:
            contents = self.contents(package)
            for end in wanted[package] + [f"/usr/share/doc/{package}/{name}" for name in ("copyright", "changelog.gz")]:
                self.assertEqual(1, sum(path.endswith(end) for path in contents), f"{end} in {package}: {contents}")
            for path in contents:
                self.assertTrue(path.startswith("/usr/"), f"{package} has {path}")
                self.assertNotIn(path, owners, f"it is in {package}, too")
                owners[path] = package

    def test_dependencies(self):
        same = f" (= {self.version})"
        for package in (self.fortran, "libtrefoil-dev", "openmpi-coll-trefoil", "trefoil-mpich"):
            self.assertIn(self.library + same, self.field(package, "Depends").split(", "))
        self.assertIn(self.fortran + same, self.field("libtrefoil-dev", "Depends").split(", "))
        for package, other in ((self.library, "libc6"), ("openmpi-coll-trefoil", "libopenmpi3"), ("trefoil-mpich", "libmpich12"),
                               (self.fortran, "libgfortran5"), ("trefoil-tools", "libstdc++6")):
            self.assertRegex(self.field(package, "Depends"), rf"(^|, ){re.escape(other)} \(>= ")
        for package in (self.library, "trefoil-tools"):  # who has no MPI needs none
            self.assertNotRegex(self.field(package, "Depends"), "mpi")

    def test_nothing_remembers_where_it_was_built(self):
        for path in self.unpacked.rglob("*"):
            if path.is_file() and not path.is_symlink() and ".so" in path.name:
                self.assertNotRegex(must("readelf", "-d", path), "R(UN)?PATH", str(path))
        for end in ("*.pc", "*.cmake"):
            for path in self.unpacked.rglob(end):
                self.assertNotIn(str(ROOT), path.read_text(encoding="utf-8"), str(path))

    def test_the_tool_runs(self):
        tool = self.unpacked / "usr" / "bin" / "trefoil"
        self.assertEqual(f"trefoil {self.version}", must(tool, "--version", env=self.environment).strip())

    def test_a_program_is_compiled_and_runs(self):
        search = {**self.environment, "PKG_CONFIG_LIBDIR": str(self.libraries / "pkgconfig")}
        flags = must("pkg-config", "--cflags", "--libs", "trefoil", env=search).split()
        self.assertIn(self.libraries.resolve(), [pathlib.Path(flag[2:]).resolve() for flag in flags if flag.startswith("-L")])
        program = self.folder / "allreduce"
        must("gcc", "-std=c99", ROOT / "examples" / "allreduce.c", *flags, "-o", program)
        self.assertIn(f"{self.libraries}/libtrefoil.so", must("ldd", program, env=self.environment))
        tool = self.unpacked / "usr" / "bin" / "trefoil"
        output = must(tool, "run", "--torus", "2", "--", program, env=self.environment)
        self.assertIn("rank 0 of 2: 0 of 1000 sums are wrong", output)

    @unittest.skipUnless(shutil.which("lintian"), "there is no lintian")
    def test_lintian_says_only_what_is_known(self):
        result = subprocess.run(["lintian", "--tag-display-limit", "0", *map(str, self.files.values())], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True, timeout=LIMIT_SECONDS, check=False)
        said = re.findall(r"^[EW]: \S+: (\S+)", result.stdout, re.MULTILINE)
        self.assertEqual(set(), set(said) - KNOWN_TAGS, result.stdout)


def main():
    for tool in ("dpkg-deb", "dpkg-shlibdeps", "cpack"):
        if shutil.which(tool) is None:
            print(f"skipped: there is no {tool}")
            sys.exit(77)
    if shutil.which("lintian") is None:
        print("without lintian, which is not installed")
    unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == "__main__":
    main()
