// SPDX-License-Identifier: BSD-3-Clause
// Numbers of arrivals, the order of steps, and the size of the lists.
#include "comm/plan/finish_program.hpp"

#include <algorithm>
#include <vector>

namespace trefoil {

namespace {

void name_arrivals(Program& program) {
    for (ProgramOp& op : program.ops) {
        if (op.arrival != ProgramOp::none) {
            op.arrival += program.arrivals[op.source.space - Location::first_landing].first;
        }
    }
}

/// Program::order and what belongs to it.
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

void shrink(Program& program) {
    const auto fit = [](auto&... lists) { (lists.shrink_to_fit(), ...); };
    fit(program.parts, program.steps, program.puts, program.ops, program.used_in, program.used_out,
        program.in_bytes, program.out_bytes, program.arrivals, program.arrival_steps,
        program.arrival_bytes, program.arrival_offsets, program.arrival_copies, program.peers,
        program.reads, program.told, program.order, program.awaited, program.awaited_by_step);
}

}  // namespace

void finish_program(Program& program, bool is_flagged) {
    name_arrivals(program);
    if (is_flagged) {
        order_steps(program);
    }
    shrink(program);
}

}  // namespace trefoil
