# SPDX-License-Identifier: BSD-3-Clause
"""Machine files: the examples of examples/machines fit the published schema and run; what the schema allows, the reader of
`trefoil sim` accepts, and what is wrong by the schema it refuses."""

import json
import math
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77

try:
    import jsonschema
except ImportError:
    print("skipped: no module jsonschema (Debian: python3-jsonschema)")
    sys.exit(SKIPPED)

ROOT = pathlib.Path(__file__).resolve().parents[3]
SCHEMA = json.loads((ROOT / "bench/sim/machine.schema.json").read_text())
EVERYTHING = {
    "name": "all", "network": "torus", "rate": ["400Gbit", "6.8GB", "100Mbit"], "alpha": "1.5us", "hop": "0", "copy": "10GB",
    "reduce": "5GB", "closing_barrier": "312ns", "links_per_pair": 1, "messages_per_port": 2,
    "host": {"dimension": 2, "rate": "100GB", "latency": "300ns"}, "down": ["+0@1"], "slow": {"+1@3": 0.5},
}
# By key: values that the schema allows on a 4x4x2 torus.
ALLOWED = {
    "name": ["", "x"],
    "network": ["torus", "mesh", "hyperx", "switch", "hx2mesh"],
    "rate": ["1B", "10bit", "999999.5TB", "3Kbit", "3kB", ["1Gbit", "2Gbit", "3Gbit"]],
    "alpha": ["0", "0s", "0.5ns", "999999s"],
    "hop": ["12ms", "1.25us"],
    "copy": ["1MB"],
    "reduce": ["2.5Tbit"],
    "closing_barrier": ["0", "1us"],
    "links_per_pair": [1, 2],
    "messages_per_port": [1, 1000000],
    "host": [{"dimension": 0, "rate": "1GB"}, {"dimension": 2, "rate": "1GB", "latency": "0"}],
    "down": [[], ["-1@3"]],
    "slow": [{}, {"+0@2": 1}, {"+0@2": 0.001, "-1@31": 0.5}],
}
# By key: values that it does not.
WRONG = {
    "name": [1, None],
    "network": ["star", "hx1mesh", "hxmesh", 3],
    "rate": ["", "8", "0Gbit", "-1Gbit", "8 parsecs", [], ["1GB", 2], 8, None, {}],
    "alpha": ["5", "-1us", "us", 5, ["1us"]],
    "hop": [True],
    "copy": ["0B"],
    "reduce": [10],
    "closing_barrier": ["-1ns"],
    "links_per_pair": [0, 3, "2", 1.5],
    "messages_per_port": [0, -1, 1.5, "2", 10**30],
    "host": [{}, {"dimension": 0}, {"dimension": -1, "rate": "1GB"}, {"dimension": 0, "rate": "1GB", "colour": 1}, 3],
    "down": ["+0@1", [5], {}],
    "slow": [["+0@1"], {"+0@1": 0}, {"+0@1": 1.5}, {"+0@1": "half"}],
    "colour": ["red"],
}


def valid(machine):
    return jsonschema.Draft202012Validator(SCHEMA).is_valid(machine)


def run(tool, machine, torus, folder):
    file = pathlib.Path(folder) / "machine.json"
    file.write_text(json.dumps(machine))
    return subprocess.run(
        [tool, "sim", "allreduce", "-a", "swing-l", "-t", torus, "--sizes", "1K", "--machine", file, "--json"],
        capture_output=True, text=True, timeout=60,
    )


def check(condition, message):
    if not condition:
        print("FAILED:", message)
        sys.exit(1)


def main(tool):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    with tempfile.TemporaryDirectory() as folder:
        for file in sorted((ROOT / "examples/machines").glob("*.json")):
            machine = json.loads(file.read_text())
            check(valid(machine), f"{file.name} does not fit the schema")
            torus = "4x4x2" if "host" in machine else "8x8"
            result = run(tool, machine, torus, folder)
            check(result.returncode == 0, f"{file.name}: {result.stderr}")
        check(set(SCHEMA["properties"]) == set(EVERYTHING) == set(ALLOWED), "a key of the schema is not tried")
        result = run(tool, EVERYTHING, "4x4x2", folder)
        check(result.returncode == 0, result.stderr)
        told = json.loads(result.stdout)["machine"]
        check(told["rate"] == [50e9, 6.8e9, 12.5e6] and math.isclose(told["host"]["latency"], 300e-9), told)
        for key, values in ALLOWED.items():
            for value in values:
                machine = {"rate": "1GB", key: value}
                check(valid(machine), f"the schema refuses {machine}")
                result = run(tool, machine, "4x4x2", folder)
                check(result.returncode == 0, f"{machine}: {result.stderr}")
        for key, values in WRONG.items():
            for value in values:
                machine = {"rate": "1GB", key: value}
                check(not valid(machine), f"the schema allows {machine}")
                result = run(tool, machine, "4x4x2", folder)
                named = key if key != "network" or isinstance(value, int) else "there is no network"
                check(result.returncode == 2 and named in result.stderr, f"{machine}: {result.returncode} {result.stderr}")
        without_rate = run(tool, {"name": "x"}, "8", folder)
        check(without_rate.returncode == 2 and '"rate" is missing' in without_rate.stderr, without_rate.stderr)
        near = run(tool, {"rate": "1GB", "alhpa": "1us"}, "8", folder)
        check('did you mean "alpha"?' in near.stderr, near.stderr)


if __name__ == "__main__":
    main(sys.argv[1])
