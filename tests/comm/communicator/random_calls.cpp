// SPDX-License-Identifier: BSD-3-Clause
// Draws collectives, algorithms, roots, counts and forms.
#include "random_calls.hpp"

#include "algorithms/registry/registry.hpp"

namespace trefoil::test {

std::vector<NamedAlgorithm> algorithms_for(const Torus& torus) {
    std::vector<NamedAlgorithm> names;
    for (const Algorithm& a : algorithms()) {
        if (a.refusal(torus).empty()) {
            names.push_back({a.collective, std::string(a.name), a.traits.vector_variant});
        }
        if (a.refusal(torus, {.by_node = true}).empty()) {
            names.push_back({a.collective, std::string(a.name) + ":by-node"});
        }
    }
    return names;
}

/// What all ranks do in one call; drawn from a generator that all ranks seed alike.
CollectiveCase draw(std::mt19937& shared, const std::vector<NamedAlgorithm>& names, int ranks) {
    CollectiveCase what;
    const NamedAlgorithm& named = names[shared() % names.size()];
    what.collective = named.collective;
    what.algorithm = shared() % 4 == 0 ? "auto" : named.name;
    what.root = traits_of(what.collective).rooted() ? static_cast<int>(shared()) % ranks : 0;
    what.root = what.root < 0 ? -what.root : what.root;
    const std::size_t magnitude = std::size_t{1} << shared() % 16;
    what.count = shared() % (4 * magnitude);
    what.in_place = shared() % 2 == 0;
    what.salt = static_cast<std::int64_t>(shared() % 1000);
    const CollectiveTraits& row = traits_of(what.collective);
    if (row.has_blocks()) {
        what.count /= static_cast<std::size_t>(ranks);
    }
    if (row.blocks_have_owners() || named.any_sizes) {
        for (int r = 0; shared() % 3 == 0 && r < ranks; ++r) {
            what.counts.push_back(shared() % (what.count + 1));
        }
        what.counts.resize(what.counts.empty() ? 0 : static_cast<std::size_t>(ranks), 1);
    }
    return what;
}

}  // namespace trefoil::test
