#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on emulated networks that lack a cable or a node: routes go round it, results are right, and ranks find out what is wrong.

Usage: damaged.py TOOL given|measured. Needs root. Exit code 1 if anything is wrong, 77 if this machine cannot make such networks.
"""
import os
import re
import subprocess
import sys

from command import SECONDS, torusnet
from torus_network import network  # noqa: E402

SKIPPED = 77
NAME = f"damaged{os.getpid()}"
RIGHT = r"\d+ measurements, 0 wrong"
# Network, rate, options of trefoil run, variables, what perf measures, what must be printed.
JOBS = (
    ("3x3:cable=+0@4", "", [], {}, ["allreduce", "-b", "8", "-e", "64Ki", "-f", "64"], [RIGHT]),
    ("3x3:cable=+0@4", "", ["--torus", "3x3"], {"TREFOIL_LINKS": "asked"}, ["allreduce", "-b", "64Ki", "-e", "64Ki"],
     [RIGHT, r"by the NICs the network is 3x3:cable=\+0@4\n", r"torus 3x3:cable=\+0@4 "]),
    ("3x3:cable=+0@4", "", ["--torus", "3x3", "--backend", "ucx"], {"TREFOIL_LINKS": "asked", "UCX_TLS": "tcp,self"},
     ["bcast", "-b", "1Ki", "-e", "1Ki"], [RIGHT, r"by the NICs the network is 3x3:cable=\+0@4\n"]),
    ("4x2:node=5", "", [], {}, ["alltoall", "-b", "8", "-e", "4Ki", "-f", "512"], [RIGHT, "7 ranks"]),
    ("2x4:twist=0=1+2", "", [], {}, ["allgather", "-b", "4Ki", "-e", "4Ki"], [RIGHT]),
    # The machine is busy: other links may look slow, too.
    ("4:cable=+0@1=0.4", "20mbit", ["--torus", "4"], {"TREFOIL_LINKS": "measured"}, ["allreduce", "-b", "8", "-e", "8"],
     [RIGHT, r"by messages between neighbours the network is 4:.*cable=\+0@1=0\.[345]"]),
)


def run(tool, options, variables, words):
    done = subprocess.run([tool, "run", "--net", NAME, *options, "env", "TREFOIL_LOG=info,setup", tool, "perf", *words, "--iters", "2", "-c", "1"],
                          env={**os.environ, "TREFOIL_TIMEOUT": "40", **variables}, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
    return done.returncode, done.stdout


def main():
    reason = network.impossible(limited=True)
    if reason:
        print(f"skipped: {reason}")
        return SKIPPED
    tool, wrong, up = sys.argv[1], [], ""
    try:
        for text, rate, options, variables, words, expected in JOBS:
            if ("measured" in variables.values()) != (sys.argv[2] == "measured"):
                continue
            if up != text:
                torusnet("down", "--name", NAME)
                code, output = torusnet("up", text, "--name", NAME, *(["--rate", rate] if rate else []))
                up = text
                checked, routes = torusnet("check", "--name", NAME)
                print(output, routes, sep="", flush=True)
                if code != 0 or checked != 0:
                    wrong.append(f"{text}: {output}{routes}")
                    continue
            code, output = run(tool, options, variables, words)
            missing = [word for word in expected if not re.search(word, output)]
            print(f"{text} {' '.join(options)} {variables}: {' '.join(words)}: {'ok' if code == 0 and not missing else 'WRONG'}", flush=True)
            if code != 0 or missing:
                wrong.append(f"{text}, {words}: exit code {code}, not printed: {missing}\n{output}")
    finally:
        torusnet("down", "--name", NAME, "--force")
    code, output = torusnet("up", "3x3:cable=+7@4", "--name", NAME)
    if code == 0 or "\"cable=+7@4\"" not in output:
        wrong.append(f"a cable that does not exist: {code} {output}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
