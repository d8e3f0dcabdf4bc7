# SPDX-License-Identifier: BSD-3-Clause
"""Whether the reference has all that the headers declare, and says what is missing; on small headers and on the real ones."""

import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "scripts/publishing"))

import headers  # noqa: E402
import reference  # noqa: E402
import shelves  # noqa: E402
import site_pages  # noqa: E402

SMALL = """/* SPDX-License-Identifier: BSD-3-Clause */
/* What the file is. */
#ifndef SMALL_H
#define SMALL_H
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Holds for all. */

/* A colour. With `code`, *term* and trefoil_go(); *out and list[i]. See docs/a.md. */
typedef enum {
    TREFOIL_RED = 3, /* like
                        blood */
    TREFOIL_BLUE,    /* 1 | 2 */
    /* the last */
    TREFOIL_LAST = 0x10
} trefoil_colour_t;

/* A struct. */
typedef struct {
    size_t size; /* its size */
    int a;       /* .begins with a dot */
} trefoil_struct_t;
/* Makes one. */
#ifdef __cplusplus
#define TREFOIL_ONE (static_cast<int>(1))
#else
#define TREFOIL_ONE \\
    ((int)1)
#endif

/* A handle. */
typedef struct trefoil_handle* trefoil_handle_t;
/* A function of the caller's. */
typedef int (*trefoil_fn)(int a, void* context);

/* Goes. Then stops.
 *
 * Second paragraph: TREFOIL_RED. */
TREFOIL_API int trefoil_go(trefoil_colour_t colour,
                           int /* nobody looks */ steps, const void* what_it_takes);
TREFOIL_API int trefoil_goes(void);

/* Begins. */
TREFOIL_API int trefoil_igo(int a);
/* Prepares. */
TREFOIL_API int trefoil_go_init(int a);

#ifdef __cplusplus
}
#endif
#endif
"""


def read(text):
    return headers.Reader("small.h", text).read()


class Reading(unittest.TestCase):
    def setUp(self):
        self.found = {each.name: each for each in read(SMALL)}

    def test_all_is_found(self):
        self.assertEqual(["trefoil_colour_t", "trefoil_struct_t", "TREFOIL_ONE", "trefoil_handle_t", "trefoil_fn", "trefoil_go",
                          "trefoil_goes", "trefoil_igo", "trefoil_go_init"], list(self.found))
        self.assertEqual(["enum", "struct", "macro", "type", "type"], [each.kind for each in list(self.found.values())[:5]])
        self.assertEqual([], headers.without_comment(self.found.values()))

    def test_comments_and_code(self):
        go = self.found["trefoil_go"]
        self.assertEqual(["Goes. Then stops.", "Second paragraph: TREFOIL_RED."], go.comment)
        self.assertEqual(["Holds for all."], go.section)
        self.assertEqual("int trefoil_go(\n    trefoil_colour_t colour,\n    int steps,\n    const void* what_it_takes);", go.code)
        self.assertEqual("#define TREFOIL_ONE ((int)1)", self.found["TREFOIL_ONE"].code)
        self.assertEqual("Makes one.", self.found["TREFOIL_ONE"].comment[0])
        self.assertEqual("typedef struct {\n    size_t size;\n    int a;\n} trefoil_struct_t;", self.found["trefoil_struct_t"].code)

    def test_what_stands_right_below_shares_the_comment(self):
        self.assertEqual(("trefoil_go", self.found["trefoil_go"].comment),
                         (self.found["trefoil_goes"].group, self.found["trefoil_goes"].comment))
        apart = read(SMALL.replace("TREFOIL_API int trefoil_goes", "\nTREFOIL_API int trefoil_goes"))
        self.assertEqual(["small.h:45: trefoil_goes has no comment"], headers.without_comment(apart))

    def test_members(self):
        self.assertEqual([("TREFOIL_RED = 3", "3", ["like blood"]), ("TREFOIL_BLUE = 4", "4", ["1 | 2"]),
                          ("TREFOIL_LAST = 0x10", "0x10", ["the last"])],
                         [(each.declared, each.value, each.comment) for each in self.found["trefoil_colour_t"].members])
        self.assertEqual([("size_t size", ["its size"]), ("int a", [".begins with a dot"])],
                         [(each.declared, each.comment) for each in self.found["trefoil_struct_t"].members])

    def test_what_lacks_a_comment_is_named(self):
        for comment, line, missing in (("/* A handle. */", "typedef struct trefoil_handle", "trefoil_handle_t"),
                                       ("/* its size */", "size_t size", "size of trefoil_struct_t"),
                                       ("/* 1 | 2 */", "TREFOIL_BLUE", "TREFOIL_BLUE of trefoil_colour_t"),
                                       ("/* Makes one. */", "#define TREFOIL_ONE \\", "TREFOIL_ONE")):
            with self.subTest(comment):
                text = SMALL.replace(comment, "")
                number = text.count("\n", 0, text.index(line)) + 1
                self.assertEqual([f"small.h:{number}: {missing} has no comment"], headers.without_comment(read(text)))

    def test_what_cannot_be_read_is_refused(self):
        for text in ("extern int a;\n", "TREFOIL_API int trefoil_a;\n", "/* a */ TREFOIL_API int trefoil_a(int\n", "int a\n#define B 1\n;"):
            with self.subTest(text), self.assertRaisesRegex(headers.HeaderError, r"small\.h:\d+: "):
                read(text)


