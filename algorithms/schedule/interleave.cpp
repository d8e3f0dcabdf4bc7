// SPDX-License-Identifier: BSD-3-Clause
// The order in which concurrent parts move along the dimensions of a torus.
#include "algorithms/schedule/interleave.hpp"

namespace trefoil {

std::vector<int> interleaved(std::span<const int> steps, int part) {
    std::vector<int> moving;
    std::vector<int> left;
    int total = 0;
    for (std::size_t j = 0; j < steps.size(); ++j) {
        if (steps[j] > 0) {
            moving.push_back(static_cast<int>(j));
            left.push_back(steps[j]);
            total += steps[j];
        }
    }
    std::vector<int> order;
    const int dimensions = static_cast<int>(moving.size());
    for (int i = 0; i < total; ++i) {
        int at = (part + i) % dimensions;
        while (left[at] == 0) {
            at = (at + 1) % dimensions;
        }
        left[at] -= 1;
        order.push_back(moving[at]);
    }
    return order;
}

}  // namespace trefoil
