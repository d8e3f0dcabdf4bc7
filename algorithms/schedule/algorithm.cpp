// SPDX-License-Identifier: BSD-3-Clause
// What may be asked of an algorithm, and the words for it.
#include "algorithms/schedule/algorithm.hpp"

#include <numeric>

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
    return missing.empty() ? shape_refusal(torus) : std::string(name) + " " + missing;
}

std::vector<Rank> Algorithm::block_owners(const Torus& torus, const BuildOptions& options,
                                          int part) const {
    if (set != nullptr && !set->owners.empty()) {
        return set->owners[static_cast<std::size_t>(part)];
    }
    if (owners != nullptr) {
        return owners(torus, options, part);
    }
    std::vector<Rank> ranks(torus.ranks());
    std::iota(ranks.begin(), ranks.end(), 0);
    return ranks;
}

}  // namespace trefoil
