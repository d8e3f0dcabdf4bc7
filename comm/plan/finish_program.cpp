// SPDX-License-Identifier: BSD-3-Clause
// Numbers of arrivals, the order of steps, and the size of the lists.
#include "comm/plan/finish_program.hpp"

namespace trefoil {

namespace {

void name_arrivals(Program& program) {
    for (ProgramOp& op : program.ops) {
        if (op.arrival != ProgramOp::none) {
            op.arrival += program.arrivals[op.source.space - Location::first_landing].first;
        }
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

void finish_program(Program& program, bool are_stored) {
    name_arrivals(program);
    if (are_stored) {
        order_steps(program);
    }
    shrink(program);
}

}  // namespace trefoil
