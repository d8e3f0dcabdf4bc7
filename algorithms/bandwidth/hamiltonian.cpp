// SPDX-License-Identifier: BSD-3-Clause
// hamiltonian: the ring algorithm on two edge-disjoint Hamiltonian cycles of a 2-D torus.
//
// As in De Sensi et al., Swing, NSDI 2024. Four parts, both cycles both ways round, each a
// ring of all p ranks. Reduce-scatter, step k: the rank at time t sends block t-1-k, a partial sum
// that it has just extended, to the rank at t+1, and ends with block t. Allgather, step k: it sends
// block t-k. p-1 steps per phase, to neighbours only; every link carries one block of 1/(4p) of the
// vector in each step. Only where the cycles exist (algorithms/bandwidth/hamiltonian_cycles.hpp).
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "algorithms/bandwidth/builders.hpp"
#include "algorithms/bandwidth/hamiltonian_cycles.hpp"

namespace trefoil {

namespace {

/// Of the two links of a pair, one for each cycle.
Port port_of(const Torus& torus, int cycle, Rank from, Rank to) {
    const Port first = torus.first_port(from, to);
    const bool other = cycle == 1 && torus.is_tie(from, to, first.dimension());
    return other ? first.opposite() : first;
}

/// One part: a cycle in one sense. Block b is that of the rank at time sense * b.
class CyclePart {
  public:
    CyclePart(const Torus& torus, const HamiltonianCycles& cycles, int part)
        : torus_(torus), cycles_(cycles), cycle_(part % 2), sense_(part < 2 ? 1 : -1) {}

    Rank owner(Block block) const {
        return cycles_.at(cycle_, wrapped(sense_ * static_cast<std::int64_t>(block)));
    }

    void write(ScheduleWriter& writer, Rank rank, Collective collective) {
        const Rank p = torus_.ranks();
        place_ = wrapped(sense_ * cycles_.time(cycle_, rank));
        next_ = owner(static_cast<Block>(wrapped(place_ + 1)));
        previous_ = owner(static_cast<Block>(wrapped(place_ - 1)));
        out_ = port_of(torus_, cycle_, rank, next_);
        in_ = port_of(torus_, cycle_, previous_, rank).opposite();
        writer.part(static_cast<Block>(p));
        if (collective != Collective::allgather) {
            for (Rank k = 0; k < p - 1; ++k) {
                write_step(writer, Action::reduce, place_ - 1 - k);
            }
        }
        if (collective != Collective::reduce_scatter) {
            for (Rank k = 0; k < p - 1; ++k) {
                write_step(writer, Action::replace, place_ - k);
            }
        }
    }

  private:
    Rank wrapped(std::int64_t time) const {
        const std::int64_t p = torus_.ranks();
        return static_cast<Rank>(((time % p) + p) % p);
    }

    void write_step(ScheduleWriter& writer, Action action, std::int64_t sent) const {
        const Extent source{static_cast<Block>(wrapped(sent)), 1};
        const Extent target{static_cast<Block>(wrapped(sent - 1)), 1};
        writer.step();
        writer.send(next_, out_, {&source, 1});
        writer.receive(previous_, in_, action, {&target, 1});
    }

    const Torus& torus_;
    const HamiltonianCycles& cycles_;
    int cycle_;
    int sense_;
    Rank place_ = 0, next_ = 0, previous_ = 0;
    Port out_, in_;
};

/// All steps are alike. The ranks of a node share its links.
LinkStep step_of_nodes(const Torus& torus) {
    const HamiltonianCycles cycles(torus);
    const Rank ranks = torus.ranks();
    const auto ports = static_cast<std::size_t>(torus.ports());
    std::vector<std::int64_t> of_links(ports * torus.nodes().ranks());
    std::vector<int> of_ports(ports * ranks);
    std::vector<std::int64_t> sent(ranks), received(ranks);  // inside nodes
    const auto count = [&](int cycle, Rank from, Rank to) {
        const Port port = port_of(torus, cycle, from, to);
        if (torus.is_host(port.dimension())) {
            ++sent[from];
            ++received[to];
            return;
        }
        of_links[ports * torus.node_of(from) + port.index] += 2;
        ++of_ports[ports * from + port.index];
    };
    for (const int cycle : {0, 1}) {
        for (Rank time = 0; time < ranks; ++time) {
            const Rank one = cycles.at(cycle, time);
            const Rank next = cycles.at(cycle, time + 1 == ranks ? 0 : time + 1);
            count(cycle, one, next);
            count(cycle, next, one);
        }
    }
    LinkStep step;
    step.load = std::ranges::max(of_links);
    step.hops = step.load > 0 ? 1 : 0;
    step.through_port = std::ranges::max(of_ports);
    step.most_inside = std::max(std::ranges::max(sent), std::ranges::max(received));
    step.blocks_inside = std::accumulate(sent.begin(), sent.end(), std::int64_t{0});
    return step;
}

Schedule build(const Torus& torus, Rank rank, Collective collective) {
    const HamiltonianCycles cycles(torus);
    ScheduleWriter writer(rank);
    writer.reserve(8 * static_cast<std::size_t>(torus.ranks()));
    for (int part = 0; part < 4; ++part) {
        CyclePart(torus, cycles, part).write(writer, rank, collective);
    }
    return writer.take();
}

}  // namespace

Schedule build_hamiltonian_allreduce(const Torus& torus, Rank rank) {
    return build(torus, rank, Collective::allreduce);
}

Schedule build_hamiltonian_reduce_scatter(const Torus& torus, Rank rank) {
    return build(torus, rank, Collective::reduce_scatter);
}

Schedule build_hamiltonian_allgather(const Torus& torus, Rank rank) {
    return build(torus, rank, Collective::allgather);
}

LinkSteps hamiltonian_links(const Torus& torus, int phases) {
    // Where each rank is a node, each link carries a block of one of the four parts.
    const LinkStep step = torus.per_node() > 1 ? step_of_nodes(torus) : LinkStep{2, 1, 1};
    LinkSteps links{4, {}, 0};
    links.steps.assign(
        static_cast<std::size_t>(phases) * static_cast<std::size_t>(torus.ranks() - 1), step);
    links.messages_inside = step.blocks_inside * std::ssize(links.steps);
    return links;
}

std::vector<Rank> hamiltonian_owners(const Torus& torus, const BuildOptions& /*options*/,
                                     int part) {
    const HamiltonianCycles cycles(torus);
    const CyclePart cycle(torus, cycles, part);
    std::vector<Rank> owners(torus.ranks());
    for (std::size_t b = 0; b < owners.size(); ++b) {
        owners[b] = cycle.owner(static_cast<Block>(b));
    }
    return owners;
}

}  // namespace trefoil
