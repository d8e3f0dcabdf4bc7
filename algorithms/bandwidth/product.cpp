// SPDX-License-Identifier: BSD-3-Clause
// The torus product rule: ring reduce-scatters become collectives on a torus.
//
// Every block of a part is a tuple of ring positions, one per dimension. A rank holds the product
// of what its coordinates hold in their rings, so a ring step of dimension j moves
//
//     (ring positions of the transfer) x (what is held in every other dimension)
#include "algorithms/bandwidth/product.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <utility>

#include "algorithms/bandwidth/product_numbering.hpp"
#include "algorithms/schedule/minimal_port.hpp"

namespace trefoil {

namespace {

bool renumbers(Layout layout) {
    return layout == Layout::automatic || layout == Layout::permute;
}

struct PartMessage {
    Rank peer = 0;
    Port port;  ///< at this rank's end
    Slice extents;
    Action action = Action::reduce;  ///< in the reduce-scatter; the allgather only replaces
};

/// The messages of one part's reduce-scatter, kept so that the allgather can run them backwards.
class ProductPartBuilder {
  public:
    ProductPartBuilder(const Torus& torus, Rank rank, const std::vector<ProductPart>& parts,
                       int index, Layout layout, bool sizes_only)
        : torus_(torus),
          rank_(rank),
          part_(parts[index]),
          index_(index),
          numbering_(part_, sizes_only && renumbers(layout)) {
        if (!renumbers(layout)) {
            owners_ = product_owners(torus, part_);
            sends_home_ = layout == Layout::send;
        }
    }

    void build(ScheduleWriter& writer, Collective collective) {
        record();
        if (sends_home_) {
            record_way_home();
        }
        if (collective != Collective::allgather) {
            for (const RecordedStep& step : steps_) {
                writer.step();
                write(writer, step.sends, step.receives, true);
            }
        }
        if (collective != Collective::reduce_scatter) {
            for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
                writer.step();
                write(writer, step->receives, step->sends, false);
            }
        }
    }

  private:
    struct RecordedStep {
        Slice sends;
        Slice receives;
    };

    void record() {
        const int dimensions = torus_.dimensions();
        std::vector<std::vector<Extent>> held(dimensions);
        std::vector<int> step(dimensions, 0);
        const std::vector<Rank> here = torus_.coordinates(rank_);
        for (int j = 0; j < dimensions; ++j) {
            held[j] = part_.rings[j]->held(here[j], 0);
            numbering_.set(j, held[j]);
        }
        steps_.reserve(part_.order.size() + 1);
        for (const int j : part_.order) {
            if (j < 0) {
                steps_.push_back({});
                continue;
            }
            const RingScatter& ring = *part_.rings[j];
            RecordedStep recorded;
            transfers_.clear();
            ring.sends(here[j], step[j], transfers_);
            recorded.sends = keep(j, +1);
            transfers_.clear();
            ring.receives(here[j], step[j], transfers_);
            recorded.receives = keep(j, -1);
            steps_.push_back(recorded);
            step[j] += 1;
            held[j] = ring.held(here[j], step[j]);
            numbering_.set(j, held[j]);
        }
    }

    /// Turns the ring transfers of dimension j into messages; `side` is +1 for what leaves and -1
    /// for what arrives, which uses the port on the other side.
    Slice keep(int j, int side) {
        const auto first = static_cast<std::uint32_t>(messages_.size());
        for (const RingTransfer& t : transfers_) {
            numbering_.set(j, t.positions);
            numbering_.extents(scratch_);
            if (scratch_.empty()) {
                continue;  // nothing is held in another dimension
            }
            if (!owners_.empty() && !sends_home_) {
                to_rank_order();
            }
            add_message(torus_.with_coordinate(rank_, j, t.peer), Port::towards(j, t.sign * side),
                        t.replaces ? Action::replace : Action::reduce);
        }
        return {first, static_cast<std::uint32_t>(messages_.size()) - first};
    }

    /// Replaces positions by their owners' ranks.
    void to_rank_order() {
        std::vector<Rank> ranks;
        for (const Extent& e : scratch_) {
            ranks.insert(ranks.end(), owners_.begin() + e.first,
                         owners_.begin() + e.first + e.count);
        }
        std::sort(ranks.begin(), ranks.end());
        scratch_.clear();
        for (const Rank r : ranks) {
            const auto block = static_cast<Block>(r);
            if (!scratch_.empty() && scratch_.back().first + scratch_.back().count == block) {
                scratch_.back().count += 1;
            } else {
                scratch_.push_back({block, 1});
            }
        }
    }

    /// The rank at position i has reduced block i, whose owner is rank i.
    void record_way_home() {
        const auto mine = std::find(owners_.begin(), owners_.end(), rank_);
        const auto position = static_cast<Rank>(mine - owners_.begin());
        RecordedStep recorded{{static_cast<std::uint32_t>(messages_.size()), 0}, {}};
        if (position != rank_) {
            scratch_ = {{static_cast<Block>(position), 1}};
            add_message(position, minimal_port(torus_, rank_, position, index_), Action::replace);
            recorded.sends.count = 1;
            recorded.receives = {recorded.sends.first + 1, 1};
            scratch_ = {{static_cast<Block>(rank_), 1}};
            const Rank holder = owners_[rank_];
            add_message(holder, minimal_port(torus_, holder, rank_, index_).opposite(),
                        Action::replace);
        }
        steps_.push_back(recorded);
    }

