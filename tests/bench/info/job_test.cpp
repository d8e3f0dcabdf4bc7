// SPDX-License-Identifier: BSD-3-Clause
// Who holds a job up, by what its ranks tell; and a real job that waits for a rank.
#include "bench/info/job.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "tests/bench/common/tool.hpp"

namespace trefoil::test::job_test {
namespace {

using Json = nlohmann::ordered_json;

/// A rank of a communicator of all: in call `call` (0: none), by signature, waiting for ranks.
Json rank_in(int rank, int ranks, int made, int call, const std::string& signature,
             const std::vector<int>& waits, bool inside = true) {
    Json members = Json::array();
    for (int r = 0; r < ranks; ++r) {
        members.push_back(r);
    }
    Json calls = Json::array();
    if (call != 0) {
        Json pieces = Json::array();
        for (const int other : waits) {
            pieces.push_back({{"for", "message"}, {"rank", other}});
        }
        calls.push_back({{"call", call},
                         {"signature", signature},
                         {"what", "call " + signature},
                         {"waits", pieces}});
    }
    return {{"rank", rank},
            {"host", "a"},
            {"process", 100 + rank},
            {"inside", inside},
            {"looked", true},
            {"communicators",
             {{{"number", "1"},
               {"rank", rank},
               {"torus", "3"},
               {"members", members},
               {"calls_made", made},
               {"failure", ""},
               {"idle_ms", 1000},
               {"calls", calls}}}}};
}

std::string first_text(const Json& answers) {
    const Json found = tool::culprits(answers);
    return found.empty() ? "" : found[0]["text"].get<std::string>();
}

TEST(Culprits, WhoHasNotCome) {
    const Json found = tool::culprits({rank_in(0, 3, 7, 7, "x", {1}), rank_in(1, 3, 7, 7, "x", {2}),
                                       rank_in(2, 3, 6, 0, "", {}, false)});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0]["rank"], 2);
    EXPECT_EQ(found[0]["held_up"], 2) << "rank 0 waits for it by way of rank 1";
    EXPECT_EQ(found[0]["text"],
              "All other ranks wait for rank 2 in the end: process 102 on host a: it is not inside "
              "Trefoil; it has no call in flight and has made 6 calls; they wait in call 7, call "
              "x.");
}

TEST(Culprits, WhoDoesNotAnswer) {
    const Json dead = {{"rank", 2}, {"address", "b:1/k"}, {"error", "connection refused"}};
    const std::string text =
        first_text({rank_in(0, 3, 7, 7, "x", {2}), rank_in(1, 3, 7, 0, "", {}), dead});
    EXPECT_EQ(text,
              "Rank 0 waits for rank 2 in the end: it does not answer (connection refused): it has "
              "ended, is stopped, or is in a debugger.");
}

TEST(Culprits, WhoseProgramHoldsItUp) {
    Json held = rank_in(1, 2, 0, 0, "", {});
    held["looked"] = false;
    held["communicators"] = Json::array();
    EXPECT_NE(first_text({rank_in(0, 2, 7, 7, "x", {1}), held}).find("is held up, perhaps in a "),
              std::string::npos);
}

TEST(Culprits, OtherCallsAreADisagreement) {
    EXPECT_EQ(first_text({rank_in(0, 3, 7, 7, "x", {1}), rank_in(1, 3, 7, 7, "y", {0}),
                          rank_in(2, 3, 7, 7, "x", {0})}),
              "The ranks disagree about call 7: ranks 0, 2 in call x; rank 1 in call y. All ranks "
              "must make the same calls in the same order.");
}

TEST(Culprits, AnEarlierCallIsFollowed) {
    // Rank 1 is in an earlier call, in which it waits for rank 2.
    const Json found = tool::culprits({rank_in(0, 3, 8, 8, "y", {1}), rank_in(1, 3, 7, 7, "x", {2}),
                                       rank_in(2, 3, 6, 0, "", {}, false)});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0]["rank"], 2);
}

