// SPDX-License-Identifier: BSD-3-Clause
// `trefoil perf`: ranks as threads and as processes, the table, the JSON file, and refusals.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/bench/common/tool.hpp"
#include "tests/variable.hpp"

namespace trefoil::test::perf_test {
namespace {

using Json = nlohmann::ordered_json;

/// Runs perf with a JSON file and gives what it holds.
class Perf : public testing::Test {
  protected:
    Json run(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), "perf");
        arguments.insert(arguments.end(), {"--json-file", file_});
        result_ = run_tool(arguments);
        EXPECT_EQ(result_.code, 0) << result_.err << result_.out;
        std::ifstream stream(file_);
        return Json::parse(stream, nullptr, false);
    }
    void TearDown() override { unlink(file_.c_str()); }

    std::string file_ = "/tmp/trefoil-perf-" + std::to_string(getpid()) + ".json";
    ToolResult result_;
};

TEST_F(Perf, json_has_the_promised_keys) {
    const Json all = run({"allreduce", "--torus", "3", "--launch", "threads", "-b", "64", "-e",
                          "64", "--iters", "3", "-c"});
    for (const char* key : {"trefoil", "machine", "runs", "skipped"}) {
        EXPECT_TRUE(all.contains(key)) << key;
    }
    ASSERT_EQ(all["runs"].size(), 2U);
    const Json& first = all["runs"][0];
    for (const char* key :
         {"collective", "algorithm", "torus", "ranks", "backend", "provider", "bytes", "type", "op",
          "in_place", "wrong", "algbw", "busbw", "time_us", "count", "iterations"}) {
        EXPECT_TRUE(first.contains(key)) << key;
    }
    for (const char* key : {"p50", "p99", "min", "max"}) {
        EXPECT_GT(first["time_us"][key].get<double>(), 0) << key;
    }
    EXPECT_LE(first["time_us"]["p50"], first["time_us"]["p99"]);
    EXPECT_LE(first["time_us"]["min"], first["time_us"]["max"]);
    EXPECT_EQ(first["bytes"], 64);
    EXPECT_EQ(first["count"], 16);
    EXPECT_EQ(first["iterations"], 3);
    EXPECT_EQ(first["in_place"], false);
    EXPECT_EQ(all["runs"][1]["in_place"], true);
    EXPECT_EQ(first["wrong"], 0);
    EXPECT_NEAR(first["algbw"].get<double>(), 64 / (first["time_us"]["p50"].get<double>() * 1e-6),
                1.0);
    EXPECT_NEAR(first["busbw"].get<double>(), first["algbw"].get<double>() * 4 / 3, 1.0);
}

TEST_F(Perf, rate_of_a_link_brings_per_cent_of_the_bound) {
    const std::vector<std::string> words{"bcast", "--torus", "3x3", "--launch", "threads",
                                         "-b",    "9000",    "-e",  "9000",     "--iters",
                                         "2",     "--root",  "0,4"};
    for (const char* without : {"", "step=2us"}) {
        const Variable model("TREFOIL_MODEL", without);
        EXPECT_TRUE(run(words)["runs"][0]["reached"].is_null());
        EXPECT_EQ(result_.out.find("%bound"), std::string::npos);
    }
    const Variable model("TREFOIL_MODEL", "step=2us,rate=80mbit");
    const Json all = run(words);
    ASSERT_EQ(all["runs"].size(), 2U);
    for (const Json& row : all["runs"]) {
        const double bound_us = 9000 * 0.25 / 10;  // a quarter leaves by each of four links
        EXPECT_NEAR(row["reached"], bound_us / row["time_us"]["p50"].get<double>(), 1e-6);
    }
    EXPECT_NE(result_.out.find("  %bound\n"), std::string::npos);
    const Json cut = run({"allreduce", "--torus", "4m", "--launch", "threads", "-b", "4000", "-e",
                          "4000", "--iters", "2"});
    EXPECT_EQ(cut["runs"][0]["torus"], "4m");
    const double ends_to_middle_us = 4000 * 1.0 / 10;  // a cut ring: one vector each way
    EXPECT_NEAR(cut["runs"][0]["reached"],
                ends_to_middle_us / cut["runs"][0]["time_us"]["p50"].get<double>(), 1e-6);
}

