// SPDX-License-Identifier: BSD-3-Clause
// From a schedule to JSON.
#include "algorithms/json/write.hpp"

#include <nlohmann/json.hpp>

#include "algorithms/json/circuits.hpp"
#include "algorithms/schedule/acknowledgements.hpp"

namespace trefoil {

namespace {

nlohmann::ordered_json extents_json(std::span<const Extent> extents) {
    auto result = nlohmann::ordered_json::array();
    for (const Extent& e : extents) {
        result.push_back({e.first, e.count});
    }
    return result;
}

const char* action_name(Action action) {
    return action == Action::reduce ? "reduce" : action == Action::prepend ? "prepend" : "replace";
}

nlohmann::ordered_json step_json(const Schedule& schedule, const Step& step) {
    nlohmann::ordered_json result{{"moves", nlohmann::ordered_json::array()},
                                  {"sends", nlohmann::ordered_json::array()},
                                  {"receives", nlohmann::ordered_json::array()}};
    for (const Move& m : schedule.moves_of(step)) {
        auto& move = result["moves"].emplace_back(
            nlohmann::ordered_json{{"action", action_name(m.action)},
                                   {"from", {m.from.first, m.from.count}},
                                   {"to", m.to}});
        if (m.pulls()) {
            move["peer"] = m.peer;
        }
        if (m.initial) {
            move["initial"] = true;
        }
    }
    for (const Send& s : schedule.sends_of(step)) {
        auto& send = result["sends"].emplace_back(
            nlohmann::ordered_json{{"peer", s.peer},
                                   {"port", to_string(s.port)},
                                   {"extents", extents_json(schedule.extents_of(s))}});
        if (s.opens) {
            send["opens"] = true;
        }
    }
    for (const Receive& r : schedule.receives_of(step)) {
        auto applications = nlohmann::ordered_json::array();
        for (const Application& a : schedule.applications_of(r)) {
            applications.push_back({{"action", action_name(a.action)},
                                    {"extents", extents_json(schedule.extents_of(a))}});
        }
        auto& receive = result["receives"].emplace_back(
            nlohmann::ordered_json{{"peer", r.peer},
                                   {"port", to_string(r.port)},
                                   {"applications", std::move(applications)}});
        if (r.opens) {
            receive["opens"] = true;
        }
    }
    return result;
}

}  // namespace

nlohmann::ordered_json schedule_json(const Torus& torus, const Algorithm& algorithm,
                                     const BuildOptions& options, const Schedule& schedule) {
    using Json = nlohmann::ordered_json;
    Json acknowledges = Json::array();
    for (const IncomingChannel& c : acknowledgements(schedule, traits_of(algorithm.collective))) {
        acknowledges.push_back({{"peer", c.peer}, {"port", to_string(c.port)}});
    }
    Json parts = Json::array();
    for (const Part& part : schedule.parts) {
        Json steps = Json::array();
        for (const Step& step : schedule.of(part)) {
            steps.push_back(step_json(schedule, step));
        }
        Json one{{"vector_blocks", part.vector_blocks}, {"scratch_blocks", part.scratch_blocks}};
        if (traits_of(algorithm.collective).blocks_have_owners()) {
            const int index = static_cast<int>(parts.size());
            one["owners"] = algorithm.block_owners(torus, options, index);
        }
        if (part.scratch_like != 0) {
            one["scratch_like"] = part.scratch_like;
        }
        if (part.input_apart) {
            one["input_apart"] = true;
        }
        one["steps"] = std::move(steps);
        parts.push_back(std::move(one));
    }
    Json all{{"collective", to_string(algorithm.collective)},
             {"algorithm", algorithm.name},
             {"torus", torus.name()},
             {"ranks", torus.ranks()},
             {"rank", schedule.rank},
             {"root", traits_of(algorithm.collective).rooted() ? Json(options.root) : Json()},
             {"steered", algorithm.traits.steered},
             {"parts", std::move(parts)},
             {"acknowledges", std::move(acknowledges)}};
    if (algorithm.set != nullptr && !algorithm.set->changes.empty()) {
        all["circuits"] = circuits_json(algorithm.set->changes, torus, schedule.rank);
    }
    return all;
}

}  // namespace trefoil
