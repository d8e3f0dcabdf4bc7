// SPDX-License-Identifier: BSD-3-Clause
// linear: allreduce, barrier, bcast, reduce, gather and scatter without a tree, on any torus.
//
// One part. In each step the root exchanges one message through each of its ports, with the nearest
// of those who are left there. A rank whose coordinates differ in several dimensions may use a port
// of any of them: the port with the fewest messages so far. So there are about (p-1)/2D steps;
// single-port: p-1, one rank after the other.
//
// reduce: everything that arrives at the root waits in scratch until all is there, and is then
// reduced in the order of the ranks from the left. allreduce: the same at rank 0, then bcast. That
// is many steps for rank 0, but two messages per rank and one wait for all others: nothing is
// faster for tiny vectors where ranks share cores. barrier: the same without data.
#include "algorithms/latency/linear.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>

namespace trefoil {

namespace {

/// What the root exchanges with one rank.
struct RootTurn {
    Rank peer = 0;
    Port port;  ///< the root's
    int step = 0;
};

/// The ports of `root` that begin a shortest way to `peer` within one dimension.
std::vector<Port> ports_towards(const Torus& torus, Rank root, Rank peer) {
    std::vector<Port> ports;
    for (int j = 0; j < torus.dimensions(); ++j) {
        if (torus.is_host(j) && !torus.on_one_node(root, peer)) {
            continue;
        }
        const std::int64_t apart = torus.displacement(root, peer, j);
        if (apart > 0) {
            ports.push_back(Port::plus(j));
        }
        if (apart < 0 || torus.is_tie(root, peer, j)) {
            ports.push_back(Port::minus(j));
        }
    }
    return ports;
}

/// By step. Those with the fewest ports to choose from come first, then the nearest.
std::vector<RootTurn> find_turns(const Torus& torus, Rank root, bool single_port) {
    struct Candidate {
        RootTurn turn;
        std::vector<Port> ports;
        std::int64_t hops;
    };
    std::vector<Candidate> candidates;
    for (Rank r = 0; r < torus.ranks(); ++r) {
        if (r != root) {
            candidates.push_back({{r, {}, 0}, ports_towards(torus, root, r), torus.hops(root, r)});
        }
    }
    std::stable_sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
        return a.ports.size() < b.ports.size() ||
               (a.ports.size() == b.ports.size() && a.hops < b.hops);
    });
    std::vector<int> used(torus.ports(), 0);
    std::vector<RootTurn> result;
    for (Candidate& c : candidates) {
        c.turn.port = *std::min_element(c.ports.begin(), c.ports.end(), [&](Port a, Port b) {
            return used[a.index] < used[b.index];
        });
        c.turn.step = used[c.turn.port.index]++;
        result.push_back(c.turn);
    }
    if (single_port) {
        std::sort(result.begin(), result.end(), [&](const RootTurn& a, const RootTurn& b) {
            const auto after_root = [&](const RootTurn& t) {
                return t.peer > root ? t.peer - root : t.peer - root + torus.ranks();
            };
            return after_root(a) < after_root(b);
        });
        for (std::size_t i = 0; i < result.size(); ++i) {
            result[i].step = static_cast<int>(i);
        }
    }
    std::stable_sort(result.begin(), result.end(),
                     [](const RootTurn& a, const RootTurn& b) { return a.step < b.step; });
    return result;
}

/// The turns that were found last are kept: who builds the schedules of all ranks, one after
/// the other, needs the same ones each time, and they take longer to find than all else.
std::shared_ptr<const std::vector<RootTurn>> turns(const Torus& torus,
                                                   const BuildOptions& options) {
    struct Found {
        std::optional<Torus> torus;
        Rank root = 0;
        bool single_port = false;
        std::shared_ptr<const std::vector<RootTurn>> turns;
    };
    static std::mutex mutex;
    static auto& last = *new Found;
    const std::lock_guard lock(mutex);
    if (last.torus != torus || last.root != options.root ||
        last.single_port != options.single_port) {
        last = {torus, options.root, options.single_port,
                std::make_shared<const std::vector<RootTurn>>(
                    find_turns(torus, options.root, options.single_port))};
    }
    return last.turns;
}

