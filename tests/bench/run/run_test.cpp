// SPDX-License-Identifier: BSD-3-Clause
// `trefoil run`: environment, labels, exit codes, signals, and that nothing outlives it.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/bench/common/tool.hpp"
#include "topo/core_list.hpp"
#include "topo/host.hpp"

namespace trefoil::test {
namespace {

/// `trefoil run` options, then a shell script as the program.
ToolResult run_script(std::vector<std::string> options, const std::string& script) {
    options.insert(options.begin(), "run");
    options.insert(options.end(), {"--", "sh", "-c", script});
    return run_tool(options);
}

TEST(Run, gives_each_rank_its_environment) {
    const auto result = run_script(
        {"--torus", "2x3"},
        "echo $TREFOIL_RANK $TREFOIL_SIZE $TREFOIL_LOCAL_RANK $TREFOIL_LOCAL_SIZE $TREFOIL_TORUS "
        "${TREFOIL_STORE%:*} $((${TREFOIL_STORE#*:} > 0))");
    EXPECT_EQ(result.code, 0) << result.err;
    auto lines = lines_of(result.out);
    std::sort(lines.begin(), lines.end());
    ASSERT_EQ(lines.size(), 6U) << result.out;
    for (int r = 0; r < 6; ++r) {
        const std::string rank = std::to_string(r);
        EXPECT_EQ(lines[r], "[" + rank + "] " + rank + " 6 " + rank + " 6 2x3 127.0.0.1 1");
    }
}

TEST(Run, places_several_ranks_on_a_node) {
    const auto result = run_tool({"run", "--torus", "2", "--per-node", "2", "--no-label", "--",
                                  "sh", "-c", "echo $TREFOIL_SIZE $TREFOIL_TORUS"});
    EXPECT_EQ(0, result.code) << result.err;
    EXPECT_NE(std::string::npos, result.out.find("4 2x2h\n4 2x2h\n4 2x2h\n4 2x2h")) << result.out;
    const auto alone = run_tool({"run", "-n", "4", "--per-node", "2", "true"});
    EXPECT_EQ(2, alone.code);
    EXPECT_NE(std::string::npos, alone.err.find("--torus")) << alone.err;
}

/// A machine of two NUMA nodes with a core each, for hwloc: the cores are those of this one.
class TwoNumaNodes {
  public:
    TwoNumaNodes() {
        setenv("HWLOC_SYNTHETIC", "node:2 pu:1", 1);
        setenv("HWLOC_THISSYSTEM", "1", 1);
    }
    ~TwoNumaNodes() {
        unsetenv("HWLOC_SYNTHETIC");
        unsetenv("HWLOC_THISSYSTEM");
    }
    TwoNumaNodes(const TwoNumaNodes&) = delete;
    TwoNumaNodes& operator=(const TwoNumaNodes&) = delete;
};

TEST(Run, binds_ranks_to_numa_nodes_unless_told_not_to) {
    const TwoNumaNodes machine;
    const auto info = nlohmann::json::parse(
        run_tool({"info", "--json", "--torus", "2x3h", "--backend", "memory"}).out);
    const std::vector<int> allowed = allowed_cores();
    if (info["node"].size() != 2 || allowed.size() < 2 || allowed[0] != 0 || allowed[1] != 1) {
        GTEST_SKIP() << "needs hwloc, and cores 0 and 1";
    }
    EXPECT_EQ(info["node"][0]["ranks"], "0");
    EXPECT_EQ(info["node"][1]["ranks"], "1-2");
    const std::string cores = "grep Cpus_allowed_list /proc/self/status | cut -f2";
    auto lines = lines_of(run_script({"-n", "4"}, cores).out);
    std::sort(lines.begin(), lines.end());
    EXPECT_EQ(lines, (std::vector<std::string>{"[0] 0", "[1] 0", "[2] 1", "[3] 1"}));
    EXPECT_EQ(run_script({"-n", "1", "--no-label"}, cores).out,
              run_script({"-n", "1", "--no-label", "--bind", "none"}, cores).out);
    for (const std::string& line :
         lines_of(run_script({"-n", "4", "--no-label", "--bind", "none"}, cores).out)) {
        EXPECT_EQ(line, core_list_text(allowed));
    }
    const auto wrong = run_script({"-n", "2", "--bind", "socket"}, "true");
    EXPECT_EQ(wrong.code, 2);
    EXPECT_NE(wrong.err.find("numa"), std::string::npos) << wrong.err;
}

TEST(Run, passes_the_backend_on) {
    const auto result =
        run_script({"-n", "1", "--backend", "ofi", "--provider", "tcp;ofi_rxm", "--no-label"},
                   "echo \"$TREFOIL_BACKEND $TREFOIL_PROVIDER\"");
    EXPECT_EQ(result.out, "ofi tcp;ofi_rxm\n");
}

TEST(Run, keeps_lines_whole_and_streams_apart) {
    const auto result =
        run_script({"-n", "4"},
                   "for i in 1 2 3; do printf one; sleep 0.02; echo two; done; echo three >&2; "
                   "printf end");
    EXPECT_EQ(result.code, 0);
    const auto out = lines_of(result.out);
    const auto err = lines_of(result.err);
    for (int r = 0; r < 4; ++r) {
        const std::string label = "[" + std::to_string(r) + "] ";
        EXPECT_EQ(std::count(out.begin(), out.end(), label + "onetwo"), 3);
        EXPECT_EQ(std::count(out.begin(), out.end(), label + "end"), 1);
        EXPECT_EQ(std::count(err.begin(), err.end(), label + "three"), 1);
    }
    EXPECT_EQ(out.size(), 16U);
    EXPECT_EQ(err.size(), 4U);
}

TEST(Run, leaves_the_options_of_the_program_alone) {
    const auto result = run_tool(
        {"run", "--no-label", "-n", "2", "sh", "-c", "printf '%s %s\\n' \"$0\" \"$1\"", "-n", "5"});
    EXPECT_EQ(result.out, "-n 5\n-n 5\n") << result.err;
    EXPECT_EQ(run_tool({"run", "-n", "2", "--bogus", "true"}).code, 2);
}

TEST(Run, can_leave_labels_out) {
    EXPECT_EQ(run_script({"-n", "2", "--no-label"}, "echo hello").out, "hello\nhello\n");
}

TEST(Run, passes_long_output_on_completely) {
    const auto result = run_script({"-n", "2"}, "seq 1 20000");
    EXPECT_EQ(lines_of(result.out).size(), 40000U);
    EXPECT_NE(result.out.find("[1] 20000\n"), std::string::npos);
}

TEST(Run, returns_the_exit_code_of_the_rank_that_failed) {
    const auto result = run_script({"-n", "3"}, "[ $TREFOIL_RANK != 1 ] || exit 7");
    EXPECT_EQ(result.code, 7);
    EXPECT_EQ(result.err, "trefoil run: rank 1 ended with exit code 7\n");
}

TEST(Run, says_which_rank_was_killed_and_ends_the_others) {
    const auto result = run_script({"-n", "3", "--grace", "0.2"},
                                   "[ $TREFOIL_RANK != 2 ] || kill -9 $$; sleep 300");
    EXPECT_EQ(result.code, 128 + SIGKILL);
    EXPECT_NE(result.err.find("rank 2 was killed by signal 9"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("ending what still runs: 2 ranks"), std::string::npos) << result.err;
}

// As for TREFOIL_DUMP: the only process that a shell shows is the launcher.
TEST(Run, passes_user_signals_on_to_all_ranks) {
    const auto result =
        run_script({"-n", "2"},
                   "trap 'echo heard; exit 0' USR1; ready=${TMPDIR:-/tmp}/trefoil_run_test.$PPID\n"
                   "if [ $TREFOIL_RANK = 1 ]; then : >$ready; else for i in $(seq 400); do\n"
                   "[ -e $ready ] && break; sleep 0.05; done; rm -f $ready; kill -USR1 $PPID; fi\n"
                   "for i in $(seq 400); do sleep 0.05; done; exit 9");
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.out.find("[0] heard\n"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("[1] heard\n"), std::string::npos) << result.out;
}

TEST(Run, accuses_no_rank_when_it_is_ended_itself) {
    const auto result = run_script(
        {"-n", "2"}, "[ $TREFOIL_RANK != 0 ] || { sleep 0.2; kill -TERM $PPID; }; sleep 20");
    EXPECT_NE(result.err.find("trefoil run: got signal 15"), std::string::npos) << result.err;
    EXPECT_EQ(result.err.find("was killed by"), std::string::npos) << result.err;
}

TEST(Run, lets_the_others_end_by_themselves_within_the_grace_period) {
    const auto result = run_script({"-n", "2", "--grace", "10"},
                                   "[ $TREFOIL_RANK != 1 ] || exit 4; sleep 0.3; echo done");
    EXPECT_EQ(result.code, 4);
    EXPECT_EQ(result.out, "[0] done\n");
}

TEST(Run, kills_ranks_that_ignore_sigterm) {
    const auto result = run_script({"-n", "2", "--time-limit", "0.2", "--grace", "0.2"},
                                   "trap '' TERM; while :; do sleep 0.05; done");
    EXPECT_EQ(result.code, 124);
    EXPECT_NE(result.err.find("2 of 2 ranks still ran after 0.2 s"), std::string::npos)
        << result.err;
}

/// A process that has ended but that nobody has waited for does not run.
bool runs(int pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(stat, text);
    const std::size_t name_end = text.rfind(") ");
    return name_end != std::string::npos && text[name_end + 2] != 'Z';
}

class RunSignal : public testing::TestWithParam<int> {};

TEST_P(RunSignal, reaches_every_rank) {
    Tool tool(
        {"run", "-n", "3", "--", "sh", "-c",
         "trap 'echo caught; exit 5' INT TERM HUP; echo ready; while :; do sleep 0.05; done"});
    for (const char* rank : {"[0] ready", "[1] ready", "[2] ready"}) {
        ASSERT_TRUE(tool.wrote(rank));
    }
    tool.signal(GetParam());
    const auto result = tool.wait();
    EXPECT_EQ(result.code, 5) << result.err;
    for (const char* rank : {"[0] caught", "[1] caught", "[2] caught"}) {
        EXPECT_NE(result.out.find(rank), std::string::npos) << result.out;
    }
}

INSTANTIATE_TEST_SUITE_P(Forwarded, RunSignal, testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST(Run, ranks_do_not_outlive_the_launcher) {
    Tool tool({"run", "-n", "1", "--no-label", "--", "sh", "-c", "echo pid $$; exec sleep 300"});
    ASSERT_TRUE(tool.wrote("\n"));
    const int rank = std::stoi(tool.out().substr(4));
    EXPECT_TRUE(runs(rank));
    tool.signal(SIGKILL);
    EXPECT_EQ(tool.wait().code, 128 + SIGKILL);
    EXPECT_TRUE(becomes_true([&] { return !runs(rank); }));
}

TEST(Run, ends_what_a_rank_has_left_behind) {
    Tool tool({"run", "-n", "1", "--no-label", "--", "sh", "-c", "sleep 300 & echo pid $!"});
    const auto result = tool.wait();
    EXPECT_EQ(result.code, 0);
    const int child = std::stoi(result.out.substr(4));
    EXPECT_TRUE(becomes_true([&] { return !runs(child); }));
}

TEST(Run, waits_for_no_rank_that_has_ended_without_joining) {
    const auto result = run_script({"-n", "3"}, "[ $TREFOIL_RANK = 1 ] || exec " TREFOIL_TOOL
                                                " perf barrier --iters 1 --timeout 60");
    EXPECT_NE(result.code, 0);
    EXPECT_NE(result.err.find("rank 1 has ended (exit 0) without joining"), std::string::npos)
        << result.err;
}

/// A shell's script, of which the output and the errors come as one text.
std::string told_by(const std::string& script) {
    std::string text;
    FILE* const pipe = popen(("( " + script + " ) 2>&1").c_str(), "r");
    for (int next = std::fgetc(pipe); next != EOF; next = std::fgetc(pipe)) {
        text += static_cast<char>(next);
    }
    pclose(pipe);
    return text;
}

TEST(Run, has_descriptors_for_many_ranks_or_refuses_them_before_the_first) {
    const auto soft =
        told_by("ulimit -Sn 64; " TREFOIL_TOOL " run -n 20 --no-label -- sh -c 'ulimit -Sn'");
    EXPECT_EQ(lines_of(soft), std::vector<std::string>(20, "64")) << "the ranks' own is as it was";
    const auto hard =
        told_by("ulimit -n 64; " TREFOIL_TOOL " run -n 20 -- echo started; echo code $?");
    EXPECT_NE(hard.find("20 ranks cannot be started here: this process needs 92 descriptors"),
              std::string::npos)
        << hard;
    EXPECT_EQ(hard.find("started\n"), std::string::npos) << hard;
    EXPECT_NE(hard.find("code 2"), std::string::npos) << hard;
}

TEST(Run, a_signal_ends_the_job_while_ranks_are_being_started) {
    const auto result = run_script({"-n", "400", "--no-label"},
                                   "[ $TREFOIL_RANK != 0 ] || kill -TERM $PPID; echo up; exec "
                                   "sleep 20");
    EXPECT_NE(result.code, 0);
    EXPECT_LT(lines_of(result.out).size(), 300U);
}

TEST(Run, says_where_the_program_stands) {
    const auto result = run_tool({"run", "--help"});
    EXPECT_NE(result.out.find("trefoil run [OPTIONS] [--] PROGRAM [ARGUMENTS...]"),
              std::string::npos)
        << result.out;
}

TEST(Run, takes_np_as_mpirun_does) {
    const auto bare = run_tool({"run", "-np", "2", "echo", "-np"});
    EXPECT_EQ(bare.code, 0) << bare.err;
    EXPECT_EQ(lines_of(bare.out).size(), 2U) << bare.out;
    EXPECT_NE(bare.out.find("] -np"), std::string::npos) << "the program's own";
    const auto apart = run_tool({"run", "--no-label", "-np", "2", "--", "echo", "-np"});
    EXPECT_EQ(apart.out, "-np\n-np\n") << apart.err;
}

TEST(Run, says_that_its_output_could_not_be_written) {
    for (const std::string command :
         {"run -n 2 -- echo x", "info", "perf barrier --ranks 2 --iters 1 -w 0"}) {
        const auto said = told_by(TREFOIL_TOOL " " + command + " 2>&1 >/dev/full; echo code $?");
        EXPECT_NE(said.find("could not be written"), std::string::npos) << command << said;
        EXPECT_NE(said.find("code 3"), std::string::npos) << command << said;
    }
}

TEST(Run, tells_a_missing_interpreter_from_a_missing_program) {
    const std::string script = "/tmp/trefoil-run-" + std::to_string(getpid());
    std::ofstream(script) << "#!/no/such/interpreter\n";
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    const auto result = run_tool({"run", "-n", "1", script});
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find("the interpreter of its first line"), std::string::npos)
        << result.err;
    std::filesystem::remove(script);
}

TEST(Run, refuses_bad_input) {
    struct Bad {
        std::vector<std::string> arguments;
        std::string says;
    };
    const std::vector<Bad> all{
        {{"run", "-n", "4", "--torus", "3x3", "--", "true"}, "-n 4 does not match --torus 3x3"},
        {{"run", "--net", "no-such-net", "--", "true"},
         "scripts/torusnet up 3x3 --name no-such-net"},
        {{"run", "--torus", "3y3", "--", "true"}, "is not a torus"},
        {{"run", "--", "true"}, "run needs the number of ranks"},
        {{"run", "-n", "2"}, "run needs a program"},
        {{"run", "-n", "2", "--backend", "memry", "--", "true"}, "did you mean memory"},
        {{"run", "-n", "0", "--", "true"}, "--ranks takes a number from 1 to 65536"},
        {{"run", "-n", "2", "--", "/no/such/program"}, "cannot run \"/no/such/program\": No such"},
        {{"run", "-n", "2", "--nonsense", "--", "true"}, "--nonsense"}};
    for (const Bad& bad : all) {
        const auto result = run_tool(bad.arguments);
        EXPECT_EQ(result.code, 2) << bad.says;
        EXPECT_NE(result.err.find(bad.says), std::string::npos) << result.err;
        EXPECT_EQ(result.out, "");
    }
}

}  // namespace
}  // namespace trefoil::test
