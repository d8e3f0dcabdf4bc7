// SPDX-License-Identifier: BSD-3-Clause
// A worker's notes, one kind after the other.
#include "threads/executor/timeline_notes.hpp"

namespace trefoil {

using Kind = TraceEvent::Kind;

namespace {

/// An event that ends now.
TraceEvent event_since(Kind kind, std::int64_t begin) {
    TraceEvent event;
    event.kind = kind;
    event.begin = begin;
    event.end = trace_clock();
    return event;
}

TraceEvent step_event(Kind kind, std::int64_t begin, std::uint64_t segment,
                      const ProgramStep& step) {
    TraceEvent event = event_since(kind, begin);
    event.segment = segment;
    event.part = step.schedule_part;
    event.step = step.schedule_step;
    return event;
}

std::uint8_t lane_of(std::uint64_t segment) {
    return static_cast<std::uint8_t>(segment % segment_window);
}

}  // namespace

void TimelineNotes::call(const char* text, std::int64_t begin) noexcept {
    TraceEvent event = event_since(Kind::call, begin);
    event.text = text;
    event.of = of_;
    ring_->add(event);
}

void TimelineNotes::waits(std::int64_t begin) noexcept {
    wait_begin_ = wait_begin_ == 0 ? begin : wait_begin_;
    wait_end_ = trace_clock();
}

void TimelineNotes::goes_on() noexcept {
    if (wait_begin_ != 0) {
        TraceEvent event;
        event.kind = Kind::wait;
        event.begin = wait_begin_;
        event.end = wait_end_;
        ring_->add(event);
        wait_begin_ = 0;
    }
}

void TimelineNotes::segment(std::uint64_t segment, std::int64_t begin) noexcept {
    TraceEvent event = event_since(Kind::segment, begin);
    event.lane = lane_of(segment);
    event.segment = segment;
    event.of = of_;
    ring_->add(event);
}

void TimelineNotes::step(std::uint64_t segment, const ProgramStep& step,
                         std::int64_t begin) noexcept {
    TraceEvent event = step_event(Kind::step, begin, segment, step);
    event.lane = lane_of(segment);
    event.of = of_;
    ring_->add(event);
}

void TimelineNotes::put(std::uint64_t segment, const ProgramStep& step, const ProgramPut& put,
                        const OutChannel& channel, std::int64_t begin) noexcept {
    TraceEvent event = step_event(Kind::put, begin, segment, step);
    event.peer = channel.peer;
    event.port = static_cast<std::int16_t>(channel.port.index);
    event.bytes = put.bytes;
    event.message = put.index;
    event.of = of_;
    ring_->add(event);
}

void TimelineNotes::arrival(std::uint64_t segment, const ProgramStep& step, std::uint32_t message,
                            const InChannel& channel, std::int64_t begin) noexcept {
    TraceEvent event = step_event(Kind::arrival, begin, segment, step);
    event.peer = channel.peer;
    event.port = static_cast<std::int16_t>(channel.port.index);
    event.message = message;
    event.of = of_;
    ring_->add(event);
}

}  // namespace trefoil
