// SPDX-License-Identifier: BSD-3-Clause
// Ports for circuits, and ways along ports.
#include "algorithms/rewiring/port_circuits.hpp"

#include <array>
#include <map>
#include <set>
#include <utility>

#include "topo/error.hpp"

namespace trefoil {

namespace {

/// Which of a node's two ports of a dimension are taken.
using Taken = std::vector<std::array<bool, ports_per_dimension>>;

Port take_port(Taken& taken, Rank rank, int dimension) {
    for (const Port port : {Port::plus(dimension), Port::minus(dimension)}) {
        bool& used = taken[rank][port.index % ports_per_dimension];
        if (!used) {
            used = true;
            return port;
        }
    }
    throw Error(Status::internal, "rank " + std::to_string(rank) + " has more circuits than ports");
}

std::string name(Rank rank, Port port) {
    return "port " + to_string(port) + " of rank " + std::to_string(rank);
}

/// Ranks that can be reached along circuits of one dimension.
std::set<Rank> reach(Rank from, const std::multimap<Rank, Rank>& next) {
    std::set<Rank> seen{from};
    std::vector<Rank> open{from};
    while (!open.empty()) {
        const Rank at = open.back();
        open.pop_back();
        const auto [first, end] = next.equal_range(at);
        for (auto edge = first; edge != end; ++edge) {
            if (seen.insert(edge->second).second) {
                open.push_back(edge->second);
            }
        }
    }
    return seen;
}

}  // namespace

std::vector<PortCircuit> port_circuits(const Torus& torus, int dimension,
                                       const DimensionWiring& wiring, const WiringLimits& limits) {
    std::vector<PortCircuit> result;
    if (wiring.is_shifted()) {
        for (Rank r = 0; torus.size(dimension) > 1 && r < torus.ranks(); ++r) {
            for (const Port port : {Port::plus(dimension), Port::minus(dimension)}) {
                const Rank to = torus.shifted(r, dimension, port.sign() * wiring.stride);
                result.push_back({r, port, to, port.opposite()});
            }
        }
        return result;
    }
    Taken out(static_cast<std::size_t>(torus.ranks())), in(out.size());
    for (const Circuit& c : wiring.circuits) {
        for (int i = 0; i < c.count; ++i) {
            if (!limits.paired) {
                const Port leaves = take_port(out, c.from, dimension);
                result.push_back({c.from, leaves, c.to, take_port(in, c.to, dimension)});
            } else if (c.from < c.to) {
                const Port here = take_port(out, c.from, dimension);
                const Port there = take_port(out, c.to, dimension);
                result.push_back({c.from, here, c.to, there});
                result.push_back({c.to, there, c.from, here});
            }
        }
    }
    return result;
}

std::string circuits_refusal(const Torus& torus, const StepLegs& step,
                             const std::vector<PortCircuit>& circuits) {
    std::set<std::pair<Rank, Port>> out, in;
    std::vector<std::multimap<Rank, Rank>> next(torus.dimensions());
    for (const PortCircuit& c : circuits) {
        const int j = c.out.dimension();
        if (c.in.dimension() != j ||
            torus.with_coordinate(c.from, j, 0) != torus.with_coordinate(c.to, j, 0)) {
            return "the circuit from " + name(c.from, c.out) + " to " + name(c.to, c.in) +
                   " leaves its row";
        }
        if (!out.insert({c.from, c.out}).second) {
            return name(c.from, c.out) + " sends into two circuits";
        }
        if (!in.insert({c.to, c.in}).second) {
            return name(c.to, c.in) + " receives from two circuits";
        }
        next[j].insert({c.from, c.to});
    }
    for (int j = 0; j < torus.dimensions(); ++j) {
        std::map<Rank, std::set<Rank>> known;
        for (const Leg& leg : step.legs[j]) {
            const auto [place, is_new] = known.try_emplace(leg.from);
            if (is_new) {
                place->second = reach(leg.from, next[j]);
            }
            if (!place->second.contains(leg.to)) {
                return "step " + std::to_string(step.step) + ": there is no way from rank " +
                       std::to_string(leg.from) + " to rank " + std::to_string(leg.to);
            }
        }
    }
    return {};
}

}  // namespace trefoil
