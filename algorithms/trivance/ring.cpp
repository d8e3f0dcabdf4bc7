// SPDX-License-Identifier: BSD-3-Clause
// Trivance's bandwidth variant on one ring.
//
// Coordinate r sends the partial sum for block r + o in step level(o) to r + sign(o) * distance,
// for all offsets o of the tree (algorithms/trivance/tree.hpp). Invariant: before step k, r holds
// for each offset of a level >= k the sum over all coordinates whose path leads through r. The tree
// carries every contribution to every block once, so the volume is (n-1)/n.
//
//     n = 3:   r-1 <- r -> r+1    block r+1 to the right, block r-1 to the left
#include "algorithms/trivance/ring.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "algorithms/trivance/positions.hpp"
#include "algorithms/trivance/tree.hpp"

namespace trefoil {

namespace {

std::vector<Rank> radices(const TrivanceTree& tree) {
    if (tree.digits == static_cast<int>(tree.distances.size())) {
        return std::vector<Rank>(tree.digits, 3);
    }
    return {tree.size};
}

class TrivanceScatter final : public RingScatter {
  public:
    TrivanceScatter(std::shared_ptr<const TrivanceTree> tree, int dimensions)
        : RingScatter(tree->size, static_cast<int>(tree->distances.size()), radices(*tree)),
          tree_(std::move(tree)),
          positions_(*tree_, dimensions),
          leaving_(steps() + 1),
          staying_(steps() + 1) {
        for (Rank o = 0; o < size(); ++o) {
            for (int k = tree_->digits; k <= tree_->levels[o]; ++k) {
                staying_[k].push_back(o);
            }
            leaving_[tree_->levels[o]][tree_->signs[o] > 0].push_back(o);
        }
    }

    void sends(Rank coordinate, int step, std::vector<RingTransfer>& out) const override {
        for (const int sign : {1, -1}) {
            append(coordinate, shifted(coordinate, sign * tree_->distances[step]), step, sign, out);
        }
    }

    void receives(Rank coordinate, int step, std::vector<RingTransfer>& out) const override {
        for (const int sign : {1, -1}) {
            const Rank sender = shifted(coordinate, -sign * tree_->distances[step]);
            append(sender, sender, step, sign, out);
        }
    }

    std::vector<Extent> held(Rank coordinate, int step) const override {
        return step <= tree_->digits ? std::vector{cell(coordinate, step)}
                                     : extents(coordinate, staying_[step]);
    }

    // All coordinates do the same.
    void messages(int step, std::vector<RingMessage>& out) const override {
        for (Rank c = 0; c < size(); ++c) {
            for (const int sign : {1, -1}) {
                const auto units = std::ssize(leaving_[step][sign > 0]);
                if (units > 0) {
                    out.push_back({c, shifted(c, sign * tree_->distances[step]), sign, units});
                }
            }
        }
    }

    void amounts(int step, std::vector<std::int64_t>& out) const override {
        const std::int64_t all = step < tree_->digits
                                     ? static_cast<std::int64_t>(cell(0, step).count)
                                     : std::ssize(staying_[step]);
        out.insert(out.end(), static_cast<std::size_t>(size()), all);
    }

    void cut(Extent cell, int step, std::vector<Block>& sizes) const override {
        const bool digit = step < tree_->digits;
        const Block pieces = digit ? 3 : step == tree_->digits ? cell.count : 1;
        sizes.insert(sizes.end(), pieces, cell.count / pieces);
    }

  private:
    Rank shifted(Rank coordinate, Rank by) const { return (coordinate + by + size()) % size(); }

    void append(Rank sender, Rank peer, int step, int sign, std::vector<RingTransfer>& out) const {
        const std::vector<Rank>& offsets = leaving_[step][sign > 0];
        if (offsets.empty()) {
            return;
        }
        // A digit's blocks are those of which the peer stays in charge.
        const Rank target = shifted(sender, sign * tree_->distances[step]);
        out.push_back({peer, sign,
                       step < tree_->digits ? std::vector{cell(target, step + 1)}
                                            : extents(sender, offsets)});
    }

    /// The blocks that agree with `coordinate` in the first `digits` digits.
    Extent cell(Rank coordinate, int digits) const {
        auto count = static_cast<Block>(size());
        for (int i = 0; i < digits; ++i) {
            count /= 3;
        }
        return {positions_.position(coordinate) / count * count, count};
    }

    std::vector<Extent> extents(Rank coordinate, const std::vector<Rank>& offsets) const {
        std::vector<Block> at;
        at.reserve(offsets.size());
        for (const Rank o : offsets) {
            at.push_back(positions_.position(shifted(coordinate, o)));
        }
        std::sort(at.begin(), at.end());
        std::vector<Extent> result;
        for (const Block b : at) {
            if (!result.empty() && result.back().first + result.back().count == b) {
                result.back().count += 1;
            } else {
                result.push_back({b, 1});
            }
        }
        return result;
    }

    std::shared_ptr<const TrivanceTree> tree_;
    TrivancePositions positions_;
    std::vector<std::array<std::vector<Rank>, 2>> leaving_;  // by step and side: offsets sent
    std::vector<std::vector<Rank>> staying_;                 // by step: offsets held before it
};

}  // namespace

TrivanceRing trivance_ring(Rank size, int dimensions) {
    static std::mutex mutex;
    static auto& rings = *new std::map<std::pair<Rank, int>, TrivanceRing>;
    const std::shared_ptr<const TrivanceTree> tree = trivance_tree(size, dimensions);
    const std::lock_guard lock(mutex);
    TrivanceRing& ring = rings[{size, dimensions}];
    if (!ring.scatter) {
        ring = {std::make_shared<const TrivanceScatter>(tree, dimensions), tree->balanced};
    }
    return ring;
}

}  // namespace trefoil
