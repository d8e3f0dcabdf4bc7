// SPDX-License-Identifier: BSD-3-Clause
// Recursive doubling for latency: exchange of whole vectors with partners at distance 1, 2, 4, ...
// See Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in
// MPICH", IJHPCA 2005, section 4.5. log2(n) steps on a ring of a power of two, one vector sent in
// each. Two variants, which differ in their mirrored parts:
//
// recursive-doubling-l: in step k coordinate c meets c xor 2^k in plain parts, and the one equally
// far on its other side in mirrored parts: 2c - (c xor 2^k). Each port has one message, and the
// load of step k is level (2^k/2 vectors per link on a ring). But the mirrored windows overlap, so
// ranks associate sums in different ways.
//
// recursive-doubling-i: the mirrored parts are the plain ones, shifted by t coordinates. Groups
// remain nested, as on a hypercube: results are identical on all ranks. Step k loads links with
// (2^(k+1) - f)/2 vectors, where f is the distance of t from the next multiple of 2^(k+1); the
// binary digits 0101..01 of t keep f near 2/3 * 2^k for all k.
//
// Single-port: the plain part of either alone, which is the same, on all ranks in linear order.
// recursive-doubling-torus-l is that part with the dimensions of the torus in turn, as Swing's and
// Trivance's authors compare with.
#include <algorithm>

#include "algorithms/latency/builders.hpp"
#include "algorithms/latency/butterfly_allreduce.hpp"
#include "algorithms/rings/folded_ring.hpp"

namespace trefoil {

namespace {

Rank negated(Rank coordinate, Rank size) {
    return (size - coordinate) & (size - 1);
}

Rank facing_partner(Rank coordinate, int step, Rank size, bool mirrored) {
    const Rank distance = Rank{1} << step;
    if (!mirrored) {
        return coordinate ^ distance;
    }
    const Rank real = negated(coordinate, size);
    const bool ahead = (real & distance) != 0;  // the plain partner is behind: go ahead
    return negated((ahead ? real + distance : real - distance) & (size - 1), size);
}

Rank nested_partner(Rank coordinate, int step, Rank size, bool mirrored) {
    const Rank distance = Rank{1} << step;
    if (!mirrored) {
        return coordinate ^ distance;
    }
    const Rank shift = 0x55555555 & (size / 2 - 1);
    const Rank shifted = (negated(coordinate, size) - shift) & (size - 1);
    return negated(((shifted ^ distance) + shift) & (size - 1), size);
}

}  // namespace

Schedule build_recursive_doubling_l(const Torus& torus, Rank rank, const BuildOptions& options) {
    return options.single_port ? butterfly_allreduce_in_line(torus, rank, facing_partner)
                               : butterfly_allreduce(torus, rank, facing_partner);
}

Schedule build_recursive_doubling_i(const Torus& torus, Rank rank, const BuildOptions& options) {
    return options.single_port ? butterfly_allreduce_in_line(torus, rank, nested_partner)
                               : butterfly_allreduce(torus, rank, nested_partner);
}

Schedule build_recursive_doubling_torus_l(const Torus& torus, Rank rank) {
    return butterfly_allreduce_single_port(torus, rank, nested_partner);
}

ProductFlows recursive_doubling_l_flows(const Torus& torus) {
    return butterfly_flows(torus, facing_partner);
}

ProductFlows recursive_doubling_i_flows(const Torus& torus) {
    return butterfly_flows(torus, nested_partner);
}

int steps_of_recursive_doubling(const Torus& torus) {
    int steps = 0;
    for (const Rank size : torus.sizes()) {
        steps += size > 1 ? FoldedRing(size).steps() : 0;
    }
    return steps;
}

// All of a line's groups exchange whole vectors over 2^k coordinates or more in step k; either
// half of the parts may have its groups on other lines.
double load_of_recursive_doubling(const Torus& torus) {
    double most = 0;
    for (const Rank size : torus.sizes()) {
        const auto groups = static_cast<double>(FoldedRing(size).groups());
        most = std::max(most, groups * (groups - 1) / (4.0 * size));
    }
    return most;
}

}  // namespace trefoil
