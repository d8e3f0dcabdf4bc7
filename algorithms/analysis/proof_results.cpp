// SPDX-License-Identifier: BSD-3-Clause
// What has come of a part when all its steps have run.
#include "algorithms/analysis/proof.hpp"

namespace trefoil {

void PartProof::require_results() {
    for (Rank r = 0; r < torus_.ranks() && !findings_.enough(); ++r) {
        for (Block b = 0; b < vector_blocks_; ++b) {
            if (ends_with(r, b)) {
                require_result(r, b);
            }
        }
    }
}

void PartProof::require_result(Rank rank, Block block) {
    const std::size_t at = index(rank, block);
    if (row_.is_prefix()) {
        require_prefix(rank, block);
        return;
    }
    if (row_.reduces) {
        if (!buffers_.holds_all(at)) {
            findings_.add(part_, step_, rank,
                          "at the end block " + std::to_string(block) +
                              " is incomplete: it holds " +
                              std::to_string(buffers_.contributors(at)) + " of " +
                              std::to_string(torus_.ranks()) + " contributions");
        }
        return;
    }
    if (blocks_both_ways()) {
        const Origin origin = origin_of(rank, block);
        if (!buffers_.is_own_of(at, origin.rank, origin.block)) {
            findings_.add(part_, step_, rank,
                          "at the end block " + std::to_string(block) + " is not what rank " +
                              std::to_string(origin.rank) + " had for this rank");
        }
        return;
    }
    const Rank source = row_.in.holders == Holders::root ? goal_.root : owner(block);
    if (!buffers_.is_own_of(at, source)) {
        findings_.add(part_, step_, rank,
                      "at the end block " + std::to_string(block) + " is not what rank " +
                          std::to_string(source) + " had at the beginning");
    }
}

/// Of a received block.
PartProof::Origin PartProof::origin_of(Rank rank, Block block) const {
    const auto from = static_cast<int>(block - row_.sent_blocks(torus_));
    if (!row_.with_neighbours()) {
        return {static_cast<Rank>(from), static_cast<Block>(rank)};
    }
    const bool alike = row_.in.data == Data::own_block;
    return {torus_.neighbour(rank, port_of_slot(from)),
            alike ? 0 : static_cast<Block>(opposite_slot(from))};
}

/// Its order is checked, too, and not only for operations that do not commute: a prefix is one.
void PartProof::require_prefix(Rank rank, Block block) {
    const std::size_t at = index(rank, block);
    const Rank wanted = row_.contributors(rank, torus_.ranks());
    if (!buffers_.is_in_order(at, wanted)) {
        findings_.add(part_, step_, rank,
                      "at the end block " + std::to_string(block) +
                          " is not the reduction of ranks 0 to " + std::to_string(wanted - 1) +
                          " in their order: it holds " + std::to_string(buffers_.contributors(at)) +
                          " contributions");
    }
}

bool PartProof::identical() const {
    for (Rank r = 1; r < torus_.ranks(); ++r) {
        for (Block b = 0; b < vector_blocks_; ++b) {
            if (buffers_.hash(index(r, b)) != buffers_.hash(index(0, b))) {
                return false;
            }
        }
    }
    return true;
}

bool PartProof::in_order() const {
    for (Rank r = 0; r < torus_.ranks(); ++r) {
        for (Block b = 0; b < vector_blocks_; ++b) {
            if (ends_with(r, b) &&
                !buffers_.is_left_fold(index(r, b), row_.contributors(r, torus_.ranks()))) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace trefoil
