// SPDX-License-Identifier: BSD-3-Clause
// Chains of moves into one block, chunk by chunk.
#include "comm/plan/pulls.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "comm/plan/lower.hpp"
#include "comm/plan/single_copy.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

Location operator+(Location location, std::size_t bytes) {
    return {location.space, location.offset + bytes};
}

bool covers(Extent extent, Block block) {
    return block >= extent.first && block - extent.first < extent.count;
}

/// Moves into one target, and the copy of it that follows, if one does.
struct Chain {
    std::span<const PlacedMove> moves;
    const PlacedMove* copy = nullptr;
    std::size_t length() const { return moves.size() + (copy != nullptr ? 1 : 0); }
};

class PullLowering {
  public:
    explicit PullLowering(const PullPlan& plan) : plan_(plan) {}

    std::vector<ProgramOp> lower(std::span<const PlacedMove> moves) {
        while (!moves.empty()) {
            const Chain chain = first_chain(moves);
            lower(chain);
            moves = moves.subspan(chain.length());
        }
        return std::move(ops_);
    }

  private:
    bool overlap(Location a, Location b, std::size_t bytes) const {
        const auto memory = [this](Location location) {
            const bool input = location.space == Location::input;
            return input && plan_.in_place ? Location::output : location.space;
        };
        return memory(a) == memory(b) && a.offset < b.offset + bytes && b.offset < a.offset + bytes;
    }

    Chain first_chain(std::span<const PlacedMove> moves) const {
        const PlacedMove& head = moves.front();
        const auto builds_on = [&](const PlacedMove& m) {
            return m.action == Action::reduce && m.target == head.target && m.bytes == head.bytes &&
                   !overlap(m.source, m.target, m.bytes);
        };
        const auto end = std::find_if_not(moves.begin() + 1, moves.end(), builds_on);
        const auto length = static_cast<std::size_t>(end - moves.begin());
        const bool copied = end != moves.end() && end->action == Action::replace &&
                            end->source == head.target && end->bytes == head.bytes;
        return {moves.first(length), copied ? &*end : nullptr};
    }

    /// The sum may be made where the chain's copy goes: nobody misses the block, and what is read
    /// after the first move lies elsewhere.
    bool goes_straight(const Chain& chain) const {
        const PlacedMove& head = chain.moves.front();
        return chain.copy != nullptr && head.temporary && head.action == Action::replace &&
               std::none_of(chain.moves.begin() + 1, chain.moves.end(), [&](const PlacedMove& m) {
                   return overlap(m.source, chain.copy->target, m.bytes);
               });
    }

    void lower(const Chain& chain) {
        const PlacedMove& head = chain.moves.front();
        const bool whole = chain.length() == 1 && head.action == Action::replace;
        const std::size_t per_chunk =
            std::max<std::size_t>(1, plan_.chunk_bytes / plan_.element_bytes) * plan_.element_bytes;
        const std::size_t step = whole ? head.bytes : per_chunk;
        const bool straight = goes_straight(chain);
        for (std::size_t done = 0; done < head.bytes; done += step) {
            const std::size_t bytes = std::min(step, head.bytes - done);
            const Location target = straight         ? chain.copy->target + done
                                    : head.temporary ? head.target
                                                     : head.target + done;
            lower_chunk(chain, target, done, bytes, head.temporary && !straight);
            if (chain.copy != nullptr && !straight) {
                add(ProgramOp::Kind::copy, chain.copy->target + done, target, bytes);
            }
        }
    }

    /// What the transport copies can be the first in the target instead of what lies here.
    bool swaps_first(const Chain& chain, Location target, std::size_t done,
                     std::size_t bytes) const {
        if (chain.moves.size() < 2 || chain.moves[0].action != Action::replace) {
            return false;
        }
        const PlacedMove& own = chain.moves[0];
        return !own.by_transport && chain.moves[1].by_transport &&
               !overlap(own.source + done, target, bytes);
    }

    /// `is_near`: no peer reads the target. Lines of others are in their caches, and what takes
    /// them fastest is a plain copy.
    void lower_chunk(const Chain& chain, Location target, std::size_t done, std::size_t bytes,
                     bool is_near) {
        std::span<const PlacedMove> moves = chain.moves;
        if (swaps_first(chain, target, done, bytes)) {
            add(ProgramOp::Kind::pull, target, moves[1].source + done, bytes);
            reduce(target, moves[0].source + done, target, bytes);
            moves = moves.subspan(2);
        }
        for (const PlacedMove& m : moves) {
            const Location source = m.source + done;
            if (m.action == Action::replace) {
                add(m.by_transport ? ProgramOp::Kind::pull : ProgramOp::Kind::copy, target, source,
                    bytes);
            } else if (m.by_transport) {
                add(ProgramOp::Kind::pull, plan_.room, source, bytes);
                reduce(target, target, plan_.room, bytes);
            } else {
                reduce_or_join(target, source, bytes, is_near);
            }
        }
    }

