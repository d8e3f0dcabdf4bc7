// SPDX-License-Identifier: BSD-3-Clause
// bine-large for bcast and reduce: De Sensi et al., Bine trees, SC 2025, section 4. About 2 log2 p
// steps; the root sends (receives) each block once and all take part in spreading (reducing) them.
//
// Both halves count coordinates from the root. On powers of two, what is below a child of the tree
// in step s is what the butterfly holds in step s: under the butterfly's numbering of the blocks
// every message is one extent. Elsewhere the tree's messages may be several.
#include "algorithms/trees/bine_large.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/bandwidth/bine_butterfly.hpp"
#include "algorithms/bandwidth/product_numbering.hpp"
#include "algorithms/schedule/single_port.hpp"
#include "algorithms/trees/torus_tree.hpp"
#include "algorithms/trees/tree_flow.hpp"

namespace trefoil {

namespace {

constexpr TreeKind doubling_tree{TreeKind::Pattern::bine, TreeKind::Distance::doubling};

/// Turns the ranks below a tree message into the butterfly's blocks.
class BlocksBelow {
  public:
    BlocksBelow(const TorusTree& tree, const ProductPart& part, int index, bool sizes_only)
        : tree_(tree),
          part_(part),
          index_(index),
          sizes_only_(sizes_only),
          numbering_(part, sizes_only),
          sets_(part.rings.size()),
          owned_(part.rings.size()) {}

    std::vector<Extent> of(const TreeMessage& message) {
        for (std::size_t j = 0; j < sets_.size(); ++j) {
            sets_[j] = positions(static_cast<int>(j), message.below[j]);
            numbering_.set(static_cast<int>(j), sets_[j]);
        }
        std::vector<Extent> result;
        numbering_.extents(result);
        return result;
    }

  private:
    std::vector<Extent> positions(int dimension, TreeBranch branch) {
        const RingScatter& ring = *part_.rings[dimension];
        std::vector<Rank> coordinates;
        tree_.ring(dimension).collect(branch, coordinates);
        if (sizes_only_) {
            std::vector<std::int64_t>& owned = owned_[dimension];
            if (owned.empty()) {
                ring.amounts(ring.steps(), owned);
            }
            std::int64_t all = 0;
            for (const Rank c : coordinates) {
                all += owned[static_cast<std::size_t>(tree_.offset(c, dimension, index_))];
            }
            return {{0, static_cast<Block>(all)}};
        }
        std::vector<Block> owned;
        for (const Rank c : coordinates) {
            for (const Extent& e : ring.held(tree_.offset(c, dimension, index_), ring.steps())) {
                for (Block b = 0; b < e.count; ++b) {
                    owned.push_back(e.first + b);
                }
            }
        }
        std::sort(owned.begin(), owned.end());
        std::vector<Extent> result;
        for (const Block b : owned) {
            if (!result.empty() && result.back().first + result.back().count == b) {
                result.back().count += 1;
            } else {
                result.push_back({b, 1});
            }
        }
        return result;
    }

    const TorusTree& tree_;
    const ProductPart& part_;
    int index_;
    bool sizes_only_;
    ProductNumbering numbering_;
    std::vector<std::vector<Extent>> sets_;
    std::vector<std::vector<std::int64_t>> owned_;  // by each coordinate in the end
};

class LargeWriter {
  public:
    LargeWriter(Collective collective, const Torus& torus, Rank rank, const BuildOptions& options)
        : down_(collective == Collective::bcast),
          torus_(torus),
          root_(options.root),
          half_(down_ ? Collective::allgather : Collective::reduce_scatter),
          tree_(torus, doubling_tree, options.root,
                options.single_port ? TreePorts::one : TreePorts::all),
          parts_(butterfly_parts(Butterfly::doubling, torus, Collective::allreduce, options)),
          rank_(rank),
          sizes_only_(options.sizes_only),
          writer_(rank) {}

