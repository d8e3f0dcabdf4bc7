// SPDX-License-Identifier: BSD-3-Clause
// direct, ordered: what a rank needs comes straight from those who have it, and is reduced in rank
// order; on any torus.
//
// reduce_scatter: rank r sends block o to its owner o, for all o. The owner keeps what arrives in
// scratch until all is there, then computes ((0 op 1) op 2) op ... allreduce: rank r sends its
// vector to all, and everybody computes the same. allgather: rank r sends block r to all.
//
// direct has one part, so that each rank sends one message to each other: where ranks share cores,
// small calls take as long as there are messages and waits. In each step all ranks send to the same
// offsets, so that everybody receives as much as it sends and all links of a direction carry alike.
// Offsets are taken by distance, the nearest first, because equal distances lie on all sides.
// ordered has a part for each port; in each the messages leave through the next dimension.
#include "algorithms/bandwidth/direct.hpp"

#include <algorithm>
#include <vector>

#include "algorithms/bandwidth/product_parts.hpp"
#include "algorithms/schedule/straight_offsets.hpp"

namespace trefoil {

namespace {

class DirectWriter {
  public:
    DirectWriter(const Torus& torus, Rank rank)
        : torus_(torus),
          ranks_(torus.ranks()),
          rank_(rank),
          offsets_(straight_offsets(torus)),
          writer_(rank) {}

    /// A part of so many blocks, of which each rank gets the reduced one that `block_of`(rank)
    /// names.
    template <typename BlockOf>
    void reduce(int part, Block blocks, const BlockOf& block_of) {
        const Block own = block_of(rank_);
        writer_.part(blocks, static_cast<Block>(ranks_ - 1), own);
        // Where a rank's contribution waits: the own one in the vector, the others in scratch.
        const auto contribution = [&](Rank rank) {
            const auto r = static_cast<Block>(rank);
            return rank == rank_ ? own : rank < rank_ ? blocks + r : blocks + r - 1;
        };
        exchange(part, [&](Rank to, Rank from) {
            return Blocks{block_of(to), contribution(from)};
        });
        writer_.step();
        const Block sum = contribution(0);
        for (Rank r = 1; r < ranks_; ++r) {
            writer_.move(Action::reduce, {contribution(r), 1}, sum);
        }
        if (sum != own) {
            writer_.move(Action::replace, {sum, 1}, own);
        }
    }

    void allgather() {
        writer_.part(static_cast<Block>(ranks_));
        exchange(0, [&](Rank, Rank from) {
            return Blocks{static_cast<Block>(rank_), static_cast<Block>(from)};
        });
    }

    ScheduleWriter& writer() { return writer_; }

  private:
    struct Blocks {
        Block sent = 0;
        Block received = 0;
    };

    template <typename Choose>
    void exchange(int part, const Choose& choose) {
        const std::size_t total = offsets_.size();
        for (std::size_t begin = 0; begin < total; begin += straight_peers_per_step) {
            writer_.step();
            const std::size_t end = std::min<std::size_t>(begin + straight_peers_per_step, total);
            for (std::size_t i = begin; i < end; ++i) {
                const Rank to = torus_.translated(rank_, offsets_[i].rank, 1);
                const Rank from = torus_.translated(rank_, offsets_[i].rank, -1);
                const int first = part + offsets_[i].first;
                const bool other_way = part / torus_.dimensions() % 2 == 1;
                const Port out = straight_port(torus_, rank_, to, first, other_way);
                const Port in = straight_port(torus_, from, rank_, first, other_way).opposite();
                const Blocks blocks = choose(to, from);
                const Extent sent{blocks.sent, 1};
                const Extent received{blocks.received, 1};
                writer_.send(to, out, {&sent, 1});
                writer_.receive(from, in, Action::replace, {&received, 1});
            }
        }
    }

    const Torus& torus_;
    Rank ranks_;
    Rank rank_;
    std::vector<StraightOffset> offsets_;
    ScheduleWriter writer_;
};

std::vector<Block> positions_of(const std::vector<Rank>& owners) {
    std::vector<Block> positions(owners.size());
    for (std::size_t b = 0; b < owners.size(); ++b) {
        positions[owners[b]] = static_cast<Block>(b);
    }
    return positions;
}

}  // namespace

Schedule build_direct_allreduce(const Torus& torus, Rank rank) {
    DirectWriter direct(torus, rank);
    direct.reduce(0, 1, [](Rank) { return Block{0}; });
    return direct.writer().take();
}

Schedule build_direct_reduce_scatter(const Torus& torus, Rank rank) {
    DirectWriter direct(torus, rank);
    direct.reduce(0, static_cast<Block>(torus.ranks()),
                  [](Rank owner) { return static_cast<Block>(owner); });
    return direct.writer().take();
}

Schedule build_direct_allgather(const Torus& torus, Rank rank) {
    DirectWriter direct(torus, rank);
    direct.allgather();
    return direct.writer().take();
}

Schedule build_ordered(const Torus& torus, Rank rank) {
    DirectWriter direct(torus, rank);
    const std::vector<ProductPart> parts = bucket_parts(torus, Collective::allgather, {});
    for (int p = 0; p < static_cast<int>(parts.size()); ++p) {
        const std::vector<Block> positions = positions_of(product_owners(torus, parts[p]));
        direct.reduce(p, static_cast<Block>(torus.ranks()),
                      [&](Rank owner) { return positions[owner]; });
        write_product_steps(direct.writer(), torus, rank, parts, p, Collective::allgather);
    }
    return direct.writer().take();
}

}  // namespace trefoil
