// SPDX-License-Identifier: BSD-3-Clause
// What bcast, reduce, scatter and gather along spanning trees do to links, without a schedule.
//
// Where each rank is a node a link belongs to one tree, and the ports of the root have most. The
// ranks of a node share its links: there the messages of all trees are counted, rank by rank.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "algorithms/trees/spanning_rooted.hpp"
#include "algorithms/trees/spanning_trees.hpp"

namespace trefoil {

namespace {

/// In step s each port of the root has what its tree brings to depth L - s, and nobody else's has
/// more.
LinkSteps scatter_of_ranks(const SpanningTrees& trees) {
    LinkSteps result{std::max(trees.count(), 1), {}};
    result.steps.resize(static_cast<std::size_t>(trees.depth()), {0, 1, 1});
    for (int t = 0; t < trees.count(); ++t) {
        const std::vector<std::int64_t> ranks = trees.ranks_by_depth(t);
        for (std::size_t s = 0; s < result.steps.size(); ++s) {
            std::int64_t& load = result.steps[s].load;
            load = std::max(load, 2 * ranks[result.steps.size() - s]);
        }
    }
    return result;
}

/// A link has one message in all, which is a part.
LinkSteps bcast_of_ranks(const Torus& torus, const SpanningTrees& trees) {
    LinkSteps result{std::max(trees.count(), 1), {}};
    result.steps.resize(static_cast<std::size_t>(trees.depth()),
                        {2 * std::int64_t{torus.ranks()}, 1, 1});
    return result;
}

/// The messages of all trees, down from the root, on a torus of nodes.
class NodeLinks {
  public:
    NodeLinks(const Torus& torus, const SpanningTrees& trees)
        : torus_(torus),
          trees_(trees),
          steps_(static_cast<std::size_t>(trees.depth())),
          ranks_(static_cast<std::size_t>(torus.ranks())),
          links_(ranks_ / static_cast<std::size_t>(torus.per_node()) *
                 static_cast<std::size_t>(torus.ports())),
          arcs_(ranks_),
          loads_(steps_ * links_),
          sent_(steps_ * ranks_),
          received_(steps_ * ranks_) {
        result_.parts = std::max(trees.count(), 1);
        result_.steps.resize(steps_);
    }

    /// With one piece.
    LinkSteps bcast() {
        for (int t = 0; t < trees_.count(); ++t) {
            find_arcs(t);
            for (std::size_t r = 1; r < ranks_; ++r) {
                add(r, static_cast<std::size_t>(arcs_[r].depth) - 1, torus_.ranks());
            }
        }
        return finish();
    }

    LinkSteps scatter() {
        std::vector<std::int64_t> below(ranks_ * (steps_ + 1));  // by rank and depth
        for (int t = 0; t < trees_.count(); ++t) {
            find_arcs(t);
            std::ranges::fill(below, 0);
            for (std::size_t r = 1; r < ranks_; ++r) {
                const auto depth = static_cast<std::size_t>(arcs_[r].depth);
                for (std::size_t at = r; at != 0; at = arcs_[at].parent) {
                    below[at * (steps_ + 1) + depth] += 1;
                }
            }
            for (std::size_t r = 1; r < ranks_; ++r) {
                const auto own = static_cast<std::size_t>(arcs_[r].depth);
                for (std::size_t depth = own; depth <= steps_; ++depth) {
                    if (const std::int64_t units = below[r * (steps_ + 1) + depth]; units > 0) {
                        add(r, steps_ - depth + own - 1, units);
                    }
                }
            }
        }
        return finish();
    }

  private:
    /// By which the tree enters a rank.
    struct Arc {
        std::size_t parent = 0;
        Port port;
        int depth = 0;
    };

    void find_arcs(int tree) {
        for (Rank r = 1; r < torus_.ranks(); ++r) {
            const Port port = trees_.entry(tree, r);
            arcs_[static_cast<std::size_t>(r)] = {
                static_cast<std::size_t>(torus_.neighbour(r, port.opposite())), port,
                trees_.depth(tree, r)};
        }
    }

    void add(std::size_t rank, std::size_t step, std::int64_t units) {
        const Arc& arc = arcs_[rank];
        LinkStep& figures = result_.steps[step];
        if (torus_.is_host(arc.port.dimension())) {
            figures.blocks_inside += units;
            result_.messages_inside += 1;
            std::int64_t& sent = sent_[step * ranks_ + arc.parent];
            std::int64_t& received = received_[step * ranks_ + rank];
            figures.most_inside = std::max({figures.most_inside, sent += units, received += units});
            return;
        }
        const Rank node = torus_.node_of(static_cast<Rank>(arc.parent));
        std::int64_t& load = loads_[step * links_ + static_cast<std::size_t>(node * torus_.ports() +
                                                                             arc.port.index)];
        figures.load = std::max(figures.load, load += 2 * units);
        figures.hops = figures.through_port = 1;
    }

    LinkSteps finish() {
        for (std::size_t link = 0; link < links_; ++link) {
            std::int64_t load = 0;
            for (std::size_t s = 0; s < steps_; ++s) {
                load += loads_[s * links_ + link];
            }
            result_.busiest_link = std::max(result_.busiest_link, load);
        }
        return std::move(result_);
    }

    const Torus& torus_;
    const SpanningTrees& trees_;
    std::size_t steps_, ranks_, links_;
    std::vector<Arc> arcs_;                              // by rank; the root has none
    std::vector<std::int64_t> loads_, sent_, received_;  // by step, then by link or rank
    LinkSteps result_;
};

/// Reduce and gather are bcast and scatter backwards in time.
LinkSteps backwards(LinkSteps links) {
    std::ranges::reverse(links.steps);
    return links;
}

}  // namespace

LinkSteps spanning_scatter_links(const Torus& torus) {
    const SpanningTrees trees(torus, 0);
    return torus.per_node() > 1 ? NodeLinks(torus, trees).scatter() : scatter_of_ranks(trees);
}

LinkSteps spanning_gather_links(const Torus& torus) {
    return backwards(spanning_scatter_links(torus));
}

LinkSteps spanning_bcast_links(const Torus& torus) {
    const SpanningTrees trees(torus, 0);
    return torus.per_node() > 1 ? NodeLinks(torus, trees).bcast() : bcast_of_ranks(torus, trees);
}

LinkSteps spanning_reduce_links(const Torus& torus) {
    return backwards(spanning_bcast_links(torus));
}

}  // namespace trefoil
