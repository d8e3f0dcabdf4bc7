// SPDX-License-Identifier: BSD-3-Clause
// A stage before the first change, if there are steps, and one from each change to the next.
#include "comm/communicator/circuit_stages.hpp"

#include "algorithms/schedule/stages.hpp"

namespace trefoil {

namespace {

/// In ranks, where the schedule has positions.
std::vector<JoinedPorts> circuits_of(const CircuitChange& change, const TorusMap& map) {
    std::vector<JoinedPorts> all;
    const int ports = map.torus.ports();
    for (Rank at = 0; at < map.torus.ranks(); ++at) {
        for (int p = 0; p < ports; p += 2) {
            const Rank peer = change.peers[static_cast<std::size_t>(at) * ports + p];
            if (peer != CircuitChange::dark) {
                all.push_back({map.rank_at[static_cast<std::size_t>(at)], Port{p},
                               map.rank_at[static_cast<std::size_t>(peer)]});
            }
        }
    }
    return all;
}

std::unique_ptr<CircuitStage> make_stage(const Algorithm& whole, std::size_t first, std::size_t end,
                                         std::vector<JoinedPorts> circuits) {
    auto stage = std::make_unique<CircuitStage>();
    stage->name = std::string(whole.name) + " from step " + std::to_string(first);
    stage->set = stage_of(*whole.set, first, end);
    stage->algorithm = whole;
    stage->algorithm.name = stage->name;
    stage->algorithm.set = &stage->set;
    stage->circuits = std::move(circuits);
    return stage;
}

}  // namespace

std::vector<JoinedPorts> circuits_of_torus(const TorusMap& map) {
    CircuitChange torus{0, {}};
    for (Rank at = 0; at < map.torus.ranks(); ++at) {
        for (int p = 0; p < map.torus.ports(); ++p) {
            const Rank next = map.torus.neighbour(at, Port{p});
            torus.peers.push_back(next == at ? CircuitChange::dark : next);
        }
    }
    return circuits_of(torus, map);
}

std::span<const std::unique_ptr<CircuitStage>> CircuitStages::of(const Algorithm& algorithm,
                                                                 const TorusMap& map) {
    auto& stages = stages_[&algorithm];
    if (stages.empty()) {
        const std::vector<CircuitChange>& changes = algorithm.set->changes;
        const std::size_t steps = algorithm.set->schedules.front().parts.front().steps.count;
        if (changes.front().step > 0) {
            stages.push_back(
                make_stage(algorithm, 0, changes.front().step, circuits_of_torus(map)));
        }
        for (std::size_t i = 0; i < changes.size(); ++i) {
            const std::size_t end = i + 1 < changes.size() ? changes[i + 1].step : steps;
            stages.push_back(
                make_stage(algorithm, changes[i].step, end, circuits_of(changes[i], map)));
        }
    }
    return stages;
}

}  // namespace trefoil
