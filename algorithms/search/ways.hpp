// SPDX-License-Identifier: BSD-3-Clause
// Hops and ports of the messages between any two ranks, looked up rather than worked out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "algorithms/schedule/to_index.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// Of every message from one rank to another: how many hops its way has, and through which ports it
/// may leave, as the verifier allows them. A port whose own link is down is left out unless there
/// is no other one.
class WayTable {
  public:
    using Ports = std::uint64_t;  ///< a bit for each
    static constexpr int most_ports = 64;

    /// At most `most_ports` ports. Takes time in proportion to ranks squared times the longest way.
    explicit WayTable(const Torus& torus);

    Rank ranks() const { return ranks_; }
    int ports() const { return ports_; }
    int hops(Rank from, Rank to) const { return hops_[at(from, to)]; }
    Ports ports_between(Rank from, Rank to) const { return allowed_[at(from, to)]; }
    /// All through which a rank may send to somebody.
    Ports ports_of(Rank from) const;
    /// How far the rank is from which a rank is farthest.
    int eccentricity(Rank from) const;
    /// By receiver: all ranks, the nearest senders first.
    std::vector<std::vector<Rank>> nearest() const;
    /// From a rank to another one what leads the other way, with the ports of arrival.
    WayTable reversed() const;

  private:
    WayTable() = default;
    std::size_t at(Rank from, Rank to) const {
        return to_index(from) * to_index(ranks_) + to_index(to);
    }

    Rank ranks_ = 0;
    int ports_ = 0;
    std::vector<int> hops_;
    std::vector<Ports> allowed_;
};

}  // namespace trefoil
