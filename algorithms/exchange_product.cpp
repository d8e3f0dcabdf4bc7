// SPDX-License-Identifier: BSD-3-Clause
// One rank's schedule of a product of ring exchanges.
//
// A block (target T, source S) that has done its steps in the dimensions A and not yet in B is at
// the rank with T's coordinates in A and S's in B: so what a rank holds is a product, and so is
// what it sends, with a handover of the ring that moves as one of the factors.
#include "algorithms/exchange_product.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "algorithms/exchange_blocks.hpp"
#include "algorithms/exchange_staging.hpp"

namespace trefoil {

namespace {

/// A message of this rank, either way.
struct Passage {
    int step;
    Rank peer;
    Port port;  // as its schedule names it
};

struct Outgoing : Passage {
    std::vector<Rank> own_targets;
    Block passing = 0;                                  // how many more blocks
    int needed_from = std::numeric_limits<int>::max();  // the step in which the first of them comes
    Extent staged = {};                                 // where they wait
};

struct Incoming : Passage {
    std::size_t first, count;  // in arrivals
};

/// A block that comes, or goes on, and its number in that order.
struct Numbered {
    ExchangePair block;
    std::uint32_t number;
};

class PartBuilder {
  public:
    PartBuilder(const Torus& torus, Rank rank, const ExchangeRings& rings)
        : torus_(torus), rank_(rank), rings_(rings) {}

    void add(const DimensionOrder& order, int classes, int wanted);
    void write(int steps, ScheduleWriter& writer);

  private:
    void meet(ExchangeBlocks& blocks, int dimension, int ring_step, int step);
    void add_outgoing(Passage passage, MessageBlocks blocks);
    void add_incoming(Passage passage, const MessageBlocks& blocks);
    void join();
    Block stage(int steps);
    std::vector<Extent> extents_of(const Outgoing& message) const;
    std::vector<Extent> extents_of(const Incoming& message) const;

    const Torus& torus_;
    Rank rank_;
    const ExchangeRings& rings_;
    std::vector<Outgoing> outgoing_;
    std::vector<Incoming> incoming_;
    std::vector<Numbered> arrivals_;    // by message, then in its order
    std::vector<Numbered> departures_;  // of those who are passed on

