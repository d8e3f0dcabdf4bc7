// SPDX-License-Identifier: BSD-3-Clause
// `trefoil info`: everything that it promises is there, as text and as data.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "tests/bench/common/tool.hpp"
#include "tests/denied_calls.hpp"

namespace trefoil::test::info_test {
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
    EXPECT_TRUE(lists(all["datatypes"], "bfloat16"));
    EXPECT_EQ(all["datatypes"].back()["name"], "short-int");
    EXPECT_EQ(all["datatypes"].back()["bytes"], "8");
    EXPECT_EQ(all["datatypes"].back()["operations"], Json({"minloc", "maxloc"}));
    ASSERT_EQ(all["ports"].size(), 4U);
    EXPECT_EQ(all["ports"][0]["port"], "+0");
    EXPECT_EQ(all["ports"][0]["neighbour"], "rank 1 (1,0)");
    EXPECT_EQ(all["ports"][1]["neighbour"], "rank 2 (2,0)");
    EXPECT_EQ(all["ports"][2]["neighbour"], "none");
    EXPECT_EQ(all["ports"][0]["chosen"], "default: shared memory, all ranks are on this host");
    EXPECT_EQ(all["ports"][2]["chosen"], "-");
    EXPECT_TRUE(lists(all["interfaces"], "lo"));
}

TEST(Info, says_that_ports_share_a_nic_and_threads_a_core) {
    const Json backends = Json::parse(run_tool({"info", "--json"}).out)["backends"];
    if (backends[1]["present"] != "yes") {
        GTEST_SKIP() << "this Trefoil was built without libfabric";
    }
    setenv("TREFOIL_BACKEND", "ofi", 1);
    setenv("TREFOIL_PROVIDER", "net", 1);
    setenv("TREFOIL_NICS", "127.0.0.*", 1);
    setenv("TREFOIL_PORT_THREADS", "2", 1);
    const auto result = run_tool({"info", "--json", "--torus", "64"});
    for (const char* name :
         {"TREFOIL_BACKEND", "TREFOIL_PROVIDER", "TREFOIL_NICS", "TREFOIL_PORT_THREADS"}) {
        unsetenv(name);
    }
    ASSERT_EQ(result.code, 0) << result.err;
    const Json all = Json::parse(result.out);
    EXPECT_EQ(all["ports"][0]["chosen"], "lo (asked for by TREFOIL_NICS, shared by 2 ports)");
    EXPECT_EQ(all["ports"][0]["driven_by"].get<std::string>().find("port thread 0 on core "), 0U);
    EXPECT_NE(result.out.find("128 threads drive the ports of 64 ranks on this host"),
              std::string::npos);
}

/// What the tool prints in a process of its own, which may not read others, and in those it starts.
int say_without_memory_of_others() {
    if (!forbid_access_to_other_processes()) {
        return 1;
    }
    const auto info = run_tool({"info", "--torus", "4"});
    const auto run = run_tool({"run", "--torus", "4", "--", TREFOIL_TOOL, "perf", "allreduce", "-b",
                               "1M", "-e", "1M", "-c"});
    std::fputs((info.out + run.out + run.err).c_str(), stderr);
    return info.code == 0 && run.code == 0 ? 0 : 2;
}

TEST(Info, says_that_ranks_cannot_read_each_other_and_results_are_right) {
    const auto may = run_tool({"info"});
    EXPECT_NE(may.out.find("can read each other's memory"), std::string::npos) << may.out;
    EXPECT_EXIT(std::_Exit(say_without_memory_of_others()), testing::ExitedWithCode(0),
                "cannot read each other's memory .process_vm_readv: Operation not permitted");
}

TEST(Info, a_backend_that_is_absent_says_why) {
    const Json all = Json::parse(run_tool({"info", "--json"}).out);
    for (const Json& backend : all["backends"]) {
        EXPECT_FALSE(backend["about"].get<std::string>().empty()) << backend;
    }
    EXPECT_FALSE(all.contains("ports"));
}

TEST(Info, a_library_that_is_there_has_a_version) {
    const Json all = Json::parse(run_tool({"info", "--json"}).out);
    for (const auto& [backend, name] : {std::pair{"ofi", "libfabric"}, {"ucx", "UCX"}}) {
        bool is_present = false;
        for (const Json& row : all["backends"]) {
            is_present |= row["name"] == backend && row["present"] == "yes";
        }
        if (!is_present) {
            continue;
        }
        ASSERT_TRUE(lists(all["libraries"], name));
        for (const Json& row : all["libraries"]) {
            if (row["name"] == name && row["note"] == "") {  // it could be loaded
                const auto version = row["version"].get<std::string>();
                ASSERT_FALSE(version.empty()) << row;
                EXPECT_NE(std::isdigit(static_cast<unsigned char>(version[0])), 0) << row;
            }
        }
    }
}

TEST(Info, is_readable) {
    const auto result = run_tool({"info", "--torus", "3x3", "-v"});
    ASSERT_EQ(result.code, 0) << result.err;
    for (const char* text : {"Trefoil ", "Backends", "Providers and their NICs", "Ports of rank 0",
                             "3x3, 9 ranks (--torus)", "rank 3 (1,0)", "Algorithms",
                             "Settings: environment variables", "TREFOIL_BACKEND", "Libraries",
                             "Algorithms that auto picks", "sum, prod, min, max, band"}) {
        EXPECT_NE(result.out.find(text), std::string::npos) << text;
    }
}