class PerfLaunch : public Perf, public testing::WithParamInterface<const char*> {};

TEST_P(PerfLaunch, all_algorithms_are_right_on_a_torus) {
    const Json all = run({"allreduce", "--torus", "2x3", "--launch", GetParam(), "--backend",
                          "memory", "--algorithm", "all", "--counts", "0,1,7,1000", "-d",
                          "float,int32,bfloat16", "--iters", "2", "-w", "1", "-c"});
    std::set<std::string> algorithms;
    for (const Json& row : all["runs"]) {
        EXPECT_EQ(row["wrong"], 0) << row;
        EXPECT_EQ(row["ranks"], 6);
        EXPECT_EQ(row["torus"], "2x3");
        algorithms.insert(row["algorithm"]);
    }
    for (const char* name : {"trivance-b", "swing-l", "bucket", "ring"}) {
        EXPECT_EQ(algorithms.count(name), 1U) << name;
    }
    const std::size_t kinds = 3 * 4 * 2;
    EXPECT_EQ(all["runs"].size(), kinds * algorithms.size());
    const auto lines = lines_of(result_.out);
    EXPECT_EQ(lines.back(), std::to_string(all["runs"].size()) + " measurements, 0 wrong");
    EXPECT_EQ(result_.err, "");
}

INSTANTIATE_TEST_SUITE_P(Ranks, PerfLaunch, testing::Values("threads", "processes"));

TEST_F(Perf, pairs_take_minloc_and_maxloc_among_all_operations) {
    const Json all =
        run({"allreduce", "--torus", "3", "--launch", "threads", "--counts", "100", "-d",
             "float_int,short-int", "-o", "all", "--iters", "1", "-w", "0", "-c"});
    std::set<std::string> operations;
    for (const Json& row : all["runs"]) {
        EXPECT_EQ(row["wrong"], 0) << row;
        operations.insert(row["op"]);
    }
    EXPECT_EQ(operations, (std::set<std::string>{"minloc", "maxloc"}));
    EXPECT_EQ(all["runs"].size(), 2U * 2 * 2);
}

TEST_F(Perf, without_arithmetic_results_are_not_checked) {
    const Json all =
        run({"allreduce", "--torus", "3x3", "--launch", "threads", "--counts", "9000", "-a",
             "auto,bucket", "-o", "sum,none", "--iters", "1", "-c", "--in-place", "out"});
    ASSERT_EQ(all["runs"].size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) {
        const Json& row = all["runs"][i];
        const bool reduced = i < 2;
        EXPECT_EQ(row["op"], reduced ? "sum" : "none");
        EXPECT_EQ(row["checked"], reduced) << row;
        EXPECT_EQ(row["wrong"], reduced ? Json(0) : Json()) << row;
        EXPECT_EQ(row["identical"], reduced ? Json(true) : Json()) << row;
        EXPECT_EQ(row["used"], all["runs"][i % 2]["used"])
            << "another algorithm without arithmetic";
    }
    EXPECT_EQ(lines_of(result_.out).back(), "4 measurements, 0 wrong, 2 not checked");
    run({"reduce", "--torus", "3", "--launch", "threads", "--counts", "9", "-d", "float,short-int",
         "-o", "none", "--iters", "1", "-c"});
    EXPECT_EQ(lines_of(result_.out).back(), "4 measurements, results not checked");
    EXPECT_EQ(result_.out.find("0 wrong"), std::string::npos) << result_.out;
}

