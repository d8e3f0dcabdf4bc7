// SPDX-License-Identifier: BSD-3-Clause
// Shifted rings are walked circuit by circuit; other wirings have their routes.
#include "algorithms/rewiring/circuit_loads.hpp"

#include <algorithm>

#include "algorithms/rewiring/circuit_routes.hpp"

namespace trefoil {

namespace {

/// By rank, what leaves it towards the node `stride` further, and `stride` back.
struct BothSenses {
    explicit BothSenses(Rank ranks)
        : plus(static_cast<std::size_t>(ranks)), minus(static_cast<std::size_t>(ranks)) {}
    std::vector<double> plus, minus;
};

void walk(const Torus& torus, const Leg& leg, int dimension, Rank stride, BothSenses& loads) {
    Rank ahead = 0, back = 0;
    for (Rank at = leg.from; at != leg.to; at = torus.shifted(at, dimension, stride)) {
        ++ahead;
    }
    for (Rank at = leg.from; at != leg.to; at = torus.shifted(at, dimension, -stride)) {
        ++back;
    }
    const bool tie = ahead == back;
    const bool plus = tie ? leg.split || leg.port.sign() > 0 : ahead < back;
    const bool minus = tie ? leg.split || leg.port.sign() < 0 : back < ahead;
    const double load = plus && minus ? leg.share / 2 : leg.share;
    for (Rank at = leg.from; plus && at != leg.to; at = torus.shifted(at, dimension, stride)) {
        loads.plus[static_cast<std::size_t>(at)] += load;
    }
    for (Rank at = leg.from; minus && at != leg.to; at = torus.shifted(at, dimension, -stride)) {
        loads.minus[static_cast<std::size_t>(at)] += load;
    }
}

std::vector<double> loads_of_stride(const Torus& torus, const StepLegs& step, int dimension,
                                    Rank stride) {
    BothSenses loads(torus.ranks());
    for (const Leg& leg : step.legs[dimension]) {
        walk(torus, leg, dimension, stride, loads);
    }
    std::vector<double> all;
    for (const Circuit& circuit : circuits_of_stride(torus, dimension, stride)) {
        const auto from = static_cast<std::size_t>(circuit.from);
        const bool ahead = torus.shifted(circuit.from, dimension, stride) == circuit.to;
        const bool back = torus.shifted(circuit.from, dimension, -stride) == circuit.to;
        all.push_back(std::max(ahead ? loads.plus[from] : 0, back ? loads.minus[from] : 0));
    }
    return all;
}

}  // namespace

std::vector<double> circuit_loads(const Torus& torus, const StepLegs& step, int dimension,
                                  const DimensionWiring& wiring) {
    return wiring.is_shifted()
               ? loads_of_stride(torus, step, dimension, wiring.stride)
               : loads_by_circuit(torus.ranks(), step.legs[dimension], wiring.circuits);
}

}  // namespace trefoil
