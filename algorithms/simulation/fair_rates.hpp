// SPDX-License-Identifier: BSD-3-Clause
// Max-min fair rates of flows over links: nobody can have more without somebody slower having less.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "algorithms/simulation/network.hpp"

namespace trefoil {

/// Flows come and go; rates are worked out anew only where a change can be felt: among the flows
/// that share links with a changed one, directly or through others.
class FairRates {
  public:
    /// `network` outlives it.
    explicit FairRates(const Network& network);

    /// Its number, which may have belonged to a flow that was removed. `links` is not empty. A link
    /// that is listed n times gives the flow n shares: so many flows are alike (Network::folded).
    std::uint32_t add(std::span<const std::int64_t> links);
    void remove(std::uint32_t flow);

    /// After some add() and remove(): the flows whose rate may have changed. The list is valid
    /// until the next call.
    std::span<const std::uint32_t> update();

    /// Bytes per second, as of the last update().
    double rate(std::uint32_t flow) const { return flows_[flow].rate; }

    /// Calls visit(link) for each link of a flow, as often as add() listed it.
    template <typename Visit>
    void each_link(std::uint32_t flow, Visit visit) const {
        for (const Use& use : flows_[flow].uses) {
            for (std::uint32_t i = 0; i < use.times; ++i) {
                visit(std::int64_t{use.link});
            }
        }
    }

  private:
    struct Use {  ///< of a link by a flow
        std::uint32_t link = 0;
        std::uint32_t place = 0;  ///< in the link's list
        std::uint32_t times = 1;
    };
    struct Flow {
        std::vector<Use> uses;
        double rate = 0;
        bool affected = false, fixed = false;
    };
    struct Entry {  ///< a flow of a link, and which of its uses that is
        std::uint32_t flow, use;
    };
    struct Link {
        std::vector<Entry> flows;
        double left = 0;            ///< of its rate, not given to flows yet
        std::uint32_t waiting = 0;  ///< flows without a rate, each as often as it crosses the link
        bool affected = false;
    };
    void touch(std::uint32_t link);
    void collect();
    void fill();

    const Network& network_;
    std::vector<Flow> flows_;
    std::vector<std::uint32_t> free_;
    std::vector<Link> links_;
    std::vector<std::uint32_t> affected_links_;
    std::vector<std::uint32_t> affected_flows_;
    std::vector<std::int64_t> sorted_;
    std::vector<std::pair<double, std::uint32_t>> heap_;  ///< share of each waiting flow, link
};

}  // namespace trefoil