class Writing(unittest.TestCase):
    def setUp(self):
        self.files = reference.Markdown(read(SMALL), ["TREFOIL_CHECK"]).files()

    def test_forms_are_on_one_page(self):
        self.assertEqual({"index.md", *(f"{name}.md" for name in ("trefoil_colour_t", "trefoil_struct_t", "TREFOIL_ONE", "trefoil_handle_t",
                                                                  "trefoil_fn", "trefoil_go"))}, set(self.files))
        page = self.files["trefoil_go.md"]
        self.assertEqual(["# `trefoil_go`", "## `trefoil_goes`", "## `trefoil_igo`", "## `trefoil_go_init`", "## Rules for all of `small.h`"],
                         re.findall("^#+ .*", page, re.MULTILINE))
        self.assertEqual(1, page.count("Goes. Then stops."))
        self.assertIn("[`TREFOIL_RED`](trefoil_colour_t.md#trefoil_red)", page)

    def test_comments_become_markdown(self):
        page = self.files["trefoil_colour_t.md"]
        self.assertIn("With `code`, *term* and [`trefoil_go()`](trefoil_go.md); `*out` and `list[i]`. See [docs/a.md](../docs/a.md).", page)
        self.assertIn("Value `4`: 1 \\| 2.", page)
        self.assertIn("Named by [`trefoil_go`](trefoil_go.md)", page)
        self.assertIn(", [`trefoil_igo`](trefoil_go.md#trefoil_igo), ", self.files["index.md"])

    def test_manual_pages(self):
        files = reference.Man(read(SMALL), "1.2.3").files()
        self.assertEqual(".so man3/trefoil_go.3\n", files["trefoil_igo.3"])
        self.assertIn("trefoil_go, trefoil_goes, trefoil_igo, trefoil_go_init \\- Goes\n", files["trefoil_go.3"])
        self.assertIn("\n\\&.begins with a dot\n", files["trefoil_struct_t.3"])
        self.assertIn(".BR trefoil_colour_t (3)", files["trefoil_go.3"])


