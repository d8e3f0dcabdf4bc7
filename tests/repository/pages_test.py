# SPDX-License-Identifier: BSD-3-Clause
"""Breaks pages on purpose and expects the checks of links and commands to notice."""

import pathlib
import tempfile
import unittest

import doc_commands
import doc_links
import pages

PAGE = """# A page

Text:

    trefoil info    # a comment
        what it prints

    trefoil: a refusal

- an item

    with a second paragraph

```sh
# a comment
for i in 1 2; do
    echo $i
done
echo one \\
    two
```

```c
int main(void);
```

```console
$ trefoil plan
its output
```

     /\\
    a picture
"""


def texts(text):
    return [[line.text for line in block] for block in pages.commands(pathlib.Path("page.md"), text)]


class Commands(unittest.TestCase):
    def test_commands_are_found_and_nothing_else(self):
        self.assertEqual([["trefoil info    # a comment"],
                          ["for i in 1 2; do\n    echo $i\ndone", "echo one \\\n    two"],
                          ["trefoil plan"]], texts(PAGE))

    def test_the_first_column_of_a_table_of_commands_has_some(self):
        table = "| %s | What it does |\n| --- | --- |\n| `trefoil info` | `tells` |\n| none | |\n\n| `trefoil` | |\n"
        self.assertEqual([["trefoil info"]], texts(table % "Command"))
        self.assertEqual([], texts(table % "Name"))

    def planned(self, text):
        quick, slow, found = doc_commands.plan(pages.commands(pathlib.Path("page.md"), text))
        told = [finding for finding in found if finding.startswith("page.md")]
        return [[line.text for line in run] for run in quick], [[line.text for line in run] for run in slow], told

    def test_a_program_that_nobody_knows_is_a_finding(self):
        for command in ("rm -r build", "trefoil info && rm -r build", "A=1 B='two words' rm -r build", "echo a | rm -r build"):
            with self.subTest(command):
                quick, slow, found = self.planned(f"    {command}\n")
                self.assertEqual(([], []), (quick, slow))
                self.assertEqual(1, len(found))
                self.assertIn("page.md:1", found[0])

    def test_what_is_listed_is_not_run_and_what_is_long_is_apart(self):
        text = "    scripts/demo\n    TREFOIL_RANK=0 ./app\n    TREFOIL_RANK=1 ./app\n    trefoil perf put\n    ./app\n"
        self.assertEqual(([["TREFOIL_RANK=0 ./app", "TREFOIL_RANK=1 ./app"], ["./app"]], [["trefoil perf put"]], []),
                         self.planned(text))

    def test_an_entry_without_a_command_is_a_finding(self):
        found = doc_commands.plan([])[2]
        self.assertEqual(len(doc_commands.ELSEWHERE), len(found))


class Links(unittest.TestCase):
    def findings(self, text):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            (root / "README.md").write_text(text, encoding="utf-8")
            (root / "docs" / "a.md").write_text("# One, `two`\n\n## One, two\n\n    # no heading\n", encoding="utf-8")
            return doc_links.findings(root)

    def test_right_links(self):
        self.assertEqual([], self.findings(
            "# Top\n[a](docs/a.md), [b](docs/a.md#one-two), [c](docs/a.md#one-two-1), [d](#top), [e](https://example.org/x)\n"
            "`[f](nowhere.md)` ![g](docs/a.md \"title\")\n\n    [h](nowhere.md)\n"))

    def test_wrong_links(self):
        for link in ("[a](docs/b.md)", "![a](a.svg)", "[two\nlines](docs/b.md)", "[a](docs/a.md#three)", "[a](docs/a.md#no-heading)",
                     "[a](#one-two)", "[a](../outside.md)", '<img src="a.svg">'):
            with self.subTest(link):
                self.assertEqual(1, len(self.findings(link + "\n")), link)


if __name__ == "__main__":
    unittest.main()