// As where one rank of a bcast names another root.
TEST(Culprits, ARankThatWaitsForOneInALaterCallWasGivenAnotherCall) {
    EXPECT_EQ(
        first_text({rank_in(0, 3, 7, 7, "x", {2}), rank_in(1, 3, 7, 7, "x", {2}),
                    rank_in(2, 3, 6, 6, "y", {1})}),
        "Rank 2 waits in call 6, call y, for rank 1, which has completed its call 6 and is in "
        "call 7, call x: they made different calls, perhaps with different roots. "
        "TREFOIL_CHECK=1 names the call.");
}

// Groups of a communicator's ranks may make communicators at the same time.
TEST(Culprits, WhatSomeRanksMakeAloneIsNoDisagreement) {
    Json answers = {rank_in(0, 4, 6, 7, "x", {1}), rank_in(1, 4, 6, 0, "", {}, false),
                    rank_in(2, 4, 6, 7, "y", {3}), rank_in(3, 4, 6, 0, "", {}, false)};
    for (const int rank : {0, 2}) {
        answers[rank]["communicators"][0]["calls"][0]["by_some"] = true;
    }
    const Json found = tool::culprits(answers);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0]["rank"], 1);
    EXPECT_EQ(found[1]["rank"], 3);
}

TEST(Culprits, ARankThatWaitsElsewhereIsSeenThere) {
    Json both = rank_in(1, 2, 0, 0, "", {});
    both["communicators"].push_back(rank_in(1, 2, 1, 1, "y", {0})["communicators"][0]);
    both["communicators"][1]["number"] = "2";
    const Json found = tool::culprits({rank_in(0, 2, 1, 1, "x", {1}), both});
    ASSERT_FALSE(found.empty());
    EXPECT_NE(found[0]["text"].get<std::string>().find(
                  "it waits for rank 0 in call 1, call y, of another communicator"),
              std::string::npos)
        << found[0]["text"];
}

TEST(Culprits, ARingOfWaitsHasNone) {
    EXPECT_NE(first_text({rank_in(0, 2, 7, 7, "x", {1}), rank_in(1, 2, 7, 7, "x", {0})})
                  .find("wait for each other"),
              std::string::npos);
    EXPECT_EQ(first_text({rank_in(0, 2, 7, 0, "", {}), rank_in(1, 2, 7, 0, "", {})}), "");
}

/// One rank of a running job is late; the tool names it.
TEST(Job, TellsWhoIsLate) {
    const std::string file =
        (std::filesystem::temp_directory_path() / ("job-" + std::to_string(getpid()))).string();
    setenv("TREFOIL_TELL", file.c_str(), 1);
    Tool job({"perf", "barrier", "--torus", "3", "--late", "6", "--iters", "2"});
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    Json found;
    while (std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        const auto asked = run_tool({"info", "--job", file, "--json"});
        if (asked.code == 0) {
            const Json all = Json::parse(asked.out);
            ASSERT_EQ(all["ranks"].size(), 3U);
            found = all["held_up_by"];  // on a busy machine first of who has not begun yet
            if (found.size() == 1 && found[0]["held_up"] == 2 && found[0]["rank"] == 2) {
                break;
            }
        }
    }
    const auto words = run_tool({"info", "--job", file});
    const auto result = job.wait();
    EXPECT_EQ(result.code, 0) << result.err;
    unsetenv("TREFOIL_TELL");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0]["rank"], 2) << found.dump();
    EXPECT_EQ(words.code, 0) << words.err;
    EXPECT_NE(words.out.find("All other ranks wait for rank 2 in the end"), std::string::npos)
        << words.out;
    EXPECT_FALSE(std::filesystem::exists(file)) << "the job has ended";
    for (const char* const wrong : {"nothing", "a:b/c", "127.0.0.1:99999999/k", ":1/k", "x:/k"}) {
        const auto refused = run_tool({"info", "--job", wrong});
        EXPECT_EQ(refused.code, 2) << wrong;
        EXPECT_NE(refused.err.find("TREFOIL_TELL"), std::string::npos) << refused.err;
    }
}

}  // namespace
}  // namespace trefoil::test::job_test
