// SPDX-License-Identifier: BSD-3-Clause
// What the steps wait for, side by side in the order in which stores run them.
#include "threads/executor/program.hpp"

#include <algorithm>

namespace trefoil {

void order_steps(Program& program) {
    for (std::uint32_t s = 0; s < program.steps.size(); ++s) {
        program.order.push_back(s);
    }
    std::ranges::stable_sort(program.order, {},
                             [&](std::uint32_t s) { return program.steps[s].schedule_step; });
    std::vector<std::vector<ProgramArrival>> by_step(program.steps.size());
    for (const std::uint32_t in : program.used_in) {
        const ProgramRange range = program.arrivals[in];
        for (std::uint32_t a = range.first; a < range.first + range.count; ++a) {
            const auto bytes = static_cast<std::uint32_t>(program.arrival_bytes[a]);
            const auto copied = static_cast<std::uint32_t>(program.arrival_copies[a]);
            const auto offset = static_cast<std::uint32_t>(program.arrival_offsets[a]);
            by_step[program.arrival_steps[a]].push_back({in, a, bytes, copied, offset});
        }
    }
    for (const auto& awaited : by_step) {
        program.awaited_by_step.push_back({static_cast<std::uint32_t>(program.awaited.size()),
                                           static_cast<std::uint32_t>(awaited.size())});
        program.awaited.insert(program.awaited.end(), awaited.begin(), awaited.end());
    }
}

}  // namespace trefoil