    // By arrival: the message with which it leaves and its place there, or, where it stays, none
    // and the block.
    struct Place {
        std::uint32_t message, block;
    };
    static constexpr std::uint32_t stays = std::numeric_limits<std::uint32_t>::max();
    std::vector<Place> places_;
};

void PartBuilder::add(const DimensionOrder& order, int classes, int wanted) {
    ExchangeBlocks blocks(torus_, classes, wanted);
    std::vector<int> done(torus_.dimensions(), 0);
    const auto hold = [&](int j) {
        blocks.set(j, rings_[j]->held(torus_.coordinate(rank_, j), done[j]));
    };
    for (int j = 0; j < torus_.dimensions(); ++j) {
        hold(j);
    }
    for (std::size_t step = 0; step < order.size(); ++step) {
        const int j = order[step];
        if (j < 0) {
            continue;
        }
        meet(blocks, j, done[j], static_cast<int>(step));
        done[j] += 1;
        // While the same dimension goes on, what it holds is not asked for.
        if (step + 1 == order.size() || order[step + 1] != j) {
            hold(j);
        }
    }
}

void PartBuilder::meet(ExchangeBlocks& blocks, int dimension, int ring_step, int step) {
    const RingExchange& ring = *rings_[dimension];
    const Rank at = torus_.coordinate(rank_, dimension);
    for (const RingHandover& h : ring.sends(at, ring_step)) {
        blocks.set(dimension, h.pairs);
        add_outgoing(
            {step, torus_.shifted(rank_, dimension, h.hop), Port::towards(dimension, h.hop)},
            blocks.of_sender(rank_));
    }
    for (const RingHandover& h : ring.receives(at, ring_step)) {
        const Rank sender = torus_.with_coordinate(rank_, dimension, h.holder);
        blocks.set(dimension, h.pairs);
        add_incoming({step, sender, Port::towards(dimension, h.hop).opposite()},
                     blocks.of_sender(sender));
    }
}

void PartBuilder::add_outgoing(Passage passage, MessageBlocks blocks) {
    if (blocks.empty()) {
        return;
    }
    for (const ExchangePair& block : blocks.passing) {
        departures_.push_back({block, static_cast<std::uint32_t>(departures_.size())});
    }
    outgoing_.push_back(
        {passage, std::move(blocks.own_targets), static_cast<Block>(blocks.passing.size())});
}

void PartBuilder::add_incoming(Passage passage, const MessageBlocks& blocks) {
    if (blocks.empty()) {
        return;
    }
    const std::size_t first = arrivals_.size();
    for (const Rank target : blocks.own_targets) {
        arrivals_.push_back({{target, passage.peer}, static_cast<std::uint32_t>(arrivals_.size())});
    }
    for (const ExchangePair& block : blocks.passing) {
        arrivals_.push_back({block, static_cast<std::uint32_t>(arrivals_.size())});
    }
    incoming_.push_back({passage, first, arrivals_.size() - first});
}

// Every block that comes and does not stay leaves once: sorted, both lists are the same.
void PartBuilder::join() {
    std::vector<Place> leaving(departures_.size());
    std::uint32_t departure = 0;
    for (std::uint32_t m = 0; m < outgoing_.size(); ++m) {
        for (Block i = 0; i < outgoing_[m].passing; ++i) {
            leaving[departure++] = {m, i};
        }
    }
    std::vector<int> steps(arrivals_.size());
    for (const Incoming& m : incoming_) {
        std::fill_n(steps.begin() + static_cast<std::ptrdiff_t>(m.first), m.count, m.step);
    }
    std::ranges::sort(arrivals_, {}, &Numbered::block);
    std::ranges::sort(departures_, {}, &Numbered::block);
    places_.resize(arrivals_.size());
    auto next = departures_.begin();
    for (const Numbered& arrival : arrivals_) {
        Place& place = places_[arrival.number];
        if (arrival.block.target == rank_) {
            place = {stays, static_cast<Block>(torus_.ranks() + arrival.block.source)};
        } else {
            place = leaving[(next++)->number];
            Outgoing& m = outgoing_[place.message];
            m.needed_from = std::min(m.needed_from, steps[arrival.number]);
        }
    }
}

/// Assigns scratch to all messages; returns how much is needed. What is sent in a step makes room
/// for what arrives in it.
Block PartBuilder::stage(int steps) {
    std::vector<std::vector<std::uint32_t>> begin(steps), end(steps);
    for (std::uint32_t m = 0; m < outgoing_.size(); ++m) {
        if (outgoing_[m].passing > 0) {
            begin[outgoing_[m].needed_from].push_back(m);
            end[outgoing_[m].step].push_back(m);
        }
    }
    StagingArea area(static_cast<Block>(2 * torus_.ranks()));
    for (int s = 0; s < steps; ++s) {
        for (const std::uint32_t m : end[s]) {
            area.give_back(outgoing_[m].staged);
        }
        for (const std::uint32_t m : begin[s]) {
            outgoing_[m].staged = area.take(outgoing_[m].passing);
        }
    }
    return area.size();
}

void PartBuilder::write(int steps, ScheduleWriter& writer) {
    join();
    writer.part(static_cast<Block>(2 * torus_.ranks()), stage(steps));
    std::vector<std::vector<const Outgoing*>> sent(steps);
    for (const Outgoing& m : outgoing_) {
        sent[m.step].push_back(&m);
    }
    std::vector<std::vector<const Incoming*>> received(steps);
    for (const Incoming& m : incoming_) {
        received[m.step].push_back(&m);
    }
    for (int s = 0; s < steps; ++s) {
        writer.step();
        for (const Outgoing* m : sent[s]) {
            writer.send(m->peer, m->port, extents_of(*m));
        }
        for (const Incoming* m : received[s]) {
            writer.receive(m->peer, m->port, Action::replace, extents_of(*m));
        }
    }
}

std::vector<Extent> PartBuilder::extents_of(const Outgoing& message) const {
    std::vector<Extent> extents;
    extents.reserve(message.own_targets.size() + 1);
    for (const Rank target : message.own_targets) {
        extents.push_back({static_cast<Block>(target), 1});
    }
    extents.push_back(message.staged);
    return extents;
}

std::vector<Extent> PartBuilder::extents_of(const Incoming& message) const {
    std::vector<Extent> extents;
    extents.reserve(message.count);
    for (std::size_t i = 0; i < message.count; ++i) {
        const Place& place = places_[message.first + i];
        const Block first = place.message == stays ? 0 : outgoing_[place.message].staged.first;
        extents.push_back({first + place.block, 1});
    }
    return extents;
}

}  // namespace

Schedule exchange_schedule(const Torus& torus, Rank rank, const ExchangeRings& rings,
                           const std::vector<ExchangePart>& parts) {
    ScheduleWriter writer(rank);
    for (const ExchangePart& part : parts) {
        PartBuilder builder(torus, rank, rings);
        const int classes = static_cast<int>(part.orders.size());
        for (int c = 0; c < classes; ++c) {
            builder.add(part.orders[c], classes, c);
        }
        builder.write(static_cast<int>(part.orders[0].size()), writer);
    }
    return writer.take();
}

std::vector<ExchangePart> sequential_parts(const ExchangeRings& rings) {
    DimensionOrder order;
    for (std::size_t j = 0; j < rings.size(); ++j) {
        order.insert(order.end(), rings[j]->steps(), static_cast<int>(j));
    }
    return {{{order}}};
}

std::vector<ExchangePart> rotated_parts(const ExchangeRings& rings, bool whole) {
    std::vector<int> moving;
    int longest = 0;
    for (std::size_t j = 0; j < rings.size(); ++j) {
        longest = std::max(longest, rings[j]->steps());
        if (rings[j]->steps() > 0) {
            moving.push_back(static_cast<int>(j));
        }
    }
    if (moving.empty()) {
        return sequential_parts(rings);
    }
    std::vector<ExchangePart> parts(whole ? 1 : moving.size());
    for (std::size_t c = 0; c < moving.size(); ++c) {
        DimensionOrder order;
        for (std::size_t stage = 0; stage < moving.size(); ++stage) {
            const int j = moving[(c + stage) % moving.size()];
            order.insert(order.end(), longest - rings[j]->steps(), -1);
            order.insert(order.end(), rings[j]->steps(), j);
        }
        parts[whole ? 0 : c].orders.push_back(std::move(order));
    }
    return parts;
}

}  // namespace trefoil
