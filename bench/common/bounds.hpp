// SPDX-License-Identifier: BSD-3-Clause
// The bound of throughput beside what an algorithm takes.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "algorithms/packing/bounds.hpp"

namespace trefoil::tool {

/// Nothing for nodes of several ranks, for more than 256 ranks, which would take long, and where
/// links that are down leave no way.
std::optional<ThroughputBound> shown_bound(const Torus& torus, Collective collective, Rank root);

/// "8/17 vectors at the rate of a link (0.470588)"
std::string bound_text(const ThroughputBound& bound);

/// The bound with its proof, its network and the bound of latency: for programs that check it.
nlohmann::ordered_json bound_json(const Torus& torus, Collective collective, Rank root,
                                  const ThroughputBound& bound);

/// `trefoil plan --bound`.
int print_bound(const Torus& torus, Collective collective, Rank root, bool json);

}  // namespace trefoil::tool
