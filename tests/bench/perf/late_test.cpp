// SPDX-License-Identifier: BSD-3-Clause
// Ranks that wait in a barrier for a late one sleep: their processor time, not the clock, is
// tested, so that a busy machine does not matter.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/backend/registry/transports_to_test.hpp"
#include "tests/bench/common/tool.hpp"

namespace trefoil::test::late_test {
namespace {

using Json = nlohmann::ordered_json;

// Of one core, all ranks together. One rank that polls uses 100; all of them asleep, less than 5.
constexpr double most_percent = 30;

class Late : public testing::TestWithParam<TransportToTest> {
  protected:
    Json run(std::vector<std::string> more) {
        std::vector<std::string> arguments{"perf", "barrier", "--torus", "2x2",         "--iters",
                                           "5",    "--late",  "2",       "--json-file", file_};
        arguments.insert(arguments.end(), {"--backend", GetParam().backend});
        if (!GetParam().provider.empty()) {
            arguments.insert(arguments.end(), {"--provider", GetParam().provider});
        }
        arguments.insert(arguments.end(), more.begin(), more.end());
        const ToolResult result = run_tool(arguments);
        EXPECT_EQ(result.code, 0) << result.err << result.out;
        std::ifstream stream(file_);
        return Json::parse(stream, nullptr, false);
    }
    void TearDown() override { unlink(file_.c_str()); }

    std::string file_ = "/tmp/trefoil-late-" + std::to_string(getpid()) + ".json";
};

// Every other transport has port threads.
bool has_port_threads(const TransportToTest& transport) {
    bool has = false;
    for (const TransportToTest& each : transports_to_test()) {
        if (each.name == transport.name) {
            return has;
        }
        has = !has;
    }
    return has;
}

TEST_P(Late, RanksSleepWhileTheyWait) {
    const char* const threads = has_port_threads(GetParam()) ? "4" : "0";
    const Json all = run({"--port-threads", threads});
    ASSERT_TRUE(all.contains("late")) << all;
    const Json& late = all["late"];
    std::printf("%s port threads: %.2f%% of a core, woken in %.0f us\n", threads,
                late["percent"].get<double>(), late["wake_us"].get<double>());
    EXPECT_EQ(late["seconds"], 2);
    EXPECT_LT(late["percent"].get<double>(), most_percent);
    EXPECT_GT(late["percent"].get<double>(), 0) << "nothing was measured";
    EXPECT_LE(late["percent_of_busiest"], late["percent"]);
    EXPECT_GT(late["wake_us"].get<double>(), 0);
}

INSTANTIATE_TEST_SUITE_P(All, Late, testing::ValuesIn(transports_to_test()), name_of_transport);

}  // namespace
}  // namespace trefoil::test::late_test
