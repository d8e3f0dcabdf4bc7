// SPDX-License-Identifier: BSD-3-Clause
// The torus product rule: ring reduce-scatters become an allreduce on a torus.
//
// Every block of a part is a tuple of ring positions, one per dimension. A rank holds the product
// of what its coordinates hold in their rings, so a ring step of dimension j moves
//
//     (ring positions of the transfer) x (what is held in every other dimension)
//
// Blocks are numbered by the leaves of one tree: its level i cuts the cells of dimension order[i]
// as the ring of that dimension cuts them in that step. Where what is held is a cell, a message is
// a cell of the tree, hence one extent.
#include "algorithms/product.hpp"

#include <algorithm>

namespace trefoil {

namespace {

/// Finds the extents of products of ring positions in the tree's numbering.
class ProductNumbering {
  public:
    explicit ProductNumbering(const ProductPart& part) : part_(part) {
        for (const auto& ring : part.rings) {
            whole_.push_back({0, static_cast<Block>(ring->size())});
            blocks_ *= static_cast<Block>(ring->size());
        }
        sets_.resize(part.rings.size());
        std::vector<int> steps(part.rings.size(), 0);
        for (const int dimension : part.order) {
            if (dimension >= 0) {
                add_level(dimension, steps[dimension]);
            }
        }
    }

    Block blocks() const { return blocks_; }

    /// The set of positions of one dimension; kept until it is set again.
    void set(int dimension, std::span<const Extent> positions) { sets_[dimension] = positions; }

    /// Appends the extents of the product of the sets, ascending and merged.
    void extents(std::vector<Extent>& out) {
        out.clear();
        cells_ = whole_;
        descend(0, 0, blocks_, out);
    }

  private:
    struct Level {
        int dimension = 0;
        int step = 0;
        bool singles = false;  ///< cuts into single positions
    };
    enum class Cover { none, some, all };

    /// The level of the dimension's next step, unless single positions are reached already.
    void add_level(int dimension, int& step) {
        const RingScatter& ring = *part_.rings[dimension];
        if (step == 0) {
            ring.cut(whole_[dimension], 0, cuts_);
            const bool singles = cuts_.size() == static_cast<std::size_t>(ring.size());
            cuts_.clear();
            levels_.push_back({dimension, 0, singles});
            step = singles ? ring.steps() : 1;
        } else if (step < ring.steps()) {
            levels_.push_back({dimension, step, false});
            step += 1;
        }
    }

    static Cover cover(std::span<const Extent> set, Extent cell) {
        const Block end = cell.first + cell.count;
        const auto at = std::partition_point(set.begin(), set.end(), [&](const Extent& e) {
            return e.first + e.count <= cell.first;
        });
        if (at == set.end() || at->first >= end) {
            return Cover::none;
        }
        return at->first <= cell.first && at->first + at->count >= end ? Cover::all : Cover::some;
    }

    /// `first` and `volume`: the blocks of the current cell of the tree.
    void descend(std::size_t level, Block first, Block volume, std::vector<Extent>& out) {
        bool all = true;
        for (std::size_t j = 0; j < sets_.size(); ++j) {
            const Cover c = cover(sets_[j], cells_[j]);
            if (c == Cover::none) {
                return;
            }
            all = all && c == Cover::all;
        }
        if (all || level == levels_.size()) {
            if (!out.empty() && out.back().first + out.back().count == first) {
                out.back().count += volume;
            } else {
                out.push_back({first, volume});
            }
            return;
        }
        descend_into_cuts(level, first, volume, out);
    }

    void descend_into_cuts(std::size_t level, Block first, Block volume, std::vector<Extent>& out) {
        const auto [dimension, step, singles] = levels_[level];
        const Extent cell = cells_[dimension];
        const Block others = volume / cell.count;
        if (singles) {
            for (const Extent& e : sets_[dimension]) {
                for (Block at = e.first; at < e.first + e.count; ++at) {
                    cells_[dimension] = {at, 1};
                    descend(level + 1, first + at * others, others, out);
                }
            }
            cells_[dimension] = cell;
            return;
        }
        const std::size_t mark = cuts_.size();
        part_.rings[dimension]->cut(cell, step, cuts_);
        const std::size_t end = cuts_.size();
        Block at = cell.first;
        for (std::size_t k = mark; k < end; ++k) {
            const Block count = cuts_[k];
            if (count > 0) {
                cells_[dimension] = {at, count};
                descend(level + 1, first + (at - cell.first) * others, count * others, out);
                at += count;
            }
        }
        cells_[dimension] = cell;
        cuts_.resize(mark);
    }