TEST_F(Perf, without_arithmetic_the_same_messages_travel) {
    const auto sent = [&](const std::string& operation) {
        return run({"allreduce", "--torus", "3x3", "--launch", "threads", "--counts", "300000",
                    "-a", "trivance-b", "-o", operation, "--iters", "2",
                    "--resources"})["resources"]["ports"];
    };
    const Json reduced = sent("sum");
    EXPECT_GT(reduced[0]["bytes"], 1 << 20);
    EXPECT_EQ(sent("none"), reduced);
}

TEST_F(Perf, automatic_choice_names_what_it_chose) {
    const Json all = run({"allreduce", "--ranks", "4", "--launch", "threads", "-b", "8", "-e", "8",
                          "--in-place", "out", "--iters", "1"});
    ASSERT_EQ(all["runs"].size(), 1U);
    EXPECT_EQ(all["runs"][0]["asked"], "auto");
    EXPECT_NE(all["runs"][0]["algorithm"], "auto");
    EXPECT_TRUE(all["runs"][0]["wrong"].is_null());  // nobody asked
}

TEST_F(Perf, goes_on_when_an_algorithm_does_not_fit_the_landing_memory) {
    setenv("TREFOIL_LANDING_BYTES", "16K", 1);  // too little for the many steps of a ring
    const std::vector<std::string> tail{"--torus", "16", "--launch", "threads", "--counts", "1000",
                                        "--iters", "1",  "-w",       "0",       "-c"};
    std::vector<std::string> some{"allreduce", "-a", "all"};
    some.insert(some.end(), tail.begin(), tail.end());
    const Json all = run(some);
    std::vector<std::string> one{"perf", "allreduce", "-a", "ring"};
    one.insert(one.end(), tail.begin(), tail.end());
    const ToolResult ring = run_tool(one);
    unsetenv("TREFOIL_LANDING_BYTES");
    std::set<std::string> measured;
    for (const Json& row : all["runs"]) {
        EXPECT_EQ(row["wrong"], 0) << row;
        measured.insert(row["algorithm"]);
    }
    EXPECT_EQ(measured.count("trivance-l"), 1U);
    EXPECT_EQ(measured.count("ring"), 0U);
    int told = 0;
    for (const Json& skipped : all["skipped"]) {
        const auto reason = skipped["reason"].get<std::string>();
        told += skipped["algorithm"] == "ring" &&
                        reason.find("TREFOIL_LANDING_BYTES=16384") != std::string::npos
                    ? 1
                    : 0;
    }
    EXPECT_EQ(told, 1) << all["skipped"];
    EXPECT_NE(ring.code, 0) << "asked for by name";
    EXPECT_NE(ring.err.find("TREFOIL_LANDING_BYTES"), std::string::npos) << ring.err;
}

TEST_F(Perf, refuses_an_old_option_and_tells_the_new_one) {
    const ToolResult refused = run_tool({"perf", "allreduce", "--torus", "2", "--team", "openmp"});
    EXPECT_EQ(refused.code, 2) << refused.out;
    EXPECT_NE(refused.err.find("--port-threads-by"), std::string::npos) << refused.err;
}

TEST_F(Perf, tells_how_many_pieces_a_pipeline_takes) {
    const Variable model("TREFOIL_MODEL", "rate=1gbit,wait=1ns");
    const Json all = run({"bcast", "--torus", "3x3", "--launch", "threads", "--counts", "1,100000",
                          "-a", "auto,spanning-trees,linear:single-port", "--iters", "1", "-c"});
    ASSERT_EQ(all["runs"].size(), 6U);
    std::vector<std::string> used;
    for (const Json& row : all["runs"]) {
        used.push_back(row["used"]);
        EXPECT_EQ(row["wrong"], 0) << row;
        EXPECT_EQ(row["algorithm"], used.back().substr(0, used.back().find(':')));
    }
    EXPECT_EQ(used[1], "spanning-trees:pieces-1");
    EXPECT_EQ(used[2], "linear:single-port");
    EXPECT_EQ(used[4].find("spanning-trees:pieces-"), 0U);
    EXPECT_NE(used[4], used[1]);
    EXPECT_NE(result_.out.find(" auto: " + used[3]), std::string::npos) << result_.out;
    EXPECT_NE(result_.out.find(" " + used[4]), std::string::npos) << result_.out;
}

