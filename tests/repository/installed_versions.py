# SPDX-License-Identifier: BSD-3-Clause
"""Whether all that tells a version in an installed tree tells the same, and ranks of different builds notice."""

import os
import re
import sys

import sources

TELL = """#include <stdio.h>
#include <trefoil/trefoil.h>
int main(void) {
    printf("%d %d %s\\n", TREFOIL_VERSION, trefoil_version(), trefoil_version_string());
    return 0;
}
"""
# What find_package(trefoil VERSION) does with the file.
ACCEPTS = """set(PACKAGE_FIND_VERSION "{0}.{1}")
set(PACKAGE_FIND_VERSION_MAJOR {0})
set(PACKAGE_FIND_VERSION_MINOR {1})
set(PACKAGE_FIND_VERSION_COUNT 2)
include({2})
message("${{PACKAGE_VERSION}} ${{PACKAGE_VERSION_COMPATIBLE}}")
"""


def soname_of(version):
    """The interface's version: before 1.0 each minor one may be another."""
    major, minor, _ = version.split(".")
    return f"libtrefoil.so.{major}" if major != "0" else f"libtrefoil.so.0.{minor}"


def number_of(version):
    major, minor, patch = (int(part) for part in version.split("."))
    return major * 10000 + minor * 100 + patch


def expect(what, expected, found):
    if expected != found:
        sys.exit(f"{what}: expected {expected}, found {found}")


def check_names(options, must, library_folder, version):
    """The soname changes with the interface; the file has the whole version, and symbolic links lead to it."""
    dynamic = must([options.readelf, "-d", library_folder / "libtrefoil.so"])
    soname = re.search(r"SONAME.*\[(.*)\]", dynamic).group(1)
    expect("soname", soname_of(version), soname)
    for link in ("libtrefoil.so", soname):
        expect(link, f"libtrefoil.so.{version}", os.path.realpath(library_folder / link).rsplit("/", 1)[1])


def check_cmake(options, must, library_folder, work, version):
    major, minor, _ = (int(part) for part in version.split("."))
    config = library_folder / "cmake" / "trefoil" / "trefoil-config-version.cmake"
    for asked, accepted in (((major, minor), True), ((major, minor + 1), False), ((major + 1, 0), False)):
        script = work / "accepts.cmake"
        script.write_text(ACCEPTS.format(*asked, config), encoding="utf-8")
        told, compatible = (must([options.cmake, "-P", script]).strip() + " ").split(" ")[:2]
        expect("CMake's version", version, told)
        expect(f"find_package(trefoil {asked[0]}.{asked[1]})", accepted, compatible == "TRUE")


def check(options, must, flags, library_folder, work, environment):
    source, program = work / "tell.c", work / "tell"
    source.write_text(TELL, encoding="utf-8")
    must([options.cc, "-std=c99", *options.flags.split(), source, *flags, "-o", program])
    of_header, of_library, version = must([program], env=environment).split()
    expect("TREFOIL_VERSION", number_of(version), int(of_header))
    expect("trefoil_version()", number_of(version), int(of_library))
    search = os.environ | {"PKG_CONFIG_PATH": str(library_folder / "pkgconfig")}
    expect("pkg-config", version, must(["pkg-config", "--modversion", "trefoil"], env=search).strip())
    check_names(options, must, library_folder, version)
    check_cmake(options, must, library_folder, work, version)
    return version


def check_builds(must, prefix, library_folder, program, work, environment):
    """Two ranks, of which one loads a library of other sources: both are told."""
    hash_of = re.compile(rb"(?<=[^0-9a-f])[0-9a-f]{16}(?=\0)")
    library = os.path.realpath(library_folder / "libtrefoil.so")
    with open(library, "rb") as file:
        image = file.read()
    other = work / "other"
    other.mkdir()
    (other / soname_of(os.path.basename(library).split(".so.")[1])).write_bytes(hash_of.sub(b"0" * 16, image))
    script = f'[ "$TREFOIL_RANK" = 1 ] && export LD_LIBRARY_PATH={other}; exec {program}'
    code, output = sources.run([prefix / "bin" / "trefoil", "run", "--torus", "2", "--", "sh", "-c", script],
                               env=environment)
    told = output.count("the ranks disagree about which Trefoil they run")
    if code == 0 or told != 2 or f"sources {'0' * 16}" not in output:
        sys.exit(f"ranks of two builds: exit code {code}, and told {told} times, not 2:\n{output}")
    must([prefix / "bin" / "trefoil", "run", "--torus", "2", "--", program], env=environment)
