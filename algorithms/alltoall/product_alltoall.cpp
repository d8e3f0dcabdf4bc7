// SPDX-License-Identifier: BSD-3-Clause
// One rank's schedule of a product of ring alltoalls.
//
// A block (target T, source S) that has done its steps in the dimensions A and not yet in B is at
// the rank with T's coordinates in A and S's in B: so what a rank holds is a product, and so is
// what it sends, with a handover of the ring that moves as one of the factors.
#include "algorithms/alltoall/product_alltoall.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>

#include "algorithms/alltoall/own_block.hpp"
#include "algorithms/alltoall/product_blocks.hpp"
#include "algorithms/alltoall/staging.hpp"
#include "algorithms/latency/dissemination.hpp"

namespace trefoil {

namespace {

/// A message of this rank, either way.
struct Passage {
    int step;
    Rank peer;
    Port port;                 // as its schedule names it
    std::size_t first, count;  // outgoing: in groups_; incoming: in arrivals_
};

/// Blocks that leave together and came together; they wait together.
struct Group {
    int since, until;
    std::vector<Rank> own_targets;  // of the user's, which wait in place
    Block count;
    Extent staged = {};
};

/// A block that comes, or goes on, and its number in that order.
struct Numbered {
    AlltoallPair block;
    std::uint32_t number;
};

/// Stable, in time of the blocks and ranks.
void sort_by(Rank AlltoallPair::*key, Rank ranks, std::vector<Numbered>& blocks) {
    std::vector<std::uint32_t> next(ranks + 1, 0);
    for (const Numbered& b : blocks) {
        next[b.block.*key + 1] += 1;
    }
    std::partial_sum(next.begin(), next.end(), next.begin());
    std::vector<Numbered> sorted(blocks.size());
    for (const Numbered& b : blocks) {
        sorted[next[b.block.*key]++] = b;
    }
    blocks = std::move(sorted);
}

/// A ring of two coordinates, whose messages take the other one of the two links.
class OtherWayRing final : public RingAlltoall {
  public:
    explicit OtherWayRing(std::shared_ptr<const RingAlltoall> ring)
        : RingAlltoall(ring->size(), ring->steps()), ring_(std::move(ring)) {}

    std::vector<RingHandover> sends(Rank coordinate, int step) const override {
        return turned(ring_->sends(coordinate, step));
    }
    std::vector<RingHandover> receives(Rank coordinate, int step) const override {
        return turned(ring_->receives(coordinate, step));
    }

  private:
    static std::vector<RingHandover> turned(std::vector<RingHandover> handovers) {
        for (RingHandover& handover : handovers) {
            handover.hop = -handover.hop;
        }
        return handovers;
    }

    std::shared_ptr<const RingAlltoall> ring_;
};

AlltoallRings other_way(AlltoallRings rings) {
    for (std::shared_ptr<const RingAlltoall>& ring : rings) {
        if (ring->size() == 2) {
            ring = std::make_shared<OtherWayRing>(ring);
        }
    }
    return rings;
}

class PartBuilder {
  public:
    PartBuilder(const Torus& torus, Rank rank, const AlltoallRings& rings)
        : torus_(torus), rank_(rank), rings_(rings) {}

    void add(const DimensionOrder& order, int classes, int wanted);
    void write(const AlltoallPart& part, PhaseSync sync, ScheduleWriter& writer);

  private:
    class Progress;
    void meet(Progress& progress, int dimension, int step);
    void add_outgoing(int step, Rank peer, Port port, MessageBlocks blocks);
    void add_incoming(int step, Rank peer, Port port, const MessageBlocks& blocks);
    void note_signals(int dimension, int ring_step, int step);
    Block stage(int steps);
    void place_arrivals();
    std::vector<Extent> sent(const Passage& message) const;
    std::vector<Extent> received(const Passage& message) const;
    void write_sync(int step, const AlltoallPart& part, PhaseSync sync,
                    ScheduleWriter& writer) const;

    const Torus& torus_;
    Rank rank_;
    const AlltoallRings& rings_;
    std::vector<Passage> outgoing_, incoming_;
    std::vector<Passage> signals_out_, signals_in_;  // before the messages of their step
    std::vector<Group> groups_;
    std::vector<Numbered> arrivals_;    // by message, then in its order
    std::vector<Numbered> departures_;  // of those that are passed on, by group
    std::vector<Block> places_;         // of arrivals
};

/// How far a class is, and what this rank holds of it.
class PartBuilder::Progress {
  public:
    Progress(const PartBuilder& part, int classes, int wanted)
        : part_(part), blocks_(part.torus_, classes, wanted), steps_(part.rings_.size()) {
        for (int j = 0; j < part.torus_.dimensions(); ++j) {
            hold(j);
        }
    }

