// SPDX-License-Identifier: BSD-3-Clause
// Swing for latency (swing-l): De Sensi et al., "Swing: Short-cutting Rings for Higher Bandwidth
// Allreduce", NSDI 2024, section 3; and bine-small, which is the same butterfly (De Sensi et al.,
// Bine trees, SC 2025, section 4). With a single port Swing goes along the dimensions of the torus
// in turn, and Bine along the ring of all ranks in linear order.
//
// Partners swing between the two ways round: in step s even coordinates meet c + rho(s), odd ones
// c - rho(s), with rho(s) = sum of (-2)^i for i = 0..s = 1, -1, 3, -5, 11, ... Partners are nearer
// than those of recursive doubling, so messages share links with fewer others. log2(n) steps on a
// ring of a power of two, one vector sent in each.
//
//     step 0   0--1  2--3  4--5  6--7
//     step 1   1--2  3--4  5--6  7--0
//     step 2   0--3  2--5  4--7  6--1
//
// From step 1 on neighbours hold sums over different, overlapping windows. They associate the same
// sum in different ways: results are not identical on all ranks (from rings of eight).
#include "algorithms/latency/builders.hpp"
#include "algorithms/latency/butterfly_allreduce.hpp"

namespace trefoil {

namespace {

Rank swing_partner(Rank coordinate, int step, Rank size, bool /*mirrored*/) {
    std::int64_t rho = 0;
    for (int i = 0; i <= step; ++i) {
        rho = 1 - 2 * rho;
    }
    const std::int64_t sum = coordinate + (coordinate % 2 == 0 ? rho : -rho);
    return static_cast<Rank>((sum % size + size) % size);
}

}  // namespace

Schedule build_swing_l(const Torus& torus, Rank rank, const BuildOptions& options) {
    return options.single_port ? butterfly_allreduce_single_port(torus, rank, swing_partner)
                               : butterfly_allreduce(torus, rank, swing_partner);
}

Schedule build_bine_small(const Torus& torus, Rank rank, const BuildOptions& options) {
    return options.single_port ? butterfly_allreduce_in_line(torus, rank, swing_partner)
                               : butterfly_allreduce(torus, rank, swing_partner);
}

ProductFlows swing_l_flows(const Torus& torus) {
    return butterfly_flows(torus, swing_partner);
}

}  // namespace trefoil
