// SPDX-License-Identifier: BSD-3-Clause
// The table of engines.
#include "bench/sim/engines.hpp"

#include <algorithm>
#include <array>

#include "bench/sim/own_engine.hpp"
#include "bench/sim/simgrid_engine.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

/// Empty where it is there.
constexpr std::string_view simgrid_reason = TREFOIL_SIMGRID_REASON;

const std::array<EngineRow, 2>& table() {
    static const std::array<EngineRow, 2> all{{
        {Engine::own, "own", "the models of this project", &prepare_own, ""},
        {Engine::simgrid, "simgrid", "the flow model by SimGrid, which shares no code with it",
         simgrid_reason.empty() ? &prepare_simgrid : nullptr, simgrid_reason},
    }};
    return all;
}

}  // namespace

std::span<const EngineRow> engines() {
    return table();
}

const EngineRow& row_of(Engine engine) {
    return *std::ranges::find(engines(), engine, &EngineRow::engine);
}

const EngineRow& find_engine(std::string_view name) {
    std::string names;
    for (const EngineRow& row : engines()) {
        if (row.name == name && row.prepare == nullptr) {
            throw Error(Status::unsupported, "this build has no engine " + std::string(name) +
                                                 ": " + std::string(row.missing));
        }
        if (row.name == name) {
            return row;
        }
        names += (names.empty() ? "" : ", ") + std::string(row.name);
    }
    throw Error(Status::invalid_argument,
                "there is no engine \"" + std::string(name) + "\"; known are " + names);
}

std::string engine_help() {
    std::string text = "The engine that computes the times: ";
    for (const EngineRow& row : engines()) {
        text += (&row == &engines()[0] ? "" : "; ") + std::string(row.name) +
                (&row == &engines()[0] ? " (default): " : ": ") + std::string(row.what);
    }
    return text;
}

}  // namespace trefoil::tool
