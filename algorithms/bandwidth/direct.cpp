// SPDX-License-Identifier: BSD-3-Clause
// direct, ordered: blocks go straight to their owners, who reduce them in rank order; on any torus.
//
// reduce_scatter: rank r sends block o to its owner o, for all o. The owner keeps what arrives in
// scratch until all is there, then computes ((0 op 1) op 2) op ... allgather: rank r sends block r
// to all.
//
// In each step all ranks send to the same offsets, so that everybody receives as much as it sends
// and all links of a direction carry alike. Offsets are taken by distance, the nearest first,
// because equal distances lie on all sides. 2D parts; part p leaves through the first dimension
// among p, p+1, ... in which the ranks differ, half of the parts through '+' and half through '-'
// where both ways are equally long.
#include "algorithms/bandwidth/direct.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include "algorithms/bandwidth/product_parts.hpp"
#include "algorithms/schedule/minimal_port.hpp"

namespace trefoil {

namespace {

int part_count(const Torus& torus) {
    const auto moving = std::ranges::count_if(torus.sizes(), [](Rank size) { return size > 1; });
    return std::max(static_cast<int>(2 * moving), 1);
}

/// Offsets as ranks seen from rank 0, by distance; those that are images of one another in the
/// symmetries of a torus with equal sizes follow one another.
std::vector<Rank> offsets_by_distance(const Torus& torus) {
    using Key = std::vector<std::int64_t>;  // hops, then the way in each dimension, ascending
    std::vector<std::pair<Key, Rank>> keyed;
    keyed.reserve(torus.ranks());
    for (Rank o = 1; o < torus.ranks(); ++o) {
        Key key;
        for (int j = 0; j < torus.dimensions(); ++j) {
            key.push_back(std::abs(torus.displacement(0, o, j)));
        }
        std::sort(key.begin(), key.end());
        key.insert(key.begin(), torus.hops(0, o));
        keyed.emplace_back(std::move(key), o);
    }
    std::sort(keyed.begin(), keyed.end());
    std::vector<Rank> offsets;
    for (const auto& [key, offset] : keyed) {
        offsets.push_back(offset);
    }
    return offsets;
}

class DirectWriter {
  public:
    DirectWriter(const Torus& torus, Rank rank)
        : torus_(torus),
          ranks_(torus.ranks()),
          rank_(rank),
          offsets_(offsets_by_distance(torus)),
          writer_(rank) {}

    /// A part that reduces each block at its owner. positions[r]: rank r's block.
    void reduce_scatter(int part, const std::vector<Block>& positions) {
        const Block own = positions[rank_];
        writer_.part(static_cast<Block>(ranks_), static_cast<Block>(ranks_ - 1), own);
        exchange(part, [&](Rank to, Rank from) {
            return Blocks{positions[to], contribution(from, own)};
        });
        writer_.step();
        const Block sum = contribution(0, own);
        for (Rank r = 1; r < ranks_; ++r) {
            writer_.move(Action::reduce, {contribution(r, own), 1}, sum);
        }
        if (sum != own) {
            writer_.move(Action::replace, {sum, 1}, own);
        }
    }

    void allgather(int part) {
        writer_.part(static_cast<Block>(ranks_));
        exchange(part, [&](Rank, Rank from) {
            return Blocks{static_cast<Block>(rank_), static_cast<Block>(from)};
        });
    }

    ScheduleWriter& writer() { return writer_; }

  private:
    struct Blocks {
        Block sent = 0;
        Block received = 0;
    };

    /// Where a rank's contribution waits: the own one in the vector, the others in scratch.
    Block contribution(Rank rank, Block own) const {
        const auto r = static_cast<Block>(rank);
        const auto all = static_cast<Block>(ranks_);
        return rank == rank_ ? own : rank < rank_ ? all + r : all + r - 1;
    }

    template <typename Choose>
    void exchange(int part, Choose&& choose) {
        const std::size_t total = offsets_.size();
        for (std::size_t begin = 0; begin < total; begin += direct_peers_per_step) {
            writer_.step();
            const std::size_t end = std::min<std::size_t>(begin + direct_peers_per_step, total);
            for (std::size_t i = begin; i < end; ++i) {
                const Rank to = torus_.translated(rank_, offsets_[i], 1);
                const Rank from = torus_.translated(rank_, offsets_[i], -1);
                const Blocks blocks = choose(to, from);
                const Extent sent{blocks.sent, 1};
                const Extent received{blocks.received, 1};
                writer_.send(to, minimal_port(torus_, rank_, to, part), {&sent, 1});
                writer_.receive(from, minimal_port(torus_, from, rank_, part).opposite(),
                                Action::replace, {&received, 1});
            }
        }
    }

    const Torus& torus_;
    Rank ranks_;
    Rank rank_;
    std::vector<Rank> offsets_;
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

Schedule build_direct_reduce_scatter(const Torus& torus, Rank rank) {
    DirectWriter direct(torus, rank);
    std::vector<Block> identity(torus.ranks());
    std::iota(identity.begin(), identity.end(), 0);
    for (int p = 0; p < part_count(torus); ++p) {
        direct.reduce_scatter(p, identity);
    }
    return direct.writer().take();
}

Schedule build_direct_allgather(const Torus& torus, Rank rank) {
    DirectWriter direct(torus, rank);
    for (int p = 0; p < part_count(torus); ++p) {
        direct.allgather(p);
    }
    return direct.writer().take();
}

Schedule build_ordered(const Torus& torus, Rank rank) {
    DirectWriter direct(torus, rank);
    const std::vector<ProductPart> parts = bucket_parts(torus, Collective::allgather, {});
    for (int p = 0; p < static_cast<int>(parts.size()); ++p) {
        direct.reduce_scatter(p, positions_of(product_owners(torus, parts[p])));
        write_product_steps(direct.writer(), torus, rank, parts, p, Collective::allgather);
    }
    return direct.writer().take();
}

}  // namespace trefoil
