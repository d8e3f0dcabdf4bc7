// SPDX-License-Identifier: BSD-3-Clause
// The launchers themselves: mpirun of Open MPI, mpirun of MPICH, and ranks started by hand.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "backend/bootstrap/bootstrap.hpp"
#include "tests/backend/bootstrap/shell.hpp"

namespace trefoil {
namespace {

using test::Result;
using test::run;

/// A way to start ranks: a shell command with %n for their number and %p for the program.
struct Way {
    std::string name;
    std::vector<std::string> programs;  ///< one of these is needed
    std::string mark;                   ///< in its --version
    std::string options;
    std::string missing;  ///< why the test is skipped without
};

void PrintTo(const Way& way, std::ostream* out) {
    *out << way.name;
}

std::vector<Way> ways() {
    return {
        {"openmpi",
         {"mpirun.openmpi", "prterun", "mpirun"},
         "Open MPI\\|PRRTE\\|PRTE",
         "--allow-run-as-root --oversubscribe -n %n %p",
         "no mpirun of Open MPI and no prterun (Debian: openmpi-bin)"},
        {"mpich",
         {"mpirun.mpich", "mpiexec.hydra", "mpirun"},
         "HYDRA",
         "-n %n %p",
         "no mpirun of MPICH (Debian: mpich)"},
        {"hand", {}, "", "", ""},
    };
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    const std::size_t at = text.find(what);
    return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

class Launchers : public ::testing::TestWithParam<Way> {
  protected:
    void SetUp() override {
        for (const char* name : {"TREFOIL_RANK", "TREFOIL_SIZE", "TREFOIL_STORE", "TREFOIL_TORUS",
                                 "TREFOIL_LAUNCHER", "PMIX_NAMESPACE", "PMIX_RANK", "PMI_FD"}) {
            unsetenv(name);
        }
        setenv("TREFOIL_TIMEOUT", "30", 1);
        const Way& way = GetParam();
#ifndef TREFOIL_HAVE_PMIX
        if (way.name == "openmpi") {
            GTEST_SKIP() << "this Trefoil was built without PMIx (Debian: libpmix-dev)";
        }
#endif
        for (const std::string& program : way.programs) {
            if (run(program + " --version | grep -q '" + way.mark + "'").code == 0) {
                program_ = program;
                break;
            }
        }
        if (program_.empty() && !way.programs.empty()) {
            GTEST_SKIP() << way.missing;
        }
    }

    Result start(int ranks, const std::string& what) const {
        if (program_.empty()) {
            return start_by_hand(ranks, what);
        }
        const std::string options =
            replaced(replaced(GetParam().options, "%n", std::to_string(ranks)), "%p", what);
        // Launchers of Open MPI 4 that share a folder remove it below each other.
        return run("export TMPDIR=$(mktemp -d); timeout 60 " + program_ + " " + options +
                   "; code=$?; rm -rf \"$TMPDIR\"; exit $code");
    }

    static std::string rank_program(const std::string& what) {
        return std::string(TREFOIL_LAUNCHER_RANK) + " " + what;
    }

  private:
    /// The last rank first, so that the others wait for the store that rank 0 serves.
    static Result start_by_hand(int ranks, const std::string& what) {
        std::unique_ptr<StoreServer> server = std::make_unique<StoreServer>();
        const std::string place = "127.0.0.1:" + std::to_string(server->port());
        std::string command;
        if (GetParam().name == "callback") {
            command = "export LAUNCHER_RANK_MEETS=" + place +
                      " LAUNCHER_RANK_OF=" + std::to_string(ranks) + "; ";
        } else {
            server.reset();  // the port was free a moment ago; rank 0 serves there
        }
        return run(command + test::by_hand(ranks, place, what));
    }

    std::string program_;
};

TEST_P(Launchers, RanksMeet) {
    const Result result = start(4, rank_program("sum"));
    EXPECT_EQ(result.code, 0) << result.out;
    for (int r = 0; r < 4; ++r) {
        EXPECT_EQ(result.lines_with("rank " + std::to_string(r) + " of 4: sum 10"), 1)
            << result.out;
    }
}

TEST_P(Launchers, OneRankIsAJobToo) {
    const Result result = start(1, rank_program("sum"));
    EXPECT_EQ(result.code, 0) << result.out;
    EXPECT_EQ(result.lines_with("rank 0 of 1: sum 1"), 1) << result.out;
}

TEST_P(Launchers, SeveralCommunicatorsInDifferentOrders) {
    const Result result = start(3, rank_program("several"));
    EXPECT_EQ(result.code, 0) << result.out;
    EXPECT_EQ(result.lines_with("of 3: sum 6"), 3) << result.out;
}

TEST_P(Launchers, ExitWithACommunicatorInPlaceIsNoCrash) {
    const Result result = start(2, rank_program("leave"));
    EXPECT_EQ(result.code, 0) << result.out;
    EXPECT_EQ(result.lines_with("of 2: sum 3"), 2) << result.out;
}

TEST_P(Launchers, ForkedChildrenDoNotDisturb) {
    const Result result = start(2, rank_program("fork"));
    EXPECT_EQ(result.code, 0) << result.out;
    EXPECT_EQ(result.lines_with("of 2: sum 3"), 2) << result.out;
}

TEST_P(Launchers, ARankThatNeverComesIsATimeout) {
    setenv("TREFOIL_TIMEOUT", "0.5", 1);
    const Result result = start(2, rank_program("late"));
    EXPECT_NE(result.code, 0) << result.out;
    EXPECT_EQ(result.lines_with("error "), 1) << result.out;
    EXPECT_GE(result.lines_with("TREFOIL_TIMEOUT") + result.lines_with("rank 1 of 2"), 1)
        << result.out;
}

TEST_P(Launchers, TheUserHasTheLastWord) {
    setenv("TREFOIL_LAUNCHER", "single", 1);
    const Result alone = start(2, rank_program("sum"));
    EXPECT_EQ(alone.code, 0) << alone.out;
    EXPECT_EQ(alone.lines_with("rank 0 of 1: sum 1"), 2) << alone.out;
    setenv("TREFOIL_LAUNCHER", "sinlge", 1);
    const Result unknown = start(2, rank_program("sum"));
    EXPECT_NE(unknown.code, 0) << unknown.out;
    EXPECT_GE(unknown.lines_with("TREFOIL_LAUNCHER=sinlge is not valid"), 1) << unknown.out;
}

#ifdef TREFOIL_TOOL
TEST_P(Launchers, PerfIsOneOfTheRanks) {
    if (GetParam().name == "openmpi") {
        setenv("ASAN_OPTIONS", "detect_leaks=0", 1);  // libpmix keeps what it has allocated
    }
    const Result result =
        start(4, std::string(TREFOIL_TOOL) + " perf allreduce --torus 2x2 -c -b 8 -e 8 --iters 2");
    EXPECT_EQ(result.code, 0) << result.out;
    EXPECT_EQ(result.lines_with("torus 2x2 (--torus), 4 ranks"), 1) << result.out;
    EXPECT_EQ(result.lines_with("2 measurements, 0 wrong"), 1) << result.out;
    const Result other = start(2, std::string(TREFOIL_TOOL) + " perf allreduce --torus 3x3 -b 8");
    EXPECT_NE(other.code, 0) << other.out;
    EXPECT_GE(other.lines_with("the job has 2"), 1) << other.out;
}
#endif

class SetUp : public Launchers {};

/// Far below TREFOIL_TIMEOUT; a callback would wait for ever.
constexpr std::chrono::seconds at_once{15};

/// Rank 4 of 6 has failed alone, and every rank tells rank 4's error.
void expect_all_tell(const Result& result, const std::string& cause,
                     std::chrono::steady_clock::time_point begin) {
    EXPECT_LT(std::chrono::steady_clock::now() - begin, at_once) << result.out;
    for (int r = 0; r < 6; ++r) {
        const std::string own = "error of rank " + std::to_string(r) + ": ";
        const std::size_t at = result.out.find(own);
        ASSERT_NE(at, std::string::npos) << own << "is missing in:\n" << result.out;
        const std::string line = result.out.substr(at, result.out.find('\n', at) - at);
        EXPECT_NE(line.find(cause), std::string::npos) << line;
        EXPECT_TRUE(r == 4 || line.find("rank 4") != std::string::npos) << line;
    }
}

/// Rank 4 of 6 lacks something over this backend.
class Starving : public SetUp {
  protected:
    void expect_all_hear(const std::string& backend, const std::string& what,
                         const std::string& cause) const {
        setenv("TREFOIL_BACKEND", backend.c_str(), 1);
        const auto begin = std::chrono::steady_clock::now();
        const Result result = start(6, rank_program("starve " + what));
        unsetenv("TREFOIL_BACKEND");
        // What rank 4 has may be enough: neighbours are connected, and a small call takes little
        // memory. Over shared memory each further connection takes a descriptor.
        const bool must_fail = backend == "memory" && what == "files";
        if (must_fail || result.lines_with("success") != 6) {
            expect_all_tell(result, cause, begin);
        }
    }
};

TEST_P(Starving, AllRanksHearOfFilesThatOneRankLacks) {
    expect_all_hear("memory", "files", "Too many open files");
}
TEST_P(Starving, AllRanksHearOfMemoryThatOneRankLacks) {
    expect_all_hear("memory", "memory", "emory");
}

/// By one way to start, as launchers and transports do not know each other.
class StarvingOverNetworks : public Starving {};

TEST_P(StarvingOverNetworks, AllRanksHearOfFilesThatOneRankLacksOverLibfabric) {
    expect_all_hear("ofi", "files", "Too many open files");
}
TEST_P(StarvingOverNetworks, AllRanksHearOfMemoryThatOneRankLacksOverLibfabric) {
    expect_all_hear("ofi", "memory", "emory");
}
TEST_P(StarvingOverNetworks, AllRanksHearOfFilesThatOneRankLacksOverUcx) {
    expect_all_hear("ucx", "files", "Too many open files");
}
TEST_P(StarvingOverNetworks, AllRanksHearOfMemoryThatOneRankLacksOverUcx) {
    expect_all_hear("ucx", "memory", "emory");
}

TEST_P(SetUp, NonsenseInOneEnvironmentAllRanksHearAndThenMeet) {
    const auto begin = std::chrono::steady_clock::now();
    const Result result = start(6, rank_program("mislead"));
    expect_all_tell(result, "TREFOIL_SEGMENT_BYTES=a lot is not valid", begin);
    EXPECT_EQ(result.lines_with("of 6: sum 21"), 6) << result.out;
}

INSTANTIATE_TEST_SUITE_P(All, Launchers, ::testing::ValuesIn(ways()),
                         [](const auto& tested) { return tested.param.name; });

/// By hand, too, with the program's own allgather.
std::vector<Way> ways_and_callback() {
    std::vector<Way> all = ways();
    all.push_back({"callback", {}, "", "", ""});
    return all;
}

INSTANTIATE_TEST_SUITE_P(All, SetUp, ::testing::ValuesIn(ways_and_callback()),
                         [](const auto& tested) { return tested.param.name; });
INSTANTIATE_TEST_SUITE_P(All, Starving, ::testing::ValuesIn(ways_and_callback()),
                         [](const auto& tested) { return tested.param.name; });
INSTANTIATE_TEST_SUITE_P(All, StarvingOverNetworks, ::testing::Values(ways().back()),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace trefoil
