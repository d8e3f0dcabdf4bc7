// SPDX-License-Identifier: BSD-3-Clause
// Step by step through a call whose messages are stores.
#include "threads/executor/flagged_calls.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

#include "threads/executor/running_segment.hpp"

namespace trefoil {

namespace {

using Shared = std::atomic_ref<std::uint64_t>;

std::uint64_t load(const std::uint64_t& word, std::memory_order order) noexcept {
    return Shared(const_cast<std::uint64_t&>(word)).load(order);
}

/// What the flag of a message of this use has in its upper half: no use has 0.
constexpr std::uint32_t mark_of(std::uint32_t use) {
    return use + 1;
}

std::uint32_t mark_in(std::uint64_t flag) {
    return static_cast<std::uint32_t>(flag >> 32);
}

}  // namespace

bool FlaggedCalls::advance(TimelineNotes& notes) noexcept {
    bool moved = false;
    do {
        if (program_ == nullptr && !(begin_next() && begin_piece(notes))) {
            return moved;
        }
    } while (go_on(notes, moved));
    return moved;
}

/// False: there is no call, or its landing memory is still to be made.
bool FlaggedCalls::begin_next() noexcept {
    if (call_ == nullptr) {
        call_ = calls_.first();
    }
    return call_ != nullptr &&
           RunningSegment::may_start(*call_->first_waiting().program, channels_);
}

bool FlaggedCalls::begin_piece(TimelineNotes& notes) noexcept {
    try {
        room_needed_.make_room(room_, [&](const ProgramSizes& sizes) {
            in_use_.resize(sizes.channels_in);
            out_use_.resize(sizes.channels_out);
            scratch_.resize(std::max(scratch_.size(), sizes.scratch_bytes));
            buffers_.reserve(sizes.channels_in, sizes.spaces, sizes.told);
        });
    } catch (const std::bad_alloc&) {
        failure_.set(Cause{Status::out_of_memory});
        return false;
    }
    const CallSegment& piece = call_->next_piece();
    if (!call_->has_more()) {
        calls_.pop();
    }
    program_ = piece.program;
    ++number_;
    piece_begun_ = step_begun_ = notes.clock();
    const CallVectors& vectors = call_->vectors();
    // Programs only read the input.
    auto* const input = const_cast<std::byte*>(vectors.input);
    buffers_.place_vectors(input == nullptr ? nullptr : input + piece.offset,
                           vectors.output == nullptr ? nullptr : vectors.output + piece.offset);
    buffers_.place(Location::scratch, scratch_.data());
    for (const std::uint32_t c : program_->used_in) {
        InChannel& channel = channels_.in[c];
        in_use_[c] = channel.end.begun++;
        buffers_.place(Location::first_landing + c,
                       channel.end.slots + channels_.slot_offset(channel.ring, in_use_[c]));
    }
    for (const std::uint32_t c : program_->used_out) {
        out_use_[c] = channels_.out[c].end.begun++;
    }
    perform(program_->begin, notes);
    first_ = at_ = done_ = 0;
    end_ = end_of_step();
    sends_ = true;
    return true;
}

/// Where the steps end that belong to the schedule's step at first_.
std::uint32_t FlaggedCalls::end_of_step() const noexcept {
    const auto& order = program_->order;
    std::uint32_t end = first_;
    while (end < order.size() && program_->steps[order[end]].schedule_step ==
                                     program_->steps[order[first_]].schedule_step) {
        ++end;
    }
    return end;
}

/// True: the piece is complete. False: it waits, or has failed.
bool FlaggedCalls::go_on(TimelineNotes& notes, bool& moved) noexcept {
    while (first_ < end_) {
        if (sends_) {
            for (; at_ < end_; ++at_, done_ = 0) {
                const std::uint32_t before = done_;
                const bool sent = send(program_->steps[program_->order[at_]], notes);
                moved |= sent || done_ != before;
                if (!sent) {
                    return false;
                }
            }
            sends_ = false;
            at_ = first_;
        }
        for (; at_ < end_; ++at_, done_ = 0) {
            const std::uint32_t before = done_;
            const bool received = receive(program_->order[at_], notes);
            moved |= received || done_ != before;
            if (!received) {
                return false;
            }
        }
        first_ = end_;
        end_ = end_of_step();
        sends_ = true;
    }
    moved = true;
    end_piece(notes);
    return !failure_.happened();
}

/// What precedes the puts is done when the first of them is tried.
bool FlaggedCalls::send(const ProgramStep& step, TimelineNotes& notes) noexcept {
    if (done_ == 0 && waits_for_ == Awaited::nothing) {
        perform(step.before, notes);
    }
    waits_for_ = Awaited::nothing;
    for (; done_ < step.puts.count; ++done_) {
        const ProgramPut& next = program_->puts[step.puts.first + done_];
        const std::int64_t begin = notes.clock();
        if (!put(next)) {
            return false;
        }
        if (notes.on()) {
            notes.put(number_, step, next, channels_.out[next.channel], begin);
        }
    }
    return true;
}

/// False: it cannot be put yet.
bool FlaggedCalls::put(const ProgramPut& put) noexcept {
    OutChannel& channel = channels_.out[put.channel];
    StoringEnd& end = channel.end;
    waits_at_ = put.channel;
    if (end.slots == nullptr) {
        waits_for_ = Awaited::connection;
        return false;
    }
    const std::uint32_t use = out_use_[put.channel];
    const std::uint32_t slots = channels_.rings[channel.ring].slots;
    if (use - end.known_taken >= slots) {
        // Pairs with the release in end_piece(): the receiver has read what was there.
        end.known_taken = static_cast<std::uint32_t>(load(*end.taken, std::memory_order_acquire));
        if (use - end.known_taken >= slots) {
            waits_for_ = Awaited::room;
            return false;
        }
    }
    std::byte* const target =
        end.slots + channels_.slot_offset(channel.ring, use) + put.landing_offset;
    for (std::uint32_t i = 0; i < put.packs.count; ++i) {
        const ProgramOp& op = program_->ops[put.packs.first + i];
        std::memcpy(target + (op.target.offset - put.pack_offset), buffers_.at(op.source),
                    op.elements);
    }
    if (put.packs.count == 0 && put.bytes > 0) {
        std::memcpy(target, buffers_.at(put.source), put.bytes);
    }
    std::uint64_t& flag = *reinterpret_cast<std::uint64_t*>(target - channels_.rings.flag_bytes());
    Shared(flag).store(std::uint64_t{mark_of(use)} << 32 | sign(put.bytes),
                       std::memory_order_release);
    channels_.groups[static_cast<std::size_t>(channel.group)]->ring(end.peer);
    ++channel.puts;
    channel.bytes += put.bytes;
    return true;
}

/// Of this call, for a message of so many bytes.
std::uint32_t FlaggedCalls::sign(std::uint64_t bytes) const noexcept {
    const std::uint64_t bits = call_->hash() ^ bytes * 0x9e3779b97f4a7c15ULL;
    return static_cast<std::uint32_t>(bits >> 32 ^ bits);
}

std::uint64_t* FlaggedCalls::flag_of(const ProgramArrival& message) const noexcept {
    return reinterpret_cast<std::uint64_t*>(
        buffers_.at({Location::first_landing + message.channel,
                     program_->arrival_offsets[message.arrival]}) -
        channels_.rings.flag_bytes());
}

bool FlaggedCalls::has_come() const noexcept {
    return mark_in(load(*waited_, std::memory_order_relaxed)) == waited_use_;
}

bool FlaggedCalls::has_room(const OutChannel& channel) const noexcept {
    const auto taken =
        static_cast<std::uint32_t>(load(*channel.end.taken, std::memory_order_relaxed));
    return out_use_[waits_at_] - taken < channels_.rings[channel.ring].slots;
}

/// True: all messages of the step have come, and what follows them is done.
bool FlaggedCalls::receive(std::uint32_t number, TimelineNotes& notes) noexcept {
    const ProgramStep& step = program_->steps[number];
    const ProgramRange awaited = program_->awaited_by_step[number];
    waits_for_ = Awaited::nothing;
    for (; done_ < awaited.count; ++done_) {
        const ProgramArrival& message = program_->awaited[awaited.first + done_];
        InChannel& channel = channels_.in[message.channel];
        const std::int64_t begin = notes.clock();
        const std::uint64_t* const place = flag_of(message);
        // Pairs with the release in put(): the bytes are there.
        const std::uint64_t flag = load(*place, std::memory_order_acquire);
        const std::uint32_t mark = mark_of(in_use_[message.channel]);
        if (mark_in(flag) != mark) {
            waits_for_ = Awaited::message;
            waits_at_ = message.channel;
            waited_ = place;
            waited_use_ = mark;
            return false;
        }
        if (static_cast<std::uint32_t>(flag) != sign(program_->arrival_bytes[message.arrival])) {
            fail_by(channel);
            return false;
        }
        channel.bytes += program_->arrival_bytes[message.arrival];
        channel.copied += program_->arrival_copies[message.arrival];
        if (notes.on()) {
            notes.arrival(number_, step,
                          message.arrival - program_->arrivals[message.channel].first, channel,
                          begin);
        }
    }
    perform(step.after, notes);
    if (notes.on()) {
        notes.step(number_, step, step_begun_);
        step_begun_ = notes.clock();
    }
    return !failure_.happened();
}

void FlaggedCalls::fail_by(const InChannel& channel) noexcept {
    const Call& call = call_->call();
    failure_.set(Status::mismatch, "rank " + std::to_string(channel.peer) +
                                       " makes another call than this rank's " + call.text + "; " +
                                       call.agreement);
}

/// The results are home, and the slots are given back.
void FlaggedCalls::end_piece(TimelineNotes& notes) noexcept {
    perform(program_->end, notes);
    for (const std::uint32_t c : program_->used_in) {
        InChannel& channel = channels_.in[c];
        Shared(*channel.end.taken).store(in_use_[c] + 1, std::memory_order_release);
        channels_.groups[static_cast<std::size_t>(channel.group)]->ring(channel.end.peer);
    }
    if (notes.on()) {
        notes.segment(number_, piece_begun_);
    }
    RunningCall& call = *call_;
    const char* const text = call.call().text;
    program_ = nullptr;
    call_ = call.has_more() ? call_ : nullptr;
    if (call.complete_segment()) {  // and may be gone
        in_flight_.complete(false, text);
    }
}

std::vector<MissingPiece> FlaggedCalls::missing() const {
    std::vector<MissingPiece> found;
    if (program_ == nullptr || first_ >= end_) {
        return found;
    }
    const ProgramStep& step = program_->steps[program_->order[at_]];
    MissingPiece piece;
    piece.part = static_cast<int>(step.schedule_part);
    piece.step = static_cast<int>(step.schedule_step);
    if (waits_for_ == Awaited::room || waits_for_ == Awaited::connection) {
        const OutChannel& channel = channels_.out[waits_at_];
        piece.kind =
            waits_for_ == Awaited::room ? MissingPiece::Kind::room : MissingPiece::Kind::connection;
        piece.peer = channel.peer;
        piece.port = channel.port;
        piece.bytes = program_->puts[step.puts.first + done_].bytes;
        found.push_back(piece);
    }
    // Of all parts: the step that is at work, as far as its messages have not come.
    for (std::uint32_t i = sends_ ? end_ : at_; i < end_; ++i) {
        const std::uint32_t number = program_->order[i];
        const ProgramRange awaited = program_->awaited_by_step[number];
        for (std::uint32_t a = 0; a < awaited.count; ++a) {
            const ProgramArrival& message = program_->awaited[awaited.first + a];
            if (mark_in(load(*flag_of(message), std::memory_order_relaxed)) ==
                mark_of(in_use_[message.channel])) {
                continue;
            }
            const InChannel& channel = channels_.in[message.channel];
            piece.kind = MissingPiece::Kind::message;
            piece.part = static_cast<int>(program_->steps[number].schedule_part);
            piece.step = static_cast<int>(program_->steps[number].schedule_step);
            piece.peer = channel.peer;
            piece.port = channel.port;
            piece.bytes = program_->arrival_bytes[message.arrival];
            found.push_back(piece);
        }
    }
    return found;
}

}  // namespace trefoil
