// SPDX-License-Identifier: BSD-3-Clause
// `trefoil explain`: the choice and its reasons, rules of the user's, maps, and what it refuses.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/bench/common/tool.hpp"
#include "tests/variable.hpp"

namespace trefoil::test {
namespace {

using Json = nlohmann::ordered_json;

Json answer(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "explain");
    arguments.emplace_back("--json");
    const ToolResult result = run_tool(arguments);
    EXPECT_EQ(0, result.code) << result.err;
    return result.code == 0 ? Json::parse(result.out) : Json();
}

std::string refused(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "explain");
    const ToolResult result = run_tool(arguments);
    EXPECT_EQ(2, result.code) << result.out;
    EXPECT_EQ("", result.out);
    return result.err;
}

TEST(Explain, the_cheapest_candidate_is_chosen_and_its_terms_add_up) {
    for (const char* const size : {"8", "64K", "4M"}) {
        const Json all = answer({"allreduce", size, "--torus", "3x3"});
        ASSERT_FALSE(all["candidates"].empty());
        EXPECT_EQ("model", all["decided_by"]);
        EXPECT_EQ(all["algorithm"], all["candidates"][0]["algorithm"]);
        EXPECT_EQ(1, all["candidates"][0]["times_the_best"]);
        double before = 0;
        for (const Json& one : all["candidates"]) {
            double sum = 0;
            for (const auto& [name, us] : one["terms_us"].items()) {
                sum += us.get<double>();
            }
            const double us = one["modelled_us"];
            EXPECT_NEAR(us, sum, 1e-9 * us);
            EXPECT_GE(us, before);
            before = us;
        }
    }
}

TEST(Explain, every_algorithm_is_a_candidate_or_has_a_reason) {
    const ToolResult listed = run_tool({"plan", "allreduce", "--list", "--torus", "9"});
    std::set<std::string> names, told;
    for (const std::string& line : lines_of(listed.out)) {
        if (!line.empty() && line[0] != ' ') {
            names.insert(line.substr(0, line.find(' ')));
        }
    }
    const Json all = answer({"allreduce", "64K", "--torus", "9"});
    for (const char* const list : {"candidates", "excluded"}) {
        for (const Json& one : all[list]) {
            const std::string choice = one["algorithm"];
            EXPECT_TRUE(told.insert(choice.substr(0, choice.find(':'))).second) << choice;
            EXPECT_TRUE(!one.contains("reason") || one["reason"] != "");
        }
    }
    EXPECT_EQ(names, told);
}

TEST(Explain, more_are_candidates_where_any_order_gives_the_same_bits) {
    const Json sum = answer({"allreduce", "8", "--torus", "9"});
    const Json max =
        answer({"allreduce", "8", "--torus", "9", "--datatype", "int32", "--op", "max"});
    EXPECT_LT(sum["candidates"].size(), max["candidates"].size());
    EXPECT_EQ("max", max["operation"]);
}

TEST(Explain, numbers_of_the_model_say_where_they_come_from) {
    const Variable model("TREFOIL_MODEL", "step=5us,rate=100gbit");
    const Json all = answer({"bcast", "1M", "--torus", "4x4", "--ranks-per-core", "2"});
    std::map<std::string, std::string> from;
    for (const Json& number : all["model"]) {
        from[number["name"]] = number["from"];
        EXPECT_TRUE(number["name"] != "step" || number["value"] == 5);
    }
    EXPECT_EQ("TREFOIL_MODEL", from["step"]);
    EXPECT_EQ("TREFOIL_MODEL", from["rate"]);
    EXPECT_EQ("default", from["hop"]);
    EXPECT_EQ("2 ranks per core", from["wait"]);
    EXPECT_TRUE(all["operation"].is_null());
}

TEST(Explain, a_rule_decides_in_its_range_alone) {
    const Variable rule("TREFOIL_ALGORITHM", "allreduce:64K-1M=ring");
    EXPECT_EQ("name", answer({"allreduce", "64K", "--torus", "3x3"})["decided_by"]);
    EXPECT_EQ("ring", answer({"allreduce", "1M", "--torus", "3x3"})["algorithm"]);
    EXPECT_EQ("model", answer({"allreduce", "32K", "--torus", "3x3"})["decided_by"]);
}

