// SPDX-License-Identifier: BSD-3-Clause
// Comparing fractions.
#include "algorithms/packing/bound.hpp"

#include <utility>

namespace trefoil {

bool exceeds(const ThroughputBound& x, const ThroughputBound& y) {
    // By whole parts, then by what is left, turned over: nothing grows.
    std::int64_t a = x.numerator, b = x.denominator, c = y.numerator, d = y.denominator;
    while (true) {
        if (a / b != c / d) {
            return a / b > c / d;
        }
        a %= b;
        c %= d;
        if (a == 0 || c == 0) {
            return a > 0;
        }
        std::swap(a, d);
        std::swap(b, c);
    }
}

}  // namespace trefoil
