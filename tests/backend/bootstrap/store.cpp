// SPDX-License-Identifier: BSD-3-Clause
// The TCP store with threads as ranks: allgathers, lateness, death, intruders.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "backend/bootstrap/bootstrap.hpp"
#include "backend/bootstrap/store_admission.hpp"
#include "backend/bootstrap/store_wire.hpp"
#include "topo/error.hpp"

namespace trefoil {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds patient{30000};
constexpr milliseconds hasty{300};

std::unique_ptr<Bootstrap> join(int port, Rank rank, Rank ranks, milliseconds deadline = patient,
                                const std::string& job = "test") {
    return make_store_bootstrap({"127.0.0.1", port, {}, rank, ranks, deadline}, job);
}

std::unique_ptr<Bootstrap> join_with(const std::string& token, int port, Rank rank, Rank ranks) {
    return make_store_bootstrap({"127.0.0.1", port, token, rank, ranks, patient}, "test");
}

Error error_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error;
    }
    return {Status::success, ""};
}

bool says(const Error& error, const std::string& text) {
    return std::string(error.what()).find(text) != std::string::npos;
}

/// Runs body(rank) on a thread for every rank.
void on_ranks(Rank ranks, const std::function<void(Rank)>& body) {
    std::vector<std::thread> threads;
    for (Rank r = 0; r < ranks; ++r) {
        threads.emplace_back([&body, r] { body(r); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/// A client that speaks bytes of its own choice and returns what it was told until the end.
std::string speak(int port, const std::string& words) {
    const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(port);
    std::string answer;
    if (connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        send(file, words.data(), words.size(), MSG_NOSIGNAL) > 0) {
        char piece[4096];
        for (ssize_t n = 1; n > 0;) {
            n = recv(file, piece, sizeof piece, 0);
            answer.append(piece, n > 0 ? static_cast<std::size_t>(n) : 0);
        }
    }
    close(file);
    return answer;
}

/// What opens every conversation.
std::string hello() {
    store::Message message(store::Kind::hello);
    return std::move(message.bytes(std::string(store::Nonces::bytes, 'n')).number32(0)).finish();
}

/// A connection on which nothing is said.
struct Silent {
    explicit Silent(int port) : file(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const sockaddr_in address = loopback(port);
        open = file >= 0 &&
               connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    }
    ~Silent() { close(file); }
    Silent(const Silent&) = delete;
    Silent& operator=(const Silent&) = delete;
    /// The server has ended it.
    bool ends_within(milliseconds time) const {
        pollfd waiting{file, POLLIN, 0};
        char byte = 0;
        return poll(&waiting, 1, static_cast<int>(time.count())) == 1 &&
               recv(file, &byte, 1, 0) <= 0;
    }
    int file;
    bool open = false;
};

/// Two ranks can still meet.
void expect_alive(int port, const std::string& job) {
    on_ranks(2, [&](Rank r) {
        EXPECT_EQ(join(port, r, 2, patient, job)->allgather(std::to_string(r)),
                  (std::vector<std::string>{"0", "1"}));
    });
}

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
    EXPECT_TRUE(says(other, "3") && says(other, "2")) << other.what();
    // Who waits in vain hears about the intruder too.
    const Error late = error_of([&] { first->barrier(); });
    EXPECT_EQ(late.status(), Status::timeout);
    EXPECT_TRUE(says(late, "rank 1 of 2") && says(late, "came for 3 ranks")) << late.what();
}

TEST(Store, SurvivesStrangers) {
    const StoreServer server;
    const int port = server.port();
    EXPECT_NE(speak(port, "GET / HTTP/1.1\r\nHost: x\r\n\r\n").find("store"), std::string::npos);
    EXPECT_NE(speak(port, std::string(100000, '\xff')).size(), 1U);

    store::Message empty(store::Kind::hello);
    EXPECT_NE(speak(port, std::move(empty).finish()).find("makes no sense"), std::string::npos);
    store::Message early(store::Kind::allgather);
    early.number64(1).number64(1);
    EXPECT_NE(speak(port, std::move(early).finish()).find("out of place"), std::string::npos);
    store::Message unasked(store::Kind::join);
    unasked.bytes(std::string(60, 'x'));
    EXPECT_NE(speak(port, std::move(unasked).finish()).find("out of place"), std::string::npos);
    // A nonce that the server has not drawn proves nothing, although there is no token.
    store::Message proof(store::Kind::join);
    proof.bytes(std::string(60, 'x'));
    EXPECT_NE(speak(port, hello() + std::move(proof).finish()).find("token is not"),
              std::string::npos);

    store::Message future(store::Kind::hello);
    std::string text = std::move(future.number32(0).number32(1)).finish();
    text[4] = 99;
    EXPECT_NE(speak(port, text).find("version 99"), std::string::npos);

    store::Message huge(store::Kind::hello);
    text = std::move(huge).finish();
    text[14] = 1;  // 2^48 bytes to come
    EXPECT_NE(speak(port, text).find("longer"), std::string::npos);
    store::Message large(store::Kind::hello);
    large.bytes(std::string(store::stranger_limit + 1, 'x'));
    EXPECT_NE(speak(port, std::move(large).finish()).find("longer"), std::string::npos);
    expect_alive(port, "after all that");
}

TEST(Store, DropsThoseWhoDoNotSayWhoTheyAre) {
    const StoreServer server("127.0.0.1", 0, "a secret", milliseconds(200));
    const Silent silent(server.port());
    ASSERT_TRUE(silent.open);
    EXPECT_TRUE(silent.ends_within(patient));
    // Nor does a greeting without an end keep the place.
    const std::string endless = hello();
    const Silent slow(server.port());
    EXPECT_EQ(send(slow.file, endless.data(), 10, MSG_NOSIGNAL), 10);
    EXPECT_TRUE(slow.ends_within(patient));
    const auto member = join_with("a secret", server.port(), 0, 1);
    std::this_thread::sleep_for(milliseconds(500));
    EXPECT_EQ(error_of([&] { member->barrier(); }).status(), Status::success) << "it is known";
}

/// More connections than this process may have descriptors for at the server's end.
TEST(Store, ACrowdOfStrangersKeepsNobodyOut) {
    const StoreServer server("127.0.0.1", 0, "a secret");
    std::vector<std::unique_ptr<Silent>> crowd;
    for (int i = 0; i < 400; ++i) {
        crowd.push_back(std::make_unique<Silent>(server.port()));
        ASSERT_TRUE(crowd.back()->open) << i;
    }
    const auto begin = std::chrono::steady_clock::now();
    on_ranks(3, [&](Rank r) {
        EXPECT_EQ(join_with("a secret", server.port(), r, 3)->allgather("x"),
                  std::vector<std::string>(3, "x"));
    });
    EXPECT_LT(std::chrono::steady_clock::now() - begin, StoreServer::default_patience)
        << "they made room before their time was over";
}

TEST(Store, SaysThatWhatAnswersIsNoStore) {
    const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof address;
    ASSERT_EQ(bind(file, reinterpret_cast<sockaddr*>(&address), bytes), 0);
    ASSERT_EQ(listen(file, 1), 0);
    ASSERT_EQ(getsockname(file, reinterpret_cast<sockaddr*>(&address), &bytes), 0);
    std::thread impostor([file] {
        const int client = accept(file, nullptr, nullptr);
        const std::string words = "SSH-2.0-OpenSSH_9.2 Debian\r\n";
        EXPECT_GT(send(client, words.data(), words.size(), MSG_NOSIGNAL), 0);
        char rest[4096];
        while (recv(client, rest, sizeof rest, 0) > 0) {
        }
        close(client);
    });
    const Error error = error_of([&] { join(ntohs(address.sin_port), 0, 1); });
    EXPECT_EQ(error.status(), Status::invalid_argument) << error.what();
    impostor.join();
    close(file);
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
