// SPDX-License-Identifier: BSD-3-Clause
// The TCP store with threads as ranks: allgathers, lateness, death, tokens.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "store_ranks.hpp"

namespace trefoil {
namespace {

using namespace store_ranks;

TEST(Store, GathersBlobsOfManyRanksManyTimes) {
    constexpr Rank ranks = 200;
    const StoreServer server;
    on_ranks(ranks, [&](Rank r) {
        const auto bootstrap = join(server.port(), r, ranks);
        EXPECT_EQ(bootstrap->rank(), r);
        EXPECT_EQ(bootstrap->ranks(), ranks);
        for (std::size_t i = 0; i < 3; ++i) {
            const auto all = bootstrap->allgather(std::string(r * i, static_cast<char>('a' + r)));
            ASSERT_EQ(all.size(), static_cast<std::size_t>(ranks));
            for (Rank q = 0; q < ranks; ++q) {
                EXPECT_EQ(all[q], std::string(q * i, static_cast<char>('a' + q)));
            }
            bootstrap->barrier();
        }
    });
}

TEST(Store, CarriesLargeBlobs) {
    const StoreServer server;
    on_ranks(3, [&](Rank r) {
        const auto blob = [](Rank rank) {
            return std::string(5000000 + rank, static_cast<char>('a' + rank));
        };
        const auto all = join(server.port(), r, 3)->allgather(blob(r));
        for (Rank q = 0; q < 3; ++q) {
            EXPECT_TRUE(all.at(q) == blob(q)) << "rank " << q << "'s blob at rank " << r;
        }
    });
}

TEST(Store, KeepsJobsApart) {
    const StoreServer server;
    on_ranks(4, [&](Rank r) {
        const std::string job = r < 2 ? "first" : "second";
        const auto all = join(server.port(), r % 2, 2, patient, job)->allgather(job);
        EXPECT_EQ(all, std::vector<std::string>(2, job));
    });
    expect_alive(server.port(), "first");  // a name is free again when all have left
}

// Whoever has started the ranks tells, before others wait for it or while they do.
TEST(Store, NobodyWaitsForARankWhoseProcessHasEndedBeforeItJoined) {
    for (const bool before : {true, false}) {
        StoreServer server;
        if (before) {
            server.rank_ended(1, "exit 0");
        }
        const auto first = join(server.port(), 0, 3);
        std::thread teller;
        if (!before) {
            teller = std::thread([&] {
                std::this_thread::sleep_for(hasty / 3);
                server.rank_ended(1, "exit 0");
            });
        }
        const Error error = error_of([&] { first->allgather("0"); });
        EXPECT_EQ(error.status(), Status::peer_lost) << error.what();
        EXPECT_TRUE(says(error, "rank 1 has ended (exit 0) without joining")) << error.what();
        EXPECT_EQ(error.blame().culprit, 1);
        EXPECT_EQ(error.blame().evidence, Evidence::ended);
        const Error late = error_of([&] { join(server.port(), 2, 3)->allgather("2"); });
        EXPECT_TRUE(says(late, "rank 1 has ended (exit 0) without joining")) << late.what();
        if (teller.joinable()) {
            teller.join();
        }
    }
}

TEST(Store, ARankThatHasLeftInOrderMayEnd) {
    StoreServer server;
    std::unique_ptr<Bootstrap> stays;
    on_ranks(2, [&](Rank r) {
        auto one = join(server.port(), r, 2);
        one->barrier();
        if (r == 0) {
            stays = std::move(one);
        }
    });
    server.rank_ended(1, "exit 0");
    const Error error = error_of([&] { stays->barrier(); });
    EXPECT_TRUE(says(error, "has ended or disconnected")) << error.what();
}

TEST(Store, WaitsForAServerThatComesLater) {
    int port = 0;
    {
        const StoreServer probe;
        port = probe.port();
    }
    std::atomic<bool> asked{false};
    std::thread client([&] {
        asked = true;
        EXPECT_EQ(join(port, 0, 1)->allgather("x"), std::vector<std::string>{"x"});
    });
    while (!asked) {
        std::this_thread::yield();
    }
    const StoreServer server("localhost", port);
    client.join();
}

TEST(Store, DeliversTheLastAnswerThoughItsOwnerLeaves) {
    auto server = std::make_unique<StoreServer>();
    const int port = server->port();
    const std::string blob(3000000, 'z');
    on_ranks(3, [&](Rank r) {
        const auto all = join(port, r, 3)->allgather(blob);
        EXPECT_EQ(all, std::vector<std::string>(3, blob));
        if (r == 0) {
            server.reset();
        }
    });
}

TEST(Store, NamesTheRanksThatDoNotCome) {
    const StoreServer server;
    std::vector<std::unique_ptr<Bootstrap>> present;
    present.push_back(join(server.port(), 0, 5, hasty));
    present.push_back(join(server.port(), 2, 5, hasty));
    on_ranks(2, [&](Rank r) {
        // The second to come may itself be late, and then is named with the others.
        const Error error = error_of([&] { present[r]->barrier(); });
        EXPECT_EQ(error.status(), Status::timeout) << error.what();
        EXPECT_TRUE(says(error, "3, 4 of 5 did not come")) << error.what();
        const Error again = error_of([&] { present[r]->barrier(); });
        EXPECT_EQ(again.status(), Status::timeout) << "a failed job stays failed";
    });
}

TEST(Store, TellsAtOnceWhenARankDies) {
    // Only the news of rank 1's end can end the wait of the others before the deadline.
    const StoreServer server;
    std::atomic<int> told{0};
    on_ranks(3, [&](Rank r) {
        auto bootstrap = join(server.port(), r, 3, milliseconds(600000));
        bootstrap->barrier();
        if (r == 1) {
            bootstrap.reset();
            return;
        }
        const Error error = error_of([&] { bootstrap->barrier(); });
        EXPECT_EQ(error.status(), Status::peer_lost) << error.what();
        EXPECT_TRUE(says(error, "rank 1 ")) << error.what();
        // Stay until both were told: otherwise the second could hear of the first.
        ++told;
        while (told < 2) {
            std::this_thread::yield();
        }
    });
    expect_alive(server.port(), "another");
}

TEST(Store, TellsAtOnceWhenARankGivesUp) {
    const StoreServer server;
    std::atomic<int> told{0};
    on_ranks(3, [&](Rank r) {
        const auto bootstrap = join(server.port(), r, 3);
        bootstrap->barrier();
        if (r == 1) {
            bootstrap->abandon(Error(Status::out_of_memory, "rank 1: no room"));
        } else {
            for (int i = 0; i < 2; ++i) {
                const Error error = error_of([&] { bootstrap->barrier(); });
                EXPECT_EQ(error.status(), Status::out_of_memory) << error.what();
                EXPECT_STREQ(error.what(), "rank 1: no room") << "passed on as it is";
            }
            ++told;
        }
        // The others are told although rank 1 still holds its end; bounded by their patience.
        while (told < 2) {
            std::this_thread::yield();
        }
    });
}

// Rank 0's process serves the store: it fails, and ends, before a late rank has asked.
TEST(Store, TellsALateRankWhyTheJobFailedThoughItsOwnerEnds) {
    auto server = std::make_unique<StoreServer>();
    const int port = server->port();
    const auto first = join(port, 0, 2);
    const auto second = join(port, 1, 2);
    first->abandon(Error(Status::out_of_memory, "rank 0: no room"));
    std::thread end([&] { server.reset(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_STREQ(error_of([&] { second->barrier(); }).what(), "rank 0: no room");
    end.join();
}

// Whoever came while it was stopped is not late.
TEST(Store, HearsWhoHasComeBeforeItCallsThemLate) {
    int pipe_ends[2] = {-1, -1};
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const StoreServer server;
        const int port = server.port();
        if (write(pipe_ends[1], &port, sizeof port) != sizeof port) {
            _exit(1);
        }
        std::this_thread::sleep_for(std::chrono::seconds(30));
        _exit(0);
    }
    int port = 0;
    ASSERT_EQ(read(pipe_ends[0], &port, sizeof port), static_cast<ssize_t>(sizeof port));
    std::atomic<bool> stopped{false};
    on_ranks(2, [&](Rank r) {
        while (r == 1 && !stopped) {
            std::this_thread::yield();
        }
        const auto bootstrap = join(port, r, 2, milliseconds(400));
        if (r == 0) {
            std::thread pause([&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(150));
                kill(child, SIGSTOP);
                stopped = true;
                std::this_thread::sleep_for(std::chrono::milliseconds(700));
                kill(child, SIGCONT);
            });
            EXPECT_NO_THROW(bootstrap->barrier());
            pause.join();
        } else {
            EXPECT_NO_THROW(bootstrap->barrier());
        }
    });
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

// All that were there have left the failed job, the rank that serves the store among them.
TEST(Store, TellsARankThatJoinsAfterAllOthersHaveLeft) {
    auto server = std::make_unique<StoreServer>();
    const int port = server->port();
    join(port, 0, 3)->abandon(Error(Status::out_of_memory, "rank 0: no room"));
    EXPECT_STREQ(error_of([&] { join(port, 1, 3)->barrier(); }).what(), "rank 0: no room");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::thread end([&] { server.reset(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_STREQ(error_of([&] { join(port, 2, 3)->barrier(); }).what(), "rank 0: no room");
    end.join();
}

TEST(Store, ANewJobMayHaveTheNameOfOneThatFailed) {
    const StoreServer server;
    join(server.port(), 0, 2)->abandon(Error(Status::out_of_memory, "rank 0: no room"));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::atomic<bool> again{false};  // rank 1 may also be the old job's, which has not come
    on_ranks(2, [&](Rank r) {
        while (r == 1 && !again) {
            std::this_thread::yield();
        }
        const auto bootstrap = join(server.port(), r, 2);
        again = true;
        bootstrap->barrier();
    });
}

TEST(Store, WaitsForNobodyAtItsEndForLong) {
    auto server = std::make_unique<StoreServer>();
    const auto first = join(server->port(), 0, 2);
    const auto second = join(server->port(), 1, 2);
    first->abandon(Error(Status::out_of_memory, "rank 0: no room"));
    const auto begin = std::chrono::steady_clock::now();
    server.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(Store, TellsAtOnceWhenAProcessIsKilled) {
    const StoreServer server;
    const int port = server.port();
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const auto bootstrap = join(port, 1, 2);
        bootstrap->barrier();
        _exit(7);  // without any good-bye
    }
    const auto bootstrap = join(port, 0, 2, milliseconds(600000));
    bootstrap->barrier();
    const Error error = error_of([&] { bootstrap->barrier(); });
    EXPECT_EQ(error.status(), Status::peer_lost) << error.what();
    EXPECT_TRUE(says(error, "rank 1 ")) << error.what();
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(Store, RefusesARankThatIsThereOrHasLeft) {
    const StoreServer server("127.0.0.1", 0, "a secret");
    const auto join = [](int port, Rank rank, Rank ranks) {
        return join_with("a secret", port, rank, ranks);
    };
    const auto first = join(server.port(), 0, 3);
    const Error twice = error_of([&] { join(server.port(), 0, 3); });
    EXPECT_EQ(twice.status(), Status::mismatch);
    EXPECT_TRUE(says(twice, "rank 0") && says(twice, "already")) << twice.what();

    const auto second = join(server.port(), 1, 3);
    auto third = join(server.port(), 2, 3);
    std::thread waiting([&] { second->barrier(); });
    std::thread also([&] { third->barrier(); });
    first->barrier();  // the intruder did no harm
    waiting.join();
    also.join();
    third.reset();
    // The server learns of the end through another connection than the one that asks.
    const Error lost = error_of([&] { first->barrier(); });
    EXPECT_EQ(lost.status(), Status::peer_lost) << lost.what();
    const Error back = error_of([&] { join(server.port(), 2, 3); });
    EXPECT_EQ(back.status(), Status::peer_lost) << back.what();
}

// The others may have ended because of it.
TEST(Store, NamesTheRankThatHasLeftFirst) {
    const StoreServer server("127.0.0.1", 0, "a secret");
    const auto join = [&](Rank rank) { return join_with("a secret", server.port(), rank, 3); };
    const auto first = join(0);
    auto second = join(1), third = join(2);
    // The server learns of the end through another connection than the one that asks.
    const auto leave = [&](std::unique_ptr<Bootstrap>& one) {
        const Rank rank = one->rank();
        one.reset();
        for (const auto end = std::chrono::steady_clock::now() + patient;
             error_of([&] { join(rank); }).status() != Status::peer_lost;) {
            ASSERT_LT(std::chrono::steady_clock::now(), end);
        }
    };
    leave(third);
    leave(second);
    const Error lost = error_of([&] { first->barrier(); });
    EXPECT_EQ(lost.status(), Status::peer_lost);
    EXPECT_TRUE(says(lost, "rank 2 of")) << lost.what();
}

/// Ranks 0 and 1 of one job and rank 2 of another have met; nobody can tell which is whose.
TEST(Store, EndsAJobThatMayBeAMixtureOfTwo) {
    const StoreServer server;
    const auto first = join(server.port(), 0, 4);
    const auto second = join(server.port(), 2, 4);
    const Error twin = error_of([&] { join(server.port(), 2, 4); });
    EXPECT_EQ(twin.status(), Status::mismatch);
    EXPECT_TRUE(says(twin, "two jobs use this store")) << twin.what();
    const Error mixed = error_of([&] { first->barrier(); });
    EXPECT_EQ(mixed.status(), Status::mismatch) << mixed.what();
    EXPECT_TRUE(says(mixed, "two jobs use this store")) << mixed.what();
}

TEST(Store, AJobThatWasCompleteGoesOnWhenAnotherComes) {
    const StoreServer server;
    const auto first = join(server.port(), 0, 2);
    const auto second = join(server.port(), 1, 2);
    EXPECT_EQ(error_of([&] { join(server.port(), 0, 2); }).status(), Status::mismatch);
    std::thread waiting([&] { second->barrier(); });
    EXPECT_EQ(error_of([&] { first->barrier(); }).status(), Status::success);
    waiting.join();
}

TEST(Store, LetsInWhoKnowsTheToken) {
    const StoreServer server("127.0.0.1", 0, "a secret");
    on_ranks(3, [&](Rank r) {
        const auto bootstrap = join_with("a secret", server.port(), r, 3);
        EXPECT_EQ(bootstrap->allgather(std::to_string(r)),
                  (std::vector<std::string>{"0", "1", "2"}));
    });
    for (const char* wrong : {"", "a secres", "a secret ", "another"}) {
        const Error error = error_of([&] { join_with(wrong, server.port(), 0, 3); });
        EXPECT_EQ(error.status(), Status::mismatch) << wrong;
        EXPECT_TRUE(says(error, "TREFOIL_TOKEN") && says(error, "another port")) << error.what();
    }
    const StoreServer open;
    const Error needless = error_of([&] { join_with("a secret", open.port(), 0, 3); });
    EXPECT_EQ(needless.status(), Status::mismatch);
    EXPECT_TRUE(says(needless, "without one")) << needless.what();
    expect_alive(open.port(), "after that");
}

TEST(Store, RefusesAnotherNumberOfRanks) {
    const StoreServer server;
    const auto first = join(server.port(), 0, 2, hasty);
    const Error other = error_of([&] { join(server.port(), 1, 3); });
    EXPECT_EQ(other.status(), Status::mismatch);
    EXPECT_TRUE(says(other, "as one of 3 ranks, but the first to come said 2;")) << other.what();
    // Who waits in vain hears about the intruder too.
    const Error late = error_of([&] { first->barrier(); });
    EXPECT_EQ(late.status(), Status::timeout);
    EXPECT_TRUE(says(late, "rank 1 of 2") && says(late, "came for 3 ranks")) << late.what();
}

TEST(Store, ReportsAServerThatIsNotThereOrEnds) {
    auto server = std::make_unique<StoreServer>();
    const int port = server->port();
    const auto bootstrap = join(port, 0, 2);
    std::thread ending([&] { server.reset(); });
    const Error ended = error_of([&] { bootstrap->barrier(); });
    ending.join();
    EXPECT_EQ(ended.status(), Status::peer_lost) << ended.what();
    const Error absent = error_of([&] { join(port, 0, 2, hasty); });
    EXPECT_EQ(absent.status(), Status::timeout);
    EXPECT_TRUE(says(absent, std::to_string(port))) << absent.what();
}

TEST(Store, RefusesImpossibleArguments) {
    EXPECT_EQ(error_of([] { join(80, 2, 2); }).status(), Status::invalid_argument);
    EXPECT_EQ(error_of([] { join(0, 0, 2); }).status(), Status::invalid_argument);
    EXPECT_EQ(error_of([] { join(70000, 0, 2); }).status(), Status::invalid_argument);
    EXPECT_EQ(error_of([] { join(80, 0, 1, hasty, std::string(513, 'j')); }).status(),
              Status::invalid_argument);
    const StoreServer server;
    const Error taken = error_of([&] { StoreServer("127.0.0.1", server.port()); });
    EXPECT_EQ(taken.status(), Status::system_error);
    EXPECT_TRUE(says(taken, std::to_string(server.port()))) << taken.what();
    const Error foreign = error_of([] { StoreServer("192.0.2.1", 0); });
    EXPECT_EQ(foreign.status(), Status::system_error) << foreign.what();
}

}  // namespace
}  // namespace trefoil