    const ProductPart& part_;
    std::vector<Extent> whole_;
    std::vector<Extent> cells_;
    std::vector<std::span<const Extent>> sets_;
    std::vector<Level> levels_;
    std::vector<Block> cuts_;  // sizes of the cells on the path, used as a stack
    Block blocks_ = 1;
};

struct Message {
    Rank peer = 0;
    Port port;
    Slice extents;
};

/// The messages of one part's reduce-scatter, kept so that the allgather can run them backwards.
class PartBuilder {
  public:
    PartBuilder(const Torus& torus, Rank rank, const ProductPart& part)
        : torus_(torus), rank_(rank), part_(part), numbering_(part) {}

    void build(ScheduleWriter& writer) {
        record();
        writer.part(numbering_.blocks());
        for (const RecordedStep& step : steps_) {
            writer.step();
            write(writer, step.sends, step.receives, Action::reduce);
        }
        for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
            writer.step();
            write(writer, step->receives, step->sends, Action::replace);
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
        steps_.reserve(part_.order.size());
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
            messages_.push_back({torus_.with_coordinate(rank_, j, t.peer),
                                 Port::towards(j, t.sign * side),
                                 {static_cast<std::uint32_t>(extents_.size()),
                                  static_cast<std::uint32_t>(scratch_.size())}});
            extents_.insert(extents_.end(), scratch_.begin(), scratch_.end());
        }
        return {first, static_cast<std::uint32_t>(messages_.size()) - first};
    }

    void write(ScheduleWriter& writer, Slice out, Slice in, Action action) const {
        for (std::uint32_t i = out.first; i < out.first + out.count; ++i) {
            writer.send(messages_[i].peer, messages_[i].port, extents_of(messages_[i]));
        }
        for (std::uint32_t i = in.first; i < in.first + in.count; ++i) {
            writer.receive(messages_[i].peer, messages_[i].port, action, extents_of(messages_[i]));
        }
    }

    std::span<const Extent> extents_of(const Message& m) const {
        return std::span<const Extent>(extents_).subspan(m.extents.first, m.extents.count);
    }

    const Torus& torus_;
    Rank rank_;
    const ProductPart& part_;
    ProductNumbering numbering_;
    std::vector<RecordedStep> steps_;
    std::vector<Message> messages_;
    std::vector<Extent> extents_;
    std::vector<RingTransfer> transfers_;
    std::vector<Extent> scratch_;
};

}  // namespace

std::vector<int> interleaved_order(const std::vector<std::shared_ptr<const RingScatter>>& rings,
                                   int part) {
    std::vector<int> moving;
    std::vector<int> left;
    int total = 0;
    for (std::size_t j = 0; j < rings.size(); ++j) {
        if (rings[j]->steps() > 0) {
            moving.push_back(static_cast<int>(j));
            left.push_back(rings[j]->steps());
            total += rings[j]->steps();
        }
    }
    std::vector<int> order;
    const int dimensions = static_cast<int>(moving.size());
    for (int i = 0; i < total; ++i) {
        int at = (part + i) % dimensions;
        while (left[at] == 0) {
            at = (at + 1) % dimensions;
        }
        left[at] -= 1;
        order.push_back(moving[at]);
    }
    return order;
}

std::vector<ProductPart> interleaved_parts(
    const std::vector<std::shared_ptr<const RingScatter>>& plain,
    const std::vector<std::shared_ptr<const RingScatter>>& mirror) {
    int moving = 0;
    for (const auto& ring : plain) {
        moving += ring->size() > 1 ? 1 : 0;
    }
    if (moving == 0) {
        return {{plain, {}}};
    }
    std::vector<ProductPart> parts;
    for (const auto* rings : {&plain, &mirror}) {
        for (int p = 0; p < moving; ++p) {
            parts.push_back({*rings, interleaved_order(*rings, p)});
        }
    }
    return parts;
}

Schedule product_allreduce(const Torus& torus, Rank rank, const std::vector<ProductPart>& parts) {
    ScheduleWriter writer(rank);
    for (const ProductPart& part : parts) {
        PartBuilder(torus, rank, part).build(writer);
    }
    return writer.take();
}

}  // namespace trefoil
