// SPDX-License-Identifier: BSD-3-Clause
// The operations of a program, one by one.
#include "threads/executor/operations.hpp"

#include <cerrno>
#include <cstring>
#include <span>
#include <string>

#include "backend/ports/powers.hpp"

namespace trefoil {

namespace {

void note(TraceRing& trace, const Call& call, Rank peer, const ProgramOp& op,
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
        case ProgramOp::Kind::divide:
            event.kind = TraceEvent::Kind::reduce;
            break;
        case ProgramOp::Kind::joint:
            event.kind = TraceEvent::Kind::joint;
            break;
        case ProgramOp::Kind::open:
            return;  // 16 bytes
        case ProgramOp::Kind::pull:
            event.kind = TraceEvent::Kind::pull;
            event.bytes = op.elements;
            event.peer = peer;
            break;
    }
    trace.add(event);
}

/// In place, what is to be copied may be there already.
bool does_nothing(const ProgramOp& op, const SegmentBuffers& buffers) {
    return op.kind == ProgramOp::Kind::copy && buffers.at(op.target) == buffers.at(op.source);
}

}  // namespace

// Inlined: a call for each operation would take longer than the operations of a small call do.
[[gnu::always_inline]] inline bool Operations::perform(const Call& call, const Program& program,
                                                       SegmentBuffers& buffers,
                                                       const ProgramOp& op) const noexcept {
    switch (op.kind) {
        case ProgramOp::Kind::copy:
            if (buffers.at(op.target) != buffers.at(op.source)) {
                std::memcpy(buffers.at(op.target), buffers.at(op.source), op.elements);
            }
            break;
        case ProgramOp::Kind::reduce:
            call.kernels.apply(buffers.at(op.target), buffers.at(op.source), buffers.at(op.second),
                               op.elements);
            break;
        case ProgramOp::Kind::joint:
            call.kernels.apply_joint(buffers.at(op.target), buffers.at(op.source),
                                     buffers.at(op.second), buffers.at(op.third), op.elements);
            break;
        case ProgramOp::Kind::divide:
            call.kernels.divide(buffers.at(op.target), op.elements, call.kernels.ranks);
            break;
        case ProgramOp::Kind::open:
            return open(program, buffers, op);
        case ProgramOp::Kind::pull:
            return pull(channels_.out[program.peer_of(op.source.space)], buffers, op);
    }
    return true;
}

void Operations::perform(const Call& call, const Program& program, SegmentBuffers& buffers,
                         ProgramRange range, TraceRing* trace) const noexcept {
    const auto ops = std::span(program.ops).subspan(range.first, range.count);
    if (trace == nullptr) {
        for (const ProgramOp& op : ops) {
            if (!perform(call, program, buffers, op)) [[unlikely]] {
                return;
            }
        }
        return;
    }
    for (const ProgramOp& op : ops) {
        if (does_nothing(op, buffers)) {
            continue;
        }
        const std::int64_t begin = trace_clock();
        if (!perform(call, program, buffers, op)) {
            return;
        }
        const bool pulls = op.kind == ProgramOp::Kind::pull;
        note(*trace, call, pulls ? channels_.out[program.peer_of(op.source.space)].peer : 0, op,
             begin);
    }
}

bool Operations::open(const Program& program, SegmentBuffers& buffers,
                      const ProgramOp& op) const noexcept {
    VectorAddresses told;
    std::memcpy(&told, buffers.at(op.source), sizeof told);
    if (program.shows_image) {
        const OutChannel& peer = channels_.out[program.peer_of(op.target.space)];
        std::byte* const image =
            channels_.groups[peer.group]->images()->image_of(peer.endpoint, told.input);
        if (image == nullptr) {
            failure_.set_own(
                Status::system_error,
                "the image that rank " + std::to_string(peer.peer) +
                    " shows cannot be mapped; set TREFOIL_SINGLE_COPY=0 to do without");
            return false;
        }
        told.input = told.output = reinterpret_cast<std::uintptr_t>(image);
    }
    buffers.place_peer(op.target.space, told);
    return true;
}

bool Operations::pull(const OutChannel& peer, const SegmentBuffers& buffers,
                      const ProgramOp& op) const noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(buffers.at(op.source));
    if (channels_.groups[peer.group]->pulling()->copy_from(peer.endpoint, buffers.at(op.target),
                                                           address, op.elements)) {
        return true;
    }
    const int error = errno;
    if (reads_.withdrawn(peer)) {  // and may have freed them
        reads_.fail_with(peer);
        return false;
    }
    failure_.set_own(Status::system_error,
                     "reading the vector of rank " + std::to_string(peer.peer) +
                         " in its process failed: " + std::strerror(error) +
                         "; set TREFOIL_SINGLE_COPY=0 if its memory cannot be read by others");
    return false;
}

}  // namespace trefoil
