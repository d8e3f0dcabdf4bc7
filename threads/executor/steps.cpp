// SPDX-License-Identifier: BSD-3-Clause
// From the last event of a step to the first of the next.
#include "threads/executor/steps.hpp"

namespace trefoil {

void Steps::begin(SegmentQueue& queue, TimelineNotes& notes) noexcept {
    RunningSegment& segment = queue.next();
    const Program& program = segment.program();
    perform(segment, program.begin, notes);
    const auto parts = static_cast<std::uint32_t>(program.parts.size());
    if (parts == 0) {
        perform(segment, program.end, notes);
    }
    queue.publish();
    wake_up_.announce();
    for (std::uint32_t part = 0; part < parts; ++part) {
        const std::uint32_t first = program.parts[part].first;
        perform_before(segment, program.steps[first], notes);
        open(segment, part, first, notes);
        count_event(segment, first, notes);
    }
}

void Steps::count_event(RunningSegment& segment, std::uint32_t step,
                        TimelineNotes& notes) noexcept {
    while (segment.count_event(step)) {
        const ProgramStep& done = segment.program().steps[step];
        perform_after(segment, done, notes);
        if (notes.on()) {
            notes.step(segment.number(), done, segment.opened(done.part));
        }
        if (failure_.happened()) {
            return;  // nothing follows: no peer may take what has failed for done
        }
        if (done.last) {
            finish_part(segment, notes);
            return;
        }
        ++step;
        perform_before(segment, segment.program().steps[step], notes);
        if (failure_.happened()) {
            return;
        }
        open(segment, done.part, step, notes);
        // And it has counted the end of the step before.
    }
}

/// What has landed in the vector itself need not be copied there.
void Steps::perform_after(RunningSegment& segment, const ProgramStep& step,
                          TimelineNotes& notes) noexcept {
    if (segment.direct() == nullptr) {
        perform(segment, step.after, notes);
        return;
    }
    for (std::uint32_t i = step.after.first; i < step.after.first + step.after.count; ++i) {
        const std::uint32_t arrival = segment.program().ops[i].arrival;
        if (arrival == ProgramOp::none || !segment.landed_directly(arrival)) {
            perform(segment, {i, 1}, notes);
        }
    }
}

/// What is read of peers counts only if they let it be read until the end.
void Steps::perform_before(RunningSegment& segment, const ProgramStep& step,
                           TimelineNotes& notes) noexcept {
    if (step.reads.count == 0) {
        perform(segment, step.before, notes);
        return;
    }
    const std::span<const std::uint32_t> peers(&segment.program().reads[step.reads.first],
                                               step.reads.count);
    if (reads_.begin(peers)) {
        perform(segment, step.before, notes);
        reads_.end(peers);
    }
}

void Steps::open(RunningSegment& segment, std::uint32_t part, std::uint32_t step,
                 TimelineNotes& notes) noexcept {
    if (notes.on()) {
        segment.note_opened(part, notes.clock());
    }
    segment.open(part, step);
    wake_up_.announce();
}

/// The last part brings the results home.
void Steps::finish_part(RunningSegment& segment, TimelineNotes& notes) noexcept {
    if (segment.finish_part()) {
        perform(segment, segment.program().end, notes);
    }
    release(segment, notes);
}

void Steps::release(RunningSegment& segment, TimelineNotes& notes) noexcept {
    if (!segment.release()) {
        return;
    }
    if (notes.on()) {
        notes.segment(segment.number(), segment.begun());
    }
    RunningCall& call = segment.call();  // another segment may be there after end()
    const bool reads_peers = call.reads_peers();
    const char* const text = call.call().text;
    segment.end();
    if (call.complete_segment()) {  // and may be gone
        in_flight_.complete(reads_peers, text);
    }
    wake_up_.announce();
}

}  // namespace trefoil
