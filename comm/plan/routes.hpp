// SPDX-License-Identifier: BSD-3-Clause
// The ways that messages of a program take, and which channel each of them gets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "threads/executor/channels.hpp"
#include "threads/executor/program.hpp"

namespace trefoil {

/// Landing offsets are multiples of this many bytes: a cache line, and every element's alignment.
inline constexpr std::size_t landing_alignment = 64;
constexpr std::size_t aligned(std::size_t bytes) {
    return (bytes + landing_alignment - 1) / landing_alignment * landing_alignment;
}

/// Where a message lies in its landing slot, and which of its channel's it is.
struct RoutePlace {
    std::size_t offset = 0;
    std::uint32_t index = 0;
};

struct RouteArrival {
    std::uint32_t step = 0;
    std::size_t bytes = 0;
    std::size_t offset = 0;  ///< in the channel's slot
    std::size_t copies = 0;
};

/// Which channel a message takes depends on how many bytes go the same way in the whole program. So
/// messages are lowered to *routes* first, numbered as they come up: a route is a peer and an own
/// port, one way. Until assign() a program's puts name outgoing routes, spaces of landing slots
/// incoming ones, and `peers` and `reads` ranks.
class Routes {
  public:
    /// Program::first_peer until then: of routes there are fewer.
    static constexpr std::uint32_t first_peer = 1U << 24;

    /// `at_lines`: messages begin at multiples of landing_alignment behind their flags, too.
    Routes(Rank rank, const LandingRings& rings, bool at_lines)
        : rank_(rank),
          slot_bytes_(rings[Ring::few].slot_bytes),
          flag_bytes_(at_lines ? aligned(rings.flag_bytes()) : rings.flag_bytes()) {}

    std::uint32_t out(Rank peer, Port port) { return number(out_, peer, port); }
    std::uint32_t in(Rank peer, Port port) { return number(in_, peer, port); }
    /// The place of the route's next message. Throws Error(unsupported) when it does not fit.
    RoutePlace take_out(std::uint32_t route, std::size_t bytes) {
        return take(out_.all[route], bytes);
    }
    RoutePlace take_in(std::uint32_t route, std::size_t bytes) {
        return take(in_.all[route], bytes);
    }
    void add_arrival(std::uint32_t route, const RouteArrival& arrival) {
        in_.all[route].arrivals.push_back(arrival);
    }

    /// Adds the channels that are missing, with ways back if the program is acknowledged; names
    /// them in the program, and lists its arrivals. `counts_in_pairs`: see LowerOptions. Throws
    /// what adding channels throws.
    void assign(Program& program, Channels& channels, bool counts_in_pairs);

  private:
    struct Route {
        Rank peer = 0;
        Port port;
        std::size_t bytes = 0;
        std::uint32_t messages = 0;
        std::vector<RouteArrival> arrivals{};
        std::uint32_t channel = 0;  ///< in the end
    };
    struct OneWay {
        std::vector<Route> all;
        std::map<std::pair<Rank, int>, std::uint32_t> by_end;  ///< peer and own port

        /// Once they have channels: these in order, and what each takes in its slot.
        void list(std::vector<std::uint32_t>& channels, std::vector<std::size_t>& bytes) const;
    };

    static std::uint32_t number(OneWay& routes, Rank peer, Port port);
    RoutePlace take(Route& route, std::size_t bytes) const;
    void add_ways_back(Channels& channels) const;
    void assign_peers(Program& program, Channels& channels) const;
    void assign_spaces(Program& program, std::uint32_t first) const;
    void list_arrivals(Program& program) const;

    const Rank rank_;
    const std::size_t slot_bytes_;  ///< of the largest landing slots
    const std::size_t flag_bytes_;  ///< with what lies ahead of the flag
    OneWay out_, in_;
};

}  // namespace trefoil
