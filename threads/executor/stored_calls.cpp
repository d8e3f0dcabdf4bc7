// SPDX-License-Identifier: BSD-3-Clause
// Which calls run side by side, and when their slots are given back.
#include "threads/executor/stored_calls.hpp"

#include <algorithm>
#include <new>

#include "threads/executor/running_segment.hpp"

namespace trefoil {

bool StoredCalls::advance(TimelineNotes& notes) noexcept {
    bool moved = false;
    for (std::uint64_t n = oldest_; n != next_ && !failure_.happened(); ++n) {
        if (!is_done(n)) {
            moved |= go_on(n, notes);
        }
    }
    while (!failure_.happened() && begin_next(notes)) {
        moved = true;
        (void)go_on(next_ - 1, notes);
    }
    return moved;
}

/// False: there is no call, or it cannot begin yet.
bool StoredCalls::begin_next(TimelineNotes& notes) noexcept {
    if (next_ - oldest_ == window) {
        return false;
    }
    RunningCall* const call = calls_.first();
    if (call == nullptr || !may_begin(*call)) {
        return false;
    }
    const CallSegment& segment = call->next_segment();
    if (!call->has_more()) {
        calls_.pop();
    }
    begin(*call, segment, notes);
    return true;
}

bool StoredCalls::begin_here(RunningCall& call, TimelineNotes& notes) noexcept {
    if (oldest_ != next_ || calls_.first() != nullptr || call.call().segments.size() > 1 ||
        !may_begin(call)) {
        return false;
    }
    begin(call, call.next_segment(), notes);
    (void)go_on(oldest_, notes);
    return true;
}

/// True: something has moved.
bool StoredCalls::go_on(std::uint64_t number, TimelineNotes& notes) noexcept {
    bool moved = false;
    if (place(number).go_on(channels_, operations_, failure_, notes, moved)) {
        complete(number);
    }
    return moved;
}

/// False: its landing memory is still to be made, or there is no memory.
bool StoredCalls::may_begin(const RunningCall& call) noexcept {
    if (!RunningSegment::may_start(*call.first_waiting().program, channels_)) {
        return false;
    }
    if (oldest_ == next_) {
        oldest_ = next_ = 0;  // one call after the other has the same place
    }
    return room_of_all_ == room_needed_.version() || make_room();
}

void StoredCalls::begin(RunningCall& call, const CallSegment& segment,
                        TimelineNotes& notes) noexcept {
    done_[next_ % window] = false;
    place(next_).begin(call, segment, ++begun_, channels_, operations_, notes);
    ++next_;
}

/// At the next place; at all of them where none is in use, so that later calls find it made. Places
/// that calls do not come to take no pages for it.
bool StoredCalls::make_room() noexcept {
    const bool at_all = oldest_ == next_;
    try {
        for (std::uint64_t n = next_; n == next_ || (at_all && n < next_ + window); ++n) {
            room_needed_.make_room(room_[n % window],
                                   [&](const ProgramSizes& sizes) { place(n).make_room(sizes); });
        }
    } catch (const std::bad_alloc&) {
        failure_.set_own(Status::out_of_memory);
        return false;
    }
    if (at_all) {
        room_of_all_ = *std::ranges::min_element(room_);
    }
    return true;
}

/// The call may be over; the places of those that began first are free again.
void StoredCalls::complete(std::uint64_t number) noexcept {
    done_[number % window] = true;
    RunningCall& call = place(number).call();
    const char* const text = call.call().text;
    for (; oldest_ != next_ && is_done(oldest_); ++oldest_) {
        place(oldest_).give_back(channels_);
    }
    if (call.complete_segment()) {  // and may be gone
        in_flight_.complete(false, text);
    }
}

const RunningCall* StoredCalls::running() const {
    for (std::uint64_t n = oldest_; n != next_; ++n) {
        if (!is_done(n)) {
            return &place(n).call();
        }
    }
    return nullptr;
}

std::vector<const RunningCall*> StoredCalls::all_running() const {
    std::vector<const RunningCall*> calls;
    for (std::uint64_t n = oldest_; n != next_; ++n) {
        const RunningCall* const call = is_done(n) ? nullptr : &place(n).call();
        if (call != nullptr && (calls.empty() || calls.back() != call)) {
            calls.push_back(call);
        }
    }
    return calls;
}

std::vector<Missing> StoredCalls::missing(const RunningCall* call) const {
    std::vector<Missing> found;
    for (std::uint64_t n = oldest_; n != next_; ++n) {
        if (!is_done(n) && (call == nullptr || call == &place(n).call())) {
            place(n).list_missing(channels_, found);
        }
    }
    return found;
}

}  // namespace trefoil
