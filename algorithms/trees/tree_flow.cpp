// SPDX-License-Identifier: BSD-3-Clause
// A rank is reached when each of its coordinates is, and has the blocks of the product of what they
// are still to reach.
#include "algorithms/trees/tree_flow.hpp"

#include <cstddef>
#include <utility>

namespace trefoil {

namespace {

class TreeFlow final : public RingFlow {
  public:
    TreeFlow(const TreeRing& ring, bool whole, bool mirrored, std::vector<Block> weights)
        : RingFlow(ring.size(), ring.steps()),
          ring_(ring),
          whole_(whole),
          mirrored_(mirrored),
          below_(ring.weights_below(std::move(weights))),
          joined_(static_cast<std::size_t>(ring.steps())) {
        for (Rank c = 1; c < size(); ++c) {
            joined_[static_cast<std::size_t>(ring.joined(c))].push_back(c);
        }
    }

    // The shorter way. Where both are equally long the mirrored parts take the other one.
    void messages(int step, std::vector<RingMessage>& out) const override {
        for (const Rank c : joined_[static_cast<std::size_t>(step)]) {
            const std::int64_t units = below(c);
            if (units == 0) {
                continue;
            }
            const Rank from = place(ring_.parent(c)), to = place(c);
            const std::int64_t twice =
                2 * (std::int64_t{to} - from + (to < from ? std::int64_t{size()} : 0));
            const bool up = twice < size() || (twice == size() && !mirrored_);
            out.push_back({from, to, up ? 1 : -1, whole_ ? 1 : units});
        }
    }

    void held(int step, std::vector<std::int64_t>& out) const override {
        const std::size_t first = out.size();
        out.resize(first + static_cast<std::size_t>(size()), 0);
        const auto at = [&](Rank c) -> std::int64_t& {
            return out[first + static_cast<std::size_t>(place(c))];
        };
        at(0) = whole_ ? 1 : below(0);
        for (int s = 0; s < step; ++s) {
            for (const Rank c : joined_[static_cast<std::size_t>(s)]) {
                at(c) = whole_ ? 1 : below(c);
                at(ring_.parent(c)) -= whole_ ? 0 : below(c);
            }
        }
    }

  private:
    std::int64_t below(Rank c) const { return below_[static_cast<std::size_t>(c)]; }
    Rank place(Rank c) const { return mirrored_ && c > 0 ? size() - c : c; }

    const TreeRing& ring_;
    bool whole_, mirrored_;
    std::vector<std::int64_t> below_;
    std::vector<std::vector<Rank>> joined_;  // by step
};

}  // namespace

std::vector<ProductPhase> tree_phases(const TorusTree& tree, bool whole,
                                      const TreeWeights& weights) {
    struct Rings {
        std::vector<std::vector<Block>> weights;
        std::vector<std::shared_ptr<const RingFlow>> flows;
    } plain, mirrored;
    std::vector<ProductPhase> phases;
    for (int p = 0; p < tree.parts(); ++p) {
        Rings& rings = tree.is_mirrored(p) ? mirrored : plain;
        for (int j = static_cast<int>(rings.flows.size()); j < tree.dimensions(); ++j) {
            rings.weights.push_back(weights ? weights(j, p) : std::vector<Block>{});
            int same = 0;  // dimensions that are alike have one flow
            while (&tree.ring(same) != &tree.ring(j) || rings.weights[same] != rings.weights[j]) {
                ++same;
            }
            rings.flows.push_back(same < j ? rings.flows[same]
                                           : std::make_shared<TreeFlow>(tree.ring(j), whole,
                                                                        tree.is_mirrored(p),
                                                                        rings.weights[j]));
        }
        phases.push_back({rings.flows, tree.order(p), false});
    }
    return phases;
}

}  // namespace trefoil
