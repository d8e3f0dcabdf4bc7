// SPDX-License-Identifier: BSD-3-Clause
// The executor's notes for the timeline. Each is made only where Worker::clock() was not 0.
#include "threads/executor/state.hpp"

namespace trefoil {

using Kind = TraceEvent::Kind;

void Executor::note_call(Worker& me, std::int64_t begin) noexcept {
    TraceEvent event;
    event.kind = Kind::call;
    event.begin = begin;
    event.end = trace_clock();
    event.text = call_->text;
    me.trace->add(event);
}

/// Ends the wait that idle() keeps, if there is one.
void Executor::note_progress(Worker& me) noexcept {
    if (me.wait_begin != 0) {
        TraceEvent event;
        event.kind = Kind::wait;
        event.begin = me.wait_begin;
        event.end = me.wait_end;
        me.trace->add(event);
        me.wait_begin = 0;
    }
}

void Executor::note_segment(Worker& me, const Segment& segment) noexcept {
    TraceEvent event;
    event.kind = Kind::segment;
    event.lane = static_cast<std::uint8_t>(segment.number % window);
    event.begin = segment.begun;
    event.end = trace_clock();
    event.segment = segment.number;
    me.trace->add(event);
}

void Executor::note_step(Worker& me, const Segment& segment, const ProgramStep& step) noexcept {
    TraceEvent event;
    event.kind = Kind::step;
    event.lane = static_cast<std::uint8_t>(segment.number % window);
    event.begin = segment.opened[step.part];
    event.end = trace_clock();
    event.segment = segment.number;
    event.part = step.schedule_part;
    event.step = step.schedule_step;
    me.trace->add(event);
}

void Executor::note_put(Worker& me, const Segment& segment, const ProgramStep& step,
                        const ProgramPut& put, std::int64_t begin) noexcept {
    const OutChannel& channel = channels_.out[put.channel];
    TraceEvent event;
    event.kind = put.acknowledged_in == ProgramPut::nothing ? Kind::put : Kind::acknowledge;
    event.begin = begin;
    event.end = trace_clock();
    event.peer = channel.peer;
    event.port = static_cast<std::int16_t>(channel.port.index);
    event.bytes = put.bytes;
    event.segment = segment.number;
    event.part = step.schedule_part;
    event.step = step.schedule_step;
    event.message = put.index;
    me.trace->add(event);
}

void Executor::note_arrival(Worker& me, const InChannel& channel, std::uint64_t segment,
                            const ProgramStep& step, std::uint32_t message,
                            std::int64_t begin) noexcept {
    TraceEvent event;
    event.kind = Kind::arrival;
    event.begin = begin;
    event.end = trace_clock();
    event.peer = channel.peer;
    event.port = static_cast<std::int16_t>(channel.port.index);
    event.segment = segment;
    event.part = step.schedule_part;
    event.step = step.schedule_step;
    event.message = message;
    me.trace->add(event);
}

}  // namespace trefoil