TEST_F(Perf, tells_what_ranks_hold) {
    const Json all = run({"allreduce", "--ranks", "4", "--launch", "processes", "-b", "8", "-e",
                          "8", "--in-place", "out", "--iters", "1", "--resources"});
    const Json& held = all["resources"];
    EXPECT_GE(held["peers"].get<double>(), 1);
    EXPECT_LE(held["peers"].get<double>(), 3);
    EXPECT_GE(held["connections"].get<double>(), 2 * held["peers"].get<double>());
    EXPECT_GT(held["landing_bytes"].get<double>(), 0);
    EXPECT_GE(held["total_landing_bytes"].get<double>(), held["landing_bytes"].get<double>());
    EXPECT_GT(held["memory_bytes"].get<double>(), 0);
    EXPECT_NE(result_.out.find("# most of any rank: "), std::string::npos) << result_.out;
    for (const auto& [key, what] : {std::pair{"memory_bytes", " MiB of memory in use, "},
                                    {"landing_bytes", " MiB landing memory allocated, "},
                                    {"staging_bytes", " MiB staging, "}}) {
        const double mebibytes = held[key].get<double>() / (1 << 20);
        const std::string text = fmt::format("{:.1f}{}", mebibytes, what);
        EXPECT_NE(result_.out.find(text), std::string::npos) << text << result_.out;
    }
}

struct Promise {
    const char* collective;
    const char* algorithm;  ///< one of those that must be there
    bool has_blocks, rooted, reduces;
    double bus_factor;  ///< on six ranks
};

class PerfCollective : public Perf, public testing::WithParamInterface<Promise> {};

TEST_P(PerfCollective, all_algorithms_are_right_from_any_root) {
    const Promise& promise = GetParam();
    std::vector<std::string> arguments{
        promise.collective, "--torus", "2x3", "--launch", "threads", "--backend",
        "memory",           "-a",      "all", "--counts", "0,7,300", "-d",
        "float,int8",       "--iters", "1",   "-w",       "1",       "-c"};
    if (promise.rooted) {
        arguments.insert(arguments.end(), {"--root", "all"});
    }
    const Json all = run(arguments);
    std::set<std::string> algorithms, placements;
    std::set<int> roots;
    for (const Json& row : all["runs"]) {
        EXPECT_EQ(row["wrong"], 0) << row;
        EXPECT_EQ(row["collective"], promise.collective);
        EXPECT_EQ(row["op"], promise.reduces ? "sum" : "");
        EXPECT_EQ(row["root"].is_number(), promise.rooted) << row;
        EXPECT_EQ(row["bytes"], row["count"].get<int>() * (row["type"] == "float" ? 4 : 1) *
                                    (promise.has_blocks ? 6 : 1));
        EXPECT_NEAR(row["busbw"].get<double>(), row["algbw"].get<double>() * promise.bus_factor,
                    1.0);
        algorithms.insert(row["algorithm"]);
        placements.insert(row["in_place"].dump());
        roots.insert(promise.rooted ? row["root"].get<int>() : 0);
    }
    EXPECT_EQ(algorithms.count(promise.algorithm), 1U);
    EXPECT_EQ(roots, promise.rooted ? (std::set<int>{0, 3, 5}) : std::set<int>{0});
    EXPECT_EQ(placements.size(), promise.collective == std::string("bcast") ? 1U : 2U);
    EXPECT_EQ(all["runs"].size(), 3 * 2 * algorithms.size() * placements.size() * roots.size());
}