TEST(Info, without_a_wish_fits_one_screen) {
    const auto result = run_tool({"info"});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_LE(lines_of(result.out).size(), 24U) << result.out;
    for (const char* text : {"libraries", "backends", "launcher", "-v lists"}) {
        EXPECT_NE(result.out.find(text), std::string::npos) << text;
    }
}

TEST(Info, tells_what_a_node_of_several_ranks_has) {
    const Json all =
        Json::parse(run_tool({"info", "--json", "--torus", "2x2x3h", "--backend", "ofi"}).out);
    EXPECT_EQ(3, all["ranks_per_node"]);
    EXPECT_EQ(6U, all["ports"].size());
    EXPECT_EQ("shared memory", all["ports"][4]["nic"]);
    EXPECT_EQ("shared memory", all["ports"][5]["nic"]);
    EXPECT_NE("shared memory", all["ports"][0]["nic"]);
    const Json flat = Json::parse(run_tool({"info", "--json", "--torus", "2x2"}).out);
    EXPECT_EQ(1, flat["ranks_per_node"]);
    EXPECT_TRUE(flat["node"].empty());
}

TEST(Info, tells_what_would_be_chosen_and_who_says_so) {
    const Json by_size = Json::parse(run_tool({"info", "--json", "--ranks", "12"}).out);
    EXPECT_EQ(by_size["torus"], "4x3");
    EXPECT_EQ(by_size["torus_source"], "balanced by default");
    EXPECT_EQ(by_size["transport"]["backend"], "memory");
    EXPECT_EQ(by_size["launcher"]["name"], "single");
    std::set<std::string> collectives;
    for (const Json& row : by_size["automatic"]) {
        collectives.insert(row["collective"]);
        if (row["modelled_us"] == "-") {
            const std::string name = row["algorithm"];
            EXPECT_TRUE(name == "single-copy" || name == "shared-copy")
                << name << " is chosen by the model";
            continue;
        }
        if (row["next_us"] == "-") {
            EXPECT_EQ(row["collective"].get<std::string>().find("neighbor_"), 0U)
                << row << ": the only algorithm";
            continue;
        }
        EXPECT_LE(std::stod(row["modelled_us"].get<std::string>()),
                  std::stod(row["next_us"].get<std::string>()))
            << row;
    }
    EXPECT_EQ(collectives,
              (std::set<std::string>{"allgather", "allreduce", "alltoall", "bcast", "exscan",
                                     "gather", "neighbor_allgather", "neighbor_alltoall", "reduce",
                                     "reduce_scatter", "scan", "scatter"}));
    setenv("TREFOIL_TORUS", "2x3", 1);
    setenv("UCX_TLS", "tcp", 1);
    const Json by_environment = Json::parse(run_tool({"info", "--json"}).out);
    const Json overridden =
        Json::parse(run_tool({"info", "--json", "--torus", "3", "--backend", "memory"}).out);
    unsetenv("TREFOIL_TORUS");
    unsetenv("UCX_TLS");
    EXPECT_EQ(by_environment["torus"], "2x3");
    EXPECT_EQ(by_environment["torus_source"], "TREFOIL_TORUS");
    EXPECT_EQ(by_environment["libraries_environment"][0]["name"], "UCX_TLS");
    EXPECT_EQ(overridden["torus_source"], "--torus");
    EXPECT_EQ(overridden["transport"]["reason"], "--backend");
    for (const auto& [all, source] :
         {std::pair{&by_environment, "environment"}, std::pair{&overridden, "command line"}}) {
        for (const Json& row : (*all)["environment"]) {
            EXPECT_EQ(row["from"], row["name"] == "TREFOIL_TORUS" ? source
                                   : row["name"] == "TREFOIL_BACKEND" && all == &overridden
                                       ? "command line"
                                       : "default")
                << row;
        }
    }
}

TEST(Info, a_bad_variable_is_a_warning) {
    setenv("TREFOIL_TIMEOUT", "soon", 1);
    const auto result = run_tool({"info"});
    unsetenv("TREFOIL_TIMEOUT");
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.out.find("warning: TREFOIL_TIMEOUT=soon is not valid"), std::string::npos)
        << result.out;
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

TEST(Info, the_page_of_variables_is_current) {
    std::ifstream file(TREFOIL_PAGE);
    std::stringstream page;
    page << file.rdbuf();
    setenv("TREFOIL_TORUS", "3x3", 1);  // changes nothing
    const auto result = run_tool({"info", "--variables", "--markdown"});
    unsetenv("TREFOIL_TORUS");
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_TRUE(result.out == page.str())
        << TREFOIL_PAGE << " does not tell what the code does; write it again with\n"
        << "    trefoil info --variables --markdown > docs/environment.md";
}

TEST(Info, tells_the_variables_alone) {
    setenv("TREFOIL_TIMEOUT", "17", 1);
    const auto result = run_tool({"info", "--variables"});
    unsetenv("TREFOIL_TIMEOUT");
    EXPECT_EQ(result.code, 0) << result.err;
    for (const char* const each :
         {"TREFOIL_LAUNCHER", "TREFOIL_TRACE_EVENTS", "17", "environment"}) {
        EXPECT_NE(result.out.find(each), std::string::npos) << each;
    }
    EXPECT_EQ(result.out.find("Algorithms"), std::string::npos);
    EXPECT_NE(run_tool({"info", "--markdown"}).code, 0);  // of what?
}

}  // namespace
}  // namespace trefoil::test::info_test
