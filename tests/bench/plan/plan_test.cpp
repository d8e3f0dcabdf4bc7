// SPDX-License-Identifier: BSD-3-Clause
// `trefoil plan`: the summary's keys and figures, a schedule in words, and refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <sstream>

#include "tests/bench/common/tool.hpp"

namespace trefoil::test {
namespace {

using Json = nlohmann::ordered_json;

/// A folder of its own for what a test writes.
struct Folder {
    Folder() {
        std::string name =
            (std::filesystem::temp_directory_path() / "trefoil-pages-XXXXXX").string();
        EXPECT_NE(mkdtemp(name.data()), nullptr);
        path = name;
    }
    ~Folder() { std::filesystem::remove_all(path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::filesystem::path path;
};

Json summary(const std::string& algorithm, const std::string& torus,
             const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"plan",    "allreduce", "--algorithm", algorithm,
                                       "--torus", torus,       "--summary",   "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto result = run_tool(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    return Json::parse(result.out);
}

TEST(Plan, summary_has_exactly_the_promised_keys) {
    const Json object = summary("ring", "3x3");
    const std::vector<std::string> promised{"collective",
                                            "algorithm",
                                            "used",
                                            "torus",
                                            "ranks",
                                            "parts",
                                            "steps",
                                            "bytes_sent_max",
                                            "bytes_sent_min",
                                            "bytes_sent_total",
                                            "step_max_link_load",
                                            "step_max_hops",
                                            "sum_link_load",
                                            "sum_hops",
                                            "max_sends_per_port_per_step",
                                            "max_extents_per_message",
                                            "pulled_mean",
                                            "pulled_max",
                                            "acknowledgements_mean",
                                            "acknowledgements_max",
                                            "verified",
                                            "bound_vectors"};
    std::vector<std::string> keys;
    for (const auto& [key, value] : object.items()) {
        keys.push_back(key);
    }
    EXPECT_EQ(keys, promised);
}

TEST(Plan, summary_tells_the_figures_of_a_ring) {
    const Json ring = summary("ring", "8");
    EXPECT_EQ(ring["collective"], "allreduce");
    EXPECT_EQ(ring["algorithm"], "ring");
    EXPECT_EQ(ring["torus"], "8");
    EXPECT_EQ(ring["ranks"], 8);
    EXPECT_EQ(ring["steps"], 14);
    EXPECT_NEAR(ring["bytes_sent_max"].get<double>(), 2 * 7.0 / 8, 1e-12);
    EXPECT_NEAR(ring["bytes_sent_min"].get<double>(), 2 * 7.0 / 8, 1e-12);
    EXPECT_NEAR(ring["bytes_sent_total"].get<double>(), 14.0, 1e-9);
    const auto loads = ring["step_max_link_load"].get<std::vector<double>>();
    const auto hops = ring["step_max_hops"].get<std::vector<int>>();
    ASSERT_EQ(loads.size(), 14U);
    EXPECT_EQ(hops, std::vector<int>(14, 1));
    EXPECT_NEAR(ring["sum_link_load"].get<double>(),
                std::accumulate(loads.begin(), loads.end(), 0.0), 1e-9);
    EXPECT_EQ(ring["sum_hops"], 14);
    EXPECT_EQ(ring["verified"], true);
}

TEST(Plan, proof_can_be_left_out) {
    EXPECT_TRUE(summary("bucket", "16x16", {"--no-verify"})["verified"].is_null());
    const ToolResult too_large =
        run_tool({"plan", "allreduce", "-a", "ring", "-t", "128x128", "--summary"});
    EXPECT_EQ(2, too_large.code);
    EXPECT_NE(std::string::npos, too_large.err.find("4 GiB; use --no-verify"));
    // Not "adding up 90000 ranks, which takes a while": nothing is added up.
    const ToolResult huge =
        run_tool({"plan", "allreduce", "-a", "ring", "-t", "300x300", "--summary"});
    EXPECT_EQ(2, huge.code);
    EXPECT_EQ(std::string::npos, huge.err.find("a while")) << huge.err;
}

// Links of nodes with several ranks carry by node what they carry with one rank each.
TEST(Plan, nodes_of_several_ranks_are_proved_and_load_links_as_one_rank_does) {
    const Json by_node = summary("swing-b:by-node", "3x3", {"--per-node", "4"});
    EXPECT_EQ("3x3x4h", by_node["torus"]);
    EXPECT_EQ(true, by_node["verified"]);
    EXPECT_NEAR(summary("swing-b", "3x3")["sum_link_load"].get<double>(),
                by_node["sum_link_load"].get<double>(), 1e-9);
    for (const char* torus : {"3x3x2h", "3x3x0h", "3hx3"}) {
        const auto refused =
            run_tool({"plan", "allreduce", "-a", "ring", "-t", torus, "--per-node", "2"});
        EXPECT_EQ(2, refused.code) << torus;
        EXPECT_NE("", refused.err);
    }
    const auto no_nodes = run_tool({"plan", "allreduce", "-a", "ring:by-node", "-t", "3x3"});
    EXPECT_EQ(2, no_nodes.code);
    EXPECT_NE(std::string::npos, no_nodes.err.find("3x3x2h")) << no_nodes.err;
}

TEST(Plan, summary_is_readable_too) {
    const auto result =
        run_tool({"plan", "allreduce", "--algorithm", "trivance-b", "--torus", "3x3", "--summary"});
    EXPECT_EQ(result.code, 0);
    EXPECT_NE(result.out.find("allreduce by trivance-b on torus 3x3, 9 ranks"), std::string::npos);
    EXPECT_NE(result.out.find("verified                         yes"), std::string::npos);
}

TEST(Plan, settles_auto_and_pieces_for_a_size_of_vector) {
    const auto used = [](const std::string& algorithm, const std::string& bytes) {
        const auto result = run_tool({"plan", "bcast", "-a", algorithm, "-t", "4x4", "--bytes",
                                      bytes, "--summary", "--json"});
        EXPECT_EQ(result.code, 0) << result.err;
        const Json object = Json::parse(result.out);
        EXPECT_GT(object["modelled_us"], 0);
        return object["used"].get<std::string>();
    };
    EXPECT_EQ(used("spanning-trees", "8"), "spanning-trees:pieces-1");
    EXPECT_EQ(used("spanning-trees:pieces-3", "8"), "spanning-trees:pieces-3");
    EXPECT_EQ(used("auto", "64M"), used("spanning-trees", "64M"));
    const auto words =
        run_tool({"plan", "bcast", "-a", "auto", "-t", "4x4", "--bytes", "64M", "--summary"});
    EXPECT_NE(words.out.find("bcast by spanning-trees:pieces-"), std::string::npos) << words.out;
    EXPECT_NE(words.out.find(" us for 64M ("), std::string::npos) << words.out;
}

TEST(Plan, takes_names_with_modifiers) {
    const auto by = [](const std::vector<std::string>& words) {
        std::vector<std::string> arguments{"plan", "reduce_scatter", "-t", "4x4", "-a"};
        arguments.insert(arguments.end(), words.begin(), words.end());
        return run_tool(arguments).out;
    };
    EXPECT_NE(by({"swing:send"}), "");
    EXPECT_EQ(by({"swing:send"}), by({"swing", "--layout", "send"}));
    EXPECT_NE(by({"swing:send"}), by({"swing"}));
}

TEST(Plan, tells_pulls_and_acknowledgements_in_words) {
    const auto words = [](const std::vector<std::string>& arguments) {
        std::vector<std::string> all{"plan"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        return run_tool(all).out;
    };
    const std::string pulls = words({"allreduce", "-a", "single-copy", "-t", "3", "--rank", "1"});
    for (const char* line : {"send    +0 to   rank 2 (2)     a signal that opens the vector",
                             "pull    block 1 of rank 0 (0) as it began to block s0",
                             "reduce  block 1 as it began into block s0",
                             "pull    block 1 of rank 2 (2) as it began and reduce into block s0",
                             "pull    block 2 of rank 2 (2) to block 2"}) {
        EXPECT_NE(pulls.find(line), std::string::npos) << line << " is not in\n" << pulls;
    }
    EXPECT_EQ(pulls.find("acknowledge"), std::string::npos);
    EXPECT_NE(words({"bcast", "-a", "linear", "-t", "3", "--rank", "1"})
                  .find("when it begins\n    acknowledge -0 to rank 0 (0)"),
              std::string::npos);
    EXPECT_NE(words({"alltoall", "-a", "linear", "-t", "3", "--rank", "1"})
                  .find("copy    block 1 to block 4"),
              std::string::npos);
}

TEST(Plan, tells_one_ranks_schedule_in_words) {
    const auto result =
        run_tool({"plan", "allreduce", "--algorithm", "trivance-b", "--torus", "9", "--rank", "4"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.out.find("what rank 4 (4) does"), std::string::npos) << result.out;
    // The first step of nine ranks: a third of the vector to the ranks three away, both ways.
    for (const char* text :
         {"send    +0 to   rank 7 (7)", "send    -0 to   rank 1 (1)", "receive -0 from rank 1 (1)",
          "receive +0 from rank 7 (7)", "1/3   of the vector", "reduced into", "replaces"}) {
        EXPECT_NE(result.out.find(text), std::string::npos) << text << "\n" << result.out;
    }
}

TEST(Plan, tells_signals_of_a_barrier) {
    const auto result =
        run_tool({"plan", "barrier", "--algorithm", "dissemination", "--torus", "4"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.out.find("a signal"), std::string::npos) << result.out;
}

TEST(Plan, gives_a_schedule_as_data) {
    const auto result =
        run_tool({"plan", "allreduce", "--algorithm", "ring", "--torus", "4", "--json"});
    const Json object = Json::parse(result.out);
    EXPECT_EQ(object["rank"], 0);
    std::size_t sends = 0;
    for (const Json& part : object["parts"]) {
        EXPECT_EQ(part["steps"].size(), 6U);
        for (const Json& step : part["steps"]) {
            sends += step["sends"].size();
        }
    }
    EXPECT_EQ(sends, 6 * object["parts"].size());
}

TEST(Plan, lists_algorithms) {
    const auto result = run_tool({"plan", "allreduce", "--list", "--torus", "6x4"});
    EXPECT_EQ(result.code, 0);
    for (const char* name : {"trivance-l", "trivance-b", "trivance-g", "swing-l", "swing-b",
                             "bucket", "ring", "recursive-doubling-l", "recursive-doubling-b"}) {
        EXPECT_NE(result.out.find(name), std::string::npos) << name;
    }
    EXPECT_EQ(result.out.find("dissemination"), std::string::npos);
}

TEST(Plan, lists_algorithms_where_none_is_named) {
    for (const std::vector<std::string>& rest : {std::vector<std::string>{}, {"--torus", "6x4"}}) {
        std::vector<std::string> arguments{"plan", "allreduce"};
        arguments.insert(arguments.end(), rest.begin(), rest.end());
        const ToolResult result = run_tool(arguments);
        EXPECT_EQ(result.code, 0) << result.err;
        arguments.emplace_back("--list");
        EXPECT_EQ(result.out, run_tool(arguments).out);
    }
}

TEST(Plan, schedules_of_divided_collectives_tell_the_owners) {
    const auto result = run_tool(
        {"plan", "allgather", "--algorithm", "swing", "--torus", "8", "--json", "--all-ranks"});
    const auto lines = lines_of(result.out);
    ASSERT_EQ(lines.size(), 8U);
    std::vector<int> everybody(8);
    std::iota(everybody.begin(), everybody.end(), 0);
    for (int rank = 0; rank < 8; ++rank) {
        const Json object = Json::parse(lines[rank]);
        EXPECT_EQ(object["rank"], rank);
        EXPECT_EQ(object["collective"], "allgather");
        EXPECT_TRUE(object["root"].is_null());
        auto owners = object["parts"][0]["owners"].get<std::vector<int>>();
        std::sort(owners.begin(), owners.end());
        EXPECT_EQ(owners, everybody);
    }
}

TEST(Plan, table_tells_figures_and_refusals) {
    const auto result = run_tool({"plan", "allreduce", "--table", "--torus", "8,3x3", "--json"});
    const Json table = Json::parse(result.out);
    ASSERT_EQ(table.size(), 1U);
    int found = 0;
    for (const Json& entry : table[0]["algorithms"]) {
        if (entry["name"] == "ring:single-port") {
            ++found;
            EXPECT_EQ(entry["on"]["8"]["steps"], 14);
            EXPECT_EQ(entry["on"]["8"]["parts"], 1);
            EXPECT_EQ(entry["on"]["8"]["ports"], 1);
            EXPECT_EQ(entry["on"]["3x3"]["bytes_sent_max"], 16.0 / 9);
        } else if (entry["name"] == "hamiltonian") {
            ++found;
            EXPECT_TRUE(entry["on"]["8"].contains("refusal"));
            EXPECT_EQ(entry["on"]["3x3"]["parts"], 4);
        }
    }
    EXPECT_EQ(found, 2);
    const auto text = run_tool({"plan", "allreduce", "--table", "--torus", "8,3x3"});
    EXPECT_NE(text.out.find("hamiltonian on 8: "), std::string::npos) << text.out;
}

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

std::set<std::string> names_in(const std::filesystem::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        names.insert(entry.path().filename());
    }
    return names;
}

void expect_lines_that_fit(const std::string& path, const std::string& text) {
    for (const std::string& line : lines_of(text)) {
        EXPECT_LE(line.size(), 100U) << path << ": " << line;
    }
}

TEST(Plan, the_pages_of_algorithms_are_current) {
    const std::filesystem::path docs = TREFOIL_DOCS;
    const Folder scratch;
    const auto result =
        run_tool({"plan", "--table", "--pages", scratch.path.string()}, std::chrono::minutes(5));
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out, "");
    const std::set<std::string> names = names_in(scratch.path / "algorithms");
    EXPECT_EQ(names.size(), 13U);
    EXPECT_EQ(names, names_in(docs / "algorithms")) << "pages of no collective, or none of one";
    std::vector<std::string> pages{"algorithms.md"};
    for (const std::string& name : names) {
        pages.push_back("algorithms/" + name);
    }
    for (const std::string& page : pages) {
        const std::string text = text_of(scratch.path / page);
        EXPECT_TRUE(text == text_of(docs / page))
            << page << " does not tell what the code does; write it again with\n"
            << "    trefoil plan --table --pages docs";
        expect_lines_that_fit(page, text);
    }
}

TEST(Plan, a_page_tells_words_figures_and_refusals) {
    const Folder scratch;
    const auto result =
        run_tool({"plan", "--table", "--torus", "8,3x3", "--pages", scratch.path.string()});
    ASSERT_EQ(result.code, 0) << result.err;
    const std::string page = text_of(scratch.path / "algorithms" / "allreduce.md");
    for (const char* line :
         {"\n| ring | 14 | 16 |\n", "\n## ring\n", "\n| 8 | 1 | 1 | 1 | 14 | 1.75 | 14 | 1.75 |\n",
          "\n- Options: `single-port`, `by-node`.\n",
          "\n- Not on 8: ", "\n- Reduces in rank order.\n",
          "\n- `auto` never takes it, since ranks may get different bits.\n"}) {
        EXPECT_NE(page.find(line), std::string::npos) << line << " is not in\n" << page;
    }
    const std::string index = text_of(scratch.path / "algorithms.md");
    EXPECT_NE(index.find("on these tori: 8, 3x3."), std::string::npos) << index;
    EXPECT_NE(
        index.find(
            "- [barrier](algorithms/barrier.md): 2 algorithms. `auto` takes `dissemination`."),
        std::string::npos)
        << index;
}

TEST(Plan, takes_a_network_from_a_file) {
    const Folder scratch;
    const std::string file = (scratch.path / "network.json").string();
    const std::string network = "4x4:node=5:cable=+0@2=0.5";
    const auto written = run_tool({"plan", "--torus", network, "--describe", "json"});
    EXPECT_EQ(written.code, 0) << written.err;
    std::ofstream(file) << written.out;
    EXPECT_EQ(run_tool({"plan", "--torus", file, "--describe", "text"}).out, network + "\n");
    const auto bound = [](const std::string& torus) {
        return run_tool({"plan", "allreduce", "--torus", torus, "--bound"}).out;
    };
    EXPECT_EQ(bound(file), bound(network));
    EXPECT_NE(bound(file), "");
    std::ofstream(file) << R"({"dimensions": [{"size": 4}], "nodes": [{"place": 4, "rate": 0}]})";
    const auto refused = run_tool({"plan", "--torus", file, "--describe", "text"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_NE(refused.err.find(file + ": the network cannot be used: nodes[0]: there is no node 4"),
              std::string::npos)
        << refused.err;
}

TEST(Plan, refuses_bad_input) {
    struct Bad {
        std::vector<std::string> arguments;
        std::string says;
    };
    const std::vector<Bad> all{
        {{"plan", "allreduce", "--torus", "3x3", "--summary"}, "plan needs --algorithm"},
        {{"plan", "allreduce", "--algorithm", "ring"}, "plan needs --algorithm"},
        {{"plan", "--list"}, "plan needs a collective"},
        {{"plan", "--torus", "no.json", "--list"}, "cannot read \"no.json\""},
        {{"plan", "allreduce", "--torus", "3x3", "--describe", "json"}, "without a collective"},
        {{"plan", "allreduce", "--table", "--torus", "8,4x"}, "is not a torus"},
        {{"plan", "--table", "--pages", "/no/such/folder"}, "there is no folder /no/such/folder"},
        {{"plan", "bcast", "--table", "--pages", "."}, "leave bcast out"},
        {{"plan", "--table", "--json", "--pages", "."}, "leave --json out"},
        {{"plan", "allreduce", "--list", "--pages", "."}, "--pages is for --table"},
        {{"plan", "allredux", "--list"}, "did you mean allreduce?"},
        {{"plan", "allreduce", "--algorithm", "swing-x", "--torus", "4"}, "swing-l"},
        {{"plan", "allreduce", "--algorithm", "auto", "--torus", "4"}, "add --bytes 1M"},
        {{"plan", "allreduce", "--algorithm", "ring:send", "--torus", "4"}, "choice of layouts"},
        {{"plan", "allreduce", "--algorithm", "ring", "--torus", "4x"}, "is not a torus"},
        {{"plan", "allreduce", "--algorithm", "ring", "--torus", "4", "--rank", "4"},
         "there is no rank 4 on torus 4"},
        {{"plan", "allreduce", "--algorithm", "dissemination", "--torus", "4"}, "dissemination"}};
    for (const Bad& bad : all) {
        const auto result = run_tool(bad.arguments);
        EXPECT_EQ(result.code, 2) << bad.says;
        EXPECT_NE(result.err.find(bad.says), std::string::npos) << result.err;
        EXPECT_EQ(result.out, "");
    }
}

}  // namespace
}  // namespace trefoil::test