    Schedule write() {
        const Schedule butterfly = product_schedule(torus_, torus_.translated(rank_, root_, -1),
                                                    parts_, half_, Layout::automatic, sizes_only_);
        for (int p = 0; p < tree_.parts(); ++p) {
            writer_.part(butterfly.parts[p].vector_blocks);
            if (!down_) {
                write_butterfly(butterfly, p);
            }
            write_tree(p);
            if (down_) {
                write_butterfly(butterfly, p);
            }
        }
        return writer_.take();
    }

  private:
    void write_tree(int part) {
        const TreePlace place = tree_.place(rank_, part);
        BlocksBelow blocks(tree_, parts_[part], part, sizes_only_);
        for (int s = 0; s < tree_.steps(); ++s) {
            writer_.step();
            const int step = down_ ? s : tree_.steps() - 1 - s;
            if (place.parent && place.parent->step == step) {
                message(*place.parent, place.parent->port.opposite(), !down_, blocks);
            }
            for (const TreeMessage& child : place.children) {
                if (child.step == step) {
                    message(child, child.port, down_, blocks);
                }
            }
        }
    }

    void message(const TreeMessage& m, Port own, bool sends, BlocksBelow& blocks) {
        const std::vector<Extent> extents = blocks.of(m);
        if (extents.empty()) {
            return;  // a folded member takes no part until the butterfly is over
        }
        if (sends) {
            writer_.send(m.peer, own, extents);
        } else {
            writer_.receive(m.peer, own, Action::replace, extents);
        }
    }

    void write_butterfly(const Schedule& butterfly, int part) {
        for (const Step& step : butterfly.of(butterfly.parts[part])) {
            writer_.step();
            for (const Send& s : butterfly.sends_of(step)) {
                writer_.send(torus_.translated(s.peer, root_, 1), s.port, butterfly.extents_of(s));
            }
            for (const Receive& r : butterfly.receives_of(step)) {
                writer_.receive(torus_.translated(r.peer, root_, 1), r.port);
                for (const Application& a : butterfly.applications_of(r)) {
                    writer_.apply(a.action, butterfly.extents_of(a));
                }
            }
        }
    }

    bool down_;
    const Torus& torus_;
    Rank root_;
    Collective half_;
    TorusTree tree_;
    std::vector<ProductPart> parts_;
    Rank rank_;
    bool sizes_only_;
    ScheduleWriter writer_;
};

/// How many of the butterfly's blocks each coordinate of the tree owns in the end.
std::vector<Block> owned(const TorusTree& tree, const RingScatter& ring, int dimension, int part) {
    std::vector<std::int64_t> amounts;
    ring.amounts(ring.steps(), amounts);
    std::vector<Block> result;
    for (Rank c = 0; c < ring.size(); ++c) {
        const auto at = static_cast<std::size_t>(tree.offset(c, dimension, part));
        result.push_back(static_cast<Block>(amounts[at]));
    }
    return result;
}

}  // namespace

ProductFlows bine_large_flows(Collective collective, const Torus& torus) {
    const bool down = collective == Collective::bcast;
    const TorusTree tree(torus, doubling_tree, 0, TreePorts::all);
    const std::vector<ProductPart> parts =
        butterfly_parts(Butterfly::doubling, torus, Collective::allreduce, {});
    std::vector<ProductPhase> trees = tree_phases(tree, false, [&](int dimension, int part) {
        return owned(tree, *parts[part].rings[dimension], dimension, part);
    });
    std::vector<ProductPhase> butterflies = scatter_phases(parts);
    ProductFlows flows{torus.ranks(), {}};
    for (std::size_t p = 0; p < trees.size(); ++p) {
        (down ? butterflies : trees)[p].backwards = true;
        flows.parts.push_back({std::move(trees[p]), std::move(butterflies[p])});
        if (!down) {
            std::swap(flows.parts.back().front(), flows.parts.back().back());
        }
    }
    return flows;
}

Schedule build_bine_large(Collective collective, const Torus& torus, Rank rank,
                          const BuildOptions& options) {
    if (options.single_port) {
        const Torus line = line_of(torus);
        return through_first_ports(torus, LargeWriter(collective, line, rank, options).write());
    }
    return LargeWriter(collective, torus, rank, options).write();
}

}  // namespace trefoil
