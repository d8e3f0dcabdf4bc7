# SPDX-License-Identifier: BSD-3-Clause
"""Checks that the shared library exports all functions of the public header and nothing else, and how it is loaded."""

import pathlib
import re
import sys

import sources

VERSION_NODE = re.compile(r"TREFOIL_\d+(\.\d+)?$")


def declared(header_text):
    """The functions that the header marks with TREFOIL_API."""
    return set(re.findall(r"TREFOIL_API\s[^;]*?\b(trefoil_\w+)\s*\(", header_text))


def findings(exported, public):
    names = {name.split("@")[0] for name in exported}
    found = [f"{name} is exported but not public" for name in sorted(names - public)
             if not VERSION_NODE.match(name)]
    return found + [f"{name} is public but not exported" for name in sorted(public - names)]


def exported_by(library, nm):
    code, output = sources.run([nm, "-D", "--defined-only", "--format=posix", library])
    if code != 0:
        sys.exit(output)
    return [line.split()[0] for line in output.splitlines() if line]


def functions_of(library, nm):
    """The exported functions, without the node of their version."""
    names = {name.split("@")[0] for name in exported_by(library, nm)}
    return {name for name in names if not VERSION_NODE.match(name)}


def unwrapped(public, wrapper_text):
    """Functions that the C++ wrapper has no counterpart of: its code does not name them."""
    code = re.sub(r"//.*", "", wrapper_text)
    return [f"{name} has no counterpart in the C++ wrapper" for name in sorted(public)
            if not re.search(rf"\b{name}\b", code)]


def loading_findings(dynamic_section):
    """What is wrong with the text of `readelf -d`: what it brings to a process that may never ask for it, or leaves behind."""
    found = [f"{name} is loaded with it, not when it is asked for"
             for name in re.findall(r"NEEDED.*\[(lib(?:fabric|uc[a-z]|pmix|tofu)\w*\.so[^\]]*)\]", dynamic_section)]
    return found + ([] if "NODELETE" in dynamic_section else ["dlclose() would unload it (-z nodelete)"])


if __name__ == "__main__":
    root, library, nm, readelf = sys.argv[1:5]
    folder = pathlib.Path(root, "include/trefoil")
    public_functions = declared("".join(header.read_text(encoding="utf-8") for header in sorted(folder.glob("*.h"))))
    wrapper = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.hpp")))
    sys.exit(sources.report(findings(exported_by(library, nm), public_functions)
                            + unwrapped(public_functions, wrapper)
                            + loading_findings(sources.run([readelf, "-d", library])[1]), "exported symbols"))
