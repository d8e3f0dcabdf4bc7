// SPDX-License-Identifier: BSD-3-Clause
// Cards: what each rank must know of the others before it can write to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backend/ports/port_group.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// One port of a rank. The strings are the transport's (PortGroup::address) and for people.
struct PortCard {
    Port port;
    std::string address;
    std::string text;
};

struct GroupCard {
    std::string mailbox;  ///< PortGroup::describe of its mailbox
    std::vector<PortCard> ports;
    bool maps_peers = false;  ///< the group has Storing
};

struct Card {
    std::string host;  ///< for people
    std::vector<GroupCard> groups;
};

GroupCard card_of(const PortGroup& group, const LocalMemory& mailbox);

std::string encode(const Card& card);
/// Throws Error(mismatch) for bytes that are no card: too short, too long, a port twice.
Card decode_card(std::string_view bytes);

/// The cards of all ranks, which those of the first communicator give each other. They are kept as
/// they came, some hundred bytes for each rank, and are read when a peer is connected. Nothing
/// changes after construction, so threads may share it.
class Cards {
  public:
    /// By rank. Throws Error(mismatch) that names the rank whose card cannot be read.
    explicit Cards(std::vector<std::string> encoded);

    Rank ranks() const { return static_cast<Rank>(encoded_.size()); }

    /// What it takes to write to one port of a rank.
    struct End {
        std::string address;      ///< of the port
        std::string mailbox;      ///< of the group that drives the port
        std::uint32_t index = 0;  ///< of the port among those of its group
        std::uint32_t ports = 0;  ///< of the group
    };
    /// Throws Error(mismatch) when the rank has no such port.
    End end_of(Rank rank, Port port) const;

    /// All its ports are those of one group, which maps its peers' memory.
    bool maps_peers(Rank rank) const;

    /// "host a, NIC net 10.0.0.1 (eth0)"; "" where the rank has no such port.
    std::string place_text(Rank rank, Port port) const;
    /// "direction +0 of rank 3 (host a, NIC net 10.0.0.1 (eth0))".
    std::string port_text(Rank rank, Port port) const;
    /// "direction +0 of rank 3 (...) to direction -0 of rank 4 (...)".
    std::string route_text(Rank from, Port own, Rank to) const;

    /// That this rank keeps.
    std::size_t bytes() const { return bytes_; }

  private:
    std::vector<std::string> encoded_;
    std::size_t bytes_ = 0;
};

}  // namespace trefoil
