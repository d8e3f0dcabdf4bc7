// SPDX-License-Identifier: BSD-3-Clause
// `trefoil sim`: published and worked-out times, its output, and what it refuses.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/bench/common/tool.hpp"

namespace trefoil::test::sim_test {
namespace {

using Json = nlohmann::ordered_json;

Json runs(const std::vector<std::string>& arguments) {
    std::vector<std::string> all{"sim"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.emplace_back("--json");
    const ToolResult result = run_tool(all);
    EXPECT_EQ(0, result.code) << result.err;
    return result.code == 0 ? Json::parse(result.out)["runs"] : Json::array();
}

double seconds(const std::vector<std::string>& arguments) {
    const Json all = runs(arguments);
    EXPECT_EQ(1U, all.size());
    return all.empty() ? 0 : all[0]["seconds"].get<double>();
}

// Four steps of 1.8 us, hops 1, 3, 3, 1 of 0.2 us, and 2 KiB times the sum of link loads.
TEST(Sim, has_the_time_of_trivance_on_a_ring_of_eight) {
    for (const char* model : {"step", "flow"}) {
        const double time = seconds({"allreduce", "-a", "trivance-b", "-t", "8", "--sizes", "2K",
                                     "--machine", "trivance", "--model", model});
        EXPECT_NEAR(8.828e-6, time, 1e-9) << model;
    }
}

// What the time of the published simulations contains beside the collective.
TEST(Sim, adds_the_closing_barrier) {
    const auto barrier = [](const std::string& torus) {
        const auto time = [&](const std::string& message) {
            return seconds({"barrier", "-a", "dissemination", "-t", torus, "--sizes", "0",
                            "--alpha", "0", "--hop", "200ns", "--closing-barrier", message,
                            "--model", "step"});
        };
        return time("312ns") - time("0");
    };
    EXPECT_NEAR(4.67e-6, barrier("8"), 1e-8);
    EXPECT_NEAR(28.9e-6, barrier("64"), 1e-7);
    EXPECT_NEAR(10.7e-6, barrier("8x8"), 1e-7);
    EXPECT_NEAR(46.8e-6, barrier("32x32"), 1e-7);
}

// Of several algorithms one that is too large is named, and the others run; alone it is an error.
TEST(Sim, leaves_out_what_does_not_fit) {
    const std::vector<std::string> ring{"sim",      "allreduce", "-t",       "12x12",
                                        "--sizes",  "1K",        "--memory", "2M",
                                        "--jitter", "1us",       "--json",   "-a"};
    auto both = ring;
    both.emplace_back("ring,bucket");
    const ToolResult result = run_tool(both);
    ASSERT_EQ(0, result.code) << result.err;
    const Json all = Json::parse(result.out);
    ASSERT_EQ(1U, all["runs"].size());
    EXPECT_EQ("bucket", all["runs"][0]["algorithm"]);
    ASSERT_EQ(1U, all["left_out"].size());
    EXPECT_NE(std::string::npos, all["left_out"][0].get<std::string>().find("ring on 12x12"));
    auto alone = ring;
    alone.emplace_back("ring");
    const ToolResult refused = run_tool(alone);
    EXPECT_EQ(2, refused.code);
    EXPECT_NE(std::string::npos, refused.err.find("--memory"));
}

TEST(Sim, goes_through_all_that_is_listed) {
    const Json all = runs({"allreduce", "-a", "swing-b,bucket", "-t", "8,3x3", "--sizes", "1K,1M"});
    ASSERT_EQ(8U, all.size());
    EXPECT_EQ("3x3", all[7]["torus"]);
    EXPECT_EQ("bucket", all[7]["algorithm"]);
    EXPECT_EQ(1048576, all[7]["bytes"]);
    EXPECT_EQ("flow", all[7]["model"]);
}

TEST(Sim, tells_the_gain_over_a_baseline) {
    const ToolResult result = run_tool({"sim", "allreduce", "-a", "bucket,trivance-b", "-t", "8",
                                        "--sizes", "32", "--baseline", "bucket"});
    EXPECT_EQ(0, result.code) << result.err;
    EXPECT_NE(std::string::npos, result.out.find("+0.0 %")) << result.out;
    EXPECT_NE(std::string::npos, result.out.find("+218.2 %")) << result.out;
}

TEST(Sim, has_tables_of_algorithms_and_sizes) {
    const ToolResult result = run_tool({"sim", "allreduce", "-a", "bucket,trivance-b", "-t", "8,9",
                                        "--sizes", "32,1M", "--baseline", "bucket", "--table"});
    EXPECT_EQ(0, result.code) << result.err;
    const ToolResult list =
        run_tool({"sim", "allreduce", "-a", "trivance-b", "-t", "9", "--sizes", "1M"});
    EXPECT_NE(std::string::npos, list.out.find(" us ")) << list.out;
    for (const char* row : {"# 9\n", " goodput            32            1M\n", "+218.2 %"}) {
        EXPECT_NE(std::string::npos, result.out.find(row)) << row << result.out;
    }
}

TEST(Sim, draws_goodput_and_gains) {
    const std::string file = "sim_test_" + std::to_string(getpid()) + ".svg";
    const std::vector<std::string> arguments{
        "sim",     "allreduce", "-a", "bucket,trivance-b", "-t",    "8", "--sizes",
        "0,32,1M", "--plot",    file, "--baseline",        "bucket"};
    const ToolResult result = run_tool(arguments);
    if (result.err.find("gnuplot-nox") != std::string::npos) {
        GTEST_SKIP() << "gnuplot is not here (Debian: gnuplot-nox)";
    }
    EXPECT_EQ(0, result.code) << result.err;
    std::ostringstream svg;
    svg << std::ifstream(file).rdbuf();
    std::remove(file.c_str());
    for (const char* text : {"trivance-b", "+218", "goodput, Gbit/s", "8: faster than bucket"}) {
        EXPECT_NE(std::string::npos, svg.str().find(text)) << text;
    }
}

TEST(Sim, goes_around_a_link_that_is_down) {
    const std::vector<std::string> ring{"allreduce", "-a", "bucket", "-t", "8", "--sizes", "1M"};
    std::vector<std::string> broken = ring;
    broken.insert(broken.end(), {"--down", "+0@5"});
    EXPECT_GT(seconds(broken), 1.05 * seconds(ring));
}

TEST(Sim, has_networks_of_other_kinds) {
    const auto time = [](const std::string& network, const std::string& algorithm) {
        return seconds({"allreduce", "-a", algorithm, "-t", "8x8", "--sizes", "1M", "--network",
                        network, "--alpha", "0", "--hop", "0", "--model", "step"});
    };
    EXPECT_DOUBLE_EQ(time("torus", "bucket"), time("hx2mesh", "bucket"));  // neighbours alone
    EXPECT_LT(time("hyperx", "swing-b"), time("torus", "swing-b"));
    EXPECT_LT(time("switch", "swing-b"), time("torus", "swing-b"));
    EXPECT_LT(time("hx2mesh", "swing-b"), time("torus", "swing-b"));
}

// With memory that takes no time, nodes of four ranks are as fast by node as nodes of one; four
// ranks that each send all they have are not.
TEST(Sim, ranks_of_a_node_share_its_links) {
    const auto time = [](const char* algorithm, const char* per_node) {
        return seconds({"allreduce", "-a", algorithm, "-t", "4x4", "--per-node", per_node,
                        "--sizes", "64M", "--alpha", "0", "--host-rate", "100TB"});
    };
    const double one = time("swing-b", "1");
    EXPECT_NEAR(1, time("swing-b:by-node", "4") / one, 0.01);
    EXPECT_LT(1.2, time("swing-b", "4") / one);
    EXPECT_EQ(time("swing-b", "4"),
              seconds({"allreduce", "-a", "swing-b", "-t", "4x4x4h", "--sizes", "64M", "--alpha",
                       "0", "--host-rate", "100TB"}));
}

TEST(Sim, dimensions_that_are_lines_are_those_of_a_mesh) {
    const auto time = [](const std::string& torus, const std::string& network) {
        return seconds({"allreduce", "-a", "swing-b", "-t", torus, "--sizes", "1M", "--network",
                        network, "--model", "flow"});
    };
    EXPECT_DOUBLE_EQ(time("4mx4m", "torus"), time("4x4", "mesh"));
    EXPECT_DOUBLE_EQ(time("4mx4m", "mesh"), time("4x4", "mesh"));
    EXPECT_GT(time("4mx4", "torus"), time("4x4", "torus"));
    EXPECT_LT(time("4mx4", "torus"), time("4x4", "mesh"));
}

TEST(Sim, counts_work_jitter_slow_links_and_messages_per_port) {
    const std::vector<std::string> plain{"allreduce", "-a",      "swing-b", "-t",
                                         "4x4",       "--sizes", "1M"};
    const auto with = [&](std::vector<std::string> more) {
        std::vector<std::string> all = plain;
        all.insert(all.end(), more.begin(), more.end());
        return seconds(all);
    };
    const double time = seconds(plain);
    EXPECT_LT(time, with({"--copy", "10GB"}));
    EXPECT_LT(time, with({"--reduce", "10GB"}));
    EXPECT_LT(time, with({"--slow", "+0@5=0.5"}));
    EXPECT_LT(time, with({"--jitter", "1us"}));
    EXPECT_EQ(with({"--jitter", "1us", "--seed", "7"}), with({"--jitter", "1us", "--seed", "7"}));
    EXPECT_NE(with({"--jitter", "1us", "--seed", "7"}), with({"--jitter", "1us", "--seed", "8"}));
    EXPECT_DOUBLE_EQ(time, with({"--per-port", "1"}));  // one message per port and step
    EXPECT_LT(time, with({"--gap", "100us"}));
    EXPECT_DOUBLE_EQ(time, with({"--complete-sends"}));
}

TEST(Sim, needs_no_table_for_the_step_model_on_a_torus) {
    std::vector<std::string> ring{"allreduce", "-a", "ring",    "-t",  "16x16",
                                  "--sizes",   "1M", "--model", "step"};
    const double time = seconds(ring);
    ring.insert(ring.end(), {"--memory", "100K"});
    EXPECT_DOUBLE_EQ(time, seconds(ring));
}

// Parities of the coordinates: four ranks tell of a million.
TEST(Sim, takes_a_million_ranks_where_few_tell_of_all) {
    EXPECT_LT(40 * 1.8e-6, seconds({"allreduce", "-a", "swing-b", "-t", "1024x1024", "--sizes",
                                    "1M", "--model", "step"}));
}

class MachineFile {
  public:
    explicit MachineFile(const std::string& text)
        : name_("sim_test_machine_" + std::to_string(getpid()) + ".json") {
        std::ofstream(name_) << text;
    }
    ~MachineFile() { std::remove(name_.c_str()); }
    const std::string& name() const { return name_; }

  private:
    std::string name_;
};

TEST(Sim, reads_machines_from_files) {
    const MachineFile file(R"({"rate": "8GB", "alpha": "1us", "hop": "0", "network": "mesh"})");
    EXPECT_NEAR(2e-6 + 1e6 / 8e9,
                seconds({"bcast", "-a", "linear", "-t", "2", "--sizes", "1000000", "--machine",
                         file.name(), "--model", "step", "--alpha", "2us"}),
                1e-12);
}

void expect_refusal(const std::vector<std::string>& arguments, const std::string& reason) {
    std::vector<std::string> all{"sim"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const ToolResult result = run_tool(all);
    EXPECT_EQ(2, result.code) << result.out;
    EXPECT_NE(std::string::npos, result.err.find(reason)) << result.err;
}

TEST(Sim, refuses_bad_input_in_words) {
    const std::vector<std::string> good{"allreduce", "-a", "bucket", "-t", "8"};
    const auto with = [&](std::vector<std::string> more) {
        std::vector<std::string> all = good;
        all.insert(all.end(), more.begin(), more.end());
        return all;
    };
    expect_refusal({"-t", "8"}, "sim needs a collective: allreduce");
    expect_refusal(with({"--machine", "nowhere"}), "there is no machine and no file \"nowhere\"");
    expect_refusal(with({"--rate", "-3Gbit"}), "\"-3Gbit\" is not a rate");
    expect_refusal(with({"--rate", "0bit"}), "is not a rate");
    expect_refusal(with({"--rate", "25Gb"}),
                   "\"25Gb\" may mean bits or bytes; write 25Gbit or 25GB");
    expect_refusal(with({"--alpha", "5"}), "\"5\" is not a time");
    expect_refusal(with({"--hop", "-1us"}), "is not a time");
    expect_refusal(with({"--model", "exact"}), "there is no model \"exact\"");
    expect_refusal(with({"--model", "step", "--lockstep"}), "leave --lockstep out");
    expect_refusal(with({"--network", "star"}), "there is no network \"star\"");
    expect_refusal(with({"--down", "+0@8"}), "\"+0@8\" is not a link");
    expect_refusal(with({"--down", "5"}), "\"5\" is not a link");
    expect_refusal(with({"--down", "+0@1,-0@1"}), "links that are down leave no way");
    expect_refusal(with({"--baseline", "ring"}), "the baseline ring is not among");
    expect_refusal(with({"--json", "--table"}), "exclude each other");
    expect_refusal(with({"--plot", "a.pdf"}), "ends in .svg or .png");
    expect_refusal(with({"--engine", "steam"}), "there is no engine \"steam\"; known are own");
    expect_refusal({"allreduce", "-a", "linear", "-t", "8", "--memory", "1K"}, "need about");
    expect_refusal({"allreduce", "-a", "auto", "-t", "8"}, "name algorithms, or all");
    expect_refusal({"allreduce", "-a", "hamiltonian", "-t", "8"}, "none of the algorithms runs");
    expect_refusal(with({"--machine", "trivanse"}), "did you mean trivance?");
    expect_refusal(with({"--alpha", "1e300s"}), "is not a time");
    expect_refusal(with({"--rate", "1e-9bit"}), "is not a rate");
    expect_refusal(with({"--rate", "1GB,2GB"}), "2 rates are given, but 8 has 1 dimensions");
    expect_refusal(with({"--jitter", "-1us"}), "is not a time");
    expect_refusal(with({"--per-port", "-1"}), "--per-port takes a number from 1");
    expect_refusal(with({"--per-port", "1", "--model", "step"}), "leave --per-port out");
    expect_refusal(with({"--jitter", "1us", "--model", "step"}), "leave --jitter out");
    expect_refusal(with({"--links-per-pair", "3"}), "from 1 to 2, not 3");
    expect_refusal(with({"--host", "1", "--host-rate", "1GB"}), "8 has no dimension 1");
    expect_refusal(with({"--host", "0"}), "--host needs --host-rate");
    expect_refusal(with({"--host-latency", "1us"}), "need --host");
    expect_refusal(with({"--slow", "+0@5"}), "\"+0@5\" is not a slow link");
    expect_refusal(with({"--slow", "+0@5=2"}), "is not a slow link");
    expect_refusal(with({"--slow", "+0@9=0.5"}), "\"+0@9\" is not a link");
    expect_refusal({"allreduce", "-t", "4mx4", "--network", "hyperx"}, "4mx4 has lines");
    expect_refusal(with({"--network", "hx3mesh"}), "boards of 3 ranks do not divide dimension 0");
    expect_refusal(with({"--network", "hyperx", "--down", "+0@1"}), "is not a link");
    expect_refusal(with({"--network", "switch", "--down", "+0@1"}), "leave no way");
    expect_refusal({"bcast", "-t", "8", "--root", "8"}, "root");
    expect_refusal(with({"--root", "1"}), "allreduce has no root");
    expect_refusal({"allreduce", "-t", "40000x40000"}, "ranks need at least");
    expect_refusal({"allreduce", "-t", "99999x99999"}, "more than 2147483647 ranks");
    expect_refusal({"allreduce", "-a", "single-copy", "-t", "8"},
                   "reads the memory of other ranks");
    const MachineFile number(R"({"rate": 8})");
    expect_refusal(with({"--machine", number.name()}), "\"rate\" must be a text");
    const MachineFile unknown(R"({"rate": "8GB", "speed": "1"})");
    expect_refusal(with({"--machine", unknown.name()}), "there is no \"speed\"");
    const MachineFile cut(R"({"rate": )");
    expect_refusal(with({"--machine", cut.name()}), cut.name());
}

}  // namespace
}  // namespace trefoil::test::sim_test
