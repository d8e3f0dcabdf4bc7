// SPDX-License-Identifier: BSD-3-Clause
// What a segment sends, what it waits for, and how it tells one from the other.
#include "threads/executor/stored_segment.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include "backend/ports/powers.hpp"

namespace trefoil {

namespace {

using Shared = std::atomic_ref<std::uint64_t>;

Shared shared(const std::uint64_t& word) noexcept {
    return Shared(const_cast<std::uint64_t&>(word));
}

/// The line is the receiver's, and a core has its stores leave in order: waiting for it later would
/// hold up all stores behind the next message.
void get_for_writing(const std::byte* line) noexcept {
#if defined(__x86_64__)  // where the builtin is a prefetch for reading
    asm volatile("prefetchw %0" : : "m"(*line));
#else
    __builtin_prefetch(line, 1);
#endif
}

/// A flag's place may have data of an earlier call, which somebody may have chosen: none are a mark
/// but by chance, since nobody outside the job knows the key. Never 0.
std::uint64_t mark_of(std::uint64_t use, const Channels& channels) {
    return (channels.mark_key + use) * 0xd1342543de82ef95ULL;
}

}  // namespace

void StoredSegment::make_room(const ProgramSizes& sizes) {
    in_use_.resize(sizes.channels_in);
    out_use_.resize(sizes.channels_out);
    scratch_.reserve(sizes.scratch_bytes);
    buffers_.reserve(sizes.channels_in, sizes.spaces, sizes.told);
}

void StoredSegment::begin(RunningCall& call, const CallSegment& segment, std::uint64_t number,
                          Channels& channels, const Operations& operations,
                          TimelineNotes& notes) noexcept {
    call_ = &call;
    program_ = segment.program;
    number_ = number;
    segment_begun_ = step_begun_ = notes.clock();
    const CallVectors& vectors = call.vectors();
    // Programs only read the input.
    auto* const input = const_cast<std::byte*>(vectors.input);
    buffers_.place_vectors(input == nullptr ? nullptr : input + segment.offset,
                           vectors.output == nullptr ? nullptr : vectors.output + segment.offset);
    buffers_.place(Location::scratch, scratch_.data());
    for (const std::uint32_t c : program_->used_in) {
        InChannel& channel = channels.in[c];
        in_use_[c] = channel.end.begun++;
        buffers_.place(Location::first_landing + c,
                       channel.end.slots + channels.rings.offset(channel.ring, in_use_[c]));
    }
    for (const std::uint32_t c : program_->used_out) {
        out_use_[c] = channels.out[c].end.begun++;
    }
    perform(program_->begin, operations, notes);
    first_ = at_ = done_ = 0;
    end_ = end_of_step();
    sends_ = true;
    waits_for_ = Awaited::nothing;
}

/// Where the steps end that belong to the schedule's step at first_.
std::uint32_t StoredSegment::end_of_step() const noexcept {
    const auto& order = program_->order;
    std::uint32_t end = first_;
    while (end < order.size() && program_->steps[order[end]].schedule_step ==
                                     program_->steps[order[first_]].schedule_step) {
        ++end;
    }
    return end;
}

bool StoredSegment::go_on(Channels& channels, const Operations& operations, Failure& failure,
                          TimelineNotes& notes, bool& moved) noexcept {
    const auto work = [&](auto&& on_one) {
        for (; at_ < end_; ++at_, done_ = 0) {
            const std::uint32_t before = done_;
            const bool all = on_one(program_->order[at_]);
            moved |= all || done_ != before;
            if (!all) {
                return false;
            }
        }
        return true;
    };
    while (first_ < end_) {
        if (sends_) {
            if (!work([&](std::uint32_t step) {
                    return send(program_->steps[step], channels, operations, notes);
                })) {
                return false;
            }
            sends_ = false;
            at_ = first_;
        }
        if (!work([&](std::uint32_t step) {
                return receive(step, channels, operations, failure, notes);
            })) {
            return false;
        }
        first_ = end_;
        end_ = end_of_step();
        sends_ = true;
    }
    moved = true;
    perform(program_->end, operations, notes);
    if (notes.on()) {
        notes.segment(number_, segment_begun_);
    }
    return !failure.happened();
}

/// What precedes the puts is done when the first of them is tried.
bool StoredSegment::send(const ProgramStep& step, Channels& channels, const Operations& operations,
                         TimelineNotes& notes) noexcept {
    if (done_ == 0 && waits_for_ == Awaited::nothing) {
        perform(step.before, operations, notes);
    }
    waits_for_ = Awaited::nothing;
    for (; done_ < step.puts.count; ++done_) {
        const ProgramPut& next = program_->puts[step.puts.first + done_];
        const std::int64_t begin = notes.clock();
        if (!put(next, channels)) {
            return false;
        }
        if (notes.on()) {
            notes.put(number_, step, next, channels.out[next.channel], begin);
        }
    }
    return true;
}

/// False: it cannot be put yet.
bool StoredSegment::put(const ProgramPut& put, Channels& channels) noexcept {
    OutChannel& channel = channels.out[put.channel];
    StoringEnd& end = channel.end;
    waits_at_ = put.channel;
    if (end.slots == nullptr) {
        waits_for_ = Awaited::connection;
        return false;
    }
    const std::uint64_t use = out_use_[put.channel];
    const std::uint32_t slots = channels.rings[channel.ring].slots;
    if (use - end.known_taken >= slots) {
        // Pairs with the release in give_back(): the receiver has read what was there.
        end.known_taken = shared(*end.taken).load(std::memory_order_acquire);
        if (use - end.known_taken >= slots) {
            waits_for_ = Awaited::room;
            return false;
        }
    }
    std::byte* const target =
        end.slots + channels.rings.offset(channel.ring, use) + put.landing_offset;
    for (std::uint32_t i = 0; i < put.packs.count; ++i) {
        const ProgramOp& op = program_->ops[put.packs.first + i];
        std::memcpy(target + (op.target.offset - put.pack_offset), buffers_.at(op.source),
                    op.elements);
    }
    if (put.packs.count == 0 && put.bytes > 0) {
        std::memcpy(target, buffers_.at(put.source), put.bytes);
    }
    auto& flag = *reinterpret_cast<Flag*>(target - channels.rings.flag_bytes());
    flag.sign = sign(put.bytes);
    shared(flag.mark).store(mark_of(use, channels), std::memory_order_release);
    channels.groups[static_cast<std::size_t>(channel.group)]->storing()->ring(end.peer);
    get_for_writing(end.slots + channels.rings.offset(channel.ring, use + 1));
    ++channel.puts;
    channel.bytes += put.bytes;
    return true;
}

/// Of this call, for a message of so many bytes.
std::uint64_t StoredSegment::sign(std::uint64_t bytes) const noexcept {
    return call_->hash() ^ bytes * 0x9e3779b97f4a7c15ULL;
}

const StoredSegment::Flag& StoredSegment::flag_of(const ProgramArrival& message,
                                                  const Channels& channels) const noexcept {
    return *reinterpret_cast<const Flag*>(
        buffers_.at({Location::first_landing + message.channel, message.landing_offset}) -
        channels.rings.flag_bytes());
}

bool StoredSegment::has_come() const noexcept {
    return shared(*waited_).load(std::memory_order_relaxed) == waited_mark_;
}

bool StoredSegment::has_room(const Channels& channels) const noexcept {
    const OutChannel& channel = channels.out[waits_at_];
    const std::uint64_t taken = shared(*channel.end.taken).load(std::memory_order_relaxed);
    return out_use_[waits_at_] - taken < channels.rings[channel.ring].slots;
}

/// True: all messages of the step have come, and what follows them is done.
bool StoredSegment::receive(std::uint32_t number, Channels& channels, const Operations& operations,
                            Failure& failure, TimelineNotes& notes) noexcept {
    const ProgramStep& step = program_->steps[number];
    const ProgramRange awaited = program_->awaited_by_step[number];
    waits_for_ = Awaited::nothing;
    for (; done_ < awaited.count; ++done_) {
        const ProgramArrival& message = program_->awaited[awaited.first + done_];
        InChannel& channel = channels.in[message.channel];
        const Flag& flag = flag_of(message, channels);
        const std::uint64_t mark = mark_of(in_use_[message.channel], channels);
        // Pairs with the release in put(): the bytes are there.
        if (shared(flag.mark).load(std::memory_order_acquire) != mark) {
            waits_for_ = Awaited::message;
            waits_at_ = message.channel;
            waited_ = &flag.mark;
            waited_mark_ = mark;
            return false;
        }
        const std::int64_t begin = notes.clock();  // not earlier: this thread may be held up
        if (flag.sign != sign(message.bytes)) {
            failure.disagree(channel.peer, call_->call());
            return false;
        }
        channel.bytes += message.bytes;
        channel.copied += message.copied;
        if (notes.on()) {
            notes.arrival(number_, step,
                          message.arrival - program_->arrivals[message.channel].first, channel,
                          begin);
        }
    }
    perform(step.after, operations, notes);
    if (notes.on()) {
        notes.step(number_, step, step_begun_);
        step_begun_ = notes.clock();
    }
    return !failure.happened();
}

void StoredSegment::give_back(Channels& channels) noexcept {
    for (const std::uint32_t c : program_->used_in) {
        InChannel& channel = channels.in[c];
        const std::uint64_t done = in_use_[c] + 1;
        if (!channels.rings.is_told(channel.ring, done)) {
            continue;
        }
        shared(*channel.end.taken).store(done, std::memory_order_release);
        channels.groups[static_cast<std::size_t>(channel.group)]->storing()->ring(channel.end.peer);
    }
}

void StoredSegment::list_missing(const Channels& channels, std::vector<Missing>& found) const {
    if (first_ >= end_) {
        return;
    }
    const ProgramStep& step = program_->steps[program_->order[at_]];
    if (waits_for_ == Awaited::room || waits_for_ == Awaited::connection) {
        const OutChannel& channel = channels.out[waits_at_];
        found.push_back(
            {waits_for_ == Awaited::room ? Missing::Kind::room : Missing::Kind::connection,
             channel.peer, channel.port, static_cast<int>(step.schedule_part),
             static_cast<int>(step.schedule_step), program_->puts[step.puts.first + done_].bytes});
    }
    // Of all parts: of the step that is at work, what has not come.
    for (std::uint32_t i = sends_ ? end_ : at_; i < end_; ++i) {
        const std::uint32_t number = program_->order[i];
        const ProgramStep& waiting = program_->steps[number];
        const ProgramRange awaited = program_->awaited_by_step[number];
        for (std::uint32_t a = awaited.first; a < awaited.first + awaited.count; ++a) {
            const ProgramArrival& message = program_->awaited[a];
            const InChannel& channel = channels.in[message.channel];
            if (shared(flag_of(message, channels).mark).load(std::memory_order_relaxed) !=
                mark_of(in_use_[message.channel], channels)) {
                found.push_back({Missing::Kind::message, channel.peer, channel.port,
                                 static_cast<int>(waiting.schedule_part),
                                 static_cast<int>(waiting.schedule_step), message.bytes});
            }
        }
    }
}

}  // namespace trefoil
