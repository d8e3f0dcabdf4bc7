// SPDX-License-Identifier: BSD-3-Clause
// One leader per rank of a node and part: its steps are those of the algorithm between nodes, with
// a step before and a step after them.
#include "algorithms/schedule/by_node.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/schedule/minimal_port.hpp"

namespace trefoil {

namespace {

/// The options of the algorithm between nodes.
BuildOptions between_nodes(const Torus& torus, BuildOptions options) {
    options.by_node = false;
    options.root = torus.node_of(options.root);
    return options;
}

class ByNodeWriter {
  public:
    ByNodeWriter(const Algorithm& between, const Torus& torus, Rank rank,
                 const BuildOptions& options)
        : between_(between),
          row_(traits_of(between.collective)),
          torus_(torus),
          nodes_(torus.nodes()),
          options_(between_nodes(torus, options)),
          plan_(between.build(nodes_, torus.node_of(rank), options_)),
          rank_(rank),
          root_(options.root),
          writer_(rank) {}

    Schedule write() {
        for (part_ = 0; part_ < plan_.parts.size(); ++part_) {
            find_own_blocks();
            // Where nothing is divided one leader does it.
            const Rank leaders = row_.has_data() ? torus_.per_node() : 1;
            for (Rank leader = 0; leader < leaders; ++leader) {
                leader_ = torus_.node_of(rank_) * torus_.per_node() + leader;
                write_part();
            }
        }
        return writer_.take();
    }

  private:
    /// Ranks of a node have consecutive blocks where ranks have blocks.
    Block ranks_in_block() const {
        return row_.has_blocks() ? static_cast<Block>(torus_.per_node()) : 1;
    }
    Extent scaled(Extent extent) const {
        return {extent.first * ranks_in_block(), extent.count * ranks_in_block()};
    }
    Extent whole() const { return scaled({0, plan_.parts[part_].vector_blocks}); }
    /// The block of a rank of this node.
    Extent block_of(Rank rank) const {
        return {own_blocks_ + static_cast<Block>(rank % torus_.per_node()), 1};
    }
    bool leads() const { return rank_ == leader_; }
    bool on_roots_node() const { return torus_.on_one_node(rank_, root_); }

    void find_own_blocks() {
        own_blocks_ = 0;
        if (row_.blocks_have_owners()) {
            const std::vector<Rank> owners =
                between_.block_owners(nodes_, options_, static_cast<int>(part_));
            const auto place = std::ranges::find(owners, torus_.node_of(rank_));
            own_blocks_ = static_cast<Block>(place - owners.begin()) * ranks_in_block();
        }
    }

    template <typename Visit>
    void for_other_ranks_of_node(Visit&& visit) const {
        const Rank first = torus_.node_of(rank_) * torus_.per_node();
        for (Rank r = first; r < first + torus_.per_node(); ++r) {
            if (r != rank_) {
                visit(r);
            }
        }
    }

    void send(Rank peer, Extent blocks) {
        writer_.send(peer, minimal_port(torus_, rank_, peer, 0), data(blocks));
    }
    void receive(Rank peer, Action action, Extent blocks) {
        writer_.receive(peer, minimal_port(torus_, peer, rank_, 0).opposite());
        if (row_.has_data()) {
            writer_.apply(action, data(blocks));
        }
    }
    /// A signal has none.
    std::span<const Extent> data(const Extent& blocks) const {
        return row_.has_data() ? std::span(&blocks, 1) : std::span<const Extent>();
    }

    void write_part() {
        const Part& part = plan_.parts[part_];
        writer_.part(part.vector_blocks * ranks_in_block(),
                     leads() ? part.scratch_blocks * ranks_in_block() : 0,
                     part.scratch_like * ranks_in_block());
        writer_.step();
        collect();
        for (const Step& step : plan_.of(part)) {
            writer_.step();
            if (leads()) {
                add(step);
            }
        }
        writer_.step();
        give_out();
    }

    /// What the leader needs of the ranks of its node.
    void collect() {
        if (row_.in.holders == Holders::root) {
            if (on_roots_node() && leader_ != root_) {
                if (rank_ == root_) {
                    send(leader_, whole());
                } else if (leads()) {
                    receive(root_, Action::replace, whole());
                }
            }
            return;
        }
        const bool whole_vectors = row_.in.data != Data::own_block;
        if (leads()) {
            for_other_ranks_of_node([&](Rank r) {
                receive(r, row_.reduces ? Action::reduce : Action::replace,
                        whole_vectors ? whole() : block_of(r));
            });
        } else {
            send(leader_, whole_vectors ? whole() : block_of(rank_));
        }
    }

