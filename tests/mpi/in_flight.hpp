// SPDX-License-Identifier: BSD-3-Clause
// What the two parts of the program about calls in flight share.
#pragma once

#include <algorithm>
#include <vector>

#include "check.hpp"

// MPICH 4.0.2's own give wrong results here, and no layer takes them.
inline const bool try_persistent = !trefoil::mpi::is_mpich();

namespace trefoil::mpi::test {

using Ints = std::vector<int>;

inline Ints filled(std::size_t count, int value = -1) {
    return Ints(count, value);
}

/// Where the numbers lie stays, as persistent calls want it.
inline void set(Ints& numbers, const Ints& to) {
    numbers.assign(to.begin(), to.end());
}

inline std::size_t size(int count) {
    return static_cast<std::size_t>(count);
}

/// The sum of input(r, i) over the ranks before `end`.
inline int sum_before(int end, int i) {
    int sum = 0;
    for (int r = 0; r < end; ++r) {
        sum += input(r, i);
    }
    return sum;
}

inline bool is_sum(const Ints& numbers, int end, int first = 0) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (numbers[i] != sum_before(end, first + static_cast<int>(i))) {
            return false;
        }
    }
    return true;
}

/// inputs of all ranks, one after the other.
inline bool is_all(const Ints& numbers, int count) {
    for (int r = 0; r < ranks; ++r) {
        const Ints theirs = inputs(r, count);
        if (!std::equal(theirs.begin(), theirs.end(), numbers.begin() + r * count)) {
            return false;
        }
    }
    return true;
}

/// every_way.cpp.
void check_every_way();

}  // namespace trefoil::mpi::test
