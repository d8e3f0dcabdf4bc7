# SPDX-License-Identifier: BSD-3-Clause
"""Tuning files: what fits the published schema, `trefoil explain` takes and goes by; what is wrong by it, is refused with the place."""

import copy
import json
import os
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
SCHEMA = json.loads((ROOT / "comm/setup/tuning.schema.json").read_text())
GOOD = {
    "format": "trefoil-tuning", "version": 1,
    "entries": [{
        "torus": "3x3", "ranks_per_node": 9, "ports": 4, "backend": "memory",
        "model": {"step": "0.5us", "rate": "80gbit"},
        "rules": [
            {"collective": "allreduce", "algorithm": "bucket", "from": 1024, "to": 4096},
            {"collective": "allreduce", "algorithm": "trivance-l", "to": 512, "types": "any-order"},
            {"collective": "bcast", "algorithm": "linear", "learned": True},
        ],
    }],
}


def changed(change):
    file = copy.deepcopy(GOOD)
    change(file, file["entries"][0], file["entries"][0]["rules"][0])
    return file


# What the schema refuses, and the reader with it: a change, and what the message says.
BAD = (
    (lambda f, e, r: f.update(version=2), '"version" must be 1'),
    (lambda f, e, r: f.update(format="x"), '"format" must be'),
    (lambda f, e, r: f.pop("entries"), "entries"),
    (lambda f, e, r: f.update(more=1), '"more"'),
    (lambda f, e, r: f.update(entries={}), '"entries" must be a list'),
    (lambda f, e, r: e.pop("torus"), 'entry 1: has no member "torus"'),
    (lambda f, e, r: e.update(ports=0), '"ports" must be a whole number'),
    (lambda f, e, r: e.update(ranks_per_node=1.5), '"ranks_per_node" must be'),
    (lambda f, e, r: e.update(model={"step": "NaN"}), "step=NaN"),
    (lambda f, e, r: e.update(model={"step": float("1e-6")}), '"step" must be a text'),
    (lambda f, e, r: e.update(model={"stride": "1us"}), "stride"),
    (lambda f, e, r: e.update(rules=[1]), "rule 1: is not a JSON object"),
    (lambda f, e, r: r.update(types="floats"), "entry 1, rule 1: there are no types"),
    (lambda f, e, r: r.update({"from": -1}), '"from" must be'),
    (lambda f, e, r: r.update(learned=1), '"learned" must be true or false'),
    (lambda f, e, r: r.pop("algorithm"), 'rule 1: has no member "algorithm"'),
)
# What only the reader can know.
WORSE = (
    (lambda f, e, r: e.update(torus="3y3"), "3y3"),
    (lambda f, e, r: e.update(ports=6), "has 4 ports, not 6"),
    (lambda f, e, r: e.update(backend="tin"), 'no backend "tin"'),
    (lambda f, e, r: e.update(ranks_per_node=10), "from 1 to 9"),
    (lambda f, e, r: r.update(algorithm="buckett"), "bucket"),
    (lambda f, e, r: r.update(collective="allreduze"), "allreduce"),
    (lambda f, e, r: r.update({"from": 5000}), '"to" is smaller than "from"'),
    (lambda f, e, r: e["rules"].append({"collective": "bcast", "algorithm": "linear", "from": 8}), "rule 4: it has calls in common with rule 3"),
    (lambda f, e, r: f["entries"].append(copy.deepcopy(e)), "entry 2: there is another one for 3x3"),
)


class Runs:
    def __init__(self, tool, folder):
        self.tool, self.file = tool, folder / "tuning.json"
        self.failures = []

    def expect(self, what, holds, seen):
        if not holds:
            self.failures.append(f"{what}:\n{seen}")

    def explain(self, text, *arguments, **variables):
        self.file.write_text(text)
        environment = {**os.environ, "TREFOIL_TUNING": str(self.file), **variables}
        return subprocess.run([self.tool, "explain", *arguments, "--json"], env=environment, capture_output=True, text=True, timeout=60)

    def taken(self, *arguments, **variables):
        process = self.explain(json.dumps(GOOD), *arguments, "--torus", "3x3", "--backend", "memory", **variables)
        self.expect(f"{arguments} is explained", process.returncode == 0, process.stderr)
        return json.loads(process.stdout) if process.returncode == 0 else {}

    def job(self, command, **variables):
        """What a job says; `command` runs on each rank."""
        environment = {**os.environ, "TREFOIL_TUNING": str(self.file), "TREFOIL_BACKEND": "memory", **variables}
        process = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        return process.returncode, process.stdout + process.stderr

    def refused(self, text, words):
        process = self.explain(text, "allreduce", "2K", "--torus", "3x3", "--backend", "memory")
        self.expect(f"refused with {words}", process.returncode == 2 and process.stdout == "" and words in process.stderr
                    and "tuning file" in process.stderr and "json.exception" not in process.stderr, process.stdout + process.stderr)


