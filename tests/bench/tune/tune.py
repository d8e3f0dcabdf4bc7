# SPDX-License-Identifier: BSD-3-Clause
"""`trefoil tune`: what it writes fits the schema and is gone by; files keep what is for other jobs; bad input changes nothing."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    jsonschema = None

ROOT = pathlib.Path(__file__).resolve().parents[3]
SCHEMA = json.loads((ROOT / "comm/setup/tuning.schema.json").read_text())
QUICK = ["--rounds", "3", "--slice", "0.2", "--bisections", "1", "-b", "64", "-e", "4K", "-f", "8"]
SECONDS = 200


class Runs:
    def __init__(self, tool, folder):
        self.tool, self.file = tool, folder / "tuning.json"
        self.failures = []

    def expect(self, what, holds, seen):
        if not holds:
            self.failures.append(what)
            print(f"WRONG {what}: {seen}")

    def run(self, *words, before=(), **environment):
        done = subprocess.run([*before, self.tool, *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=SECONDS, check=False, env=os.environ | environment)
        return done.returncode, done.stdout

    def tune(self, *words, **more):
        return self.run("tune", *QUICK, "--output", str(self.file), *words, **more)

    def entries(self):
        file = json.loads(self.file.read_text())
        if jsonschema is not None:
            jsonschema.validate(file, SCHEMA)
        return file["entries"]


def covers_all_sizes(rules):
    """Each collective's rules follow one another from 0 on, and the last one has no end."""
    for key in {(rule["collective"], rule.get("types")) for rule in rules}:
        least = 0
        for rule in (each for each in rules if (each["collective"], each.get("types")) == key):
            if rule.get("from", 0) != least:
                return False
            least = rule["to"] + 1 if "to" in rule else None
        if least is not None:
            return False
    return True


def check_file(runs):
    code, output = runs.tune("--ranks", "2", "--launch", "threads", "--collectives", "allreduce,bcast")
    runs.expect("tune ends well", code == 0 and "use it by TREFOIL_TUNING" in output, output)
    runs.expect("it tells of both ports", "   +0 " in output and "   -0 " in output, output)
    entry = runs.entries()[0]
    runs.expect("key", (entry["torus"], entry["ranks_per_node"], entry["backend"]) == ("2", 2, "memory"), entry)
    runs.expect("rules for all sizes", covers_all_sizes(entry["rules"]), entry["rules"])
    runs.expect("types are told apart", {rule.get("types") for rule in entry["rules"] if rule["collective"] == "allreduce"}
                == {"fixed-order", "any-order"}, entry["rules"])
    code, output = runs.run("explain", "bcast", "512", "--torus", "2", "--backend", "memory", "--json", TREFOIL_TUNING=str(runs.file))
    runs.expect("explain goes by it", code == 0 and json.loads(output)["decided_by"] == "tuning file", output)

    code, output = runs.tune("--torus", "3", "--collectives", "gather", before=[runs.tool, "run", "-n", "3", "--"])
    runs.expect("under a launcher", code == 0, output)
    runs.expect("another entry", [each["torus"] for each in runs.entries()] == ["2", "3"], runs.entries())
    code, output = runs.tune("--ranks", "2", "--collectives", "bcast")
    now = runs.entries()
    runs.expect("the same entry again", code == 0 and [each["torus"] for each in now] == ["2", "3"], output)
    runs.expect("other collectives stay", covers_all_sizes(now[0]["rules"])
                and [rule for rule in now[0]["rules"] if rule["collective"] == "allreduce"]
                == [rule for rule in entry["rules"] if rule["collective"] == "allreduce"], now)
    code, output = runs.tune("--ranks", "2", "--ports-only")
    runs.expect("ports alone keep the rules", code == 0 and runs.entries()[0]["rules"] == now[0]["rules"]
                and "step" in runs.entries()[0]["model"], output)


def check_regret(runs):
    draws = []
    for _ in range(2):
        code, output = runs.tune("--ranks", "2", "--regret", "3", "--seed", "5", "--collectives", "bcast,allreduce")
        runs.expect("regret", code == 0 and "regret: median" in output and "0 elements wrong" in output, output)
        first, _, again = output.partition("# once more")
        draws.append([line.split()[:3] for line in first.splitlines() if " % " in line])
        runs.expect("the same calls once more", draws[-1] == [line.split()[:3] for line in again.splitlines() if " %  " in line]
                    and "both times: median" in again, output)
    runs.expect("a seed draws the same calls", len(draws[0]) == 3 and draws[0] == draws[1], draws)
    runs.expect("choices are the file's", sum(" file " in line for line in output.splitlines()) == 3, output)


def check_refused(runs):
    kept = runs.file.read_text()
    nowhere = runs.file.parent / "none" / "file.json"
    for words, text in ((["--ranks", "1"], "2"), ([], "two ranks"), (["--ranks", "2", "--collectives", "barrier"], "barrier"),
                        (["--ranks", "2", "--collectives", "bcasd"], "bcast"), (["--ranks", "2", "-b", "x"], "x"),
                        (["--ranks", "2", "--output", str(nowhere)], "cannot write the tuning file"),
                        (["--torus", "3x", "--collectives", "bcast"], "3x"),
                        (["--ranks", "2", "--backend", "tin"], "tin"), (["--net", "nowhere"], "nowhere"),
                        (["--ranks", "2", "--regret", "2", "--output", str(nowhere)], "cannot be read")):
        code, output = runs.run("tune", *([] if "--output" in words else ["--output", str(runs.file)]), *words)
        runs.expect(f"refused {words}", code == 2 and text in output, (code, output))
    runs.expect("nothing was changed", runs.file.read_text() == kept and not nowhere.parent.exists(), runs.file.read_text())
    runs.file.write_text(kept[:len(kept) // 2])
    code, output = runs.tune("--ranks", "2")
    runs.expect("a file cut short", code == 2 and "cut short" in output, output)
    runs.expect("which stays", runs.file.read_text() == kept[:len(kept) // 2] and len(list(runs.file.parent.iterdir())) == 1,
                list(runs.file.parent.iterdir()))


def main():
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(sys.argv[1], pathlib.Path(folder))
        check_file(runs)
        check_regret(runs)
        check_refused(runs)
    print(f"{len(runs.failures)} wrong")
    sys.exit(1 if runs.failures else 0)


if __name__ == "__main__":
    main()