class Real(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = ROOT / "include/trefoil"
        cls.declarations = headers.read(cls.folder)
        missing = headers.without_comment(cls.declarations)
        if missing:
            raise AssertionError("\n".join(missing))
        cls.files = reference.Markdown(cls.declarations).files()

    def declared(self):
        """By another reading: all names that are declared, with their enumerators."""
        text = "".join(path.read_text(encoding="utf-8") for path in self.folder.glob("*.h"))
        code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        names = set(re.findall(r"TREFOIL_API\s[^;]*?\b(trefoil_\w+)\s*\(", code))
        names |= set(re.findall(r"\b(trefoil_\w+_t);", code)) | set(re.findall(r"\(\*(trefoil_\w+_fn)\)", code))
        names |= set(re.findall(r"#define (TREFOIL_\w+)", code)) - {"TREFOIL_" + path.stem.upper() + "_H" for path in self.folder.glob("*.h")}
        return names | {name for body in re.findall(r"enum \{(.*?)\}", code, re.DOTALL) for name in re.findall(r"TREFOIL_\w+", body)}

    def test_all_that_is_declared_has_an_entry(self):
        names = self.declared()
        self.assertGreater(len(names), 150)
        headings = set(re.findall(r"^#+ `(\w+)`$", "\n".join(self.files.values()), re.MULTILINE))
        self.assertEqual((set(), set()), (names - headings, headings - names))

    def test_a_planted_declaration_is_missed(self):
        text = (self.folder / "status.h").read_text(encoding="utf-8")
        planted = text.replace("#ifdef __cplusplus\n}", "TREFOIL_API int trefoil_planted(void);\n\n#ifdef __cplusplus\n}")
        self.assertRegex(headers.without_comment(headers.Reader("status.h", planted).read())[0], r"status\.h:\d+: trefoil_planted has no comment")

    def test_links_lead_to_headings(self):
        for name, text in self.files.items():
            for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", text):
                if target.startswith("../"):
                    self.assertTrue((ROOT / target[3:]).exists(), f"{name}: {target}")
                    continue
                self.assertIn(target or name, self.files, name)
                if anchor:
                    headings = [found.lower() for found in re.findall(r"^#+ `(\w+)`$", self.files[target or name], re.MULTILINE)]
                    self.assertIn(anchor, headings, name)


class Shelves(unittest.TestCase):
    def test_each_page_stands_on_one(self):
        self.assertEqual([], shelves.findings(site_pages.repository_pages(ROOT)))

    def test_a_page_on_none_and_one_that_is_gone_are_named(self):
        names = site_pages.repository_pages(ROOT)
        names.remove("docs/log.md")
        wrong = shelves.findings([*names, "docs/planted.md", "docs/algorithms/planted.md"])
        self.assertEqual(2, len(wrong))
        self.assertRegex(wrong[0], "^docs/planted.md is on no shelf")
        self.assertRegex(wrong[1], "^docs/log.md is on a shelf, but is not there")


class Sources(unittest.TestCase):
    def test_links_lead_to_pages_that_show_sources_and_names_to_the_reference(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            (root / "examples").mkdir()
            (root / "README.md").write_text("# A\n", encoding="utf-8")
            (root / "examples/a.c").write_text("int a;\n", encoding="utf-8")
            (root / "docs/b.md").write_text("[x](../examples) [y](../README.md#a) [z](gone.md) [v](https://example.org/v)\n"
                                            "`trefoil_go` `trefoil_gone` [`trefoil_go`](../README.md)\n# `trefoil_go`\n", encoding="utf-8")
            made = site_pages.Folder(root, root / "made")
            made.places = {"trefoil_go": "trefoil_start"}
            made.page("docs/b.md")
            for source in made.sources:
                made.source(source)
            self.assertEqual("[x](../source/examples.md) [y](../index.md#a) [z](gone.md) [v](https://example.org/v)\n"
                             "[`trefoil_go`](../reference/trefoil_start.md) `trefoil_gone` [`trefoil_go`](../index.md)\n# `trefoil_go`\n",
                             (root / "made/docs/b.md").read_text(encoding="utf-8"))
            self.assertIn("- [examples/a.c](examples/a.c.md)", (root / "made/source/examples.md").read_text(encoding="utf-8"))
            self.assertIn("~~~~~~c\nint a;\n~~~~~~", (root / "made/source/examples/a.c.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
