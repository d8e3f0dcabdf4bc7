# SPDX-License-Identifier: BSD-3-Clause
"""Whether an option means the same in all subcommands: a letter is short for one name, a name has one meaning and takes a value
everywhere or nowhere, and a meaning has one name. The meaning is what --help says first, up to a comma, colon, semicolon or bracket."""

import re
import subprocess
import sys

TOOL = sys.argv[1]
COLUMN = 30  # where the text of an option begins, in its line or in the next one
# What one had to type before, and what the message must name.
RENAMED = (("perf allreduce -n 5", "--iters"), ("perf put -n 5", "--iters"), ("perf put -r 3", "--repetitions"),
           ("tune -n 2 -o f.json", "--output"), ("perf allreduce --json f.json", "--json-file"), ("perf put --json f.json", "--json-file"),
           ("tune -n 2 --json f.json", "--json-file"), ("explain allreduce 8 -t 3 --type int32", "--datatype"),
           ("run -n 2 --timeout 5 -- true", "--time-limit"), ("sim allreduce -t 3 --sync", "--lockstep"),
           ("plan --table --markdown .", "--pages"))


def help_of(words):
    return subprocess.run([TOOL, *words, "--help"], capture_output=True, text=True, timeout=60, check=True).stdout


def everything(words=()):
    text = help_of(words)
    parts = re.search(r"^Subcommands:\n((?:  .*\n)+)", text, re.MULTILINE)
    found = [(" ".join(("trefoil", *words)), text)]
    for part in re.findall(r"^  (\S+)", parts[1], re.MULTILINE) if parts else []:
        found += everything((*words, part))
    return found


def meaning_of(text):
    text = re.sub(r"^(flow|alltoall)( by [a-z0-9 ]+)?: ", "", text)  # where it applies
    return re.split(r"[,:;(]| by default", text)[0].strip()


def options_of(text):
    """(letters, long names, whether it takes a value, its meaning) of each option."""
    body = text[text.index("\nOptions:\n") + 1:]
    notes = re.search(r"^\S.*[^:\n]$", body, re.MULTILINE)  # the headings end in a colon
    lines = (body[:notes.start()] if notes else body).splitlines()
    for line, next_line in zip(lines, [*lines[1:], ""]):
        if not line.startswith("  -"):
            continue
        below = len(line) <= COLUMN or line[COLUMN - 1] != " "
        names, _, value = (line if below else line[:COLUMN]).strip().partition(" ")
        said = next_line if below else line[COLUMN:]
        words = names.split(",")
        letters = [word for word in words if not word.startswith("--")]
        yield letters, [word for word in words if word.startswith("--")], bool(value), meaning_of(said)


def clashes(commands):
    seen = {}  # (kind, key) -> {value: commands}
    for command, text in commands:
        for letters, names, takes, meaning in options_of(text):
            name = ",".join(names)
            for letter in letters:
                seen.setdefault(("is short for", letter), {}).setdefault(name, []).append(command)
            for each in names:
                seen.setdefault(("means", each), {}).setdefault(meaning, []).append(command)
                seen.setdefault(("takes a value", each), {}).setdefault(str(takes), []).append(command)
            seen.setdefault(("is the meaning of", meaning), {}).setdefault(name, []).append(command)
    return [f"\"{key}\" {kind} " + ", but ".join(f"\"{value}\" in {', '.join(where)}" for value, where in values.items())
            for (kind, key), values in seen.items() if len(values) > 1]


def check_itself():
    """It must find each kind of clash."""
    head = "\nOptions:\n  -h,--help                   Print this help\n"
    one = head + "  -n,--ranks NUMBER           How many ranks\n"
    for other, kind in (("  -n,--iters NUMBER           Timed calls\n", "is short for"), ("  --ranks NUMBER              Their numbers\n", "means"),
                        ("  --ranks                     How many ranks\n", "takes a value"),
                        ("  --processes NUMBER (1 to 65536)\n                              How many ranks; no default\n", "is the meaning of")):
        found = clashes([("a", one), ("b", head + other)])
        if len(found) != 1 or kind not in found[0]:
            sys.exit(f"a clash is not found: {other}{found}")
    if clashes([("a", one), ("b", one)]):
        sys.exit("a clash is found where there is none")


def main():
    check_itself()
    commands = everything()
    count = sum(1 for _, text in commands for _ in options_of(text))
    if count < 200:
        sys.exit(f"only {count} options were read")
    wrong = clashes(commands)
    for words, instead in RENAMED:
        done = subprocess.run([TOOL, *words.split()], capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 2 or instead not in done.stderr:
            wrong.append(f"trefoil {words}: exit code {done.returncode}, which does not name {instead}: {done.stderr}")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{count} options of {len(commands)} commands")


if __name__ == "__main__":
    main()
