// SPDX-License-Identifier: BSD-3-Clause
// When things happen in a schedule, as compact data for the page that plays it in time.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil::tool {

/// When the bytes of a message begin to flow, and when the last one is there. Seconds.
struct Flowing {
    double begin = 0, end = 0;
};

/// How busy the links are: which share of its rate a link carries, by link and slice of time. All
/// slices are equally long. Links are numbered rank * ports + port.
struct LinkShares {
    LinkShares(std::size_t link_count, std::size_t slice_count)
        : slices(slice_count), shares(link_count * slice_count) {}
    double& at(std::size_t link, std::size_t slice) { return shares[link * slices + slice]; }
    std::size_t slices;
    std::vector<double> shares;
};

/// A circuit of a wiring; `count` of them run side by side.
struct DrawnCircuit {
    Rank from = 0, to = 0;
    int count = 1;
};
struct DrawnWiring {
    std::string name;
    std::vector<DrawnCircuit> circuits;
};
/// From one wait of all ranks for each other to the next.
struct WiredStep {
    int step = 0;
    std::size_t wiring = 0;
    double change = 0;           ///< when the wiring begins to change; before `begin` if it does
    double begin = 0;            ///< when the step begins
    Flowing flowing;             ///< its messages
    std::vector<double> shares;  ///< by circuit of the wiring: of its rate
};

struct TimeData {
    double seconds = 0;             ///< of the whole run
    std::string words;              ///< vector, machine and model, for readers
    std::vector<Flowing> messages;  ///< in the order of schedule_data()
    std::vector<double> completed;  ///< by part, step and rank
    LinkShares links{0, 0};         ///< without wirings
    /// Seconds in which a link of the dimension carries one vector; empty: not to be compared.
    std::vector<double> vector_seconds;
    std::vector<DrawnWiring> wirings;
    std::vector<WiredStep> steps;
};

/// How many slices of time a page may have for so many links.
std::size_t slices_for(std::size_t links);

/// What stands under "time" in the page's data of a plan.
nlohmann::ordered_json time_json(const TimeData& data);

}  // namespace trefoil::tool
