// SPDX-License-Identifier: BSD-3-Clause
// Each rank names its own ports' circuits; together they must be one wiring.
#include "algorithms/json/circuits.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "topo/error.hpp"

namespace trefoil {

namespace {

using nlohmann::json;

constexpr std::int64_t largest_step = std::int64_t{1} << 30;

std::string port_name(Rank rank, int port) {
    return "port " + to_string(Port{port}) + " of rank " + std::to_string(rank);
}

int port_of(const CheckedObject& object, const Torus& torus) {
    const std::string name = object.text("port");
    for (int p = 0; p < torus.ports(); ++p) {
        if (to_string(Port{p}) == name) {
            return p;
        }
    }
    refuse_schedule(object.place(), "there is no port \"" + name + "\"");
}

CircuitChange& change_at(const CheckedObject& object, const Torus& torus, std::size_t index,
                         bool first, std::vector<CircuitChange>& changes) {
    const auto step = static_cast<std::size_t>(object.number("step", 0, largest_step));
    if (first) {
        if (!changes.empty() && changes.back().step >= step) {
            refuse_schedule(object.place(), "the steps of \"circuits\" do not ascend");
        }
        const auto ports = static_cast<std::size_t>(torus.ranks()) * torus.ports();
        changes.push_back({step, std::vector<Rank>(ports, CircuitChange::dark)});
    } else if (index >= changes.size() || changes[index].step != step) {
        refuse_schedule(object.place(),
                        "circuits change before other steps than on the rank before");
    }
    return changes[index];
}

/// Circuits lead from port to opposite port, and are told alike at both ends.
void check_ends(const Torus& torus, const CircuitChange& change) {
    const int ports = torus.ports();
    for (Rank r = 0; r < torus.ranks(); ++r) {
        for (int p = 0; p < ports; ++p) {
            const Rank peer = change.peers[static_cast<std::size_t>(r) * ports + p];
            if (peer == CircuitChange::dark) {
                continue;
            }
            const int opposite = Port{p}.opposite().index;
            if (change.peers[static_cast<std::size_t>(peer) * ports + opposite] != r) {
                refuse_schedule("circuits of step " + std::to_string(change.step),
                                port_name(r, p) + " is joined to rank " + std::to_string(peer) +
                                    ", but " + port_name(peer, opposite) + " is not joined to it");
            }
        }
    }
}

/// Along the circuits behind one port of the ranks.
bool leads_to(const Torus& torus, const CircuitChange& change, Rank from, int port, Rank to) {
    for (Rank hops = 0, at = from; hops < torus.ranks(); ++hops) {
        at = change.peers[static_cast<std::size_t>(at) * torus.ports() + port];
        if (at == to || at == CircuitChange::dark) {
            return at == to;
        }
    }
    return false;
}

void check_ways(const ScheduleSet& set, const Schedule& schedule, std::size_t part,
                std::size_t step, const CircuitChange& change) {
    for (const Send& send : schedule.sends_of(schedule.of(schedule.parts[part])[step])) {
        if (!leads_to(set.torus, change, schedule.rank, send.port.index, send.peer)) {
            refuse_schedule("rank " + std::to_string(schedule.rank) + ", part " +
                                std::to_string(part) + ", step " + std::to_string(step),
                            "the circuits behind port " + to_string(send.port) +
                                " do not lead to rank " + std::to_string(send.peer));
        }
    }
}

void require_pieces(const ScheduleSet& set) {
    const auto refuse = [](const std::string& why) {
        throw Error(Status::unsupported, "the schedule names circuits and cannot be used: " + why);
    };
    if (set.collective != Collective::allreduce) {
        refuse("circuits change during an allreduce alone, not during a " +
               std::string(to_string(set.collective)));
    }
    for (const Schedule& schedule : set.schedules) {
        for (const Part& part : schedule.parts) {
            if (part.scratch_blocks > 0 || part.input_apart) {
                refuse(
                    "its steps run in pieces, between which only the vector is kept, and it has "
                    "scratch blocks or reads what ranks began with");
            }
        }
        if (std::ranges::any_of(schedule.moves, &Move::pulls) ||
            std::ranges::any_of(schedule.sends, &Send::opens)) {
            refuse("it reads the memory of other ranks, which needs no circuits");
        }
    }
}

}  // namespace

void read_circuits(const CheckedObject& object, const Torus& torus, Rank rank, bool first,
                   std::vector<CircuitChange>& changes) {
    const std::size_t known = changes.size();
    std::size_t told = 0;
    for (; object.has("circuits") && told < object.list("circuits").size(); ++told) {
        const std::string place = object.place() + ", circuits " + std::to_string(told);
        const CheckedObject one(object.list("circuits")[told], place,
                                {{"step", true}, {"ports", true}});
        CircuitChange& change = change_at(one, torus, told, first, changes);
        for (const json& end : one.list("ports")) {
            const CheckedObject circuit(end, place, {{"port", true}, {"peer", true}});
            const int port = port_of(circuit, torus);
            Rank& peer = change.peers[static_cast<std::size_t>(rank) * torus.ports() + port];
            if (peer != CircuitChange::dark) {
                refuse_schedule(place, "there are two circuits behind " + port_name(rank, port));
            }
            peer = static_cast<Rank>(circuit.number("peer", 0, torus.ranks() - 1));
        }
    }
    if (!first && told != known) {
        refuse_schedule(object.place(), "it names circuits " + std::to_string(told) +
                                            " times, and the rank before " + std::to_string(known) +
                                            " times");
    }
}

void check_circuits(const ScheduleSet& set) {
    if (set.changes.empty()) {
        return;
    }
    require_pieces(set);
    const std::size_t steps =
        set.schedules.front().parts.empty() ? 0 : set.schedules.front().parts.front().steps.count;
    for (std::size_t i = 0; i < set.changes.size(); ++i) {
        const CircuitChange& change = set.changes[i];
        if (change.step >= steps) {
            refuse_schedule("", "circuits are named for step " + std::to_string(change.step) +
                                    ", and there are " + std::to_string(steps) + " steps");
        }
        check_ends(set.torus, change);
        const std::size_t end = i + 1 < set.changes.size() ? set.changes[i + 1].step : steps;
        for (const Schedule& schedule : set.schedules) {
            for (std::size_t part = 0; part < schedule.parts.size(); ++part) {
                const std::size_t last =
                    std::min<std::size_t>(end, schedule.parts[part].steps.count);
                for (std::size_t step = change.step; step < last; ++step) {
                    check_ways(set, schedule, part, step, change);
                }
            }
        }
    }
}

nlohmann::ordered_json circuits_json(const std::vector<CircuitChange>& changes, const Torus& torus,
                                     Rank rank) {
    using Json = nlohmann::ordered_json;
    Json all = Json::array();
    for (const CircuitChange& change : changes) {
        Json ports = Json::array();
        for (int p = 0; p < torus.ports(); ++p) {
            const Rank peer = change.peers[static_cast<std::size_t>(rank) * torus.ports() + p];
            if (peer != CircuitChange::dark) {
                ports.push_back({{"port", to_string(Port{p})}, {"peer", peer}});
            }
        }
        all.push_back({{"step", change.step}, {"ports", std::move(ports)}});
    }
    return all;
}

}  // namespace trefoil