TEST(Explain, a_misspelt_variable_is_told) {
    const Variable misspelt("TREFOIL_ALGORITM", "ring");
    const ToolResult result = run_tool({"explain", "allreduce", "64K", "--torus", "3x3"});
    EXPECT_EQ(0, result.code);
    EXPECT_NE(std::string::npos,
              result.err.find("TREFOIL_ALGORITM; did you mean TREFOIL_ALGORITHM?"))
        << result.err;
}

TEST(Explain, people_get_tables) {
    const ToolResult result = run_tool({"explain", "alltoall", "1M", "--torus", "4x4"});
    EXPECT_EQ(0, result.code) << result.err;
    for (const char* const part :
         {"because: ",
          "for: backend ofi, 1 rank per core; for ranks on this machine add --backend memory",
          "us of links", "No candidates:", "default"}) {
        EXPECT_NE(std::string::npos, result.out.find(part)) << part;
    }
}

TEST(Explain, a_map_has_a_choice_for_each_size_and_shape) {
    const Json map = answer({"reduce", "--map", "--torus", "8,3x3", "--sizes", "64,64K,16M"});
    ASSERT_EQ(2U, map["rows"].size());
    for (const Json& row : map["rows"]) {
        ASSERT_EQ(3U, row["cells"].size());
        for (const Json& cell : row["cells"]) {
            const Json one = answer({"reduce", cell["bytes"].dump(), "--torus", row["torus"]});
            EXPECT_EQ(one["algorithm"], cell["choice"]);
        }
    }
    const ToolResult text = run_tool({"explain", "reduce", "--map", "--torus", "8,3x3"});
    EXPECT_EQ(0, text.code);
    EXPECT_NE(std::string::npos, text.out.find("3x3"));
}

TEST(Explain, a_map_is_drawn) {
    const std::string folder = ::testing::TempDir() + "explain-" + std::to_string(getpid());
    std::filesystem::create_directory(folder);
    const ToolResult result = run_tool({"explain", "bcast", "--map", "--torus", "8", "--sizes",
                                        "64,1M", "--plot", folder + "/map.svg"});
    if (result.code == 2 && result.err.find("gnuplot") != std::string::npos) {
        GTEST_SKIP() << "no gnuplot";
    }
    EXPECT_EQ(0, result.code) << result.err;
    std::ostringstream drawn;
    drawn << std::ifstream(folder + "/map.svg").rdbuf();
    EXPECT_NE(std::string::npos, drawn.str().find("Algorithms that auto picks for bcast"));
    std::filesystem::remove_all(folder);
}

TEST(Explain, bad_input_is_refused_in_words) {
    const auto expect = [](const std::vector<std::string>& arguments, const char* part) {
        const std::string words = refused(arguments);
        EXPECT_NE(std::string::npos, words.find(part)) << words;
    };
    expect({}, "needs a collective");
    expect({"allreduce", "64K"}, "needs a collective, a size and --torus");
    expect({"allreduze", "8", "--torus", "3"}, "allreduce");
    expect({"allreduce", "64Q", "--torus", "3"}, "64Q");
    expect({"allreduce", "0", "--torus", "3"}, "without bytes");
    expect({"allreduce", "8", "--torus", "3y3"}, "3y3");
    expect({"allreduce", "8", "--torus", "1"}, "take 2 to");
    expect({"allreduce", "8", "--torus", "3", "--datatype", "flaot"}, "float");
    expect({"allreduce", "8", "--torus", "3", "--op", "bxor"}, "float");
    expect({"allreduce", "8", "--torus", "3", "--root", "1"}, "no root");
    expect({"bcast", "8", "--torus", "3", "--root", "3"}, "ranks are 0 to 2");
    expect({"barrier", "8", "--torus", "3"}, "moves no data");
    expect({"allreduce", "8", "--torus", "3", "--map"}, "--sizes");
    expect({"allreduce", "8", "--torus", "3", "--plot", "a.svg"}, "belong to --map");
    expect({"allreduce", "--map", "--torus", "3", "--plot", "a.gif"}, "a.gif");
    expect({"allreduce", "8", "--torus", "3", "--ranks-per-core", "-1"}, "ranks-per-core");
    expect({"allreduce", "8", "--torus", "3", "--backend", "tin"}, "tin");
    const Variable rule("TREFOIL_ALGORITHM", "allreduce:2K-1K=ring");
    expect({"allreduce", "8", "--torus", "3"}, "\"2K-1K\"");
}

}  // namespace
}  // namespace trefoil::test
