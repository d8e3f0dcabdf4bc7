// SPDX-License-Identifier: BSD-3-Clause
// Which torus a job has, and the permutation between ranks and positions.
#include "comm/setup/torus_map.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include "topo/error.hpp"
#include "topo/fabric.hpp"

namespace trefoil {

namespace {

[[noreturn]] void refuse(const TorusRequest& request, const std::string& what) {
    throw Error(Status::invalid_argument, request.source + ": " + what);
}

std::string text_of(const std::vector<Rank>& coordinates) {
    std::string text;
    for (const Rank c : coordinates) {
        text += (text.empty() ? "(" : ",") + std::to_string(c);
    }
    return text.empty() ? "()" : text + ")";
}

/// The largest coordinates + 1.
Torus enclosing(const TorusRequest& request) {
    std::vector<Rank> sizes(request.coordinates[0].size(), 1);
    for (std::size_t r = 0; r < request.coordinates.size(); ++r) {
        const std::vector<Rank>& c = request.coordinates[r];
        if (c.size() != sizes.size()) {
            refuse(request, "rank 0 has " + std::to_string(sizes.size()) +
                                " coordinates, but rank " + std::to_string(r) + " has " +
                                std::to_string(c.size()) + "; give one per dimension");
        }
        for (std::size_t j = 0; j < sizes.size(); ++j) {
            sizes[j] = std::max(sizes[j], c[j] == INT32_MAX ? c[j] : c[j] + 1);
        }
    }
    return {sizes, request.lines};
}

void refuse_duplicates(const TorusRequest& request) {
    std::map<std::vector<Rank>, std::size_t> holders;
    for (std::size_t r = 0; r < request.coordinates.size(); ++r) {
        const auto [holder, added] = holders.emplace(request.coordinates[r], r);
        if (!added) {
            refuse(request, "ranks " + std::to_string(holder->second) + " and " +
                                std::to_string(r) + " both have coordinates " +
                                text_of(request.coordinates[r]) + "; each place is for one rank");
        }
    }
}

/// The place of each rank in the torus whose coordinates are given; all are different.
std::vector<Rank> places_of(const Torus& torus, const TorusRequest& request) {
    std::vector<Rank> places;
    for (std::size_t r = 0; r < request.coordinates.size(); ++r) {
        const std::vector<Rank>& c = request.coordinates[r];
        bool inside = c.size() == torus.sizes().size();
        for (std::size_t j = 0; inside && j < c.size(); ++j) {
            inside = c[j] >= 0 && c[j] < torus.sizes()[j];
        }
        if (!inside) {
            refuse(request, "rank " + std::to_string(r) + " has coordinates " + text_of(c) +
                                ", which torus " + torus.name() +
                                " does not have; they go from 0 to the size - 1");
        }
        places.push_back(torus.rank(c));
    }
    return places;
}

/// Puts each rank at its coordinates. Nodes are missing where nobody is.
void place(TorusMap& map, const TorusRequest& request) {
    const bool is_whole = map.torus.fabric() == nullptr;
    const Torus torus = wired(map.torus);
    const std::vector<Rank> places = places_of(torus, request);
    if (is_whole && torus.has_nodes()) {
        map.position_of = places;
        return;
    }
    Fabric fabric(map.torus);
    if (is_whole) {
        std::vector<bool> is_free(static_cast<std::size_t>(torus.ranks()), true);
        for (const Rank taken : places) {
            is_free[static_cast<std::size_t>(taken)] = false;
        }
        fabric.remove_nodes(is_free);
    }
    for (std::size_t r = 0; r < places.size(); ++r) {
        map.position_of[r] = fabric.rank_of(places[r]);
        if (map.position_of[r] < 0) {
            refuse(request, "rank " + std::to_string(r) + " has coordinates " +
                                text_of(request.coordinates[r]) + ", where " + fabric.name() +
                                " has no node");
        }
    }
    map.torus = Torus::of_fabric(std::move(fabric));
}

/// Messages of one step between the same two ranks are told apart by their ports: those keep them.
template <typename Message>
bool is_alone(std::span<const Message> step, Rank peer) {
    return std::ranges::count(step, peer, &Message::peer) == 1;
}

void use_links(const Fabric& fabric, Schedule& schedule) {
    for (const Step& step : schedule.steps) {
        const std::span sends =
            std::span(schedule.sends).subspan(step.sends.first, step.sends.count);
        for (Send& send : sends) {
            if (is_alone<Send>(sends, send.peer)) {
                send.port = fabric.first_port(schedule.rank, send.peer, send.port);
            }
        }
        const std::span receives =
            std::span(schedule.receives).subspan(step.receives.first, step.receives.count);
        for (Receive& receive : receives) {
            if (is_alone<Receive>(receives, receive.peer)) {
                receive.port =
                    fabric.first_port(receive.peer, schedule.rank, receive.port.opposite())
                        .opposite();
            }
        }
    }
}

}  // namespace

Port TorusMap::port_between(Rank from, Rank to) const {
    const auto way = [&](Rank low, Rank high) {
        return torus.fabric() != nullptr ? torus.fabric()->first_port(low, high, std::nullopt)
                                         : torus.first_port(low, high);
    };
    return from < to ? way(from, to) : way(to, from).opposite();
}

void TorusMap::renumber(Schedule& schedule) const {
    if (torus.fabric() != nullptr) {
        use_links(*torus.fabric(), schedule);
    }
    schedule.rank = rank_at[schedule.rank];
    for (Send& send : schedule.sends) {
        send.peer = rank_at[send.peer];
    }
    for (Receive& receive : schedule.receives) {
        receive.peer = rank_at[receive.peer];
    }
    for (Move& move : schedule.moves) {
        move.peer = move.pulls() ? rank_at[move.peer] : move.peer;
    }
}

Torus default_torus(Rank ranks) {
    Torus square = Torus::balanced(ranks, 2);
    return square.size(1) > 1 ? square : Torus({ranks});
}

Torus torus_named(const std::string& text, Rank ranks) {
    if (text.size() == 2 && text[0] >= '1' && text[0] <= '9' && text[1] == 'd') {
        return Torus::balanced(ranks, text[0] - '0');
    }
    return Torus::parse(text);
}

TorusMap make_torus_map(const TorusRequest& request, Rank ranks) {
    TorusMap map;
    map.source = request.source;
    refuse_duplicates(request);
    map.torus = !request.torus.empty()         ? torus_named(request.torus, ranks)
                : !request.coordinates.empty() ? enclosing(request)
                                               : default_torus(ranks);
    const auto refuse_number = [&] {
        refuse(request, "torus " + map.torus.name() + " has " + std::to_string(map.torus.ranks()) +
                            " ranks, but the job has " + std::to_string(ranks) + "; " +
                            (request.coordinates.empty()
                                 ? "give sizes whose product is " + std::to_string(ranks)
                                 : "coordinates may leave half of the places empty at most"));
    };
    // Coordinates say where nodes are missing; more than half of them are a mistake.
    const bool may_lack = !request.coordinates.empty() && map.torus.fabric() == nullptr &&
                          !map.torus.has_nodes() && map.torus.ranks() / 2 <= ranks;
    if (may_lack ? map.torus.ranks() < ranks : map.torus.ranks() != ranks) {
        refuse_number();
    }
    map.position_of.resize(static_cast<std::size_t>(ranks));
    std::iota(map.position_of.begin(), map.position_of.end(), 0);
    if (!request.coordinates.empty()) {
        place(map, request);
        map.has_free_places =
            may_lack && map.torus.fabric() != nullptr && map.torus.fabric()->has_missing_nodes();
    }
    if (map.torus.fabric() != nullptr && !map.torus.fabric()->is_connected()) {
        refuse(request, "the links of " + map.torus.name() +
                            " that work do not join all ranks; describe the network as it is");
    }
    map.rank_at.resize(static_cast<std::size_t>(ranks));
    for (std::size_t r = 0; r < map.position_of.size(); ++r) {
        map.rank_at[static_cast<std::size_t>(map.position_of[r])] = static_cast<Rank>(r);
    }
    return map;
}

}  // namespace trefoil
