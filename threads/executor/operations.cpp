// SPDX-License-Identifier: BSD-3-Clause
// The operations of a program, one by one.
#include "threads/executor/operations.hpp"

#include <cstring>

namespace trefoil {

namespace {

void note(TraceRing& trace, const Call& call, const Program& program, const ProgramOp& op,
          std::int64_t begin) noexcept {
    TraceEvent event;
    event.begin = begin;
    event.end = trace_clock();
    event.bytes = op.elements * call.element_bytes;
    switch (op.kind) {
        case ProgramOp::Kind::copy:
            event.kind = TraceEvent::Kind::copy;
            event.bytes = op.elements;
            break;
        case ProgramOp::Kind::reduce:
            event.kind = TraceEvent::Kind::reduce;
            break;
        case ProgramOp::Kind::joint:
            event.kind = TraceEvent::Kind::joint;
            break;
        case ProgramOp::Kind::publish:
            return;  // 16 bytes
        case ProgramOp::Kind::fold:
            event.kind = TraceEvent::Kind::fold;
            event.bytes = program.direct.elements * program.direct.element_bytes;
            break;
    }
    trace.add(event);
}

/// In place, what is to be copied may be there already.
bool does_nothing(const ProgramOp& op, const SegmentBuffers& buffers) {
    return op.kind == ProgramOp::Kind::copy && buffers.at(op.target) == buffers.at(op.source);
}

}  // namespace

void Operations::perform(const Call& call, const Program& program, const SegmentBuffers& buffers,
                         ProgramRange range, TraceRing* trace) const noexcept {
    for (std::uint32_t i = range.first; i < range.first + range.count; ++i) {
        const ProgramOp& op = program.ops[i];
        if (does_nothing(op, buffers)) {
            continue;
        }
        const std::int64_t begin = trace == nullptr ? 0 : trace_clock();
        if (!perform(call, program, buffers, op)) {
            return;
        }
        if (trace != nullptr) {
            note(*trace, call, program, op, begin);
        }
    }
}

bool Operations::perform(const Call& call, const Program& program, const SegmentBuffers& buffers,
                         const ProgramOp& op) const noexcept {
    switch (op.kind) {
        case ProgramOp::Kind::copy:
            std::memcpy(buffers.at(op.target), buffers.at(op.source), op.elements);
            break;
        case ProgramOp::Kind::reduce:
            call.kernels.apply(buffers.at(op.target), buffers.at(op.source), op.elements);
            break;
        case ProgramOp::Kind::joint:
            call.kernels.apply_both(buffers.at(op.target), buffers.at(op.source),
                                    buffers.at(op.second), op.elements);
            break;
        case ProgramOp::Kind::publish: {
            const VectorAddresses own{
                reinterpret_cast<std::uintptr_t>(buffers.base(Location::input)),
                reinterpret_cast<std::uintptr_t>(buffers.base(Location::output))};
            std::memcpy(buffers.at(op.target), &own, sizeof own);
            break;
        }
        case ProgramOp::Kind::fold:
            return fold(call, program.direct, buffers);
    }
    return true;
}

}  // namespace trefoil
