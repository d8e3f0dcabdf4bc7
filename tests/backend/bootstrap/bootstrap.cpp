// SPDX-License-Identifier: BSD-3-Clause
// Bootstraps over the caller's callback, and of one rank alone.
#include "backend/bootstrap/bootstrap.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <cstring>
#include <thread>

#include "topo/error.hpp"

namespace trefoil::bootstrap {
namespace {

/// An allgather of equal sizes among threads, such as a caller would bring.
class Exchange {
  public:
    explicit Exchange(Rank ranks) : parts_(ranks), barrier_(ranks) {}

    void allgather(Rank rank, const void* mine, void* all, std::size_t bytes) {
        parts_[rank].assign(static_cast<const char*>(mine), bytes);
        barrier_.arrive_and_wait();
        for (std::size_t r = 0; r < parts_.size(); ++r) {
            std::memcpy(static_cast<char*>(all) + r * bytes, parts_[r].data(), bytes);
        }
        barrier_.arrive_and_wait();
    }

  private:
    std::vector<std::string> parts_;
    std::barrier<> barrier_;
};

struct Caller {
    Exchange* exchange;
    Rank rank;
    int calls = 0;
    int fail_at = -1;
};

int callback(const void* mine, void* all, std::size_t bytes, void* context) {
    auto& caller = *static_cast<Caller*>(context);
    if (caller.calls++ == caller.fail_at) {
        return 42;
    }
    caller.exchange->allgather(caller.rank, mine, all, bytes);
    return 0;
}

Error error_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error;
    }
    return {Status::success, ""};
}

TEST(CallbackBootstrap, GathersBlobsOfDifferentLengths) {
    constexpr Rank ranks = 3;
    Exchange exchange(ranks);
    std::vector<std::vector<std::string>> got(ranks);
    std::vector<std::vector<std::string>> empty(ranks);
    const std::vector<std::string> blobs{"one", "", std::string(1000, 'x') + '\0'};
    std::vector<std::thread> threads;
    for (Rank r = 0; r < ranks; ++r) {
        threads.emplace_back([&, r] {
            Caller caller{&exchange, r};
            const auto bootstrap = make_callback_bootstrap(r, ranks, callback, &caller);
            EXPECT_EQ(bootstrap->rank(), r);
            EXPECT_EQ(bootstrap->ranks(), ranks);
            got[r] = bootstrap->allgather(blobs[r]);
            bootstrap->barrier();
            empty[r] = bootstrap->allgather("");
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (Rank r = 0; r < ranks; ++r) {
        EXPECT_EQ(got[r], blobs) << "rank " << r;
        EXPECT_EQ(empty[r], std::vector<std::string>(ranks)) << "rank " << r;
    }
}

TEST(CallbackBootstrap, TellsWhatTheCallbackReturned) {
    for (const int fail_at : {0, 1}) {
        Exchange exchange(1);
        Caller caller{&exchange, 0, 0, fail_at};
        const auto bootstrap = make_callback_bootstrap(0, 1, callback, &caller);
        const Error error = error_of([&] { bootstrap->allgather("blob"); });
        EXPECT_EQ(error.status(), Status::system_error);
        EXPECT_NE(std::string(error.what()).find("42"), std::string::npos) << error.what();
    }
}

TEST(CallbackBootstrap, NoticesACallbackThatGathersNothing) {
    const auto lazy = [](const void*, void*, std::size_t, void*) { return 0; };
    const auto bootstrap = make_callback_bootstrap(0, 2, lazy, nullptr);
    EXPECT_EQ(error_of([&] { bootstrap->allgather("blob"); }).status(), Status::mismatch);
}

TEST(CallbackBootstrap, RefusesImpossibleArguments) {
    EXPECT_EQ(error_of([] { make_callback_bootstrap(0, 1, nullptr, nullptr); }).status(),
              Status::invalid_argument);
    for (const auto& [rank, ranks] : {std::pair{-1, 2}, {2, 2}, {0, 0}, {0, -3}}) {
        const Error error = error_of([rank = rank, ranks = ranks] {
            make_callback_bootstrap(rank, ranks, callback, nullptr);
        });
        EXPECT_EQ(error.status(), Status::invalid_argument) << rank << " of " << ranks;
    }
}

TEST(SingleBootstrap, IsAlone) {
    const auto bootstrap = make_single_bootstrap();
    EXPECT_EQ(bootstrap->rank(), 0);
    EXPECT_EQ(bootstrap->ranks(), 1);
    EXPECT_EQ(bootstrap->allgather("me"), std::vector<std::string>{"me"});
}

}  // namespace
}  // namespace trefoil::bootstrap
