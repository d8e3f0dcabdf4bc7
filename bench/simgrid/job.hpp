// SPDX-License-Identifier: BSD-3-Clause
// What SimGrid is to simulate: links, ways over them, and messages that wait for each other.
#pragma once

#include <cstddef>
#include <istream>
#include <utility>
#include <vector>

namespace trefoil::simgrid_engine {

/// Between two ranks, over links in the order in which they are crossed.
struct Way {
    int from = 0, to = 0;
    std::vector<std::size_t> links;
};

struct Message {
    int from = 0, to = 0;
    std::size_t part = 0, step = 0;
    double delay = 0;  ///< seconds from the opening of the step to the first byte
    std::vector<std::pair<std::size_t, double>>
        ways;  ///< and the share of the vector that each has
};

struct Job {
    int ranks = 0;
    std::size_t parts = 0, steps = 0;
    bool step_sync = false;
    std::vector<double> rates;  ///< bytes per second of each link
    std::vector<Way> ways;
    std::vector<Message> messages;
};

/// Reads lines of words:
///
///     job RANKS PARTS STEPS SYNC       first; SYNC 0 or 1
///     link RATE                        links, ways and messages are numbered from 0, as they come
///     way FROM TO LINK ...
///     message FROM TO PART STEP DELAY WAY SHARE [WAY SHARE ...]
///
/// Throws std::invalid_argument with the line that is wrong.
Job read_job(std::istream& input);

}  // namespace trefoil::simgrid_engine