def main():
    validator = jsonschema.Draft202012Validator(SCHEMA)
    validator.check_schema(SCHEMA)
    validator.validate(GOOD)
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(sys.argv[1], pathlib.Path(folder))
        off = {"TREFOIL_SINGLE_COPY": "0"}
        told = runs.taken("allreduce", "2K", **off)
        runs.expect("a rule decides", (told["algorithm"], told["decided_by"]) == ("bucket", "tuning file"), told)
        sources = {number["name"]: number["from"] for number in told["model"]}
        told = runs.taken("bcast", "2K", **off)
        runs.expect("a rule that was learned says so", (told["algorithm"], told["decided_by"]) == ("linear", "learned"), told)
        runs.expect("numbers come from the file", sources["step"] == sources["rate"] == "tuning file" != sources["hop"], sources)
        runs.expect("not outside its range", runs.taken("allreduce", "8K", **off)["decided_by"] == "model", "8K")
        runs.expect("any order", runs.taken("allreduce", "64", "--datatype", "int32", **off)["algorithm"] == "trivance-l", "64")
        runs.expect("fixed order", runs.taken("allreduce", "64", **off)["decided_by"] == "model", "64 of float")
        mine = runs.taken("allreduce", "2K", **off, TREFOIL_ALGORITHM="allreduce:1K-2K=ring", TREFOIL_MODEL="step=9us")
        runs.expect("the user's rule goes first", (mine["algorithm"], mine["decided_by"]) == ("ring", "name"), mine)
        runs.expect("so do the user's numbers", {n["from"] for n in mine["model"]} == {"TREFOIL_MODEL", "default"}, mine["model"])
        elsewhere = runs.explain(json.dumps(GOOD), "allreduce", "2K", "--torus", "9")
        runs.expect("another shape is the model's", json.loads(elsewhere.stdout)["decided_by"] == "model", elsewhere.stdout)
        for change, words in BAD:
            file = changed(change)
            runs.expect(f"the schema refuses {words}", not validator.is_valid(file), file)
            runs.refused(json.dumps(file), words)
        for change, words in WORSE:
            runs.refused(json.dumps(changed(change)), words)
        text = json.dumps(GOOD)
        for cut in (0, 1, len(text) // 2, len(text) - 1):
            runs.refused(text[:cut], "cut short")
        runs.refused(text.replace('"0.5us"', "NaN"), "not JSON")
        runs.refused("[" * 100000, "cut short")
        runs.file.write_text(text)
        perf = [sys.argv[1], "perf", "allreduce", "--iters", "1", "-w", "1", "-b", "2K", "-e", "2K"]
        code, said = runs.job([*perf, "--torus", "3x3"], TREFOIL_LOG="info,choice", **off)
        runs.expect("a job goes by the file", code == 0 and "by bucket" in said and "the tuning file has it" in said, said)
        code, said = runs.job([*perf, "--torus", "3"], **off)
        runs.expect("another job says so and goes on", code == 0 and "is not for this job (3 with 3 ranks a node" in said
                    and "it has: 3x3 with 9 ranks a node" in said, said)
        other = pathlib.Path(folder) / "other.json"
        other.write_text(text + " ")
        differing = f'[ "$TREFOIL_RANK" = 1 ] && export TREFOIL_TUNING={other}; exec "$@"'
        code, said = runs.job([sys.argv[1], "run", "-n", "3", "--", "sh", "-c", differing, "sh", *perf])
        runs.expect("ranks with different files are refused", code != 0 and "disagree about the configuration" in said
                    and "rank 1: " in said and said.count("TREFOIL_TUNING=file of checksum") >= 2, said)
        runs.file.write_text(text[:-9])
        code, said = runs.job([*perf, "--torus", "3"])
        runs.expect("a job refuses a file that is cut short", code != 0 and "cut short" in said, said)
        missing = subprocess.run([sys.argv[1], "explain", "bcast", "8", "--torus", "3"], env={**os.environ, "TREFOIL_TUNING": folder + "/none"},
                                 capture_output=True, text=True, timeout=60)
        runs.expect("a file that is not there", missing.returncode == 2 and "cannot be read: No such file" in missing.stderr, missing.stderr)
    print("\n".join(runs.failures) or "all tuning files were taken or refused as they should be")
    return 1 if runs.failures else 0


if __name__ == "__main__":
    sys.exit(main())
