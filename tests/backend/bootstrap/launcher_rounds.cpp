// SPDX-License-Identifier: BSD-3-Clause
// Rounds: allgathers by several threads, in orders that differ between the ranks.
#include "backend/bootstrap/launcher_rounds.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

namespace trefoil::launcher_rounds {
namespace {

using std::chrono::milliseconds;
using Clock = LauncherLink::Clock;
constexpr milliseconds patient{30000};

/// Where the processes of a make-believe job meet: the n-th gather of each is one with the others'.
class Square {
  public:
    explicit Square(Rank ranks) : ranks_(ranks) {}

    std::vector<std::string> gather(Rank rank, std::string_view mine, Clock::time_point until) {
        std::unique_lock lock(mutex_);
        const std::size_t round = entered_[rank]++;
        std::map<Rank, std::string>& blobs = rounds_[round];
        blobs.emplace(rank, mine);
        changed_.notify_all();
        if (!changed_.wait_until(
                lock, until, [&] { return blobs.size() == static_cast<std::size_t>(ranks_); })) {
            throw Error(Status::timeout, "the square stays empty");
        }
        std::vector<std::string> all;
        for (const auto& [from, blob] : blobs) {
            all.push_back(blob);
        }
        return all;
    }

    Rank ranks() const { return ranks_; }
    std::size_t rounds() const { return rounds_.size(); }

  private:
    Rank ranks_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<Rank, std::size_t> entered_;
    std::map<std::size_t, std::map<Rank, std::string>> rounds_;
};

class SquareLink final : public LauncherLink {
  public:
    SquareLink(Square& square, Rank rank) : square_(square), rank_(rank) {}
    Rank rank() const override { return rank_; }
    Rank ranks() const override { return square_.ranks(); }
    std::vector<std::string> gather(std::string_view mine, Clock::time_point until) override {
        EXPECT_EQ(inside_.fetch_add(1), 0) << "two threads in one link";
        try {
            auto all = square_.gather(rank_, mine, until);
            inside_.fetch_sub(1);
            return all;
        } catch (...) {
            inside_.fetch_sub(1);
            throw;
        }
    }

  private:
    Square& square_;
    Rank rank_;
    std::atomic<int> inside_{0};
};

std::shared_ptr<LauncherRounds> rounds_at(Square& square, Rank rank) {
    return std::make_shared<LauncherRounds>(std::make_unique<SquareLink>(square, rank));
}

Error error_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error;
    }
    return {Status::success, ""};
}

std::string blob_of(const std::string& job, Rank rank, int allgather) {
    return job + std::string(static_cast<std::size_t>(rank) * 100, '\0') +
           std::to_string(allgather);
}

void take_part(Bootstrap& bootstrap, const std::string& job, int allgathers) {
    for (int i = 0; i < allgathers; ++i) {
        const auto all = bootstrap.allgather(blob_of(job, bootstrap.rank(), i));
        ASSERT_EQ(all.size(), static_cast<std::size_t>(bootstrap.ranks()));
        for (Rank r = 0; r < bootstrap.ranks(); ++r) {
            ASSERT_EQ(all[r], blob_of(job, r, i)) << "rank " << r << ", allgather " << i;
        }
    }
    bootstrap.barrier();
}

