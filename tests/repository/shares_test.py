# SPDX-License-Identifier: BSD-3-Clause
"""Each test runs in every run of scripts/test or in one of its shares, and CTest takes the shares' patterns.

A test that no share names would never fail again, and CTest goes on without a pattern that it does not take. The shares' own
functions are run, with a run_tests that lists the tests instead.
"""

import pathlib
import re
import subprocess
import sys
import unittest

ROOT, BUILD, CTEST = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]

LISTS = """
set -euo pipefail
source "$1/scripts/common.sh"
source "$1/scripts/testing/shares.sh"
build=$2 ctest=$3
list() {
    printf 'of %s\\n' "$1"
    "$ctest" --test-dir "$build" --show-only "${@:2}" 2>&1 | sed -nE 's/^ *Test +#[0-9]+: /test /p; /RegularExpression/p'
}
build_dev() { :; }
configure() { :; }
build() { :; }
run_tests() {
    local name=$each
    [[ $2 != *san* ]] || name+=" under $2"
    list "$name" "${@:3}"
}
under_sanitizer() { list "$each under $1" "${@:2}"; }
list all
list quick "${quick[@]}"
for each in "${shares[@]}"; do
    if declare -f "share_$each" | grep -qE 'run_tests|under_sanitizer'; then
        "share_$each"
    fi
done
"""


def lists():
    """The names of tests by who runs them, and what CTest says of patterns."""
    output = subprocess.run(["bash", "-c", LISTS, "bash", ROOT, BUILD, CTEST], check=True, text=True, timeout=120,
                            stdout=subprocess.PIPE).stdout
    found, complaints = {}, []
    for line in output.splitlines():
        kind, _, text = line.partition(" ")
        if kind == "of":
            name, tests = text, found.setdefault(text, set())
        elif kind == "test":
            tests.add(text.split()[0])
        else:
            complaints.append(f"{name}: {line}")
    return found, complaints


def words_of(pattern, at=0):
    """All that a pattern of letters, alternatives and groups stands for, and where it ends."""
    words, ends = [], [""]
    while at < len(pattern) and pattern[at] != ")":
        if pattern[at] == "(":
            inner, at = words_of(pattern, at + 1)
            ends = [end + word for end in ends for word in inner]
        elif pattern[at] == "|":
            words, ends = words + ends, [""]
        else:
            ends = [end + pattern[at] for end in ends]
        at += 1
    return words + ends, at


class Shares(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lists, cls.complaints = lists()

    def test_patterns_are_patterns(self):
        self.assertEqual([], self.complaints)

    def test_each_test_is_run_by_someone(self):
        everything = self.lists["all"]
        self.assertGreater(len(everything), 100)
        # What a sanitizer looks at is looked at without one, too.
        ran = set().union(*(tests for name, tests in self.lists.items() if name != "all" and " under " not in name))
        self.assertEqual([], sorted(everything - ran),
                         "these tests are in no run: name them in a share of scripts/testing/shares.sh, or make them quick")

    def test_what_sanitizers_look_at_in_every_run_is_there(self):
        chosen = re.findall(r"^readonly under_\w+san='\^\((.*)\)\$'$", (ROOT / "scripts/test").read_text(), re.MULTILINE)
        self.assertEqual(2, len(chosen))
        for pattern in chosen:
            self.assertEqual([], sorted(set(words_of(pattern)[0]) - self.lists["quick"]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
