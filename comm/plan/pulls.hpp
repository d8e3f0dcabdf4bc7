// SPDX-License-Identifier: BSD-3-Clause
// Lowering of moves that read peers' vectors: reductions of many vectors go by chunks.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "algorithms/schedule/schedule.hpp"
#include "threads/executor/channels.hpp"
#include "threads/executor/program.hpp"

namespace trefoil {

/// A move in bytes: both sides are one run.
struct PlacedMove {
    Action action = Action::replace;
    /// The source is a peer's, and not mapped here: the transport copies it.
    bool by_transport = false;
    /// The target is scratch that this step alone writes, and a single move reads.
    bool temporary = false;
    Location target, source;
    std::size_t bytes = 0;
};

/// True when the only use of a scratch block in its part is this: one step builds it by moves, and
/// one move of the same step reads it.
bool is_temporary(const Schedule& schedule, const Part& part, Block block);

/// How the parts of one program get at their peers' vectors.
class PartPulls {
  public:
    /// Both outlive this. The program gets spaces for the peers, and room in its scratch. Until all
    /// is lowered, `peers` and `reads` name ranks.
    PartPulls(const Channels& channels, Program& program);

    void begin_part();
    /// From now on the peer's vectors, whose addresses land here, are spaces of the part.
    ProgramOp open(Rank peer, Location addresses);
    /// Moves the source, as it would lie in the own input or output, to the peer's.
    void place_source(const Move& move, PlacedMove& placed) const;
    std::vector<ProgramOp> lower(std::span<const PlacedMove> moves, std::size_t element_bytes,
                                 bool in_place);
    /// Lists the peers that the moves of a step read.
    ProgramRange list_peers(std::span<const Move> moves);

  private:
    std::uint32_t input_of(Rank peer) const;

    const Channels& channels_;
    Program& program_;
    std::map<Rank, std::uint32_t> inputs_;  // the first space of each open peer
    Location room_;
};

struct PullPlan {
    std::size_t element_bytes = 1;
    std::size_t chunk_bytes = 1;  ///< what is reduced at a time
    bool in_place = false;        ///< input and output are the same memory
    Location room;                ///< a chunk's; for what the transport copies
};

/// The operations of one step's moves. Moves that build one block after each other, and the copy of
/// it that follows, are cut into chunks: the sum of a chunk is complete before the next one begins,
/// so that it stays in the cache. A temporary block has the room of a chunk only, or none: where
/// nothing that is still to be read lies there, the sum is made where it is copied to.
std::vector<ProgramOp> lower_pulls(std::span<const PlacedMove> moves, const PullPlan& plan);

}  // namespace trefoil
