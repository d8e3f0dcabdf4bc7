// SPDX-License-Identifier: BSD-3-Clause
// Threads as ranks that meet at a TCP store of their own.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backend/bootstrap/bootstrap.hpp"
#include "topo/error.hpp"

namespace trefoil::store_ranks {

using std::chrono::milliseconds;
inline constexpr milliseconds patient{30000};
inline constexpr milliseconds hasty{300};

inline std::unique_ptr<Bootstrap> join(int port, Rank rank, Rank ranks,
                                       milliseconds deadline = patient,
                                       const std::string& job = "test") {
    return make_store_bootstrap({"127.0.0.1", port, {}, rank, ranks, deadline}, job);
}

inline std::unique_ptr<Bootstrap> join_with(const std::string& token, int port, Rank rank,
                                            Rank ranks) {
    return make_store_bootstrap({"127.0.0.1", port, token, rank, ranks, patient}, "test");
}

inline Error error_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error;
    }
    return {Status::success, ""};
}

inline bool says(const Error& error, const std::string& text) {
    return std::string(error.what()).find(text) != std::string::npos;
}

/// Runs body(rank) on a thread for every rank.
inline void on_ranks(Rank ranks, const std::function<void(Rank)>& body) {
    std::vector<std::thread> threads;
    for (Rank r = 0; r < ranks; ++r) {
        threads.emplace_back([&body, r] { body(r); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

/// Two ranks can still meet.
inline void expect_alive(int port, const std::string& job) {
    on_ranks(2, [&](Rank r) {
        EXPECT_EQ(join(port, r, 2, patient, job)->allgather(std::to_string(r)),
                  (std::vector<std::string>{"0", "1"}));
    });
}

}  // namespace trefoil::store_ranks
