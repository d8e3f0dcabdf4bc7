// SPDX-License-Identifier: BSD-3-Clause
// sparbit: allgather at distances ..., 4, 2, 1, each block where it belongs, on any torus.
//
// Loch and Koslovski, "Sparbit: a new logarithmic-cost and data locality-aware MPI Allgather
// algorithm", arXiv:2109.08751, 2021. On a ring of d, before the step of distance 2^k rank r holds
// the blocks r - o for all multiples o < d of 2^(k+1); it sends to r + 2^k those that are new
// there, o + 2^k < d. So far ranks exchange least and near ones most, and no block is ever moved to
// another place; messages are several extents instead. ceil(log2 d) steps per dimension, (n-1)/n of
// the vector sent by everyone. It is the reverse in time of a reduce-scatter along binary digits
// (algorithms/rings/digit_ring.hpp). 2D parts: D plain, D mirrored, dimensions interleaved.
#include <memory>

#include "algorithms/bandwidth/builders.hpp"
#include "algorithms/bandwidth/product.hpp"
#include "algorithms/rings/digit_ring.hpp"
#include "algorithms/schedule/by_size.hpp"

namespace trefoil {

Schedule build_sparbit_allgather(const Torus& torus, Rank rank) {
    const auto parts = interleaved_parts(by_size(torus, [](Rank size) -> RingPair {
        const auto mirror = std::make_shared<DigitRing>(size, 2);
        return {mirrored(mirror), mirror};
    }));
    return product_schedule(torus, rank, parts, Collective::allgather, Layout::block_by_block);
}

}  // namespace trefoil
