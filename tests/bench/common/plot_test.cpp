// SPDX-License-Identifier: BSD-3-Clause
// Pictures: what gnuplot is told, and that a failure leaves no half file.
#include "bench/common/plot.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "topo/error.hpp"

namespace trefoil::tool {
namespace {

Figure example() {
    LinePanel lines;
    lines.title = "it's `touch here` \"$(pwd)\"\nplot 1";
    lines.lines = {{"swing-b", {{32, 1}, {1024, 5}}}, {"a_b", {{32, 2}, {1024, 4}}}};
    lines.x_ticks = {{32, "32"}, {1024, "1K"}};
    HeatPanel heat;
    heat.rows = {"swing-b"};
    heat.columns = {"32", "1K", "1M"};
    heat.values = {{-0.25, std::nan(""), 1.5}};
    heat.texts = {{"-25 %", "", "+150 %"}};
    return {"Both", {lines, heat}, 0};
}

std::string content(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

/// A folder of its own, empty at first, in which the tests draw.
class Plot : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = std::filesystem::temp_directory_path() / "plot_test.XXXXXX";
        ASSERT_NE(nullptr, mkdtemp(name.data()));
        folder = name;
        path = std::getenv("PATH");
    }
    void TearDown() override {
        setenv("PATH", path.c_str(), 1);
        std::filesystem::remove_all(folder);
    }
    std::size_t files() const {
        std::size_t count = 0;
        for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator(folder)) {
            ++count;
        }
        return count;
    }
    /// A program of that name that does as the script says.
    void pretend_gnuplot(const std::string& script) {
        std::filesystem::create_directory(folder + "/bin");
        std::ofstream(folder + "/bin/gnuplot") << "#!/bin/sh\n" << script;
        chmod((folder + "/bin/gnuplot").c_str(), 0755);
        setenv("PATH", (folder + "/bin:" + path).c_str(), 1);
    }
    std::string folder, path;
};

bool have_gnuplot() {
    try {
        check_figure_file("x.svg");
        return true;
    } catch (const Error&) {
        return false;
    }
}

TEST_F(Plot, texts_are_quoted_so_that_nothing_in_them_is_run) {
    const std::string script = figure_script(example(), "svg");
    EXPECT_NE(std::string::npos, script.find("set title 'it''s `touch here` \"$(pwd)\" plot 1'\n"));
    EXPECT_EQ(std::string::npos, script.find("\nplot 1'"));
}

TEST_F(Plot, draws_both_kinds) {
    if (!have_gnuplot()) {
        GTEST_SKIP() << "gnuplot is not here (Debian: gnuplot-nox)";
    }
    write_figure(folder + "/it's.svg", example());
    const std::string svg = content(folder + "/it's.svg");
    EXPECT_NE(std::string::npos, svg.find("</svg>"));
    for (const char* text : {"a_b", "+150 %", "-25 %", "it's", "Both"}) {
        EXPECT_NE(std::string::npos, svg.find(text)) << text;
    }
    write_figure(folder + "/b.png", example());
    EXPECT_EQ("\x89PNG", content(folder + "/b.png").substr(0, 4));
    EXPECT_EQ(2U, files());
}

TEST_F(Plot, a_table_without_values_or_of_equal_ones_is_drawn) {
    if (!have_gnuplot()) {
        GTEST_SKIP() << "gnuplot is not here (Debian: gnuplot-nox)";
    }
    HeatPanel empty;
    empty.rows = empty.columns = {"one"};
    empty.values = {{std::nan("")}};
    HeatPanel zero = empty, sequential = empty;
    zero.values = sequential.values = {{0}};
    sequential.centre = std::nan("");
    write_figure(folder + "/a.svg", {"", {empty, zero, sequential}, 2});
    EXPECT_NE(std::string::npos, content(folder + "/a.svg").find("</svg>"));
}

TEST_F(Plot, a_failure_leaves_what_was_there) {
    std::ofstream(folder + "/a.svg") << "old";
    pretend_gnuplot("echo half a picture; echo no such terminal >&2; exit 1\n");
    try {
        write_figure(folder + "/a.svg", example());
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string::npos, std::string(error.what()).find("no such terminal"));
    }
    EXPECT_EQ("old", content(folder + "/a.svg"));
    EXPECT_EQ(2U, files());  // and the folder of the pretended gnuplot
    pretend_gnuplot("exit 0\n");
    EXPECT_THROW(write_figure(folder + "/a.svg", example()), Error);
    EXPECT_EQ("old", content(folder + "/a.svg"));
}

TEST_F(Plot, says_what_is_missing) {
    EXPECT_THROW(check_figure_file(folder + "/a.pdf"), Error);
    EXPECT_THROW(check_figure_file(folder + "/nowhere/a.svg"), Error);
    setenv("PATH", folder.c_str(), 1);
    try {
        check_figure_file(folder + "/a.svg");
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string::npos, std::string(error.what()).find("gnuplot-nox"));
    }
}

}  // namespace
}  // namespace trefoil::tool
