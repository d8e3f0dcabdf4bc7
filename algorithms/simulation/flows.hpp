// SPDX-License-Identifier: BSD-3-Clause
// Messages that are flowing: what is left of each, at which rate, and when the next one ends.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "algorithms/simulation/fair_rates.hpp"
#include "algorithms/simulation/models.hpp"
#include "algorithms/simulation/network.hpp"

namespace trefoil {

/// A message ends when the last of its ways has. Times are given from outside and never go back.
class Flows {
  public:
    /// `observer`: null, or who is told what the links carry. Both outlive it.
    Flows(const Network& network, FlowObserver* observer) : rates_(network), observer_(observer) {}

    /// Starts a flow on each way. `bytes` > 0. `tag`: what take_ended() will tell.
    void start(double now, double bytes, const Ways& ways, std::uint64_t tag);
    /// When the next flow ends, as things stand; infinity: none is left.
    double next_end();
    /// The tag of a message that has ended by `now`; false: there is none.
    bool take_ended(double now, std::uint64_t& tag);
    /// After all that started and ended at this time: shares the links anew.
    void share(double now);

  private:
    struct Message {
        std::uint64_t tag = 0;
        std::uint32_t ways = 0;
    };
    struct Flow {
        std::uint32_t message = 0, version = 0;
        double left = 0, rate = 0, since = 0;
    };
    struct End {
        double time;
        std::uint32_t flow, version;
        bool operator>(const End& other) const { return time > other.time; }
    };

    void tell_carried(std::uint32_t number, double until) const;

    FairRates rates_;
    FlowObserver* observer_;
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
    std::vector<Message> messages_;
    std::vector<std::uint32_t> free_;
    std::vector<Flow> flows_;
};

}  // namespace trefoil
