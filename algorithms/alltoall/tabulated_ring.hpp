// SPDX-License-Identifier: BSD-3-Clause
// Alltoalls on a ring that are worked out once, by simulation, and kept as tables.
#pragma once

#include <cstddef>
#include <cstdint>

#include "algorithms/alltoall/ring_alltoall.hpp"

namespace trefoil {

/// One pair's move in a step.
struct RingMove {
    Rank holder = 0;
    int hop = 0;
    AlltoallPair pair;
    friend constexpr auto operator<=>(const RingMove&, const RingMove&) = default;
};

struct RingStep {
    std::vector<RingMove> moves;
    std::vector<RingSignal> signals = {};  ///< RingAlltoall::signals()
};
using RingSteps = std::vector<RingStep>;

/// A RingAlltoall of given moves. Steps without any are left out, and their signals given before
/// the next one. Memory grows with the number of moves, at least size^2.
class TabulatedRing final : public RingAlltoall {
  public:
    TabulatedRing(Rank size, RingSteps steps);

    std::vector<RingHandover> sends(Rank coordinate, int step) const override;
    std::vector<RingHandover> receives(Rank coordinate, int step) const override;
    std::vector<RingSignal> signals(int step) const override { return steps_[step].signals; }
    std::vector<RingTraffic> traffic() const override { return traffic_; }

  private:
    struct Message {
        Rank holder, peer;
        int hop;
        std::size_t first, count;  // in pairs_
    };
    struct Step {
        std::vector<Message> messages;        // by holder and hop
        std::vector<std::uint32_t> arrivals;  // the same by peer and holder
        std::vector<HeldPair> pairs;
        std::vector<RingSignal> signals;
    };
    TabulatedRing(RingSteps steps, Rank size);  // no step is empty
    /// last_moves: by target and source the last step in which each pair moved so far.
    void add(RingStep& given, std::vector<int>& last_moves);
    static RingHandover handover(const Step& step, const Message& message);

    std::vector<Step> steps_;
    std::vector<RingTraffic> traffic_;
};

/// Gather-scatter trees (gather_scatter_tree.cpp), and with one message sent and received at a
/// time.
RingSteps tree_steps(Rank size);
RingSteps one_port_tree_steps(Rank size);
/// How many steps that are not empty they have.
int count_tree_steps(Rank size);
int count_one_port_tree_steps(Rank size);
/// Not more than the sum of their longest ways.
std::int64_t least_tree_hops(Rank size);
std::int64_t least_one_port_tree_hops(Rank size);
/// Every coordinate hands its neighbours all that is to go their way: size / 2 steps. Of pairs that
/// are opposite, those from even coordinates go up, the others down. Of up to four coordinates
/// these go straight.
RingSteps passed_on_steps(Rank size);

}  // namespace trefoil
