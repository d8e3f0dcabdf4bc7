// SPDX-License-Identifier: BSD-3-Clause
// `trefoil perf` with calls in flight: what is measured, checked and refused.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/bench/common/tool.hpp"

namespace trefoil::test::requests_test {
namespace {

using Json = nlohmann::ordered_json;

Json measure(std::vector<std::string> arguments, std::string* table = nullptr) {
    const std::string file = "/tmp/trefoil-requests-" + std::to_string(getpid()) + ".json";
    arguments.insert(arguments.begin(), "perf");
    arguments.insert(arguments.end(), {"--iters", "3", "-w", "1", "-c", "--json-file", file});
    const ToolResult result = run_tool(arguments);
    EXPECT_EQ(result.code, 0) << result.err << result.out;
    if (table != nullptr) {
        *table = result.out;
    }
    std::ifstream stream(file);
    Json all = Json::parse(stream, nullptr, false);
    unlink(file.c_str());
    return all["runs"];
}

void expect_comparison(const Json& run, const char* name, int calls) {
    ASSERT_TRUE(run.contains(name)) << run;
    const Json& figures = run[name];
    EXPECT_EQ(figures["calls"], calls);
    EXPECT_GT(figures["requests_us"].get<double>(), 0);
    EXPECT_GT(figures["blocking_us"].get<double>(), 0);
    EXPECT_LE(figures["begin_us"], figures["requests_us"]);
    EXPECT_NEAR(figures["ratio"].get<double>(),
                figures["requests_us"].get<double>() / figures["blocking_us"].get<double>(), 1e-6);
    EXPECT_EQ(figures["wrong"], 0);
}

TEST(PerfRequests, EveryCollectiveIsRightPersistentAndInFlight) {
    for (const char* collective :
         {"allreduce", "reduce", "reduce_scatter", "allgather", "bcast", "gather", "scatter",
          "alltoall", "scan", "exscan", "neighbor_allgather", "neighbor_alltoall"}) {
        const Json runs = measure({collective, "--torus", "2x2", "--launch", "threads", "-b", "4K",
                                   "-e", "4K", "--persistent", "--in-flight", "5"});
        ASSERT_FALSE(runs.empty());
        for (const Json& run : runs) {
            expect_comparison(run, "persistent", 1);
            expect_comparison(run, "in_flight", 5);
            EXPECT_FALSE(run.contains("overlap"));
            EXPECT_EQ(run["wrong"], 0);
        }
    }
}

TEST(PerfRequests, UnevenBlocksAndBarriersHaveThemToo) {
    for (const Json& run : measure({"alltoall", "--torus", "3", "--uneven", "7", "-b", "4K", "-e",
                                    "4K", "--persistent", "--in-flight", "3"})) {
        expect_comparison(run, "persistent", 1);
        expect_comparison(run, "in_flight", 3);
    }
    for (const Json& run : measure({"barrier", "--torus", "3", "--persistent"})) {
        EXPECT_TRUE(run["persistent"]["wrong"].is_null()) << "a barrier has no result";
    }
}

TEST(PerfRequests, BarriersAddATime) {
    for (const char* collective : {"allreduce", "bcast"}) {
        std::string table;
        const Json runs = measure({collective, "--torus", "3", "--launch", "threads", "-b", "4K",
                                   "-e", "4K", "--barriers"},
                                  &table);
        ASSERT_FALSE(runs.empty());
        for (const Json& run : runs) {
            EXPECT_GT(run["time_us"]["with_barriers"].get<double>(), 0);
            EXPECT_GT(run["time_us"]["loop"].get<double>(), 0);
            EXPECT_EQ(run["wrong"], 0);
        }
        EXPECT_NE(table.find("with a barrier before each call"), std::string::npos) << table;
    }
    EXPECT_FALSE(measure({"bcast", "--torus", "2", "--launch", "threads"})[0]["time_us"].contains(
        "with_barriers"));
}

TEST(PerfRequests, OverlapComparesThreeTimes) {
    for (const std::vector<std::string>& how :
         {std::vector<std::string>{}, {"--test-every", "20", "--port-threads", "0"}}) {
        std::vector<std::string> arguments{"allreduce",  "--torus", "3",   "-b",
                                           "64K",        "-e",      "64K", "--overlap",
                                           "--in-place", "out"};
        arguments.insert(arguments.end(), how.begin(), how.end());
        std::string table;
        const Json runs = measure(arguments, &table);
        ASSERT_EQ(runs.size(), 1U);
        const Json& overlap = runs[0]["overlap"];
        const auto figure = [&](const char* name) { return overlap[name].get<double>(); };
        for (const char* name :
             {"communication_us", "computation_us", "together_us", "processors_us", "of_bound"}) {
            EXPECT_GT(figure(name), 0) << name;
        }
        EXPECT_GE(figure("cores"), 1);
        EXPECT_EQ(overlap["wrong"], 0);
        const double bound = std::max(
            {figure("communication_us"), figure("computation_us"), figure("processors_us")});
        EXPECT_NEAR(figure("of_bound"), figure("together_us") / bound, 1e-6);
        EXPECT_NEAR(
            figure("hidden"),
            (figure("communication_us") + figure("computation_us") - figure("together_us")) /
                std::min(figure("communication_us"), figure("computation_us")),
            1e-6);
        EXPECT_NE(table.find("% hidden"), std::string::npos) << table;
    }
}

TEST(PerfRequests, RefusesWhatCannotBe) {
    const auto refused = [](std::vector<std::string> arguments, const std::string& why) {
        arguments.insert(arguments.begin(), "perf");
        const ToolResult result = run_tool(arguments);
        EXPECT_EQ(result.code, 2) << result.out;
        EXPECT_NE(result.err.find(why), std::string::npos) << result.err;
    };
    refused({"allreduce", "--torus", "3", "--test-every", "5"}, "belongs to --overlap");
    refused({"allreduce", "--torus", "3", "--in-flight", "0"}, "--in-flight");
}

}  // namespace
}  // namespace trefoil::test::requests_test
