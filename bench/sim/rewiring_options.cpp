// SPDX-License-Identifier: BSD-3-Clause
// Options about circuits: help, reading, and the conventions in words.
#include "bench/sim/rewiring_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "bench/common/names.hpp"
#include "bench/sim/units.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

/// True for `second`. Throws for what is neither.
bool second_of(const char* option, const std::string& given, const char* first,
               const char* second) {
    if (given != first && given != second) {
        throw Error(Status::invalid_argument,
                    fmt::format("{} is {} or {}, not \"{}\"", option, first, second, given));
    }
    return given == second;
}

std::vector<int> dimensions_of(const std::string& given) {
    std::vector<int> all;
    if (given == "all") {
        return all;
    }
    for (const std::string& one : split_list(given)) {
        int dimension = -1;
        const auto [end, failed] = std::from_chars(one.data(), one.data() + one.size(), dimension);
        if (failed != std::errc() || end != one.data() + one.size() || dimension < 0) {
            throw Error(
                Status::invalid_argument,
                fmt::format("\"{}\" is not a dimension; give all, or numbers from 0 such as "
                            "0,1 for --switched",
                            one));
        }
        all.push_back(dimension);
    }
    return all;
}

}  // namespace

void add_circuits_options(CLI::App& command, CircuitsCommandLine& given) {
    const auto add = [&](const char* name, std::string& text, const std::string& help) {
        command.add_option(name, text, help)->group(circuits_group);
    };
    add("--reconfigurable", given.reconfigurable,
        "A circuit switch may change the wiring before any step; each change takes this time: "
        "10us");
    add("--circuits", given.circuits,
        "Circuits to choose from: own (default): the torus, or the circuits of any one step; "
        "shifted: also all rings of x "
        "to x +- d");
    add("--tie", given.tie,
        "If both ways round a ring are equally long: both (default): half of the bytes each way; "
        "one: the way of the message's port");
    add("--start-wiring", given.start,
        "The first wiring: ring (default): that of the torus; any: the first one is free");
    add("--end-wiring", given.end,
        "The last wiring: any (default): it stays; ring: that of the torus again, which may take "
        "another change");
    add("--change-barrier", given.barrier,
        "All ranks wait for each other before a change, which takes this time (default: 0)");
    add("--switched", given.switched,
        "Dimensions with a switch: all (default), or a list such as 0,1. However many change, one "
        "change is paid");
    command
        .add_flag("--paired", given.paired,
                  "Both directions of a circuit are wired together, so that a node has at most two "
                  "neighbours a dimension (default: it sends to two and receives from two)")
        ->group(circuits_group);
}

Circuits read_circuits(const CircuitsCommandLine& given) {
    Circuits result;
    for (const std::string& one : split_list(given.reconfigurable)) {
        result.reconfigurations.push_back(parse_time(one));
    }
    result.options.candidates = second_of("--circuits", given.circuits, "own", "shifted")
                                    ? Candidates::shifted
                                    : Candidates::own;
    result.options.tie = second_of("--tie", given.tie, "both", "one") ? Tie::one : Tie::both;
    result.options.limits.paired = given.paired;
    result.options.switched = dimensions_of(given.switched);
    result.costs.reconfiguration = result.reconfigurations.front();
    result.costs.barrier = parse_time(given.barrier);
    result.costs.free_start = second_of("--start-wiring", given.start, "ring", "any");
    result.costs.give_back = second_of("--end-wiring", given.end, "any", "ring");
    return result;
}

nlohmann::ordered_json conventions_json(const Circuits& circuits) {
    using Json = nlohmann::ordered_json;
    const RewiringOptions& options = circuits.options;
    return {{"circuits", options.candidates == Candidates::own ? "own" : "shifted"},
            {"tie", options.tie == Tie::both ? "both" : "one"},
            {"start_wiring", circuits.costs.free_start ? "any" : "ring"},
            {"end_wiring", circuits.costs.give_back ? "ring" : "any"},
            {"change_barrier", circuits.costs.barrier},
            {"switched", options.switched.empty() ? Json("all") : Json(options.switched)},
            {"paired", options.limits.paired}};
}

std::string conventions_text(const Circuits& circuits) {
    const RewiringOptions& options = circuits.options;
    return fmt::format(
        "{} circuits, ties go {}, start on {}, end on {}, barrier before a change {}, switched "
        "dimensions: {}{}",
        options.candidates == Candidates::own ? "own" : "shifted",
        options.tie == Tie::both ? "both ways" : "one way",
        circuits.costs.free_start ? "any wiring" : "the ring",
        circuits.costs.give_back ? "the ring" : "any wiring", time_text(circuits.costs.barrier),
        options.switched.empty() ? "all" : fmt::format("{}", fmt::join(options.switched, ",")),
        options.limits.paired ? ", both directions wired together" : "");
}

}  // namespace trefoil::tool
