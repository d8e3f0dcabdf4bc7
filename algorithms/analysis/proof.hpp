// SPDX-License-Identifier: BSD-3-Clause
// The proof of one part: all ranks' steps executed in lockstep over symbolic buffers. Internal to
// the verifier.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/analysis/access_order.hpp"
#include "algorithms/analysis/findings.hpp"
#include "algorithms/analysis/goal.hpp"
#include "algorithms/analysis/symbolic.hpp"
#include "algorithms/schedule/algorithm.hpp"

namespace trefoil {

/// "[3, 5)".
std::string text(Extent extent);

/// Executes one part of all ranks. The schedules have the same form (checked by the caller).
class PartProof {
  public:
    /// All outlive the proof.
    PartProof(const Torus& torus, const Goal& goal, const std::vector<Schedule>& schedules,
              std::size_t part, Findings& findings);

    void run();

    /// Reports every vector block that must hold a result and does not.
    void require_results();
    /// True when every vector block was made by the same expression on all ranks.
    bool identical() const;
    /// True when every result was reduced in rank order from the left.
    bool in_order() const;
    /// Adds to heard[r] from whom rank r has heard through messages of this part.
    void unite_heard(SymbolicValues& heard) const;

  private:
    /// A message under way: what the sender's buffer held when the step began.
    struct Message {
        Rank to, from;
        Port arrival;
        std::size_t payload;  // index of its first block in payload_
        std::uint64_t blocks;
        bool opens;
    };
    /// A receive that waits for its message.
    struct Expected {
        Rank at, from;
        Port port;
        const Receive* receive;
        const Message* message = nullptr;
    };

    std::size_t index(Rank rank, Block block) const {
        return static_cast<std::size_t>(rank) * blocks_ + block;
    }
    void report(Rank rank, const std::string& text) { findings_.add(part_, step_, rank, text); }
    bool blocks_both_ways() const { return row_.blocks_both_ways(); }
    std::size_t blocks_of(Rank rank) const {
        return std::size_t{vector_blocks_} + schedules_[rank].parts[part_].scratch_blocks;
    }
    bool inside(Rank rank, Extent extent, const char* what);
    /// Blocks pair when they have equal sizes: see Block.
    bool pairs(Rank sender, Block source, Rank receiver, Block target) const;
    Rank owner(Block block) const;
    bool begins_with(Rank rank, Block block) const;
    bool ends_with(Rank rank, Block block) const;
    /// Where blocks go both ways: who had what must come, as which of its blocks.
    struct Origin {
        Rank rank = 0;
        Block block = 0;
    };
    Origin origin_of(Rank rank, Block block) const;
    void require_result(Rank rank, Block block);
    void require_prefix(Rank rank, Block block);

    void run_step();
    // proof_moves.cpp
    void run_moves(Rank rank, const Schedule& schedule, const Step& step);
    bool has_source(Rank rank, const Move& move);
    void move_block(Rank rank, const Move& move, Block from, Block to);
    // proof.cpp
    void collect_sends(Rank rank, const Schedule& schedule, const Step& step);
    bool check_route(Rank rank, const Send& send);
    void append_payload(Rank rank, Block block);
    void match();
    void hear();
    void run_receives();
    void apply(const Expected& expected, const Application& application);
    void apply_block(const Expected& expected, Action action, std::size_t payload, Block target);

    const Torus& torus_;
    const Goal& goal_;
    const CollectiveTraits& row_;
    const std::vector<Schedule>& schedules_;
    std::size_t part_;
    Findings& findings_;
    Block vector_blocks_;
    std::size_t blocks_;  // of the rank that has most
    std::size_t step_ = 0;
    SymbolicValues buffers_;            // of all ranks, one after the other
    SymbolicValues began_;              // one value: what a move reads that a rank began with
    std::optional<AccessOrder> order_;  // where ranks pull
    SymbolicValues heard_;              // per rank: from whom it has heard
    SymbolicValues heard_before_;

    // Of the current step.
    std::vector<Message> messages_;
    std::vector<Expected> expected_;
    SymbolicValues payload_;
    std::vector<Block> payload_blocks_;  // where in its sender's buffer each one came from

    // Who wrote a block last; epochs save clearing.
    std::vector<std::uint64_t> written_in_step_, written_by_message_;
    std::uint64_t step_epoch_ = 0, message_epoch_ = 0;
};

}  // namespace trefoil