    void add(ProgramOp::Kind kind, Location target, Location source, std::size_t bytes) {
        ops_.push_back({.kind = kind, .target = target, .source = source, .elements = bytes});
    }
    void reduce(Location target, Location source, Location second, std::size_t bytes) {
        ops_.push_back(ProgramOp::reduce(target, source, second, bytes / plan_.element_bytes));
    }
    /// Together with what the last operation does to the target, if that is in one pass.
    void reduce_or_join(Location target, Location source, std::size_t bytes, bool is_near) {
        ProgramOp* const last = ops_.empty() ? nullptr : &ops_.back();
        const std::size_t elements = bytes / plan_.element_bytes;
        if (is_near && last != nullptr && last->kind == ProgramOp::Kind::copy &&
            last->target == target && last->elements == bytes) {
            *last = ProgramOp::reduce(target, last->source, source, elements);
        } else if (last != nullptr && last->kind == ProgramOp::Kind::reduce &&
                   last->target == target && last->second.space != plan_.room.space &&
                   last->elements == elements) {
            last->kind = ProgramOp::Kind::joint;
            last->third = source;
        } else {
            reduce(target, target, source, bytes);
        }
    }

    const PullPlan& plan_;
    std::vector<ProgramOp> ops_;
};

}  // namespace

bool is_temporary(const Schedule& schedule, const Part& part, Block block) {
    std::size_t reads = 0, building_steps = 0;
    for (const Step& step : schedule.of(part)) {
        bool builds = false;
        std::size_t reading_moves = 0;
        for (const Move& m : schedule.moves_of(step)) {
            reading_moves += !m.pulls() && !m.initial && covers(m.from, block) ? 1 : 0;
            builds |= covers({m.to, m.from.count}, block);
        }
        building_steps += builds ? 1 : 0;
        reads += builds ? reading_moves : 2 * reading_moves;
        const auto uses = [block](std::span<const Extent> extents) {
            return std::any_of(extents.begin(), extents.end(),
                               [block](Extent e) { return covers(e, block); });
        };
        for (const Send& send : schedule.sends_of(step)) {
            reads += uses(schedule.extents_of(send)) ? 2 : 0;
        }
        for (const Receive& receive : schedule.receives_of(step)) {
            for (const Application& a : schedule.applications_of(receive)) {
                reads += uses(schedule.extents_of(a)) ? 2 : 0;
            }
        }
    }
    return reads == 1 && building_steps == 1 && block >= part.vector_blocks;
}

PartPulls::PartPulls(const Channels& channels, Program& program)
    : channels_(channels), program_(program) {}

void PartPulls::begin_part() {
    inputs_.clear();
    room_ = {};
}

ProgramOp PartPulls::open(Rank peer, Location addresses) {
    const std::uint32_t input = program_.spaces();
    program_.peers.push_back(static_cast<std::uint32_t>(peer));
    program_.shares_vectors = true;
    inputs_[peer] = input;
    return {.kind = ProgramOp::Kind::open, .target = {input, 0}, .source = addresses};
}

void PartPulls::place_source(const Move& move, PlacedMove& placed) const {
    if (move.pulls()) {
        const std::uint32_t input = input_of(move.peer);
        const auto peer = static_cast<std::size_t>(move.peer);
        placed.source.space = placed.source.space == Location::input ? input : input + 1;
        placed.by_transport = !program_.shows_image && (peer >= channels_.in_this_process.size() ||
                                                        !channels_.in_this_process[peer]);
    }
}

std::uint32_t PartPulls::input_of(Rank peer) const {
    const auto found = inputs_.find(peer);
    if (found == inputs_.end()) {
        throw Error(Status::internal, "rank " + std::to_string(peer) +
                                          " has not opened its vectors; please report this");
    }
    return found->second;
}

std::vector<ProgramOp> PartPulls::lower(std::span<const PlacedMove> moves,
                                        std::size_t element_bytes, bool in_place) {
    const bool copies =
        std::any_of(moves.begin(), moves.end(), [](const PlacedMove& m) { return m.by_transport; });
    const std::size_t chunk_bytes = copies ? copied_chunk_bytes : addressed_chunk_bytes;
    if (copies && room_.space != Location::scratch) {
        room_ = {Location::scratch, program_.scratch_bytes};
        const std::size_t lines = std::max(chunk_bytes, element_bytes) / landing_alignment + 1;
        program_.scratch_bytes += lines * landing_alignment;
    }
    return lower_pulls(moves, {element_bytes, chunk_bytes, in_place, room_});
}

ProgramRange PartPulls::list_peers(std::span<const Move> moves) {
    std::set<std::uint32_t> peers;
    for (const Move& move : moves) {
        if (move.pulls()) {
            peers.insert(program_.peer_of(input_of(move.peer)));
        }
    }
    const ProgramRange range{static_cast<std::uint32_t>(program_.reads.size()),
                             static_cast<std::uint32_t>(peers.size())};
    program_.reads.insert(program_.reads.end(), peers.begin(), peers.end());
    return range;
}

std::vector<ProgramOp> lower_pulls(std::span<const PlacedMove> moves, const PullPlan& plan) {
    return PullLowering(plan).lower(moves);
}

}  // namespace trefoil
