// SPDX-License-Identifier: BSD-3-Clause
// What tests of several executors on one engine share.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "loose_group.hpp"
#include "ring.hpp"

namespace trefoil::test {

constexpr std::uint64_t second_communicator = 200;

/// Threads that come and go together, as often as they like.
class Meeting {
  public:
    explicit Meeting(int ranks) : ranks_(ranks) {}
    void arrive() {
        const int round = ++arrived_ - 1;
        const int all = (round / ranks_ + 1) * ranks_;
        while (arrived_ < all) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }

  private:
    const int ranks_;
    std::atomic<int> arrived_{0};
};

struct NamedGroups {
    const char* name;
    MakeGroups make;
};

/// Over some groups, with so many workers.
class SeveralExecutors : public testing::TestWithParam<std::tuple<NamedGroups, int>> {
  protected:
    static void on_ring(int ranks, const std::function<void(Rank, RingRank&)>& body) {
        test::on_ring(ranks, std::get<1>(GetParam()), std::get<0>(GetParam()).make, {}, body);
    }
    /// Sums around the ring of `ranks`, so often; each is checked.
    static void expect_sums(RingMember& member, int ranks, int calls) {
        const Program program = ring_sum(member, ranks, 10);
        member.executor().reserve(program);
        for (int call = 0; call < calls; ++call) {
            std::vector<std::int32_t> data(20, call);
            ASSERT_EQ(member.run(program, data, 2), Status::success) << member.executor().failure();
            ASSERT_EQ(data, std::vector<std::int32_t>(20, ranks * call));
        }
    }
};

inline std::string name_of(const testing::TestParamInfo<std::tuple<NamedGroups, int>>& chosen) {
    return std::get<0>(chosen.param).name + std::to_string(std::get<1>(chosen.param));
}

}  // namespace trefoil::test