    int done(int dimension) const { return static_cast<int>(steps_[dimension].size()); }
    void advance(int dimension, int step) { steps_[dimension].push_back(step); }
    void hold(int dimension) {
        const Rank at = part_.torus_.coordinate(part_.rank_, dimension);
        set(dimension, part_.rings_[dimension]->held(at, done(dimension)));
    }
    MessageBlocks message(int dimension, const RingHandover& handover) {
        set(dimension, handover.pairs);
        return blocks_.blocks();
    }

  private:
    void set(int dimension, const std::vector<HeldPair>& pairs) {
        blocks_.set(dimension, pairs, steps_[dimension]);
    }

    const PartBuilder& part_;
    ProductBlocks blocks_;
    std::vector<std::vector<int>> steps_;  // by dimension and ring step
};

void PartBuilder::add(const DimensionOrder& order, int classes, int wanted) {
    Progress progress(*this, classes, wanted);
    for (std::size_t step = 0; step < order.size(); ++step) {
        const int j = order[step];
        if (j < 0) {
            continue;
        }
        note_signals(j, progress.done(j), static_cast<int>(step));
        meet(progress, j, static_cast<int>(step));
        progress.advance(j, static_cast<int>(step));
        // While the same dimension goes on, what it holds is not asked for.
        if (step + 1 == order.size() || order[step + 1] != j) {
            progress.hold(j);
        }
    }
}

void PartBuilder::meet(Progress& progress, int dimension, int step) {
    const RingAlltoall& ring = *rings_[dimension];
    const Rank at = torus_.coordinate(rank_, dimension);
    const int ring_step = progress.done(dimension);
    for (const RingHandover& h : ring.sends(at, ring_step)) {
        add_outgoing(step, torus_.shifted(rank_, dimension, h.hop), Port::towards(dimension, h.hop),
                     progress.message(dimension, h));
    }
    for (const RingHandover& h : ring.receives(at, ring_step)) {
        add_incoming(step, torus_.with_coordinate(rank_, dimension, h.holder),
                     Port::towards(dimension, h.hop).opposite(), progress.message(dimension, h));
    }
}

void PartBuilder::note_signals(int dimension, int ring_step, int step) {
    const Rank at = torus_.coordinate(rank_, dimension);
    for (const auto& [from, hop] : rings_[dimension]->signals(ring_step)) {
        const Port port = Port::towards(dimension, hop);
        if (from == at) {
            signals_out_.push_back({step, torus_.shifted(rank_, dimension, hop), port, 0, 0});
        }
        if (rings_[dimension]->wrapped(std::int64_t{from} + hop) == at) {
            const Rank sender = torus_.with_coordinate(rank_, dimension, from);
            signals_in_.push_back({step, sender, port.opposite(), 0, 0});
        }
    }
}

void PartBuilder::add_outgoing(int step, Rank peer, Port port, MessageBlocks blocks) {
    if (blocks.empty()) {
        return;
    }
    outgoing_.push_back({step, peer, port, groups_.size(), blocks.size()});
    for (const BlockGroup& group : blocks) {
        groups_.push_back({group.since, step, {}, static_cast<Block>(group.blocks.size())});
        for (const AlltoallPair& block : group.blocks) {
            if (group.since < 0) {
                groups_.back().own_targets.push_back(block.target);
            } else {
                departures_.push_back({block, static_cast<std::uint32_t>(departures_.size())});
            }
        }
    }
}

void PartBuilder::add_incoming(int step, Rank peer, Port port, const MessageBlocks& blocks) {
    const std::size_t first = arrivals_.size();
    for (const BlockGroup& group : blocks) {
        for (const AlltoallPair& block : group.blocks) {
            arrivals_.push_back({block, static_cast<std::uint32_t>(arrivals_.size())});
        }
    }
    if (arrivals_.size() > first) {
        incoming_.push_back({step, peer, port, first, arrivals_.size() - first});
    }
}

/// Assigns scratch to all groups; returns how much is needed. What is sent in a step makes room for
/// what arrives in it.
Block PartBuilder::stage(int steps) {
    std::vector<std::vector<Group*>> begin(steps), end(steps);
    for (Group& group : groups_) {
        if (group.since >= 0) {
            begin[group.since].push_back(&group);
            end[group.until].push_back(&group);
        }
    }
    StagingArea area(static_cast<Block>(2 * torus_.ranks()));
    for (int s = 0; s < steps; ++s) {
        for (const Group* group : end[s]) {
            area.give_back(group->staged);
        }
        for (Group* group : begin[s]) {
            group->staged = area.take(group->count);
        }
    }
    return area.size();
}

// Every block that comes and does not stay leaves once: sorted, both lists are the same.
void PartBuilder::place_arrivals() {
    std::vector<Block> waiting;
    waiting.reserve(departures_.size());
    for (const Group& group : groups_) {
        for (Block i = 0; i < group.staged.count; ++i) {
            waiting.push_back(group.staged.first + i);
        }
    }
    for (std::vector<Numbered>* blocks : {&arrivals_, &departures_}) {
        sort_by(&AlltoallPair::source, torus_.ranks(), *blocks);
        sort_by(&AlltoallPair::target, torus_.ranks(), *blocks);
    }
    places_.resize(arrivals_.size());
    auto departure = departures_.begin();
    for (const Numbered& arrival : arrivals_) {
        places_[arrival.number] = arrival.block.target == rank_
                                      ? static_cast<Block>(torus_.ranks() + arrival.block.source)
                                      : waiting[(departure++)->number];
    }
}

std::vector<Extent> PartBuilder::sent(const Passage& message) const {
    std::vector<Extent> extents;
    for (std::size_t i = 0; i < message.count; ++i) {
        const Group& group = groups_[message.first + i];
        for (const Rank target : group.own_targets) {
            extents.push_back({static_cast<Block>(target), 1});
        }
        extents.push_back(group.staged);
    }
    return extents;
}

std::vector<Extent> PartBuilder::received(const Passage& message) const {
    std::vector<Extent> extents;
    extents.reserve(message.count);
    for (std::size_t i = 0; i < message.count; ++i) {
        extents.push_back({places_[message.first + i], 1});
    }
    return extents;
}

void PartBuilder::write_sync(int step, const AlltoallPart& part, PhaseSync sync,
                             ScheduleWriter& writer) const {
    const bool new_stage = std::ranges::find(part.stages, step) != part.stages.end();
    if (sync == PhaseSync::barrier || (sync == PhaseSync::signals && new_stage)) {
        write_dissemination(torus_, rank_, writer);
    } else if (sync == PhaseSync::signals) {
        writer.step();  // on all ranks, whether or not this one has heard of any signal
        for (const Passage& signal : signals_out_) {
            if (signal.step == step) {
                writer.send(signal.peer, signal.port, {});
            }
        }
        for (const Passage& signal : signals_in_) {
            if (signal.step == step) {
                writer.receive(signal.peer, signal.port);
            }
        }
    }
}

void PartBuilder::write(const AlltoallPart& part, PhaseSync sync, ScheduleWriter& writer) {
    const int steps = static_cast<int>(part.orders[0].size());
    writer.part(static_cast<Block>(2 * torus_.ranks()), stage(steps));
    place_arrivals();
    std::vector<std::vector<const Passage*>> sends(steps), receives(steps);
    for (const Passage& m : outgoing_) {
        sends[m.step].push_back(&m);
    }
    for (const Passage& m : incoming_) {
        receives[m.step].push_back(&m);
    }
    OwnBlock own(rank_, torus_.ranks());
    for (int s = 0; s < steps; ++s) {
        if (s > 0) {
            write_sync(s, part, sync, writer);
        }
        own.step(writer);
        for (const Passage* m : sends[s]) {
            writer.send(m->peer, m->port, sent(*m));
        }
        for (const Passage* m : receives[s]) {
            writer.receive(m->peer, m->port, Action::replace, received(*m));
        }
    }
    own.finish(writer);
}

}  // namespace

Schedule alltoall_schedule(const Torus& torus, Rank rank, const AlltoallRings& rings,
                           const std::vector<AlltoallPart>& parts, PhaseSync sync) {
    ScheduleWriter writer(rank);
    for (const AlltoallPart& part : parts) {
        const AlltoallRings its_rings = part.other_way ? other_way(rings) : rings;
        PartBuilder builder(torus, rank, its_rings);
        const int classes = static_cast<int>(part.orders.size());
        for (int c = 0; c < classes; ++c) {
            builder.add(part.orders[c], classes, c);
        }
        builder.write(part, sync, writer);
    }
    return writer.take();
}

}  // namespace trefoil
