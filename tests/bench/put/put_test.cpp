// SPDX-License-Identifier: BSD-3-Clause
// `trefoil perf put`: every backend of this build, both ways to start, the JSON file, and refusals.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/backend/registry/transports_to_test.hpp"
#include "tests/bench/common/tool.hpp"

namespace trefoil::test {
namespace {

using Json = nlohmann::ordered_json;

/// Runs `perf put`, few puts of few sizes, and gives what the JSON file holds.
class Put : public testing::Test {
  protected:
    Json run(const std::vector<std::string>& arguments) {
        std::vector<std::string> all{"perf",          "put", "--iters",     "4",
                                     "--repetitions", "2",   "--json-file", file_};
        all.insert(all.end(), arguments.begin(), arguments.end());
        result_ = run_tool(all);
        EXPECT_EQ(result_.code, 0) << result_.err << result_.out;
        std::ifstream stream(file_);
        return Json::parse(stream, nullptr, false);
    }
    void TearDown() override { unlink(file_.c_str()); }

    std::string file_ = "/tmp/trefoil-put-" + std::to_string(getpid()) + ".json";
    ToolResult result_;
};

TEST_F(Put, json_has_the_promised_keys) {
    const Json all = run({"--sizes", "0,8,64K", "--window", "3", "-c"});
    for (const char* key : {"trefoil", "machine", "backend", "provider", "port", "launch"}) {
        EXPECT_TRUE(all.contains(key)) << key;
    }
    EXPECT_EQ(all["cores"].size(), 2U);
    EXPECT_EQ(all["backend"], "memory");
    ASSERT_EQ(all["runs"].size(), 3U);
    const Json& row = all["runs"][2];
    EXPECT_EQ(row["bytes"], 65536);
    EXPECT_EQ(row["iterations"], 4);
    EXPECT_EQ(row["repetitions"], 2);
    EXPECT_EQ(row["window"], 3);
    EXPECT_EQ(row["checked"], true);
    EXPECT_EQ(row["wrong"], 0);
    const Json& latency = row["latency_us"];
    EXPECT_GT(latency["min"].get<double>(), 0);
    EXPECT_LE(latency["min"], latency["p50"]);
    EXPECT_LE(latency["p50"], latency["p99"]);
    EXPECT_LE(latency["min"], latency["mean"]);
    const Json& bandwidth = row["bandwidth"];
    EXPECT_GT(bandwidth["min"].get<double>(), 0);
    EXPECT_LE(bandwidth["min"], bandwidth["median"]);
    EXPECT_LE(bandwidth["median"], bandwidth["max"]);
    EXPECT_EQ(all["runs"][0]["bandwidth"]["max"], 0);  // no bytes
}

TEST_F(Put, sizes_go_up_by_the_factor) {
    const Json all = run({"-b", "1", "-e", "100", "-f", "10"});
    ASSERT_EQ(all["runs"].size(), 3U);
    EXPECT_EQ(all["runs"][1]["bytes"], 10);
    EXPECT_EQ(all["runs"][0]["checked"], false);
    EXPECT_NE(result_.out.find("3 sizes, 0 wrong"), std::string::npos) << result_.out;
}

/// Backend and provider; sizes on both sides of what the transports inject, copy and fetch.
class PutTransports : public Put, public testing::WithParamInterface<TransportToTest> {};

TEST_P(PutTransports, delivers_every_byte) {
    const auto& [name, backend, provider] = GetParam();
    const Json all = run({"--sizes", "0,1,8,4000,64K,300K", "--window", "2", "-c", "--launch",
                          "threads", "--backend", backend, "--provider", provider});
    ASSERT_EQ(all["runs"].size(), 6U);
    EXPECT_EQ(all["backend"], backend);
    EXPECT_EQ(all["provider"], provider);
    EXPECT_EQ(all["launch"], "threads");
    EXPECT_NE(result_.out.find("6 sizes, 0 wrong"), std::string::npos) << result_.out;
}

TEST_P(PutTransports, delivers_every_byte_straight_to_plain_memory) {
    const auto& [name, backend, provider] = GetParam();
    const Json all = run({"--direct", "--sizes", "0,8,4000,64K,300K", "--window", "2", "-c",
                          "--launch", "processes", "--backend", backend, "--provider", provider});
    ASSERT_EQ(all["runs"].size(), 10U);
    EXPECT_EQ(all["launch"], "processes");
    for (std::size_t i = 0; i < 10; ++i) {
        EXPECT_EQ(all["runs"][i]["into"], i % 2 == 0 ? "copied" : "direct");
        EXPECT_EQ(all["runs"][i]["wrong"], 0) << all["runs"][i].dump();
    }
}

INSTANTIATE_TEST_SUITE_P(All, PutTransports, testing::ValuesIn(transports_to_test()),
                         name_of_transport);

TEST(PutLaunch, runs_under_the_launcher_too) {
    const auto result = run_tool({"run", "-n", "2", "--", TREFOIL_TOOL, "perf", "put", "--sizes",
                                  "8", "--iters", "4", "--repetitions", "1", "-c"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.out.find("[0] 1 sizes, 0 wrong"), std::string::npos) << result.out;
    EXPECT_EQ(result.out.find("[1]"), std::string::npos) << result.out;
}

TEST(PutLaunch, other_numbers_of_ranks_are_refused_once) {
    const auto result = run_tool({"run", "-n", "3", "--", TREFOIL_TOOL, "perf", "put"});
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_NE(result.err.find("needs two ranks, but the job has 3"), std::string::npos)
        << result.err;
}

TEST(PutInput, bad_input_is_refused_once) {
    struct Bad {
        std::vector<std::string> arguments;
        std::string says;
    };
    const std::vector<Bad> all{
        {{"put", "--sizes", "8,,9"}, "empty entry"},
        {{"put", "--sizes", "x"}, "is not a size"},
        {{"put", "--sizes", "2G"}, "up to 1G"},
        {{"put", "-b", "64", "-e", "8"}, "is less than --minbytes"},
        {{"put", "--sizes", "8", "-b", "8"}, "--minbytes"},
        {{"put", "--backend", "memry"}, "did you mean memory"},
        {{"put", "--launch", "magic"}, "give processes or threads"},
        {{"put", "--json-file", "/no/such/place"}, "cannot write --json-file"},
        {{"put", "--iters", "0"}, "takes a number from 1"},
        {{"put", "--backend", "memory", "--provider", "net"}, "has no provider"},
        {{"put", "--nics", "+7=eth0"}, "names no port"},
        // What belongs to collectives.
        {{"put", "--algorithm", "ring"}, "--algorithm"},
        {{"put", "--torus", "3x3"}, "--torus"},
        {{"put", "allreduce"}, "allreduce"},
        {{"--torus", "3", "put"}, "has no place before \"put\""},
        {{}, "perf needs a collective"}};
    for (const Bad& bad : all) {
        std::vector<std::string> arguments{"perf"};
        arguments.insert(arguments.end(), bad.arguments.begin(), bad.arguments.end());
        const auto result = run_tool(arguments);
        EXPECT_EQ(result.code, 2) << bad.says << "\n" << result.err;
        EXPECT_NE(result.err.find(bad.says), std::string::npos) << bad.says << "\n" << result.err;
        EXPECT_LE(lines_of(result.err).size(), 2U) << result.err;
        EXPECT_EQ(result.out, "");
    }
}

}  // namespace
}  // namespace trefoil::test
