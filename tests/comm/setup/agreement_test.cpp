// SPDX-License-Identifier: BSD-3-Clause
// Agreement: whatever happens to one rank's work, all ranks go on or all throw.
#include "comm/setup/agreement.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <set>
#include <stdexcept>

#include "tests/comm/communicator/thread_job.hpp"
#include "tests/comm/setup/bootstrap_double.hpp"
#include "topo/error.hpp"

namespace trefoil::test {
namespace {

/// What became of a stage on each rank: "" or the error's status and text.
std::vector<std::string> outcomes(Rank ranks, const std::function<void(Rank, Agreement&)>& stage) {
    std::vector<std::string> told(ranks);
    ThreadAllgather allgather(ranks);
    std::vector<std::thread> threads;
    for (Rank r = 0; r < ranks; ++r) {
        threads.emplace_back([&, r] {
            ThreadAllgather::Member member{&allgather, r};
            const auto bootstrap =
                make_callback_bootstrap(r, ranks, &ThreadAllgather::allgather, &member);
            Agreement agreement(*bootstrap);
            try {
                stage(r, agreement);
            } catch (const Error& error) {
                told[r] = std::to_string(static_cast<int>(error.status())) + " " + error.what();
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    return told;
}

std::string text(Status status, const std::string& words) {
    return std::to_string(static_cast<int>(status)) + " " + words;
}

TEST(Agreement, TellsEveryRankWhatTheWorkOfEachReturned) {
    const auto told = outcomes(3, [](Rank rank, Agreement& agreement) {
        const auto all = agreement.allgather("stage", [&] { return std::string(rank, 'x'); });
        EXPECT_EQ(all, (std::vector<std::string>{"", "x", "xx"}));
    });
    EXPECT_EQ(told, std::vector<std::string>(3));
}

TEST(Agreement, CountsWhatItTellsAndHears) {
    BootstrapDouble bootstrap(1, 3);  // all say what this rank says
    Agreement agreement(bootstrap);
    agreement.for_all("nothing", [] {});
    const std::size_t empty = agreement.traffic().told;
    EXPECT_GT(empty, 0U) << "how the work went is told, too";
    (void)agreement.allgather("something", [] { return std::string(100, 'x'); });
    EXPECT_EQ(agreement.traffic().allgathers, 2U);
    EXPECT_EQ(agreement.traffic().told, 2 * empty + 100);
    EXPECT_EQ(agreement.traffic().heard, 3 * agreement.traffic().told);
}

TEST(Agreement, AllRanksThrowWhenTheWorkOfOneFails) {
    const auto told = outcomes(3, [](Rank rank, Agreement& agreement) {
        agreement.for_all("ports", [&] {
            if (rank == 1) {
                throw Error(Status::not_found, "no NIC");
            }
        });
        ADD_FAILURE() << "rank " << rank << " went on";
    });
    const std::string others = text(Status::not_found, "rank 1 cannot set up its ports: no NIC");
    EXPECT_EQ(told, (std::vector<std::string>{others, text(Status::not_found, "no NIC"), others}));
}

TEST(Agreement, WhateverARankThrowsTheOthersHear) {
    const auto told = outcomes(4, [](Rank rank, Agreement& agreement) {
        agreement.for_all("ports", [&] {
            if (rank == 1) {
                throw std::bad_alloc();
            }
            if (rank == 2) {
                throw std::runtime_error("a library's words");
            }
            if (rank == 3) {
                throw 5;
            }
        });
    });
    EXPECT_EQ(told,
              (std::vector<std::string>{
                  text(Status::out_of_memory, "rank 1 cannot set up its ports: out of memory"),
                  text(Status::out_of_memory, "out of memory"),
                  text(Status::internal, "a library's words"),
                  text(Status::internal, "an unknown exception; please report this")}));
}

TEST(Agreement, ARankTellsItsOwnErrorFirst) {
    const auto told = outcomes(3, [](Rank rank, Agreement& agreement) {
        agreement.for_all("ports", [&] {
            if (rank > 0) {
                throw Error(Status::system_error, "error " + std::to_string(rank));
            }
        });
    });
    EXPECT_EQ(told,
              (std::vector<std::string>{
                  text(Status::system_error, "rank 1 cannot set up its ports: error 1"),
                  text(Status::system_error, "error 1"), text(Status::system_error, "error 2")}));
}

TEST(Agreement, OneNoIsEnough) {
    for (const bool last : {false, true}) {
        const auto told = outcomes(3, [&](Rank rank, Agreement& agreement) {
            EXPECT_EQ(agreement.all_say_yes("stage", [&] { return rank < 2 || last; }), last);
        });
        EXPECT_EQ(told, std::vector<std::string>(3));
    }
}

TEST(Agreement, WhatIsNoAnswerIsAMismatch) {
    BootstrapDouble bootstrap(0, 2, [](Rank, const std::string&) { return "?"; });
    Agreement agreement(bootstrap);
    try {
        agreement.for_all("ports", [] {});
        ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::mismatch);
    }
}

TEST(Agreement, DifferentTextsAreToldWithTheirRanks) {
    require_agreement({"a", "a", "a"}, "the call");
    try {
        require_agreement({"a", "b", "a", "a", "a"}, "the call");
        ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::mismatch);
        EXPECT_STREQ(error.what(),
                     "the ranks disagree about the call: ranks 0, 2, 3, ...: a; rank 1: b");
    }
}

}  // namespace
}  // namespace trefoil::test
