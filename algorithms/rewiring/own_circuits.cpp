// SPDX-License-Identifier: BSD-3-Clause
// From a step's messages to circuits, within the nodes' ports.
#include "algorithms/rewiring/own_circuits.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace trefoil {

namespace {

using Pair = std::pair<Rank, Rank>;

std::string listed(const std::set<Rank>& ranks) {
    std::string text;
    std::size_t shown = 0;
    for (const Rank r : ranks) {
        if (shown == 6) {
            return text + ", ...";
        }
        text += (shown++ == 0 ? "" : ", ") + std::to_string(r);
    }
    return text;
}

std::string too_many(Rank rank, const char* verb, const std::set<Rank>& peers, int dimension) {
    return "rank " + std::to_string(rank) + " " + verb + " " + std::to_string(peers.size()) +
           " others (" + listed(peers) + ") and has " + std::to_string(ports_per_dimension) +
           " ports in dimension " + std::to_string(dimension);
}

/// Pairs with two circuits give one back where a node needs its port for another peer.
void share_ports(std::vector<Circuit>& circuits, Rank ranks) {
    std::vector<int> out(static_cast<std::size_t>(ranks)), in(out.size());
    for (const Circuit& c : circuits) {
        out[c.from] += c.count;
        in[c.to] += c.count;
    }
    for (Circuit& c : circuits) {
        if (c.count > 1 && (out[c.from] > ports_per_dimension || in[c.to] > ports_per_dimension)) {
            out[c.from] -= c.count - 1;
            in[c.to] -= c.count - 1;
            c.count = 1;
        }
    }
}

}  // namespace

std::string port_shortage(const Torus& torus, int dimension, const std::vector<Circuit>& circuits,
                          const WiringLimits& limits) {
    std::vector<std::set<Rank>> to(static_cast<std::size_t>(torus.ranks())), from(to.size());
    std::vector<int> out(to.size()), in(to.size());
    for (const Circuit& c : circuits) {
        to[c.from].insert(c.to);
        from[c.to].insert(c.from);
        out[c.from] += c.count;
        in[c.to] += c.count;
    }
    for (Rank r = 0; r < torus.ranks(); ++r) {
        if (limits.paired) {
            std::set<Rank> both = to[r];
            both.insert(from[r].begin(), from[r].end());
            if (both.size() > ports_per_dimension) {
                return too_many(r, "sends to or receives from", both, dimension);
            }
        }
        if (out[r] > ports_per_dimension) {
            return too_many(r, "sends to", to[r], dimension);
        }
        if (in[r] > ports_per_dimension) {
            return too_many(r, "receives from", from[r], dimension);
        }
    }
    return {};
}

std::variant<std::monostate, DimensionWiring, Unwirable> own_wiring(const Torus& torus,
                                                                    const StepLegs& step,
                                                                    int dimension,
                                                                    const WiringLimits& limits) {
    const std::string named = "step " + std::to_string(step.step) + ": ";
    const std::vector<Leg>& legs = step.legs[dimension];
    if (legs.empty()) {
        return std::monostate{};
    }
    if (!step.straight) {
        return Unwirable{step.step, dimension,
                         named + "rank " + std::to_string(step.crossing_from) + " sends to rank " +
                             std::to_string(step.crossing_to) +
                             ", which differs from it in several dimensions, and a port is wired "
                             "along its own"};
    }
    std::map<Pair, unsigned> through;  // bit by sense of the port
    for (const Leg& leg : legs) {
        through[{leg.from, leg.to}] |= leg.port.sign() > 0 ? 1U : 2U;
    }
    std::vector<Circuit> circuits;
    circuits.reserve(through.size());
    for (const auto& [pair, senses] : through) {
        circuits.push_back({pair.first, pair.second, senses == 3 ? 2 : 1});
    }
    share_ports(circuits, torus.ranks());
    if (limits.paired) {  // the way back is there, too
        std::map<Pair, int> both;
        for (const Circuit& c : circuits) {
            for (const Pair& pair : {Pair(c.from, c.to), Pair(c.to, c.from)}) {
                both[pair] = std::max(both[pair], c.count);
            }
        }
        circuits.clear();
        for (const auto& [pair, count] : both) {
            circuits.push_back({pair.first, pair.second, count});
        }
        share_ports(circuits, torus.ranks());
        for (Circuit& c : circuits) {  // a circuit that one end gave back is gone at the other, too
            const auto back = std::ranges::find_if(
                circuits, [&](const Circuit& b) { return b.from == c.to && b.to == c.from; });
            c.count = std::min(c.count, back->count);
        }
    }
    const std::string shortage = port_shortage(torus, dimension, circuits, limits);
    if (!shortage.empty()) {
        return Unwirable{step.step, dimension, named + shortage};
    }
    return recognised(torus, dimension, std::move(circuits), step.step);
}

}  // namespace trefoil