INSTANTIATE_TEST_SUITE_P(
    Every, PerfCollective,
    testing::Values(Promise{"allreduce", "trivance-l", false, false, true, 2 * 5.0 / 6},
                    Promise{"reduce_scatter", "swing", true, false, true, 5.0 / 6},
                    Promise{"allgather", "recursive-doubling", true, false, false, 5.0 / 6},
                    Promise{"bcast", "spanning-trees", false, true, false, 1},
                    Promise{"reduce", "linear", false, true, true, 1},
                    Promise{"gather", "bine-dd", true, true, false, 5.0 / 6},
                    Promise{"scatter", "binomial-dh", true, true, false, 5.0 / 6},
                    Promise{"alltoall", "sdx", true, false, false, 5.0 / 6}),
    [](const auto& promise) { return promise.param.collective; });

TEST_F(Perf, a_size_is_that_of_all_blocks_together) {
    const Json all = run({"allgather", "--torus", "3", "--launch", "threads", "-b", "8", "-e",
                          "200", "-f", "5", "--in-place", "out", "--iters", "1"});
    std::vector<int> counts;
    for (const Json& row : all["runs"]) {
        counts.push_back(row["count"].get<int>());
    }
    EXPECT_EQ(counts, (std::vector<int>{1, 3, 17}));  // 2, 10 and 50 floats on three ranks
}

TEST_F(Perf, exchanges_uneven_blocks) {
    const Json all = run({"alltoall", "--torus", "2x3", "--launch", "threads", "--backend",
                          "memory", "-a", "auto,all", "--uneven", "7", "--counts", "0,5,3000", "-d",
                          "int8,double", "--iters", "1", "-c"});
    std::set<std::string> algorithms;
    for (const Json& row : all["runs"]) {
        EXPECT_EQ(row["wrong"], 0) << row;
        EXPECT_EQ(row["uneven"], 7);
        algorithms.insert(row["algorithm"]);
    }
    EXPECT_EQ(algorithms, (std::set<std::string>{"linear", "pairwise"}));
    EXPECT_EQ(all["runs"].size(), 3U * 2 * 3 * 2);
    EXPECT_NE(all["skipped"].dump().find("bruck forwards blocks"), std::string::npos);
}

TEST_F(Perf, every_collective_runs_in_processes) {
    for (const char* collective :
         {"reduce_scatter", "allgather", "bcast", "reduce", "gather", "scatter", "alltoall"}) {
        const Json all = run({collective, "--torus", "3", "--backend", "memory", "-b", "8", "-e",
                              "64K", "-f", "8192", "--iters", "1", "-c"});
        EXPECT_GE(all["runs"].size(), 2U) << collective;
        for (const Json& row : all["runs"]) {
            EXPECT_EQ(row["wrong"], 0) << row;
        }
    }
}

TEST_F(Perf, measures_a_barrier) {
    const Json all =
        run({"barrier", "-a", "dissemination", "-t", "2x2", "--launch", "threads", "--iters", "3"});
    ASSERT_EQ(all["runs"].size(), 1U);
    EXPECT_EQ(all["runs"][0]["collective"], "barrier");
    EXPECT_EQ(all["runs"][0]["algorithm"], "dissemination");
}

TEST_F(Perf, starts_as_many_ranks_as_the_environment_says_or_cores_are_there) {
    EXPECT_GE(run({"barrier", "--iters", "1", "-w", "0"})["runs"][0]["ranks"], 2);
    const Variable torus("TREFOIL_TORUS", "3");
    EXPECT_EQ(run({"barrier", "--iters", "1", "-w", "0"})["runs"][0]["ranks"], 3);
}