TEST(LauncherRounds, OneThreadTakesOneRoundPerExchange) {
    constexpr Rank ranks = 3;
    Square square(ranks);
    std::vector<std::thread> threads;
    for (Rank r = 0; r < ranks; ++r) {
        threads.emplace_back([&square, r] {
            const auto bootstrap = make_rounds_bootstrap(rounds_at(square, r), "job", patient);
            EXPECT_EQ(bootstrap->rank(), r);
            take_part(*bootstrap, "job", 5);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(square.rounds(), 6U);
}

/// Rank 1 enters the allgather `end` only when rank 0 has got what the allgathers `b` brought: the
/// threads for those must not wait for the round that the other one has begun meanwhile.
TEST(LauncherRounds, WhatIsCompleteWaitsForNoOtherRound) {
    constexpr int several = 8;
    Square square(2);
    const auto zero = rounds_at(square, 0), one = rounds_at(square, 1);
    for (int i = 0; i < 200 && !HasFailure(); ++i) {
        const std::string number = std::to_string(i);
        std::atomic<int> got{0};
        std::vector<std::thread> threads;
        const auto start = [&](const std::function<void()>& body) {
            threads.emplace_back([body] { EXPECT_EQ(error_of(body).status(), Status::success); });
        };
        start([&] {
            zero->allgather("a" + number, 1, "", patient);
            zero->allgather("end" + number, 1, "", patient);
        });
        for (int b = 0; b < several; ++b) {
            const std::string name = "b" + number + "." + std::to_string(b);
            start([&, name] {
                zero->allgather(name, 1, "", patient);
                ++got;
            });
            start([&, name] { one->allgather(name, 1, "", patient); });
        }
        start([&] {
            one->allgather("a" + number, 1, "", patient);
            const auto late = Clock::now() + milliseconds(5000);
            while (got < several && Clock::now() < late) {
                std::this_thread::sleep_for(milliseconds(1));
            }
            EXPECT_EQ(got, several) << "round " << i;
            one->allgather("end" + number, 1, "", patient);
        });
        for (std::thread& thread : threads) {
            thread.join();
        }
    }
}

/// Each rank's threads start in another order, so that the ranks' first rounds disagree about what
/// is exchanged.
TEST(LauncherRounds, CommunicatorsMayBeUsedInAnyOrder) {
    constexpr Rank ranks = 3;
    constexpr int jobs = 3;
    Square square(ranks);
    std::vector<std::thread> threads;
    for (Rank r = 0; r < ranks; ++r) {
        const auto rounds = rounds_at(square, r);
        for (int i = 0; i < jobs; ++i) {
            const std::string job = "job " + std::to_string((i + r) % jobs);
            threads.emplace_back([rounds, job, i] {
                std::this_thread::sleep_for(milliseconds(10 * i));
                const auto bootstrap = make_rounds_bootstrap(rounds, job, patient);
                take_part(*bootstrap, job, 20);
            });
        }
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

/// What rank 1 hands in when it abandons a job comes with its next round, whatever that is for, and
/// ends only the allgathers of that job.
TEST(LauncherRounds, TellsWhyARankHasAbandonedAJob) {
    Square square(2);
    std::vector<std::thread> threads;
    threads.emplace_back([&square] {
        const auto rounds = rounds_at(square, 1);
        make_rounds_bootstrap(rounds, "job", patient)
            ->abandon(Error(Status::out_of_memory, "rank 1: no room"));
        take_part(*make_rounds_bootstrap(rounds, "another", patient), "another", 3);
    });
    const auto rounds = rounds_at(square, 0);
    threads.emplace_back(
        [&rounds] { take_part(*make_rounds_bootstrap(rounds, "another", patient), "another", 3); });
    const auto bootstrap = make_rounds_bootstrap(rounds, "job", patient);
    for (int i = 0; i < 2; ++i) {
        const Error error = error_of([&] { bootstrap->barrier(); });
        EXPECT_EQ(error.status(), Status::out_of_memory);
        EXPECT_STREQ(error.what(), "rank 1: no room");
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

/// A job in which rank 1 takes part in every round and has nothing to say.
class SilentRankLink final : public LauncherLink {
  public:
    Rank rank() const override { return 0; }
    Rank ranks() const override { return 3; }
    std::vector<std::string> gather(std::string_view mine, Clock::time_point) override {
        return {std::string(mine), {}, std::string(mine)};
    }
};

TEST(LauncherRounds, NamesWhoIsMissing) {
    const auto rounds = std::make_shared<LauncherRounds>(std::make_unique<SilentRankLink>());
    const auto bootstrap = make_rounds_bootstrap(rounds, "job", milliseconds(100));
    const Error error = error_of([&] { bootstrap->barrier(); });
    EXPECT_EQ(error.status(), Status::timeout);
    EXPECT_NE(std::string(error.what()).find("rank 1 of 3"), std::string::npos) << error.what();
}

TEST(LauncherRounds, AFailedLinkFailsEverybodyForGood) {
    Square square(2);
    const auto rounds = rounds_at(square, 0);
    const auto hasty = make_rounds_bootstrap(rounds, "a", milliseconds(50));
    EXPECT_NE(std::string(error_of([&] { hasty->barrier(); }).what()).find("square"),
              std::string::npos);
    const auto other = make_rounds_bootstrap(rounds, "b", patient);
    const Error again = error_of([&] { other->barrier(); });
    EXPECT_EQ(again.status(), Status::timeout) << again.what();
}

TEST(LauncherRounds, RefusesAnotherLanguage) {
    Square square(2);
    std::thread stranger([&square] {
        square.gather(1, std::string("\x05\0\0\0\0\0\0\0hi", 10), Clock::now() + patient);
    });
    const auto bootstrap = make_rounds_bootstrap(rounds_at(square, 0), "job", patient);
    EXPECT_EQ(error_of([&] { bootstrap->barrier(); }).status(), Status::mismatch);
    stranger.join();
}

}  // namespace
}  // namespace trefoil::launcher_rounds
