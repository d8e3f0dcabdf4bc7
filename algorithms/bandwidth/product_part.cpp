// SPDX-License-Identifier: BSD-3-Clause
// Parts whose dimensions take turns.
#include "algorithms/bandwidth/product_part.hpp"

#include <utility>

#include "algorithms/schedule/interleave.hpp"

namespace trefoil {

std::vector<int> interleaved_order(const std::vector<std::shared_ptr<const RingScatter>>& rings,
                                   int part) {
    std::vector<int> steps;
    for (const auto& ring : rings) {
        steps.push_back(ring->steps());
    }
    return interleaved(steps, part);
}

std::vector<ProductPart> interleaved_parts(const std::vector<RingPair>& pairs) {
    std::vector<std::shared_ptr<const RingScatter>> plain, mirror;
    int moving = 0;
    for (const RingPair& pair : pairs) {
        plain.push_back(pair.plain);
        mirror.push_back(pair.mirror);
        moving += pair.plain->size() > 1 ? 1 : 0;
    }
    if (moving == 0) {
        return {{plain, {}}};
    }
    std::vector<ProductPart> parts;
    for (const auto* rings : {&plain, &mirror}) {
        for (int p = 0; p < moving; ++p) {
            parts.push_back({*rings, interleaved_order(*rings, p)});
        }
    }
    return parts;
}

ProductPart first_part(std::vector<std::shared_ptr<const RingScatter>> plain) {
    std::vector<int> order = interleaved_order(plain, 0);
    return {std::move(plain), std::move(order)};
}

}  // namespace trefoil
