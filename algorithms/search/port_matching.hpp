// SPDX-License-Identifier: BSD-3-Clause
// Receivers and the ports of senders, matched so that no port sends more than it may.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "algorithms/search/ways.hpp"

namespace trefoil {

/// A maximum matching by augmenting paths (Kuhn, 1955). Requests are numbered from 0. A slot is one
/// of the messages that leave a rank through a port in a step.
class PortMatching {
  public:
    static constexpr int nobody = -1;

    PortMatching(const WayTable& ways, int per_port, std::size_t requests)
        : ports_(ways.ports()),
          per_port_(per_port),
          slot_of_(requests, nobody),
          user_of_(to_index(ways.ranks()) * to_index(ways.ports() * per_port), nobody),
          seen_(user_of_.size()) {}

    void clear() { std::fill(user_of_.begin(), user_of_.end(), nobody); }

    /// Calls visit(slot) for each message of `from` through these ports; true: it wants no more.
    template <typename Visit>
    bool each(Rank from, WayTable::Ports ports, Visit&& visit) const {
        for (; ports != 0; ports &= ports - 1) {
            const int first = (from * ports_ + std::countr_zero(ports)) * per_port_;
            for (int slot = first; slot < first + per_port_; ++slot) {
                if (visit(slot)) {
                    return true;
                }
            }
        }
        return false;
    }

    /// False: there is no slot for it, however the others move. `slots(request, visit)` calls
    /// visit(slot) for those that would do until it gets true; each call is taken off `work`.
    template <typename Slots>
    bool add(int request, Slots&& slots, std::int64_t& work) {
        ++stamp_;
        const bool found = augment(request, slots, work);
        slot_of_[to_index(request)] = found ? slot_of_[to_index(request)] : nobody;
        return found;
    }

    bool has(int request) const { return slot_of_[to_index(request)] != nobody; }
    Rank sender(int request) const { return slot_of_[to_index(request)] / per_port_ / ports_; }
    Port port(int request) const { return Port{slot_of_[to_index(request)] / per_port_ % ports_}; }

  private:
    template <typename Slots>
    bool augment(int request, Slots&& slots, std::int64_t& work) {
        bool done = false;
        const auto take = [&](int slot) {
            user_of_[to_index(slot)] = request;
            slot_of_[to_index(request)] = slot;
            return done = true;
        };
        slots(request, [&](int slot) {
            --work;
            return user_of_[to_index(slot)] == nobody && take(slot);
        });
        if (done) {
            return true;
        }
        slots(request, [&](int slot) {
            --work;
            if (seen_[to_index(slot)] == stamp_) {
                return false;
            }
            seen_[to_index(slot)] = stamp_;
            return augment(user_of_[to_index(slot)], slots, work) && take(slot);
        });
        return done;
    }

    int ports_, per_port_;
    std::vector<int> slot_of_;  ///< by request
    std::vector<int> user_of_;  ///< by slot: the request
    std::vector<int> seen_;
    int stamp_ = 0;
};

}  // namespace trefoil
