// SPDX-License-Identifier: BSD-3-Clause
// How much of a schedule's data goes from one group of hosts to another.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bench/traffic/allocation.hpp"
#include "comm/plan/choices.hpp"

namespace trefoil::tool {

/// What ranks send one another in a whole schedule, either way and summed over the messages; what
/// is pulled counts as sent.
class PairTraffic {
  public:
    PairTraffic(const Torus& torus, const Choice& choice);

    Rank ranks() const { return ranks_; }
    /// In vectors.
    double total() const { return total_; }
    /// In vectors: between hosts of different groups, if rank r runs on host
    /// order[(r + rotation) % ranks], and that is in group group_of[...].
    double crossing(std::span<const int> group_of, std::span<const Rank> order,
                    Rank rotation = 0) const;

  private:
    struct Pair {
        Rank low, high;
        double vectors;
    };
    Rank ranks_;
    double total_ = 0;
    std::vector<Pair> pairs_;
};

enum class HostOrder { given, rotated, aligned, least };
/// "given", ...; throws Error(invalid_argument).
HostOrder parse_host_order(const std::string& text);

struct Crossing {
    double vectors = 0;
    bool aligned = false;
    Rank rotation = 0;
    std::string order() const;  ///< "given", "given, rotated by 5", "aligned"
};

/// The least in the orders that are allowed: as given; as given, rotated by any number; aligned;
/// or all of these, aligned ones rotated, too. Of equals the first.
Crossing least_crossing(const PairTraffic& traffic, const Allocation& allocation, HostOrder orders);

}  // namespace trefoil::tool
