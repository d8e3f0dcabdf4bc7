// SPDX-License-Identifier: BSD-3-Clause
// What may be asked of an algorithm, and how it is answered: by itself, by node, or by a set of
// schedules.
#include "algorithms/schedule/algorithm.hpp"

#include <numeric>

#include "algorithms/schedule/by_node.hpp"

namespace trefoil {

std::string Algorithm::refusal(const Torus& torus, const BuildOptions& options) const {
    if (traits_of(collective).rooted() && (options.root < 0 || options.root >= torus.ranks())) {
        return "there is no rank " + std::to_string(options.root) +
               " to be the root; ranks are 0 to " + std::to_string(torus.ranks() - 1);
    }
    if (set != nullptr && set->torus.sizes() != torus.sizes()) {
        return "it was made for the torus " + set->torus.name();
    }
    if (set != nullptr && traits_of(collective).rooted() && set->root != options.root) {
        return "it was made for root " + std::to_string(set->root);
    }
    const std::string missing = not_understood(options, abilities);
    if (set != nullptr) {
        return missing.empty() ? "" : std::string(name) + " " + missing;
    }
    return !missing.empty()  ? std::string(name) + " " + missing
           : options.by_node ? by_node_refusal(*this, torus, options)
                             : shape_refusal(torus);
}

Schedule Algorithm::build(const Torus& torus, Rank rank, const BuildOptions& options) const {
    return set != nullptr    ? set->schedules[static_cast<std::size_t>(rank)]
           : options.by_node ? build_by_node(*this, torus, rank, options)
                             : builder(torus, rank, options);
}

double Algorithm::landing(const Torus& torus, const BuildOptions& options) const {
    return set != nullptr    ? landing_needs(*set).vectors
           : options.by_node ? by_node_landing(*this, torus, options)
                             : landing_vectors(torus, options);
}

std::vector<Rank> Algorithm::block_owners(const Torus& torus, const BuildOptions& options,
                                          int part) const {
    if (set != nullptr && !set->owners.empty()) {
        return set->owners[static_cast<std::size_t>(part)];
    }
    if (options.by_node) {
        return by_node_owners(*this, torus, options, part);
    }
    if (owners != nullptr) {
        return owners(torus, options, part);
    }
    std::vector<Rank> ranks(torus.ranks());
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

Block Algorithm::pieces(const Torus& torus, const BuildOptions& options, const CostModel& model,
                        double vector_bytes, Block segments) const {
    if (best_pieces == nullptr) {
        return 0;
    }
    // Each leader has its share of the vector.
    return options.by_node
               ? best_pieces(torus.nodes(), model, vector_bytes / torus.per_node(), segments)
               : best_pieces(torus, model, vector_bytes, segments);
}

std::vector<Rank> Algorithm::alike_ranks(const Torus& torus, const BuildOptions& options) const {
    const BuildOptions known{.root = options.root, .by_node = options.by_node};
    if (alike == nullptr || options != known) {
        return {};
    }
    return options.by_node ? by_node_alike(*this, torus) : alike(torus);
}

bool Selection::only_by_name_on(const Torus& torus) const {
    if (most_ranks == 0) {
        return true;
    }
    if (tori == Tori::all || !torus.is_whole()) {
        return false;
    }
    // To find trees takes longer there than the first choice of an algorithm should.
    constexpr Rank most_unequal = 256;
    Rank size = 1;
    bool unequal = false;
    for (int j = 0; j < torus.dimensions(); ++j) {
        if (!torus.is_host(j) && torus.size(j) > 1) {
            unequal |= size > 1 && torus.size(j) != size;
            size = torus.size(j);
        }
    }
    return tori == Tori::not_whole || !unequal || torus.ranks() / torus.per_node() > most_unequal;
}

Traits Algorithm::traits_with(const BuildOptions& options) const {
    Traits with = traits;
    if (options.by_node) {  // each node reduces first, by itself
        with.order_preserving = false;
        with.vector_variant = false;
    }
    return with;
}

}  // namespace trefoil
