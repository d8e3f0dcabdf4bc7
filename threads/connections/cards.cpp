// SPDX-License-Identifier: BSD-3-Clause
// Cards as bytes, and what can be read from them.
#include "threads/connections/cards.hpp"

#include <set>

#include "topo/blob.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

constexpr std::uint32_t most_ports = 1024;  ///< of a rank; more is no card

void require_card(bool holds, const char* what) {
    if (!holds) {
        throw Error(Status::mismatch, std::string("a rank's card cannot be read: ") + what +
                                          "; do all ranks run the same version of Trefoil?");
    }
}

}  // namespace

GroupCard card_of(const PortGroup& group, const LocalMemory& mailbox) {
    GroupCard card;
    card.mailbox = group.describe(mailbox);
    card.maps_peers = group.storing() != nullptr;
    for (const Port port : group.ports()) {
        card.ports.push_back({port, group.address(port), group.port_text(port)});
    }
    return card;
}

std::string encode(const Card& card) {
    BlobWriter blob;
    blob.text(card.host);
    blob.number(static_cast<std::uint32_t>(card.groups.size()));
    for (const GroupCard& group : card.groups) {
        blob.text(group.mailbox);
        blob.number(static_cast<std::uint8_t>(group.maps_peers));
        blob.number(static_cast<std::uint32_t>(group.ports.size()));
        for (const PortCard& port : group.ports) {
            blob.number(static_cast<std::int32_t>(port.port.index));
            blob.text(port.address);
            blob.text(port.text);
        }
    }
    return blob.bytes();
}

Card decode_card(std::string_view bytes) {
    BlobReader blob(bytes);
    Card card;
    card.host = blob.text();
    std::set<std::int32_t> seen;
    const auto groups = blob.number<std::uint32_t>();
    require_card(groups <= most_ports, "too many port groups");
    for (std::uint32_t g = 0; g < groups; ++g) {
        GroupCard& group = card.groups.emplace_back();
        group.mailbox = blob.text();
        group.maps_peers = blob.number<std::uint8_t>() != 0;
        const auto ports = blob.number<std::uint32_t>();
        require_card(ports <= most_ports, "too many ports");
        for (std::uint32_t p = 0; p < ports; ++p) {
            PortCard& port = group.ports.emplace_back();
            port.port.index = blob.number<std::int32_t>();
            require_card(port.port.index >= 0 && seen.insert(port.port.index).second,
                         "a port that is negative or there twice");
            port.address = blob.text();
            port.text = blob.text();
        }
    }
    require_card(blob.empty(), "there is more than a card");
    return card;
}

Cards::Cards(std::vector<std::string> encoded) : encoded_(std::move(encoded)) {
    for (std::size_t rank = 0; rank < encoded_.size(); ++rank) {
        try {
            (void)decode_card(encoded_[rank]);
        } catch (const Error& error) {
            throw Error(error.status(), "rank " + std::to_string(rank) + ": " + error.what(),
                        {static_cast<Rank>(rank), Evidence::disagrees});
        }
        encoded_[rank].shrink_to_fit();
        bytes_ += sizeof encoded_[rank] + encoded_[rank].size();
    }
}

Cards::End Cards::end_of(Rank rank, Port port) const {
    const Card card = decode_card(encoded_.at(static_cast<std::size_t>(rank)));
    for (const GroupCard& group : card.groups) {
        for (std::size_t i = 0; i < group.ports.size(); ++i) {
            if (group.ports[i].port == port) {
                return {group.ports[i].address, group.mailbox, static_cast<std::uint32_t>(i),
                        static_cast<std::uint32_t>(group.ports.size())};
            }
        }
    }
    throw Error(Status::mismatch,
                "rank " + std::to_string(rank) + " has no port " + to_string(port) +
                    "; do all ranks have the same torus?",
                {rank, Evidence::disagrees});
}

bool Cards::maps_peers(Rank rank) const {
    const Card card = decode_card(encoded_.at(static_cast<std::size_t>(rank)));
    return card.groups.size() == 1 && card.groups.front().maps_peers;
}

std::string Cards::place_text(Rank rank, Port port) const {
    const Card card = decode_card(encoded_.at(static_cast<std::size_t>(rank)));
    for (const GroupCard& group : card.groups) {
        for (const PortCard& candidate : group.ports) {
            if (candidate.port == port) {
                return "host " + card.host + ", NIC " + candidate.text;
            }
        }
    }
    return {};
}

std::string Cards::port_text(Rank rank, Port port) const {
    const std::string place = place_text(rank, port);
    return "direction " + to_string(port) + " of rank " + std::to_string(rank) +
           (place.empty() ? place : " (" + place + ")");
}

std::string Cards::route_text(Rank from, Port own, Rank to) const {
    return port_text(from, own) + " to " + port_text(to, own.opposite());
}

}  // namespace trefoil
