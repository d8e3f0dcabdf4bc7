// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms: scan and exscan.
#include <algorithm>

#include "algorithms/analysis/pipeline_pieces.hpp"
#include "algorithms/registry/entries.hpp"
#include "algorithms/scans/builders.hpp"

namespace trefoil {

namespace {

using namespace table;
using enum Collective;

template <Collective collective>
Schedule doubling(const Torus& torus, Rank rank, const BuildOptions&) {
    return build_scan_doubling(collective, torus, rank);
}

template <Collective collective>
Schedule chain(const Torus& torus, Rank rank, const BuildOptions& options) {
    return build_scan_chain(collective, torus, rank, options);
}

/// Each piece is a part, and more of them cost more to keep than they gain.
constexpr Block most_pieces_of_chain = 64;

Block pieces_of_chain(const Torus& torus, const CostModel& model, double vector_bytes,
                      Block segments) {
    return std::min(most_pieces_of_chain,
                    best_pieces(model, torus.ranks() - 2, vector_bytes, 1, segments));
}

template <Collective collective>
constexpr Algorithm doubling_entry() {
    return {
        .name = "doubling",
        .collective = collective,
        .summary = "windows of 1, 2, 4, ... ranks joined in rank order; log2 p steps",
        .paper = "Hillis and Steele, Communications of the ACM 1986",
        .shapes = "every torus",
        .traits = nested,
        .shape_refusal = every_torus,
        .builder = doubling<collective>,
        .landing_vectors = one,
    };
}

template <Collective collective>
constexpr Algorithm chain_entry() {
    return {
        .name = "chain",
        .collective = collective,
        .summary = "a pipeline from each rank to the next; every byte sent once",
        .paper = "Sanders and Traeff, EuroPVM/MPI 2006",
        .shapes = "every torus",
        .traits = ordered_scattered,
        .abilities = {.pieces = true},
        .shape_refusal = every_torus,
        .builder = chain<collective>,
        .landing_vectors = one,
        .best_pieces = pieces_of_chain,
    };
}

constexpr Algorithm scans_table[] = {
    doubling_entry<scan>(),
    chain_entry<scan>(),
    doubling_entry<exscan>(),
    chain_entry<exscan>(),
};

}  // namespace

std::span<const Algorithm> scan_entries() {
    return scans_table;
}

}  // namespace trefoil
