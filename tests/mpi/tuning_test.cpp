// SPDX-License-Identifier: BSD-3-Clause
// Who runs a call on trial, and what the ranks decide.
#include "mpi/tuning.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace trefoil::mpi {
namespace {

using std::chrono::nanoseconds;
using Times = std::array<std::uint64_t, 2 * Trials::cells>;

/// A rank's calls first ... last - 1 of a kind, as long as `trefoil` and `mpi` say.
struct Rank {
    Trials trials;

    void call(Kind kind, std::size_t bytes, std::uint64_t number, int trefoil, int mpi) {
        if (trials.is_open(kind, bytes)) {
            const bool trefoils = trials.is_trefoils(kind, bytes, number);
            trials.note(kind, bytes, number, trefoils, nanoseconds(trefoils ? trefoil : mpi));
        }
    }
    void calls(Kind kind, std::size_t bytes, std::uint64_t first, std::uint64_t last, int trefoil,
               int mpi) {
        for (std::uint64_t number = first; number < last; ++number) {
            call(kind, bytes, number, trefoil, mpi);
        }
    }
};

void agree(std::vector<Rank*> ranks) {
    Times slowest{};
    for (const Rank* rank : ranks) {
        Times times{};
        rank->trials.tell(times);
        std::ranges::transform(times, slowest, slowest.begin(),
                               [](auto a, auto b) { return std::max(a, b); });
    }
    for (Rank* rank : ranks) {
        rank->trials.decide(slowest);
    }
}

TEST(Tuning, TheFasterByTheSlowestRankWins) {
    Rank a, b;
    a.calls(Kind::allgather, 100, 0, 256, 10, 20);  // alone it would take Trefoil
    b.calls(Kind::allgather, 100, 0, 256, 30, 20);
    a.calls(Kind::allgather, 100'000, 256, 288, 10, 20);
    b.calls(Kind::allgather, 100'000, 256, 288, 15, 20);
    agree({&a, &b});
    for (const Rank* rank : {&a, &b}) {
        EXPECT_FALSE(rank->trials.is_open(Kind::allgather, 100));
        for (std::uint64_t number = 0; number < 256; ++number) {
            EXPECT_FALSE(rank->trials.is_trefoils(Kind::allgather, 100, number));
            EXPECT_TRUE(rank->trials.is_trefoils(Kind::allgather, 100'000, number));
        }
        EXPECT_TRUE(rank->trials.is_open(Kind::allgather, 10'000'000));
        EXPECT_TRUE(rank->trials.is_open(Kind::alltoall, 100));
    }
}

TEST(Tuning, MpiKeepsWhatIsAboutAsFast) {
    Rank rank;
    rank.calls(Kind::allgather, 100, 0, 256, 96, 100);
    rank.calls(Kind::alltoall, 100, 0, 256, 94, 100);
    agree({&rank});
    EXPECT_FALSE(rank.trials.is_trefoils(Kind::allgather, 100, 0));
    EXPECT_TRUE(rank.trials.is_trefoils(Kind::alltoall, 100, 0));
}

TEST(Tuning, BothHaveHalfOfTheTurnsWhateverTheLoopOfTheProgram) {
    const Trials trials;
    for (std::uint64_t period = 1; period <= 24; ++period) {
        int by_trefoil = 0;
        for (std::uint64_t call = 0; call < 4096; ++call) {
            by_trefoil += trials.is_trefoils(Kind::bcast, 8, call * period) ? 1 : 0;
        }
        EXPECT_GT(by_trefoil, 1024) << period;
        EXPECT_LT(by_trefoil, 3072) << period;
    }
}

TEST(Tuning, ATimeSliceThatAnotherProgramTookDecidesNothing) {
    Rank rank;
    for (std::uint64_t number = 0; number < 512; ++number) {
        rank.call(Kind::barrier, unknown_bytes, number, number % 256 == 60 ? 10'000'000 : 10, 20);
    }
    agree({&rank});
    EXPECT_TRUE(rank.trials.is_trefoils(Kind::barrier, unknown_bytes, 0));
    EXPECT_TRUE(rank.trials.is_trefoils(Kind::barrier, unknown_bytes, 32));
}

TEST(Tuning, PlansThatAreMadeInTheFirstCallsDoNotCount) {
    Rank rank;
    int by_trefoil = 0;
    for (std::uint64_t number = 0; number < 256; ++number) {
        const bool first = rank.trials.is_trefoils(Kind::scan, 8, number) && by_trefoil++ < 32;
        rank.call(Kind::scan, 8, number, first ? 1'000'000 : 10, 20);
    }
    agree({&rank});
    EXPECT_FALSE(rank.trials.is_open(Kind::scan, 8));
    EXPECT_TRUE(rank.trials.is_trefoils(Kind::scan, 8, 0));
}

TEST(Tuning, AKindThatDoesNotGoBySizesIsLostAsAWhole) {
    Rank rank;
    rank.calls(Kind::gatherv, unknown_bytes, 0, 256, 30, 20);
    rank.calls(Kind::gather, 8, 0, 256, 30, 20);
    EXPECT_FALSE(rank.trials.are_lost(Kind::gather));
    agree({&rank});
    EXPECT_TRUE(rank.trials.are_lost(Kind::gatherv) && rank.trials.are_lost(Kind::gather));
    EXPECT_FALSE(rank.trials.are_lost(Kind::bcast));
}

TEST(Tuning, ACallBehindTheOthersDoesNotCount) {
    Rank rank;
    for (std::uint64_t number = 0; number < 256; ++number) {
        rank.call(Kind::scan, 8, number, number % 32 < 8 ? 1000 : 10, 20);
    }
    agree({&rank});
    EXPECT_TRUE(rank.trials.is_trefoils(Kind::scan, 8, 0));
}

TEST(Tuning, TooFewCallsDecideNothing) {
    Rank rank;
    rank.calls(Kind::scan, 8, 0, 128, 10, 20);
    agree({&rank});
    EXPECT_TRUE(rank.trials.is_open(Kind::scan, 8));
}

/// A receiver may give more room than is sent, so the size must not part the ranks.
TEST(Tuning, WhereRanksMayDifferInTheSizeOneDecisionIsForAllSizes) {
    Rank root, other;
    root.calls(Kind::bcast, 1000, 0, 256, 10, 20);
    other.calls(Kind::bcast, 100'000, 0, 256, 10, 20);
    for (Rank* rank : {&root, &other}) {
        rank->calls(Kind::gather, 8, 0, 512, 30, 20);  // loses often, by little
        rank->calls(Kind::gather, 1'000'000, 512, 768, 1000, 2000);
    }
    agree({&root, &other});
    EXPECT_FALSE(root.trials.are_lost(Kind::bcast));
    for (const std::size_t bytes : {8, 1000, 100'000, 10'000'000}) {
        for (const Rank* rank : {&root, &other}) {
            EXPECT_FALSE(rank->trials.is_open(Kind::bcast, bytes));
            EXPECT_TRUE(rank->trials.is_trefoils(Kind::bcast, bytes, 0));
            EXPECT_TRUE(rank->trials.is_trefoils(Kind::gather, bytes, 0));
        }
    }
}

TEST(Tuning, RanksAgreeAtPowersOfTwoOnceTrefoilHasRunACall) {
    Trials trials;
    EXPECT_FALSE(trials.is_due(16, 0));  // no call of Trefoil's yet
    trials.note(Kind::scan, 8, 16, false, nanoseconds(5));
    EXPECT_FALSE(trials.is_due(40, 0));
    trials.note(Kind::scan, 8, 40, true, nanoseconds(5));
    EXPECT_FALSE(trials.is_due(63, 0));
    EXPECT_TRUE(trials.is_due(65, 0));  // the calls between did not block
    EXPECT_FALSE(trials.is_due(66, 0));
    EXPECT_FALSE(trials.is_due(127, 0));
    EXPECT_TRUE(trials.is_due(128, 0));
    EXPECT_TRUE(trials.is_due(5000, 0));
    EXPECT_FALSE(trials.is_due(8191, 0));
    EXPECT_TRUE(trials.is_due(8192, 0));
}

TEST(Tuning, RanksAgreeSoonAfterTheCallsThatAreMpis) {
    Trials trials;
    constexpr std::uint64_t early = 1000;
    for (const std::uint64_t number : {16, 32, 512}) {
        EXPECT_FALSE(trials.is_due(number, early));
    }
    trials.note(Kind::scan, 8, 1001, true, nanoseconds(5));
    std::vector<std::uint64_t> agreements;
    for (std::uint64_t number = 1001; number < 6000; ++number) {
        if (trials.is_due(number, early)) {
            agreements.push_back(number);
        }
    }
    EXPECT_EQ(agreements, (std::vector<std::uint64_t>{1024, 1064, 1128, 1256, 1512, 2024, 2048,
                                                      3048, 4096, 5096}));
}

}  // namespace
}  // namespace trefoil::mpi
