// SPDX-License-Identifier: BSD-3-Clause
// A switch that blocks nobody: what would be reached if only the links of the ranks limited.
#pragma once

#include <memory>
#include <optional>

#include "algorithms/simulation/network.hpp"

namespace trefoil {

/// Every rank has as many links to one switch, and from it, as a rank of the torus has ports. A
/// message goes up by the link of its port and comes down by the link of the opposite port, as it
/// would arrive on the torus: two hops.
class SwitchNetwork final : public Network {
  public:
    /// `rate`: bytes per second of each link and direction. `symmetry`: as of folded().
    SwitchNetwork(Torus torus, double rate, std::shared_ptr<const Symmetry> symmetry = nullptr);

    /// The link up.
    std::optional<std::int64_t> link(Rank rank, Port port) const override;
    using Network::route;
    void route(const Journey& journey, Ways& ways) const override;
    std::unique_ptr<Network> folded(std::shared_ptr<const Symmetry> symmetry) const override;

  protected:
    bool keeps(Rank) const override { return true; }

  private:
    /// Links that lead up have even numbers, the others odd ones.
    std::int64_t place(Rank rank, Port port) const;

    double rate_;
    std::shared_ptr<const Symmetry> symmetry_;
};

}  // namespace trefoil
