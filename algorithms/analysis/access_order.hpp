// SPDX-License-Identifier: BSD-3-Clause
// The proof that ranks which pull from each other never touch a block without an order between
// them. Internal to the verifier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "algorithms/analysis/findings.hpp"
#include "algorithms/schedule/schedule.hpp"

namespace trefoil {

/// Vector clocks over one part: a rank knows of another what happened there before the messages
/// that it has had from it, directly or through others. A pull must know the last write of what it
/// reads, the next write must know the pull, and so must the owner when it completes. Told of one
/// step after the other: of all moves, in any order among the ranks; of all messages; of what the
/// receives write.
class AccessOrder {
  public:
    /// `blocks`: of the vector, and of the rank with most scratch.
    AccessOrder(Rank ranks, std::size_t blocks, std::size_t part, Findings& findings);

    void begin_step(std::size_t step);
    /// A move of `reader` reads a block of `owner`, which may be itself.
    void read(Rank reader, Rank owner, Block block, bool initial);
    /// `keeps`: what the block's rank began with, at the place of that.
    void move_writes(Rank rank, Block block, bool keeps) { write(rank, block, moved_, keeps); }
    void hear(Rank at, Rank from, bool opens);
    void receive_writes(Rank rank, Block block) { write(rank, block, received_, false); }
    /// After the last step.
    void finish();

  private:
    /// Of a rank's own past: 0 before the call, 2s+1 when the moves of step s are done, 2s+2 when
    /// its receives are.
    using Time = std::uint32_t;
    struct Read {
        Rank reader = 0;
        Time at = 0;
        bool initial = false;
    };
    struct LastRead {
        Block block = 0;
        Time at = 0;
    };

    void write(Rank owner, Block block, Time at, bool keeps);
    std::size_t pair(Rank a, Rank b) const {
        return static_cast<std::size_t>(a) * ranks_ + static_cast<std::size_t>(b);
    }
    std::size_t place(Rank owner, Block block) const {
        return static_cast<std::size_t>(owner) * blocks_ + block;
    }
    static std::size_t step_of(Time at) { return (at - 1) / 2; }

    std::size_t ranks_, blocks_, part_;
    Findings& findings_;
    std::size_t step_ = 0;
    Time moved_ = 0, received_ = 0;     // in the current step
    std::vector<Time> known_, told_;    // by rank and whose past; told_: by this step's messages
    std::vector<std::uint8_t> opened_;  // by reader and owner
    std::vector<LastRead> last_reads_;  // by owner and reader
    std::vector<Time> written_;         // by owner and block; 0: never
    std::vector<Time> lost_;            // the same: when what its rank began with was lost
    std::vector<std::vector<Read>> readers_;  // by owner and block: since it was written
};

}  // namespace trefoil
