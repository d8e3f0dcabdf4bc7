// SPDX-License-Identifier: BSD-3-Clause
// The choice of an algorithm: a pure function of what all ranks share.
#pragma once

#include <cstddef>
#include <optional>

#include "algorithms/algorithm.hpp"

namespace trefoil {

/// The algorithm that the cost model expects to be fastest for a vector of `bytes` bytes, among
/// those whose results are identical on all ranks and, if asked for, that reduce in rank order.
/// Equal on all ranks. Thread-safe; the first call for a collective and a torus builds schedules
/// (milliseconds up to a few hundred ranks), later ones look up. Throws Error(unsupported) when
/// there is none.
const Algorithm& select_algorithm(Collective collective, const Torus& torus, std::size_t bytes,
                                  bool in_rank_order = false);

/// The same choice with what it was made by, for people.
struct AlgorithmChoice {
    const Algorithm* algorithm = nullptr;
    std::optional<double> seconds;    ///< by the model; nothing: the torus is too large to price
    const Algorithm* next = nullptr;  ///< the second best; null: there is none
    std::optional<double> next_seconds;
};
/// Throws and is thread-safe as select_algorithm().
AlgorithmChoice choose_algorithm(Collective collective, const Torus& torus, std::size_t bytes,
                                 bool in_rank_order = false);

}  // namespace trefoil
