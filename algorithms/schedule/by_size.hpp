// SPDX-License-Identifier: BSD-3-Clause
// Dimensions of one size have one ring, which is made, and priced, once.
#pragma once

#include <algorithm>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

/// make(size) of each dimension, in their order; the same object (a shared pointer, say) for all of
/// one size.
template <typename Make>
auto by_size(const Torus& torus, Make&& make) {
    const std::vector<Rank>& sizes = torus.sizes();
    std::vector<decltype(make(Rank{}))> made;
    for (std::size_t j = 0; j < sizes.size(); ++j) {
        const auto same =
            static_cast<std::size_t>(std::ranges::find(sizes, sizes[j]) - sizes.begin());
        made.push_back(same < j ? made[same] : make(sizes[j]));
    }
    return made;
}

}  // namespace trefoil