    /// With the extents that are in scratch_.
    void add_message(Rank peer, Port port, Action action) {
        messages_.push_back({peer,
                             port,
                             {static_cast<std::uint32_t>(extents_.size()),
                              static_cast<std::uint32_t>(scratch_.size())},
                             action});
        extents_.insert(extents_.end(), scratch_.begin(), scratch_.end());
    }

    void write(ScheduleWriter& writer, Slice out, Slice in, bool scatters) const {
        for (std::uint32_t i = out.first; i < out.first + out.count; ++i) {
            writer.send(messages_[i].peer, messages_[i].port, extents_of(messages_[i]));
        }
        for (std::uint32_t i = in.first; i < in.first + in.count; ++i) {
            const PartMessage& m = messages_[i];
            writer.receive(m.peer, m.port, scatters ? m.action : Action::replace, extents_of(m));
        }
    }

    std::span<const Extent> extents_of(const PartMessage& m) const {
        return std::span<const Extent>(extents_).subspan(m.extents.first, m.extents.count);
    }

    const Torus& torus_;
    Rank rank_;
    const ProductPart& part_;
    int index_;
    ProductNumbering numbering_;
    std::vector<Rank> owners_;  // by position; empty: positions need not be known
    bool sends_home_ = false;
    std::vector<RecordedStep> steps_;
    std::vector<PartMessage> messages_;
    std::vector<Extent> extents_;
    std::vector<RingTransfer> transfers_;
    std::vector<Extent> scratch_;
};

class ScatterFlow final : public RingFlow {
  public:
    explicit ScatterFlow(std::shared_ptr<const RingScatter> ring)
        : RingFlow(ring->size(), ring->steps()), ring_(std::move(ring)) {}

    void messages(int step, std::vector<RingMessage>& out) const override {
        ring_->messages(step, out);
    }
    void held(int step, std::vector<std::int64_t>& out) const override {
        ring_->amounts(step, out);
    }

  private:
    std::shared_ptr<const RingScatter> ring_;
};

}  // namespace

Schedule product_schedule(const Torus& torus, Rank rank, const std::vector<ProductPart>& parts,
                          Collective collective, Layout layout, bool sizes_only) {
    ScheduleWriter writer(rank);
    for (int p = 0; p < static_cast<int>(parts.size()); ++p) {
        writer.part(static_cast<Block>(torus.ranks()));
        write_product_steps(writer, torus, rank, parts, p, collective, layout, sizes_only);
    }
    return writer.take();
}

void write_product_steps(ScheduleWriter& writer, const Torus& torus, Rank rank,
                         const std::vector<ProductPart>& parts, int index, Collective collective,
                         Layout layout, bool sizes_only) {
    ProductPartBuilder(torus, rank, parts, index, layout, sizes_only).build(writer, collective);
}

std::vector<ProductPhase> scatter_phases(const std::vector<ProductPart>& parts) {
    std::map<const RingScatter*, std::shared_ptr<const RingFlow>> known;
    std::vector<ProductPhase> phases;
    for (const ProductPart& part : parts) {
        ProductPhase phase{{}, part.order, false};
        for (const auto& ring : part.rings) {
            std::shared_ptr<const RingFlow>& flow = known[ring.get()];
            if (flow == nullptr) {
                flow = std::make_shared<ScatterFlow>(ring);
            }
            phase.rings.push_back(flow);
        }
        phases.push_back(std::move(phase));
    }
    return phases;
}

ProductFlows product_flows(const Torus& torus, const std::vector<ProductPart>& parts,
                           Collective collective) {
    ProductFlows flows{torus.ranks(), {}};
    for (const ProductPhase& scatter : scatter_phases(parts)) {
        ProductFlow& flow = flows.parts.emplace_back();
        if (collective != Collective::allgather) {
            flow.push_back(scatter);
        }
        if (collective != Collective::reduce_scatter) {
            flow.push_back(scatter);
            flow.back().backwards = true;
        }
    }
    return flows;
}

std::vector<Rank> product_owners(const Torus& torus, const ProductPart& part, Layout layout) {
    std::vector<Rank> owners(torus.ranks());
    if (!renumbers(layout)) {
        std::iota(owners.begin(), owners.end(), 0);
        return owners;
    }
    std::vector<std::vector<std::vector<Extent>>> owned(torus.dimensions());  // by coordinate
    for (int j = 0; j < torus.dimensions(); ++j) {
        const RingScatter& ring = *part.rings[j];
        for (Rank c = 0; c < torus.size(j); ++c) {
            owned[j].push_back(ring.held(c, ring.steps()));
        }
    }
    ProductNumbering numbering(part);
    std::vector<Extent> position;
    for (Rank r = 0; r < torus.ranks(); ++r) {
        for (int j = 0; j < torus.dimensions(); ++j) {
            numbering.set(j, owned[j][torus.coordinate(r, j)]);
        }
        numbering.extents(position);
        owners[position.front().first] = r;
    }
    return owners;
}

}  // namespace trefoil
