# SPDX-License-Identifier: BSD-3-Clause
"""Checks that the constants of the languages are those of trefoil.h, and its version."""

import pathlib
import re
import sys


def constants_of_header(text):
    """{name: value} of all enumerators but those that only give an enumeration its size."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    found = {}
    for body in re.findall(r"typedef enum \{(.*?)\}", text, re.DOTALL):
        value = -1
        for entry in filter(str.strip, body.split(",")):
            name, _, given = (part.strip() for part in entry.partition("="))
            value = int(given, 0) if given else value + 1
            found[name] = value
    return {name: value for name, value in found.items()
            if not name.endswith("_LAST") and not name.startswith("TREFOIL_LOG_") and name != "TREFOIL_OP_CREATED"}


def findings(expected, name, text, pattern):
    found = {constant: int(value) for constant, value in re.findall(pattern, text)}
    return [f"{name}: {constant} is {found.get(constant)}, and {value} in trefoil.h"
            for constant, value in expected.items() if found.get(constant) != value]


root = pathlib.Path(sys.argv[1])
header = constants_of_header((root / "include/trefoil/trefoil.h").read_text(encoding="utf-8"))
problems = findings(header, "bindings/fortran/types.f90", (root / "bindings/fortran/types.f90").read_text(encoding="utf-8"),
                    r"(TREFOIL_\w+) = (\d+)")
python = (root / "bindings/python/trefoil/_constants.py").read_text(encoding="utf-8")
problems += findings({name[len("TREFOIL_"):].replace("2INT", "TWO_INT"): value for name, value in header.items()},
                     "bindings/python", python, r"(\w+) = (\d+)")
version = ".".join(re.findall(r"#define TREFOIL_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)",
                              (root / "include/trefoil/trefoil.h").read_text(encoding="utf-8")))
if f'VERSION = "{version}"' not in (root / "bindings/python/trefoil/_version.py").read_text(encoding="utf-8"):
    problems.append(f"bindings/python/trefoil/_version.py: trefoil.h says {version}")
if len(header) < 40:
    problems.append(f"only {len(header)} constants were found in trefoil.h")
print("\n".join(problems))
sys.exit(1 if problems else 0)
