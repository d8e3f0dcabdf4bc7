// SPDX-License-Identifier: BSD-3-Clause
// `trefoil info`: everything that it promises is there, as text and as data.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/bench/tool.hpp"

namespace trefoil::test {
namespace {

using Json = nlohmann::ordered_json;

bool lists(const Json& rows, const std::string& name) {
    for (const Json& row : rows) {
        if (row["name"] == name) {
            return true;
        }
    }
    return false;
}

TEST(Info, tells_everything_as_data) {
    const auto result = run_tool({"info", "--json", "--torus", "3x1"});
    ASSERT_EQ(result.code, 0) << result.err;
    const Json all = Json::parse(result.out);
    EXPECT_FALSE(all["trefoil"].get<std::string>().empty());
    EXPECT_FALSE(all["build"]["compiler"].get<std::string>().empty());
    EXPECT_FALSE(all["machine"]["cores"].empty());
    EXPECT_TRUE(lists(all["backends"], "memory"));
    EXPECT_TRUE(lists(all["backends"], "ofi"));
    EXPECT_TRUE(lists(all["algorithms"], "trivance-b"));
    EXPECT_TRUE(lists(all["algorithms"], "dissemination"));
    EXPECT_TRUE(lists(all["environment"], "TREFOIL_TORUS"));
    ASSERT_EQ(all["ports"].size(), 4U);
    EXPECT_EQ(all["ports"][0]["port"], "+0");
    EXPECT_EQ(all["ports"][0]["neighbour"], "rank 1 (1,0)");
    EXPECT_EQ(all["ports"][1]["neighbour"], "rank 2 (2,0)");
    EXPECT_EQ(all["ports"][2]["neighbour"], "none");
}

TEST(Info, a_backend_that_is_absent_says_why) {
    const Json all = Json::parse(run_tool({"info", "--json"}).out);
    for (const Json& backend : all["backends"]) {
        EXPECT_FALSE(backend["about"].get<std::string>().empty()) << backend;
    }
    EXPECT_FALSE(all.contains("ports"));
}

TEST(Info, is_readable) {
    const auto result = run_tool({"info", "--torus", "3x3"});
    ASSERT_EQ(result.code, 0) << result.err;
    for (const char* text :
         {"Trefoil ", "Backends", "Providers and their NICs", "Ports of a rank on torus 3x3",
          "rank 3 (1,0)", "Algorithms", "Environment variables", "TREFOIL_BACKEND"}) {
        EXPECT_NE(result.out.find(text), std::string::npos) << text;
    }
}

TEST(Info, a_misspelt_variable_is_pointed_out) {
    setenv("TREFOIL_BAKEND", "memory", 1);
    const auto result = run_tool({"info"});
    unsetenv("TREFOIL_BAKEND");
    EXPECT_NE(result.out.find("did you mean TREFOIL_BACKEND?"), std::string::npos) << result.out;
}

TEST(Info, refuses_a_torus_that_is_none) {
    const auto result = run_tool({"info", "--torus", "0x3"});
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find("is not a torus"), std::string::npos) << result.err;
}

TEST(Tool, tells_its_version_and_helps) {
    EXPECT_EQ(run_tool({"--version"}).out.substr(0, 8), "trefoil ");
    for (const char* command : {"run", "plan", "info", "perf"}) {
        const auto help = run_tool({command, "--help"});
        EXPECT_EQ(help.code, 0);
        EXPECT_NE(help.out.find("Example: trefoil " + std::string(command)), std::string::npos)
            << help.out;
    }
    EXPECT_EQ(run_tool({}).code, 2);
    EXPECT_EQ(run_tool({"dance"}).code, 2);
}

}  // namespace
}  // namespace trefoil::test