class LinearWriter {
  public:
    LinearWriter(Collective collective, const Torus& torus, Rank rank, const BuildOptions& options)
        : collective_(collective),
          ranks_(torus.ranks()),
          rank_(rank),
          root_(options.root),
          turns_(turns(torus, options)),
          writer_(rank) {
        if (!turns_->empty()) {
            steps_ = turns_->back().step + 1;
        }
    }

    Schedule write() {
        const bool reduces = traits_of(collective_).reduces;
        const bool collects = reduces || collective_ == Collective::gather || is_barrier();
        writer_.part(traits_of(collective_).blocks_have_owners() ? static_cast<Block>(ranks_) : 1,
                     reduces ? static_cast<Block>(ranks_ - 1) : 0);
        if (collects) {
            take_turns(false);
        }
        if (reduces) {
            writer_.step();
            if (rank_ == root_) {
                fold();
            }
        }
        if (!collects || collective_ == Collective::allreduce || is_barrier()) {
            take_turns(true);
        }
        return writer_.take();
    }

  private:
    bool is_barrier() const { return collective_ == Collective::barrier; }
    /// Where the message of `peer` is, in its own buffer and, but for reduce, in the root's.
    Extent block(Rank peer) const {
        return {traits_of(collective_).blocks_have_owners() ? static_cast<Block>(peer) : 0, 1};
    }
    /// Where in the root's buffer a rank's contribution waits to be reduced.
    Block contribution(Rank rank) const {
        return rank == root_ ? 0 : static_cast<Block>(rank < root_ ? rank + 1 : rank);
    }

    void take_turns(bool from_root) {
        auto next = turns_->begin();
        for (int s = 0; s < steps_; ++s) {
            writer_.step();
            for (; next != turns_->end() && next->step == s; ++next) {
                exchange(*next, from_root);
            }
        }
    }

    void signal(const RootTurn& turn, bool from_root) {
        const bool is_root = rank_ == root_;
        if (!is_root && rank_ != turn.peer) {
            return;
        }
        const Rank other = is_root ? turn.peer : root_;
        const Port port = is_root ? turn.port : turn.port.opposite();
        if (is_root == from_root) {
            writer_.send(other, port, {});
        } else {
            writer_.receive(other, port);
        }
    }

    void exchange(const RootTurn& turn, bool from_root) {
        if (is_barrier()) {
            signal(turn, from_root);
            return;
        }
        const Extent own = block(turn.peer);
        if (rank_ == root_) {
            if (from_root) {
                writer_.send(turn.peer, turn.port, {&own, 1});
            } else {
                const Extent place =
                    traits_of(collective_).reduces ? Extent{contribution(turn.peer), 1} : own;
                writer_.receive(turn.peer, turn.port, Action::replace, {&place, 1});
            }
        } else if (rank_ == turn.peer) {
            if (from_root) {
                writer_.receive(root_, turn.port.opposite(), Action::replace, {&own, 1});
            } else {
                writer_.send(root_, turn.port.opposite(), {&own, 1});
            }
        }
    }

    /// Reduces into the place of rank 0's contribution, and copies the result home.
    void fold() {
        const Block sum = contribution(0);
        for (Rank r = 1; r < ranks_; ++r) {
            writer_.move(Action::reduce, {contribution(r), 1}, sum);
        }
        if (sum != 0) {
            writer_.move(Action::replace, {sum, 1}, 0);
        }
    }

    Collective collective_;
    Rank ranks_;
    Rank rank_;
    Rank root_;
    std::shared_ptr<const std::vector<RootTurn>> turns_;
    int steps_ = 0;
    ScheduleWriter writer_;
};

}  // namespace

Schedule build_linear(Collective collective, const Torus& torus, Rank rank,
                      const BuildOptions& options) {
    return LinearWriter(collective, torus, rank, options).write();
}

}  // namespace trefoil
