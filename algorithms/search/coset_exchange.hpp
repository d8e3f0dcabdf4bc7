// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of as few steps as there can be, after which every rank has something of all.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/search/ways.hpp"

namespace trefoil {

struct ExchangeMessage {
    Rank from = 0, to = 0;
    Port port;  ///< of the sender
};

/// Before a step the ranks of a class have the same: of all ranks of the class. In the step some
/// classes become one: each of their ranks hears from one rank of each of the others.
struct ExchangeStep {
    std::vector<Rank> classes;              ///< before it, by rank; they have numbers of any kind
    std::vector<ExchangeMessage> messages;  ///< by receiver, then by class of the sender
};

struct Exchange {
    std::vector<ExchangeStep> steps;
    int per_port = 1;  ///< messages that leave a rank through one port in a step, at most
    int hops = 0;      ///< the sum of the steps' longest ways
    int stored = 0;    ///< messages that a rank stores before it uses them, at most
};

/// The places of a torus are the elements of a group, and classes are the cosets of a subgroup of
/// it. From step to step subgroups grow, from one element to all: 2, 3, 4, ... times, as many as a
/// rank's ports serve. A coset's ranks all have the same, so that each rank hears from those that
/// are near and have a port that is free, by the ways of the network. What is found is the cheapest
/// chain of subgroups as the default cost model weighs steps, hops and further messages through a
/// port, and with `stores` messages that wait to be added in the same order on all ranks. With
/// coordinates as digits and ports left out, that is recursive multiplying (Ruefenacht, Bull and
/// Booth, Parallel Computing 69, 2017).
///
/// Nothing: there is no chain, as the number of places has a large prime factor; or none is found
/// within `work` looks at a possible message, or ports are too few where nodes are missing.
std::optional<Exchange> find_coset_exchange(const Torus& torus, const WayTable& ways, bool stores,
                                            std::int64_t work = 8'000'000);

}  // namespace trefoil