TEST_F(Perf, takes_a_list_of_sizes) {
    const Json all = run({"bcast", "--ranks", "2", "--launch", "threads", "--sizes", "8,1K",
                          "--iters", "1", "-w", "0"});
    ASSERT_EQ(all["runs"].size(), 2U);
    EXPECT_EQ(all["runs"][0]["bytes"], 8);
    EXPECT_EQ(all["runs"][1]["bytes"], 1024);
}

TEST_F(Perf, sizes_grow_by_eight_unless_told) {
    const Json all = run({"bcast", "--ranks", "2", "--launch", "threads", "-b", "8", "-e", "512",
                          "--iters", "1", "-w", "0"});
    ASSERT_EQ(all["runs"].size(), 3U);
    EXPECT_EQ(all["runs"][1]["bytes"], 64);
}

TEST_F(Perf, follows_the_rules_of_the_environment_unless_told_an_algorithm) {
    const Variable rules("TREFOIL_ALGORITHM", "allreduce:1K-4K=ring,bcast=linear");
    const std::vector<std::string> few{"allreduce", "--ranks", "3",  "--launch",
                                       "threads",   "--sizes", "2K", "--iters",
                                       "1",         "-w",      "0",  "-c"};
    EXPECT_EQ(run(few)["runs"][0]["algorithm"], "ring");
    std::vector<std::string> told = few;
    told.insert(told.end(), {"--algorithm", "bucket"});
    EXPECT_EQ(run(told)["runs"][0]["algorithm"], "bucket");
}

TEST_F(Perf, one_rank_alone_works) {
    const Json all = run({"allreduce", "--torus", "1", "-b", "8", "-e", "8", "--iters", "1", "-c"});
    EXPECT_EQ(all["runs"][0]["wrong"], 0);
}

