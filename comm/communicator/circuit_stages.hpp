// SPDX-License-Identifier: BSD-3-Clause
// Schedules whose steps name circuits, cut where the circuits change.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "algorithms/schedule/algorithm.hpp"
#include "comm/setup/torus_map.hpp"

namespace trefoil {

/// A circuit between a port of one rank and the opposite port of another, both ways.
struct JoinedPorts {
    Rank from = 0;
    Port port;  ///< travels in the sense of '+'
    Rank to = 0;
    friend bool operator==(const JoinedPorts&, const JoinedPorts&) = default;
};

/// Joins the ports so, and no others; returns 0 when that is done.
using Rewire = std::function<int(std::span<const JoinedPorts>)>;

/// All circuits of a torus whose dimensions are larger than 1.
std::vector<JoinedPorts> circuits_of_torus(const TorusMap& map);

/// Steps of a schedule between two changes, and what is wired meanwhile.
struct CircuitStage {
    std::string name;
    ScheduleSet set;
    Algorithm algorithm;
    std::vector<JoinedPorts> circuits;
};

/// Kept as long as the communicator: plans point at stages.
class CircuitStages {
  public:
    static bool names_circuits(const Algorithm* algorithm) {
        return algorithm != nullptr && algorithm->set != nullptr &&
               !algorithm->set->changes.empty();
    }
    /// Of an algorithm that names circuits, which outlives this.
    std::span<const std::unique_ptr<CircuitStage>> of(const Algorithm& algorithm,
                                                      const TorusMap& map);

  private:
    std::map<const Algorithm*, std::vector<std::unique_ptr<CircuitStage>>> stages_;
};

}  // namespace trefoil
