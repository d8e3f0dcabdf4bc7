# SPDX-License-Identifier: BSD-3-Clause
"""Breaks each rule on purpose and expects the repository's checks to notice."""

import pathlib
import sys
import tempfile
import unittest
import unittest.mock

import check_docs
import check_environment
import check_headers
import check_includes
import check_sources
import check_symbols
import words

HEAD = "// SPDX-License-Identifier: BSD-3-Clause\n// A file of a small broken tree.\n#pragma once\n"
C_COMPILER, CXX_COMPILER = sys.argv[1:3]


class Tree(unittest.TestCase):
    """A project of the files that a test writes."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.write("CMakeLists.txt", "# SPDX-License-Identifier: BSD-3-Clause\n")
        self.write("topo/torus.hpp", HEAD)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


class Includes(Tree):
    def one_include(self, path, include):
        self.write(path, HEAD + f"#include {include}\n")
        return check_includes.findings(self.root)

    def expect_one_finding(self, path, include):
        with self.subTest(path=path, include=include):
            self.assertEqual(1, len(self.one_include(path, include)))
        (self.root / path).unlink()

    def test_arrows_that_point_down_are_allowed(self):
        for path, include in (
            ("algorithms/rings/a.hpp", '"topo/torus.hpp"'),
            ("algorithms/trees/a.hpp", '"algorithms/bandwidth/b.hpp"'),
            ("algorithms/trees/a.hpp", '"algorithms/trees/b.hpp"'),
            ("threads/executor/a.hpp", '"backend/ports/port_group.hpp"'),
            ("threads/workers/a.cpp", "<thread>"),
            ("comm/plan/a.cpp", '"comm/setup/environment.hpp"'),
            ("comm/api/a.cpp", '"trefoil/trefoil.h"'),
            ("backend/ofi/a.cpp", "<rdma/fabric.h>"),
            ("bench/main.cpp", '"bench/common/command.hpp"'),
            ("bench/perf/a.cpp", '"comm/plan/select.hpp"'),
            ("mpi/a.cpp", "<mpi.h>"),
            ("tests/topo/a.cpp", '"comm/plan/select.hpp"'),
        ):
            with self.subTest(path=path, include=include):
                self.assertEqual([], self.one_include(path, include))

    def test_other_arrows_are_found(self):
        for path, include in (
            ("topo/a.hpp", '"algorithms/schedule/schedule.hpp"'),
            ("algorithms/rings/a.hpp", '"topo/host.hpp"'),
            ("algorithms/rings/a.hpp", "<thread>"),
            ("algorithms/rings/a.hpp", "<chrono>"),
            ("backend/ports/a.hpp", '"algorithms/schedule/schedule.hpp"'),
            ("backend/ports/a.hpp", '"threads/workers/port_threads.hpp"'),
            ("threads/executor/a.hpp", '"backend/bootstrap/bootstrap.hpp"'),
            ("threads/executor/a.hpp", '"algorithms/schedule/schedule.hpp"'),
            ("threads/executor/a.hpp", "<algorithms/schedule/schedule.hpp>"),
            ("comm/plan/a.hpp", '"bench/common/command.hpp"'),
            ("comm/plan/a.hpp", '"neighbour.hpp"'),
            ("comm/plan/a.hpp", '"../topo/torus.hpp"'),
            ("include/trefoil/a.h", '"comm/communicator/communicator.hpp"'),
            ("examples/a.cpp", '"comm/communicator/communicator.hpp"'),
        ):
            self.expect_one_finding(path, include)

    def test_wrong_arrows_between_sub_rooms_are_found(self):
        for path, include in (
            ("algorithms/schedule/a.hpp", '"algorithms/analysis/verify.hpp"'),
            ("algorithms/rings/a.hpp", '"algorithms/bandwidth/product.hpp"'),
            ("algorithms/latency/a.cpp", '"algorithms/registry/registry.hpp"'),
            ("algorithms/alltoall/a.cpp", '"algorithms/latency/linear.hpp"'),
            ("backend/memory/a.cpp", '"backend/ofi/ofi.hpp"'),
            ("backend/ports/a.hpp", '"backend/registry/libraries.hpp"'),
            ("threads/workers/a.hpp", '"threads/executor/executor.hpp"'),
            ("threads/kernels/a.hpp", '"backend/ports/port_group.hpp"'),
            ("comm/plan/a.cpp", '"comm/communicator/communicator.hpp"'),
            ("comm/communicator/a.cpp", '"backend/memory/memory.hpp"'),
            ("comm/communicator/a.cpp", '"trefoil/trefoil.h"'),
            ("bench/common/a.cpp", '"bench/perf/perf.hpp"'),
            ("bench/perf/a.cpp", '"bench/put/put.hpp"'),
        ):
            self.expect_one_finding(path, include)

    def test_a_library_is_for_its_room_alone(self):
        for path, include in (
            ("threads/executor/a.hpp", "<rdma/fabric.h>"),
            ("backend/ucx/a.hpp", "<rdma/fabric.h>"),
            ("backend/registry/a.cpp", "<ucp/api/ucp.h>"),
            ("backend/ofi/a.cpp", "<infiniband/verbs.h>"),
            ("comm/api/a.cpp", "<mpi.h>"),
            ("backend/memory/a.cpp", "<pmix.h>"),
        ):
            self.expect_one_finding(path, include)

    def test_a_folder_without_a_row_is_found(self):
        for path in ("algorithms/a.hpp", "comm/attic/a.hpp", "topo/maps/a.hpp", "include/a.h"):
            self.expect_one_finding(path, "<vector>")

    def test_files_that_include_each_other_are_found(self):
        self.write("topo/a.hpp", HEAD + '#include "topo/b.hpp"\n')
        self.write("topo/b.cpp", HEAD + '#include "topo/b.hpp"\n#include "topo/c.hpp"\n')
        self.write("topo/c.hpp", HEAD)
        self.assertEqual([], check_includes.findings(self.root))
        self.write("topo/c.hpp", HEAD + '#include "topo/a.hpp"\n')
        found = check_includes.findings(self.root)
        self.assertEqual(["files include each other: topo/a -> topo/b -> topo/c -> topo/a"], found)

    def test_cycles_in_the_table_are_found(self):
        self.assertEqual([], check_includes.table_findings(check_includes.KNOWS))
        for wrong, header in (
            ("algorithms/schedule", "algorithms/registry/"),
            ("algorithms/rings", "algorithms/trees/tree_ring.hpp"),
            ("backend/system", "backend/"),
            ("topo", "trefoil/"),
        ):
            with self.subTest(wrong=wrong, header=header):
                table = dict(check_includes.KNOWS)
                table[wrong] += (header,)
                if wrong == "topo":
                    table["include/trefoil"] += ("topo/error.hpp",)
                self.assertEqual(1, len(check_includes.table_findings(table)))

    def test_the_map_of_rooms_names_all_and_no_other(self):
        page = "".join(f"| `{room}` | what it is |\n" for room in check_includes.KNOWS)
        self.assertEqual([], check_includes.page_findings(check_includes.KNOWS, page))
        self.assertEqual(1, len(check_includes.page_findings(check_includes.KNOWS, page + "| `attic` | what it is |\n")))
        self.assertEqual(1, len(check_includes.page_findings({**check_includes.KNOWS, "attic": ()}, page)))


class Sources(Tree):
    def test_a_good_tree_has_no_findings(self):
        self.assertEqual([], check_sources.findings(self.root))

    def test_broken_files_are_found(self):
        licence = HEAD.splitlines()[0]
        for name, text in (
            ("topo/a.cpp", "// No licence here at all.\n"),
            ("topo/a.cpp", ""),
            ("topo/a.cpp", licence + "\n\nint x;\n"),
            ("topo/a.cpp", HEAD + "\n" * 500),
            ("topo/a.hpp", HEAD.replace("#pragma once\n", "")),
            ("scripts/a", "#!/usr/bin/env bash\nset -eu\n"),
        ):
            with self.subTest(name=name, text=text[:60]):
                self.write(name, text)
                self.assertEqual(1, len(check_sources.findings(self.root)))
            (self.root / name).unlink()


    def test_descriptors_that_may_be_those_of_the_program_are_found(self):
        for line, findings in (
            ("Descriptor file(memfd_create(name, 0));", 0),
            ("const Descriptor file(\n    open(name, O_RDWR));", 0),
            ("Arena() : file_(Descriptor(eventfd(0, 0))) {}", 0),
            ("Descriptor socket(accept4(1, nullptr, nullptr, 0));", 0),
            ("channels.open(1); group->socket(2); Region::open(use, text); open(segment);", 0),
            ("const int file = open(name, O_RDONLY);", 0),
            ("const int file = ::open(name, O_WRONLY);", 1),
            ("const int file = openat(\n    folder, name, O_CREAT | O_RDWR);", 1),
            ("Arena() : file_(memfd_create(name, 0)) {}", 1),
            ("int pair = socket(AF_INET, 0, 0) + dup(1);", 2),
        ):
            with self.subTest(line=line):
                self.write("topo/a.cpp", HEAD + line + "\n")
                self.assertEqual(findings, len(check_sources.findings(self.root)))
                self.write("bench/a.cpp", HEAD + line + "\n")
                self.assertEqual(findings, len(check_sources.findings(self.root)))


    def test_decimal_commas_are_found(self):
        for line, findings in (('print("%d %5s of 100 % free");', 0), ('print("%.3g us", time);', 1), ('print("%f");', 1)):
            with self.subTest(line=line):
                self.write("topo/a.cpp", HEAD + line + "\n")
                self.assertEqual(findings, len(check_sources.findings(self.root)))


class Headers(Tree):
    def findings(self):
        return check_headers.findings(self.root, C_COMPILER, CXX_COMPILER)

    def test_complete_headers_compile(self):
        self.write("include/trefoil/a.h", "#ifndef A\n#define A\n#include <stddef.h>\nsize_t a(void);\n#endif\n")
        self.assertEqual([], self.findings())

    def test_incomplete_headers_are_found(self):
        self.write("topo/a.hpp", HEAD + "std::string name();\n")
        self.assertEqual(1, len(self.findings()))

    def test_what_a_source_includes_first_is_left_to_the_build(self):
        self.write("topo/a.hpp", HEAD + "std::string name();\n")
        self.write("topo/a.cpp", '#include "topo/a.hpp"\n')
        self.assertEqual([], self.findings())
        self.write("topo/a.cpp", '#include <string>\n#include "topo/a.hpp"\n')
        self.assertEqual(1, len(self.findings()))

    def test_a_public_header_must_be_c(self):
        self.write("include/trefoil/a.h", "#ifndef A\n#define A\nenum class Colour { red };\n#endif\n")
        self.assertEqual(1, len(self.findings()))

    def test_a_missing_guard_is_found(self):
        self.write("include/trefoil/a.h", "struct a { int b; };\n")
        self.assertEqual(3, len(self.findings()))


class Symbols(unittest.TestCase):
    PUBLIC = check_symbols.declared("TREFOIL_API int trefoil_one(void);\nTREFOIL_API const char*\n  trefoil_two(int a);")

    def test_declarations_are_read(self):
        self.assertEqual({"trefoil_one", "trefoil_two"}, self.PUBLIC)

    def test_exactly_the_public_ones_are_right(self):
        self.assertEqual([], check_symbols.findings(["TREFOIL_0.1", "trefoil_one@@TREFOIL_0.1", "trefoil_two"], self.PUBLIC))

    def test_what_is_loaded_with_it_is_found(self):
        right = " (NEEDED) Shared library: [libc.so.6]\n (FLAGS_1) Flags: NOW NODELETE\n"
        self.assertEqual([], check_symbols.loading_findings(right))
        self.assertEqual(1, len(check_symbols.loading_findings(right + " (NEEDED) Shared library: [libucp.so.0]\n")))
        self.assertEqual(1, len(check_symbols.loading_findings(right.replace("NODELETE", ""))))

    def test_functions_that_the_wrapper_lacks_are_found(self):
        wrapper = "void one() { trefoil_one(); }  // and not trefoil_two()\nvoid two() { trefoil_two_more(); }\n"
        self.assertEqual(["trefoil_two has no counterpart in the C++ wrapper"],
                         check_symbols.unwrapped(self.PUBLIC, wrapper))

    def test_more_and_fewer_are_found(self):
        self.assertEqual(1, len(check_symbols.findings(["trefoil_one", "trefoil_two", "_ZN7trefoilE"], self.PUBLIC)))
        self.assertEqual(1, len(check_symbols.findings(["trefoil_one"], self.PUBLIC)))


class Docs(unittest.TestCase):
    LONG = "word " * 30 + "- 1. end"
    PAGE = f"# {LONG[:60]}\n\n{LONG}\nmore\n\n- {LONG}\n  {LONG}\n- short\n\n| {LONG} |\n\n    {'x' * 120}\n"

    def test_long_lines_are_found(self):
        self.assertEqual(3, len(check_docs.findings_of("a.md", self.PAGE)))
        self.assertEqual(1, len(check_docs.findings_of("a.md", "    " + self.LONG)))

    def test_mending_changes_nothing_but_the_ends_of_lines(self):
        mended = check_docs.mended(self.PAGE)
        self.assertEqual([], check_docs.findings_of("a.md", mended))
        self.assertEqual(self.PAGE.split(), mended.split())
        self.assertEqual(mended, check_docs.mended(mended))
        self.assertEqual(2, sum(line.startswith("- ") for line in mended.splitlines()))
        code = "```\n" + self.LONG + "\n```\n    " + self.LONG + "\n"
        self.assertEqual(code, check_docs.mended(code))


    def test_errors_without_a_cure_are_found(self):
        page = "| `TREFOIL_ERROR_A` | a cause | a cure |\n\nAlso `TREFOIL_ERROR_B`.\n"
        self.assertEqual(["docs/troubleshooting.md: TREFOIL_ERROR_B has no cure"],
                         check_docs.errors_without_a_cure("TREFOIL_ERROR_A = 1, TREFOIL_ERROR_B = 2, TREFOIL_ERROR_A", page))


class Words(unittest.TestCase):
    def test_each_pattern_finds_its_sentence(self):
        for pattern, _, sentence in words.AVOID:
            with self.subTest(pattern=pattern):
                self.assertTrue(words.findings_of("a.md", f"Right so far. {sentence}\n"))
                self.assertTrue(words.findings_of("a.md", f"- *An item.* {sentence}\n"))
                self.assertEqual([], words.findings_of("a.md", f"```text\n{sentence}\n```\n\n    {sentence}\n\n`{sentence}`\n"))
            alone = [other for other in words.AVOID if other[0] != pattern]
            with self.subTest(without=pattern), unittest.mock.patch.object(words, "AVOID", alone):
                self.assertEqual([], words.findings_of("a.md", sentence), "another pattern finds it, too")

    def test_what_natives_write_is_right(self):
        for text in ("# What a rank holds", "What fails here?", "| What it does | Of 9 |", "There is no NIC.", "It is no longer used.",
                     "The rank that ends it reports why.", "All but one are right.", "**What it costs.** Nothing."):
            with self.subTest(text=text):
                self.assertEqual([], words.findings_of("a.md", text + "\n"))

    def test_a_sentence_is_found_where_it_begins(self):
        found = words.findings_of("a.md", "# Title\n\nRight.\n\n1. One is\n   right. Of two\n   none is.\n")
        self.assertEqual(1, len(found))
        self.assertRegex(found[0], r"^a\.md:5: ")

    def test_comments_of_headers_are_looked_at(self):
        found = words.findings_in_comments("a.h", "int one(void);\n\n/* Right. What it\n * does is this. */\nint two(void); // What?\n"
                                                  "    /// Right.\n    /// It tells why.\n")
        self.assertEqual(["a.h:3", "a.h:6"], [finding.rsplit(': "', 1)[0] for finding in found])

    def test_messages_of_sources_are_looked_at(self):
        for name, text, line in (
                ("a.cpp", '// It tells why.\nthrow Error(status, "right; " // so\n "it " /* tells */ "tells why");\n', 2),
                ("a.cpp", 'const char* help = R"(Right.\nIt tells why.)";\n', 1),
                ("a.cpp", 'char quote = \'"\';\nsay("what it is: it tells why");\n', 2),
                ("a.js", "// It tells why.\nshow(`rank ${rank} tells why`);\n", 2),
                ("a.html", '<p aria-label="It tells why">Right</p>\n', 1),
                ("scripts/a.py", 'def one():\n    """It tells why."""\n    raise Failed(f"rank {rank} tells {why} of it")\n', 3),
                ("bindings/a.py", 'def one():\n    """It tells why."""\n', 2),
                ("scripts/a", '#!/usr/bin/env python3\n"""It tells why."""\n', 2),
                ("scripts/a", "#!/bin/bash\n# It tells why.\ncat <<'END'\nIt tells why.\nEND\n", 3),
                ("scripts/a", '#!/bin/bash\ndie "it tells why"  # It tells why.\n', 2)):
            with self.subTest(text=text):
                found = words.findings_in_messages(name, text)
                self.assertEqual([f"{name}:{line}"], [finding.rsplit(': "', 1)[0] for finding in found])
        for text in ('find(name, "tells");\n', 'say(" did not come to " + name);\n', 'say("did you mean " + name);\n'):
            with self.subTest(text=text):
                self.assertEqual([], words.findings_in_messages("a.cpp", text))

    def test_only_words_count(self):
        self.assertEqual(4, words.words("| a word | 12.5 | `x` | --- | 3 KiB |\n\n    trefoil run\n\n```c\nint x;\n```\n"))

    def test_pages_that_are_too_long_are_found(self):
        most = words.MOST_OF_A_PAGE
        self.assertEqual([], words.too_long({"docs/a.md": most, "docs/performance.md": most + 1}))
        self.assertEqual(1, len(words.too_long({"docs/a.md": most + 1})))
        self.assertEqual(1, len(words.too_long({"docs/performance.md": words.MOST_WORDS + 1})))


class Environment(Tree):
    def setUp(self):
        super().setUp()
        self.write("comm/setup/environment_table.cpp", HEAD + '    {"TREFOIL_A", "count", "1", "x"},\n'
                   'struct Renamed {\n    {"TREFOIL_OLD", "TREFOIL_A"},\n')
        self.write("include/trefoil/trefoil.h", "#define TREFOIL_SUM 0\n")
        self.write("docs/environment.md", "| `TREFOIL_A` | count |\n")
        self.write("cmake/a.cmake", 'trefoil_optional(UCX e "" e "")\n')
        self.write("docs/building.md", "`TREFOIL_WITH_UCX`\n")
        self.write("docs/a.md", "TREFOIL_A, TREFOIL_SUM, `TREFOIL_WITH_UCX`, formerly TREFOIL_OLD\n")
        self.write("topo/a.cpp", HEAD + 'getenv("TREFOIL_A"), refuse("TREFOIL_OLD")\n')

    def findings(self):
        return check_environment.findings(self.root, ["docs/a.md"])

    def test_what_is_told_and_read_is_right(self):
        self.assertEqual([], self.findings())

    def test_what_has_no_row_is_found(self):
        for name, text in (("topo/a.cpp", 'getenv("TREFOIL_B")'), ("scripts/a", 'environ["TREFOIL_B"]'),
                           ("docs/a.md", "TREFOIL_B")):
            with self.subTest(name=name):
                before = (self.root / name).read_text(encoding="utf-8") if (self.root / name).exists() else ""
                self.write(name, before + text + "\n")
                self.assertEqual(1, len(self.findings()))
                self.write(name, before)

    def test_an_option_of_cmake_that_its_page_lacks_is_found(self):
        self.write("cmake/b.cmake", 'option(TREFOIL_C "c" ON)\nset(TREFOIL_D "" CACHE STRING "d")\ntrefoil_optional(E e "" e "")\n')
        self.write("docs/building.md", "`TREFOIL_C`, `TREFOIL_D`, `TREFOIL_WITH_E`, `TREFOIL_WITH_UCX`\n")
        self.assertEqual([], self.findings())
        self.write("docs/building.md", "`TREFOIL_C`, `TREFOIL_WITH_UCX`\n")
        self.assertEqual(2, len(self.findings()))

    def test_a_page_that_lacks_a_row_is_found(self):
        self.write("docs/environment.md", "| `TREFOIL_B` | count |\n")
        self.assertEqual(1, len(self.findings()))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
