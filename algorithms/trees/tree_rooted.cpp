// SPDX-License-Identifier: BSD-3-Clause
// bine-dd, bine-dh, binomial-dd, binomial-dh, bine-torus-dd, bine-torus-dh: rooted collectives
// along trees. ceil(log2 d) steps for each dimension of size d; what a rank sends in bcast it sends
// on to everyone below.
#include "algorithms/trees/tree_rooted.hpp"

#include <utility>

#include "algorithms/trees/tree_flow.hpp"

namespace trefoil {

namespace {

class TreeWriter {
  public:
    TreeWriter(Collective collective, const TorusTree& tree, const Torus& torus, Rank rank)
        : down_(collective == Collective::bcast || collective == Collective::scatter),
          action_(collective == Collective::reduce ? Action::reduce : Action::replace),
          blocks_(traits_of(collective).blocks_have_owners() ? static_cast<Block>(torus.ranks())
                                                             : 1),
          steps_(tree.steps()),
          writer_(rank) {}

    void part(const TreePlace& place) {
        writer_.part(blocks_);
        for (int s = 0; s < steps_; ++s) {
            writer_.step();
            const int step = down_ ? s : steps_ - 1 - s;
            if (place.parent && place.parent->step == step) {
                message(*place.parent, !down_);
            }
            for (const TreeMessage& child : place.children) {
                if (child.step == step) {
                    message(child, down_);
                }
            }
        }
    }

    Schedule take() { return writer_.take(); }

  private:
    /// `port` is the upper end's. Downwards the upper end sends; upwards it receives there.
    void message(const TreeMessage& m, bool sends) {
        const Extent extent = blocks_ == 1 ? Extent{0, 1} : m.blocks;
        const bool is_upper = sends == down_;
        const Port own = is_upper ? m.port : m.port.opposite();
        if (sends) {
            writer_.send(m.peer, own, {&extent, 1});
        } else {
            writer_.receive(m.peer, own, action_, {&extent, 1});
        }
    }

    bool down_;
    Action action_;
    Block blocks_;
    int steps_;
    ScheduleWriter writer_;
};

}  // namespace

Schedule build_tree(Collective collective, TreeKind kind, const Torus& torus, Rank rank, Rank root,
                    TreePorts ports) {
    const TorusTree tree(torus, kind, root, ports);
    TreeWriter writer(collective, tree, torus, rank);
    for (int p = 0; p < tree.parts(); ++p) {
        writer.part(tree.place(rank, p));
    }
    return writer.take();
}

ProductFlows tree_flows(Collective collective, TreeKind kind, const Torus& torus) {
    const TorusTree tree(torus, kind, 0, TreePorts::all);
    const bool whole = !traits_of(collective).blocks_have_owners();
    ProductFlows flows{whole ? 1 : torus.ranks(), {}};
    for (ProductPhase& phase : tree_phases(tree, whole)) {
        phase.backwards = collective == Collective::reduce || collective == Collective::gather;
        flows.parts.push_back({std::move(phase)});
    }
    return flows;
}

std::vector<Rank> tree_owners(TreeKind kind, const Torus& torus, Rank root, TreePorts ports,
                              int part) {
    const TorusTree tree(torus, kind, root, ports);
    std::vector<Rank> owners(torus.ranks());
    for (Rank r = 0; r < torus.ranks(); ++r) {
        owners[tree.place(r, part).own] = r;
    }
    return owners;
}

}  // namespace trefoil