TEST_F(Perf, runs_under_the_launcher_too) {
    const auto result = run_tool({"run", "--torus", "3", "--", TREFOIL_TOOL, "perf", "allreduce",
                                  "-b", "8", "-e", "8", "--iters", "1", "-c"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.out.find("[0] 2 measurements, 0 wrong"), std::string::npos) << result.out;
    EXPECT_EQ(result.out.find("[1]"), std::string::npos) << result.out;
}

// As in some containers.
TEST(PerfAlone, starts_itself_as_ranks_where_no_proc_is_mounted) {
    const std::string space = "unshare --mount --propagation private ";
    if (std::system((space + "mount -t tmpfs tmpfs /proc 2>/dev/null").c_str()) != 0) {
        GTEST_SKIP() << "nothing can be mounted here";
    }
    const std::string out = "/tmp/trefoil-perf-alone-" + std::to_string(getpid());
    const std::string command =
        space + "sh -c 'mount -t tmpfs tmpfs /proc; exec \"$@\"' sh " + TREFOIL_TOOL +
        " perf allreduce --ranks 2 -b 8 -e 8 --iters 1 -c >" + out + " 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::ostringstream text;
    text << std::ifstream(out).rdbuf();
    EXPECT_NE(text.str().find("2 measurements, 0 wrong"), std::string::npos) << text.str();
    unlink(out.c_str());
}

TEST(PerfInput, bad_input_is_refused_once) {
    struct Bad {
        std::vector<std::string> arguments;
        std::string says;
    };
    const std::vector<Bad> all{
        {{"allreduce", "--torus", "3x3", "--ranks", "4"}, "--ranks 4 does not match --torus 3x3"},
        {{"allreduce", "--torus", "3x"}, "is not a torus"},
        {{"allredoce", "--torus", "3"}, "did you mean allreduce or reduce?"},
        {{"allreduce", "--torus", "3", "--algorithm", "trivnce-b"}, "did you mean trivance-b"},
        {{"allreduce", "--torus", "3", "-d", "flot"}, "did you mean float"},
        {{"allreduce", "--torus", "3", "-o", "summ"}, "did you mean sum"},
        {{"allreduce", "--torus", "3", "-d", "float", "-o", "band"}, "makes no sense"},
        {{"allreduce", "--torus", "3", "-d", "float_int"}, "float-int takes minloc and maxloc"},
        {{"allreduce", "--torus", "3", "--backend", "memry"}, "did you mean memory"},
        {{"allgather", "--torus", "3", "-o", "sum"}, "allgather reduces nothing"},
        {{"allgather", "--torus", "3", "-o", "none"}, "allgather reduces nothing"},
        {{"allreduce", "--torus", "3", "--root", "0"}, "allreduce has no root"},
        {{"bcast", "--torus", "3", "--root", "3"}, "numbers from 0 to 2, or all"},
        {{"bcast", "--torus", "3", "--root", "1x"}, "--root 1x is not a rank"},
        {{"bcast", "--torus", "3", "--in-place", "out"}, "bcast has one buffer"},
        {{"bcast", "--torus", "3", "--algorithm", "bine-small"}, "did you mean"},
        {{"allreduce", "--torus", "3", "--launch", "magic"}, "give processes or threads"},
        {{"allreduce", "--torus", "3", "--in-place", "yes"}, "give both, out or in"},
        {{"allreduce", "--torus", "3", "-b", "64", "-e", "8"}, "is less than --minbytes"},
        {{"allreduce", "--torus", "3", "-b", "x"}, "is not a size"},
        {{"allreduce", "--torus", "3", "--counts", "1,,2"}, "empty entry"},
        {{"allreduce", "--torus", "3", "--json-file", "/no/such/place"},
         "cannot write --json-file"},
        // Only the ranks themselves find these out; still one of them tells.
        {{"allreduce", "--torus", "3", "--nics", "+7=eth0"}, "names no port"}};
    for (const Bad& bad : all) {
        std::vector<std::string> arguments{"perf"};
        arguments.insert(arguments.end(), bad.arguments.begin(), bad.arguments.end());
        const auto result = run_tool(arguments);
        EXPECT_EQ(result.code, 2) << bad.says << "\n" << result.err;
        EXPECT_NE(result.err.find(bad.says), std::string::npos) << result.err;
        EXPECT_EQ(lines_of(result.err).size(), 1U) << result.err;
        EXPECT_EQ(result.out, "");
    }
}

TEST(PerfInput, a_list_of_sizes_excludes_a_range) {
    const auto result = run_tool({"perf", "allreduce", "--sizes", "8", "-b", "8"});
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find("--minbytes does not go with --sizes"), std::string::npos)
        << result.err;
}

TEST(PerfInput, a_missing_collective_is_told_with_all_names) {
    const auto result = run_tool({"perf"});
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find("allgather, bcast, reduce, gather, scatter, alltoall, barrier"),
              std::string::npos)
        << result.err;
}

TEST(PerfInput, threads_are_refused_under_a_launcher) {
    const auto result = run_tool({"run", "-n", "2", "--", TREFOIL_TOOL, "perf", "allreduce",
                                  "--torus", "2", "--launch", "threads"});
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find("cannot be used under a launcher"), std::string::npos) << result.err;
}

TEST(PerfInput, a_torus_that_does_not_fit_the_launched_ranks_is_refused) {
    const auto result =
        run_tool({"run", "-n", "2", "--", TREFOIL_TOOL, "perf", "allreduce", "--torus", "3"});
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find("torus 3 has 3 ranks, but the job has 2"), std::string::npos)
        << result.err;
}

TEST_F(Perf, ends_at_once_when_interrupted) {
    for (const char* launch : {"processes", "threads"}) {
        Tool tool({"perf", "allreduce", "--torus", "2x2", "-b", "8", "-e", "8", "--iters",
                   "10000000", "--launch", launch});
        ASSERT_TRUE(tool.wrote("#wrong")) << launch;
        tool.signal(SIGTERM);
        EXPECT_EQ(tool.wait().code, 128 + SIGTERM) << launch;
    }
}

}  // namespace
}  // namespace trefoil::test::perf_test
