// SPDX-License-Identifier: BSD-3-Clause
// The choice of an algorithm: a pure function of what all ranks share.
#pragma once

#include <cstddef>

#include "algorithms/algorithm.hpp"

namespace trefoil {

/// The allreduce that the cost model expects to be fastest for a vector of `bytes` bytes, among
/// those whose results are identical on all ranks. Equal on all ranks. Thread-safe; the first call
/// for a torus builds schedules (milliseconds up to a few hundred ranks), later ones look up.
const Algorithm& select_allreduce(const Torus& torus, std::size_t bytes);

}  // namespace trefoil