    /// What the ranks of its node need of the leader.
    void give_out() {
        if (row_.out.holders == Holders::root) {
            if (on_roots_node() && leader_ != root_) {
                if (leads()) {
                    send(root_, whole());
                } else if (rank_ == root_) {
                    receive(leader_, Action::replace, whole());
                }
            }
            return;
        }
        const bool one_block = row_.out.data == Data::own_block;
        // The root has what it has brought.
        const auto has_all = [&](Rank r) { return row_.in.holders == Holders::root && r == root_; };
        if (leads()) {
            for_other_ranks_of_node([&](Rank r) {
                if (!has_all(r)) {
                    send(r, one_block ? block_of(r) : whole());
                }
            });
        } else if (!has_all(rank_)) {
            receive(leader_, Action::replace, one_block ? block_of(rank_) : whole());
        }
    }

    /// A step between nodes: the same, from leader to leader.
    void add(const Step& step) {
        for (const Move& m : plan_.moves_of(step)) {
            writer_.move(m.action, scaled(m.from), m.to * ranks_in_block());
        }
        for (const Send& m : plan_.sends_of(step)) {
            writer_.send(peer(m.peer), m.port, scaled(plan_.extents_of(m)));
        }
        for (const Receive& r : plan_.receives_of(step)) {
            writer_.receive(peer(r.peer), r.port);
            for (const Application& a : plan_.applications_of(r)) {
                writer_.apply(a.action, scaled(plan_.extents_of(a)));
            }
        }
    }
    Rank peer(Rank node) const { return node * torus_.per_node() + leader_ % torus_.per_node(); }
    const std::vector<Extent>& scaled(std::span<const Extent> extents) {
        scaled_.clear();
        for (const Extent& e : extents) {
            scaled_.push_back(scaled(e));
        }
        return scaled_;
    }

    const Algorithm& between_;
    const CollectiveTraits& row_;
    const Torus& torus_;
    const Torus nodes_;
    const BuildOptions options_;
    const Schedule plan_;
    const Rank rank_, root_;
    ScheduleWriter writer_;
    std::size_t part_ = 0;  ///< of the plan
    Rank leader_ = 0;       ///< on this node
    Block own_blocks_ = 0;  ///< where the blocks of this node's ranks begin
    std::vector<Extent> scaled_;
};

}  // namespace

bool suits_nodes(const Algorithm& algorithm) {
    const CollectiveTraits& row = traits_of(algorithm.collective);
    return algorithm.set == nullptr && !algorithm.traits.reads_peers && !row.is_prefix() &&
           !row.blocks_both_ways() && !row.with_neighbours();
}

std::string by_node_refusal(const Algorithm& between, const Torus& torus,
                            const BuildOptions& options) {
    if (!torus.has_nodes()) {
        return "by-node is for nodes of several ranks, as in 3x3x2h, which the torus " +
               torus.name() + " has not";
    }
    const Torus nodes = torus.nodes();
    const BuildOptions inner = between_nodes(torus, options);
    std::string reason = between.refusal(nodes, inner);
    if (reason.empty() && traits_of(between.collective).blocks_have_owners()) {
        BuildOptions sizes = inner;
        sizes.sizes_only = true;
        for (const Part& part : between.build(nodes, 0, sizes).parts) {
            if (part.scratch_blocks > 0) {
                return "by-node has no room for the blocks that it sets aside";
            }
        }
    }
    return reason;
}

Schedule build_by_node(const Algorithm& between, const Torus& torus, Rank rank,
                       const BuildOptions& options) {
    return ByNodeWriter(between, torus, rank, options).write();
}

double by_node_landing(const Algorithm& between, const Torus& torus, const BuildOptions& options) {
    const double leaders = torus.per_node();
    // A rank gives a leader its share, and gets as a leader the other one's, by one pair of ports.
    const double inside = torus.per_node() > 1 ? 2 / leaders : 0;
    return std::max(inside,
                    between.landing(torus.nodes(), between_nodes(torus, options)) / leaders);
}

std::vector<Rank> by_node_owners(const Algorithm& between, const Torus& torus,
                                 const BuildOptions& options, int part) {
    std::vector<Rank> owners;
    for (const Rank node : between.block_owners(torus.nodes(), between_nodes(torus, options),
                                                part / torus.per_node())) {
        for (Rank i = 0; i < torus.per_node(); ++i) {
            owners.push_back(node * torus.per_node() + i);
        }
    }
    return owners;
}

std::vector<Rank> by_node_alike(const Algorithm& between, const Torus& torus) {
    std::vector<Rank> ranks;
    for (const Rank node : between.alike_ranks(torus.nodes())) {
        ranks.push_back(node * torus.per_node());
    }
    return ranks;
}

}  // namespace trefoil
