// SPDX-License-Identifier: BSD-3-Clause
// What one `trefoil sim` is asked: read from the command line and checked.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/json/user_schedule.hpp"
#include "algorithms/schedule/collective.hpp"
#include "bench/sim/machine.hpp"

namespace trefoil::tool {

enum class Model : std::uint8_t { flow, step };
/// Who works the times out; bench/sim/engines.hpp has the table.
enum class Engine : std::uint8_t { own, simgrid };

struct SimOptions {
    Collective collective = Collective::allreduce;
    std::vector<std::string> algorithms;  ///< names with modifiers, or "all"
    /// A schedule of the user's, in front of the algorithms; or null.
    std::shared_ptr<const UserSchedule> schedule = {};
    std::vector<std::string> tori;
    std::vector<std::size_t> sizes;  ///< bytes of the vector, as they were given
    Rank root = 0;
    Machine machine;
    Model model = Model::flow;
    Engine engine = Engine::own;
    FlowOptions flow;
    std::size_t most_bytes = std::size_t{2} << 30;  ///< of memory for the table of messages
    bool progress = false;                          ///< on stderr

    /// Whether some links are unlike the others.
    bool changes_links() const { return !machine.down.empty() || !machine.slow.empty(); }

    // Of the output.
    std::string baseline;  ///< an algorithm; empty: none
    bool json = false;
    bool table = false;  ///< algorithms beside sizes
    std::string plot;    ///< a file for a picture; empty: none
};

}  // namespace trefoil::tool
