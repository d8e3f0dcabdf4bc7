// SPDX-License-Identifier: BSD-3-Clause
// `trefoil sim --reconfigurable`: worked-out times, conventions, maps, and what it refuses.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/bench/common/tool.hpp"

namespace trefoil::test::rewiring_test {
namespace {

using Json = nlohmann::ordered_json;
constexpr double us = 1e-6;

std::vector<std::string> with_machine(const std::vector<std::string>& arguments) {
    std::vector<std::string> all{"sim"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    for (const char* one : {"--alpha", "0", "--rate", "800Gbit"}) {
        all.emplace_back(one);
    }
    return all;
}

Json answer(std::vector<std::string> arguments) {
    arguments = with_machine(arguments);
    arguments.emplace_back("--json");
    const ToolResult result = run_tool(arguments);
    EXPECT_EQ(0, result.code) << result.err;
    return result.code == 0 ? Json::parse(result.out) : Json{{"runs", Json::array({{}})}};
}

Json only_run(const std::vector<std::string>& arguments) {
    const Json all = answer(arguments);
    EXPECT_EQ(1U, all["runs"].size());
    return all["runs"][0];
}

TEST(Circuits, answer_the_users_question_in_one_call) {
    const Json all =
        answer({"allreduce", "--torus", "32", "--algorithm", "recursive-doubling,swing,trivance",
                "--sizes", "1K,4M", "--hop", "500ns", "--reconfigurable", "10us"});
    const char* names[] = {"recursive-doubling-b", "swing-b", "trivance-b"};
    ASSERT_EQ(6U, all["runs"].size());
    for (int i = 0; i < 6; ++i) {
        const Json& run = all["runs"][i];
        EXPECT_EQ(names[i / 2], run["algorithm"]);
        EXPECT_LE(run["seconds"], run["static_seconds"]);
        const double bytes = i % 2 == 0 ? 1024 : 4194304;
        EXPECT_NEAR(62 * (0.5 * us + bytes * 1e-11 / 64), run["ring_seconds"].get<double>(), 1e-12);
        double sum = 0;
        int changes = 0;
        for (const Json& step : run["circuits"]) {
            sum += step["seconds"].get<double>();
            changes += step["changed"].get<bool>() ? 1 : 0;
        }
        EXPECT_EQ(changes, run["changes"]);
        EXPECT_NEAR(run["seconds"].get<double>(), sum + changes * 10 * us, 1e-12);
    }
    EXPECT_EQ("both", all["conventions"]["tie"]);
    EXPECT_EQ("ring", all["conventions"]["start_wiring"]);
    EXPECT_EQ("any", all["conventions"]["end_wiring"]);
}

// The sums (1) to (5) of arXiv 2510.03491 for 16 nodes: 1.0 us a change, 500 ns a hop, T = 2.
TEST(Circuits, have_the_published_thresholds) {
    const auto ask = [](const std::string& collective, const std::string& tie) {
        return only_run({collective, "-t", "16", "-a", "recursive-doubling", "--sizes", "1K",
                         "--hop", "500ns", "--reconfigurable", "1us", "--single-port", "--tie",
                         tie});
    };
    const double m = 10.24e-9;
    const double ring_steps = 0.5 * us + m / 2 + 1 * us + m / 2;
    const double wired = 1 * us + 0.5 * us + m / 8 + 1 * us + 0.5 * us + m / 16;
    const Json scatter = ask("reduce_scatter", "one");
    EXPECT_NEAR(ring_steps + wired, scatter["seconds"].get<double>(), 1e-13);
    EXPECT_NEAR(7.5 * us + 2 * m, scatter["static_seconds"].get<double>(), 1e-13);
    EXPECT_NEAR(7.5 * us + 15 * m / 16, scatter["ring_seconds"].get<double>(), 1e-13);
    EXPECT_NEAR(7.5 * us + 7 * m / 4, ask("reduce_scatter", "both")["static_seconds"].get<double>(),
                1e-13);
    EXPECT_EQ((Json{{"reduce_scatter", 2}}), scatter["thresholds"]);
    EXPECT_EQ(scatter["seconds"], scatter["published"]["seconds"]);
    EXPECT_TRUE(scatter["published"]["fallback"].is_null());
    // The ring that an allgather ends on is made by one change more; in an allreduce none is lost.
    EXPECT_NEAR(ring_steps + wired + 1 * us, ask("allgather", "one")["seconds"].get<double>(),
                1e-13);
    const Json both = ask("allreduce", "one");
    EXPECT_NEAR(2 * (ring_steps + wired), both["seconds"].get<double>(), 1e-13);
    EXPECT_EQ((Json{{"reduce_scatter", 2}, {"allgather", 2}}), both["thresholds"]);
    EXPECT_EQ(4, both["changes"]);
}

TEST(Circuits, follow_the_conventions_that_are_asked) {
    const auto ask = [](const std::vector<std::string>& more) {
        std::vector<std::string> all{
            "reduce_scatter", "-t",         "8x8",   "-a",    "swing",
            "--sizes",        "1K",         "--hop", "500ns", "--reconfigurable",
            "100ns",          "--fallback", "asked"};
        all.insert(all.end(), more.begin(), more.end());
        return only_run(all);
    };
    const Json plain = ask({});
    EXPECT_EQ(1, plain["changes"]);
    EXPECT_EQ((Json{3, 3}), plain["circuits"][4]["strides"]);
    const double seconds = plain["seconds"];
    EXPECT_NEAR(seconds + 0.1 * us, ask({"--end-wiring", "ring"})["seconds"].get<double>(), 1e-13);
    EXPECT_NEAR(seconds + 0.2 * us, ask({"--change-barrier", "200ns"})["seconds"].get<double>(),
                1e-13);
    EXPECT_GT(ask({"--switched", "1"})["seconds"].get<double>(), seconds + 0.5 * us);
    const Json free = only_run({"reduce_scatter", "-t", "8", "-a", "direct", "--sizes", "1K",
                                "--hop", "0", "--reconfigurable", "0"});
    EXPECT_EQ(0, free["changes"]);
    EXPECT_EQ(1U, free["cannot_be_wired"].size());
    EXPECT_EQ(0, free["cannot_be_wired"][0]["step"]);
}

TEST(Circuits, fall_back_to_the_cheapest_static_schedule) {
    const std::vector<std::string> question{"reduce_scatter",
                                            "-t",
                                            "16",
                                            "-a",
                                            "recursive-doubling",
                                            "--sizes",
                                            "64K",
                                            "--hop",
                                            "500ns",
                                            "--reconfigurable",
                                            "1ms"};
    const Json all = only_run(question);
    EXPECT_LT(all["seconds_with_fallback"], all["seconds"]);
    EXPECT_EQ(all["best_static"]["algorithm"], all["fallback"]);
    EXPECT_EQ(all["best_static"]["seconds"], all["seconds_with_fallback"]);
    auto asked = question;
    asked.insert(asked.end(), {"--fallback", "asked"});
    EXPECT_EQ("ring", only_run(asked)["fallback"]);
    asked[4] = "recursive-doubling,swing";
    EXPECT_EQ("swing", answer(asked)["runs"][0]["fallback"]);
}

// A schedule from a file is wired like the one that it was printed from.
TEST(Circuits, serve_schedules_of_the_users) {
    const std::string file = (std::filesystem::temp_directory_path() /
                              ("trefoil-schedule-" + std::to_string(getpid()) + ".json"))
                                 .string();
    const ToolResult plan =
        run_tool({"plan", "reduce_scatter", "-a", "swing", "-t", "16", "--all-ranks", "--json"});
    ASSERT_EQ(0, plan.code) << plan.err;
    std::ofstream(file) << plan.out;
    const std::vector<std::string> question{
        "reduce_scatter", "-t", "16", "--sizes", "1M", "--hop", "500ns", "--reconfigurable", "1us"};
    auto own = question, ours = question;
    own.insert(own.end(), {"--schedule", file});
    ours.insert(ours.end(), {"-a", "swing"});
    const Json run = only_run(own), expected = only_run(ours);
    EXPECT_EQ(expected["seconds"], run["seconds"]);
    EXPECT_EQ(expected["circuits"], run["circuits"]);
    EXPECT_EQ(expected["best_static"], run["best_static"]);
    std::remove(file.c_str());
}

TEST(Circuits, draw_maps) {
    const std::string name =
        (std::filesystem::temp_directory_path() / ("trefoil-map-" + std::to_string(getpid())))
            .string();
    const ToolResult result = run_tool(with_machine({"reduce_scatter",
                                                     "-t",
                                                     "32",
                                                     "-a",
                                                     "recursive-doubling",
                                                     "--single-port",
                                                     "--sizes",
                                                     "32,4000000",
                                                     "--hop",
                                                     "100ns,1us",
                                                     "--reconfigurable",
                                                     "10ns,1us,10us",
                                                     "--fallback",
                                                     "asked",
                                                     "--gain",
                                                     "ring",
                                                     "--tie",
                                                     "one",
                                                     "--heatmap",
                                                     name + ".json," + name + ".svg"}));
    if (result.err.find("gnuplot-nox") != std::string::npos) {
        GTEST_SKIP() << result.err;
    }
    ASSERT_EQ(0, result.code) << result.err;
    std::ifstream stream(name + ".json");
    const Json map = Json::parse(stream);
    ASSERT_EQ(2U, map["panels"].size());
    const double gains[2][6] = {{5.74, 1.19, 1, 6.15, 3.44, 1.19}, {1.07, 1, 1, 1.59, 1.45, 1}};
    const int thresholds[6] = {1, 4, 5, 1, 1, 4};
    for (int p = 0; p < 2; ++p) {
        ASSERT_EQ(6U, map["panels"][p]["cells"].size());
        for (int c = 0; c < 6; ++c) {
            const Json& cell = map["panels"][p]["cells"][c];
            EXPECT_EQ(p == 0 ? thresholds[c] : 1, cell["thresholds"]["reduce_scatter"]) << p << c;
            if (!(p == 1 && (c == 1 || c == 4))) {
                EXPECT_NEAR(gains[p][c], cell["gain"].get<double>(), 0.0051) << p << c;
            }
        }
    }
    std::ifstream picture(name + ".svg");
    const std::string svg(std::istreambuf_iterator<char>(picture), {});
    EXPECT_NE(std::string::npos, svg.find("4 (1.19)"));
    EXPECT_NE(std::string::npos, svg.find("1 (6.15)"));
    std::remove((name + ".json").c_str());
    std::remove((name + ".svg").c_str());
}

TEST(Circuits, refuse_what_cannot_be) {
    const auto refused = [](const std::vector<std::string>& more, const std::string& why,
                            const std::string& collective = "reduce_scatter") {
        std::vector<std::string> all{collective, "-t", "8", "--sizes", "1K"};
        all.insert(all.end(), more.begin(), more.end());
        const ToolResult result = run_tool(with_machine(all));
        EXPECT_EQ(2, result.code) << why;
        EXPECT_EQ("", result.out);
        EXPECT_NE(std::string::npos, result.err.find(why)) << result.err;
    };
    refused({"--circuits", "own"}, "add --reconfigurable TIME");
    refused({"--reconfigurable", "-1us"}, "\"-1us\" is not a time");
    refused({"--reconfigurable", "fast"}, "\"fast\" is not a time");
    refused({"--reconfigurable", "1us", "--hop", "-5ns"}, "\"-5ns\" is not a time");
    refused({"--reconfigurable", "1us", "--change-barrier", "-1ns"}, "\"-1ns\" is not a time");
    refused({"--reconfigurable", "1us", "--circuits", "all"}, "--circuits is own or shifted");
    refused({"--reconfigurable", "1us", "--tie", "half"}, "--tie is both or one");
    refused({"--reconfigurable", "1us", "--start-wiring", "x"}, "--start-wiring is ring or any");
    refused({"--reconfigurable", "1us", "--end-wiring", "x"}, "--end-wiring is any or ring");
    refused({"--reconfigurable", "1us", "--switched", "1"}, "torus 8 has no dimension 1");
    refused({"--reconfigurable", "1us", "--switched", "-1"}, "\"-1\" is not a dimension");
    refused({"--reconfigurable", "1us", "--lockstep"},
            "--lockstep does not go with --reconfigurable");
    refused({"--reconfigurable", "1us", "--model", "flow"}, "give --model step");
    refused({"--reconfigurable", "1us,2us"}, "add --heatmap FILE");
    refused({"--reconfigurable", "1us", "--hop", "1ns,2ns"}, "add --heatmap FILE");
    refused({"--reconfigurable", "1us", "--network", "mesh"}, "need a torus, not a mesh");
    refused({"--reconfigurable", "1us", "--heatmap", "map.jpg"}, ".svg or .png");
    refused({"--reconfigurable", "1us", "--heatmap", "/no/folder/map.json"},
            "no folder /no/folder");
    refused({"--reconfigurable", "1us", "--gain", "x"}, "--gain is static or ring");
    refused({"--reconfigurable", "1us", "--fallback", "x"}, "--fallback is all or asked");
    refused({"--reconfigurable", "1us", "-a", "auto"}, "name algorithms, or all");
    refused({"--reconfigurable", "1us", "-a", "trivance", "--single-port"},
            "trivance has no single-port variant");
    refused({"--reconfigurable", "1us"}, "bcast has no ring to compare with", "bcast");
    refused({"--reconfigurable", "1us", "-a", "single-copy"}, "sends nothing", "allreduce");
}

}  // namespace
}  // namespace trefoil::test::rewiring_test
