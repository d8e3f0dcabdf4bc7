// SPDX-License-Identifier: BSD-3-Clause
// Shifted rings as circuits, and circuits as shifted rings.
#include "algorithms/rewiring/wiring.hpp"

#include <algorithm>
#include <cstdlib>

namespace trefoil {

std::vector<Circuit> circuits_of_stride(const Torus& torus, int dimension, Rank stride) {
    std::vector<Circuit> result;
    const Rank size = torus.size(dimension);
    if (size == 1) {
        return result;
    }
    const bool parallel = 2 * stride == size;
    result.reserve(static_cast<std::size_t>(torus.ranks()) * (parallel ? 1 : 2));
    for (Rank r = 0; r < torus.ranks(); ++r) {
        const Rank after = torus.shifted(r, dimension, stride);
        const Rank before = torus.shifted(r, dimension, -stride);
        if (parallel) {
            result.push_back({r, after, 2});
        } else {
            result.push_back({r, std::min(before, after), 1});
            result.push_back({r, std::max(before, after), 1});
        }
    }
    return result;
}

std::vector<Circuit> circuits_of(const Torus& torus, int dimension, const DimensionWiring& wiring) {
    return wiring.is_shifted() ? circuits_of_stride(torus, dimension, wiring.stride)
                               : wiring.circuits;
}

DimensionWiring recognised(const Torus& torus, int dimension, std::vector<Circuit> circuits,
                           int step) {
    const Rank size = torus.size(dimension);
    if (!circuits.empty()) {
        const Circuit& first = circuits.front();
        const auto apart =
            static_cast<Rank>(std::abs(torus.displacement(first.from, first.to, dimension)));
        if (apart > 0 && 2 * apart <= size &&
            circuits == circuits_of_stride(torus, dimension, apart)) {
            return {.stride = apart, .circuits = {}, .step = step};
        }
    }
    return {.stride = 0, .circuits = std::move(circuits), .step = step};
}

std::string to_string(const DimensionWiring& wiring) {
    if (wiring.is_ring()) {
        return "ring";
    }
    return wiring.is_shifted() ? "stride " + std::to_string(wiring.stride)
                               : "own circuits of step " + std::to_string(wiring.step);
}

}  // namespace trefoil
