#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The probe of uTofu finds out what the emulation does, whatever it was told to do.

Usage: probe.py TOOL. Exit code 0: all answers were right.
"""

import json
import os
import subprocess
import sys


def ask(tool, **settings):
    environment = {**os.environ, **{"EMULATED_TOFU_" + name: value for name, value in settings.items()}}
    command = [tool, "info", "--probe", "utofu", "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200)
    if done.returncode != 0:
        sys.exit(f"the probe failed: {done.stderr[-1000:]}")
    return json.loads(done.stdout)


def expect(answers, question, answer):
    if answers.get(question) != answer:
        sys.exit(f'"{question}": "{answers.get(question)}" instead of "{answer}"')


def main():
    tool = sys.argv[1]
    order = "notices before their data, in {} order".format
    answers = ask(tool, VCQS="5", PUTS="300", BUSY="0", NODE="3", SHAPE="2.2.1.1.1.1", HOSTILE="0")
    expect(answers, "network interfaces", "6")
    expect(answers, "place of this node (x.y.z.a.b.c)", "1.1.0.0.0.0")
    expect(answers, "virtual control queues of an interface", "5, then UTOFU_ERR_FULL (-6)")
    expect(answers, "puts with a notice that nobody asked for", "0 of 100 puts")
    expect(answers, "address in a remote notice", "after the last byte")
    expect(answers, "address of the sender in it", "as queried, without path")
    expect(answers, "local notice of a put", "success, edata 77")
    expect(answers, "old value of a word that was added to", "the notice has 41 of 41; memory has 42")
    expect(answers, "puts before the queue of puts is full", "300, then BUSY")
    expect(answers, order("strong"), "0 of 500")
    expect(answers, "edata of 0x1ff", "refused: UTOFU_ERR_INVALID_EDATA (-529)")
    late = "the sender's notices: UTOFU_ERR_MRQ_RMT_STADD (-197), edata 9, peer named"
    expect(answers, "put to memory that was deregistered", late)
    answers = ask(tool, UNREQUESTED="100", EDATA="truncate", UNORDERED="1", SEED="3")
    expect(answers, "puts with a notice that nobody asked for", "100 of 100 puts")
    expect(answers, "edata of 0x1ff", "arrives as 0xff")
    for which in ("strong", "no"):
        if answers[order(which)].startswith("0 of"):
            sys.exit(f"in {which} order no notice came early, though the emulation keeps none")


if __name__ == "__main__":
    main()
