// SPDX-License-Identifier: BSD-3-Clause
// Posting the puts of open steps.
#include "threads/executor/poster.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "backend/ports/powers.hpp"
#include "threads/executor/put_cookie.hpp"
#include "threads/kernels/checksum.hpp"

namespace trefoil {

namespace {
constexpr std::uint32_t posted_all = ~0U;  // Cursor::put once its part is finished
/// Of a channel: its sender waits for older ones. All channels of a program together have so many,
/// but for those of other programs.
constexpr std::size_t most_words_due = 5;

std::uint32_t place_of(const RunningSegment& segment) {
    return static_cast<std::uint32_t>(segment.number() % segment_window);
}

std::uint32_t checksum_of(const RunningSegment& segment, const ProgramPut& put) {
    if (put.packs.count == 0) {
        return crc32c(segment.buffers().at(put.source), put.bytes);
    }
    std::uint32_t checksum = 0;
    for (std::uint32_t i = 0; i < put.packs.count; ++i) {
        const ProgramOp& op = segment.program().ops[put.packs.first + i];
        checksum = crc32c(segment.buffers().at(op.source), op.elements, checksum);
    }
    return checksum;
}
}  // namespace

Poster::Poster(int group, std::uint32_t executor, Channels& channels, SegmentQueue& queue,
               Steps& steps, Failure& failure, TimelineNotes& notes)
    : group_number_(group),
      executor_(executor),
      group_(channels.groups[group].get()),
      channels_(channels),
      queue_(queue),
      steps_(steps),
      failure_(failure),
      notes_(notes) {}

void Poster::make_room(const ProgramSizes& sizes, RunningSegment& segment) {
    Posting& posting = postings_[place_of(segment)];
    const auto group = static_cast<std::size_t>(group_number_);
    segment.staging().reserve(group, *group_, sizes.pack_bytes_of(group));
    posting.cursors.resize(std::max(posting.cursors.size(), sizes.parts));
    posting.permissions.reserve(sizes.channels_in);
    due_.reserve(sizes.acknowledged_in * most_words_due);
}

void Poster::adopt(RunningSegment& segment) noexcept {
    Posting& posting = postings_[place_of(segment)];
    const auto& parts = segment.program().parts;
    for (std::size_t part = 0; part < parts.size(); ++part) {
        posting.cursors[part] = {parts[part].first, 0};
    }
    posting.unfinished = static_cast<std::uint32_t>(parts.size());
    posting.call = segment.call().vectors().direct;
    posting.number = segment.call().number();
    posting.direct = segment.direct();
    posting.permissions.clear();
    if (posting.direct != nullptr) {
        for (std::uint32_t i = 0; i < posting.direct->incoming.size(); ++i) {
            const DirectProgram::Incoming& incoming = posting.direct->incoming[i];
            if (incoming.group == group_number_ &&
                posting.call->is_accepted(incoming.in, posting.number)) {
                posting.permissions.push_back(i);
            }
        }
    }
    if (segment.program().acknowledged) {
        note_uses(segment);
    }
    if (parts.empty()) {
        steps_.release(segment, notes_);
    }
}

void Poster::note_uses(const RunningSegment& segment) noexcept {
    for (const std::uint32_t in : segment.program().used_in) {
        const InChannel& channel = channels_.in[in];
        const std::uint32_t use = segment.in_use(in);
        if (channel.group == group_number_ && InUses::is_told(use, channel.ring)) {
            keep({in, use});
        }
    }
}

void Poster::keep(const StartedUse& started) noexcept {
    try {
        due_.push_back(started);  // there is room, as a rule
    } catch (const std::bad_alloc&) {
        failure_.set_own(Status::out_of_memory);
    }
}

/// True: the sender will hear of it.
bool Poster::acknowledge(const StartedUse& started) noexcept {
    const InChannel& channel = channels_.in[started.in];
    const std::uint32_t out = channel.way_back();
    if (out == InChannel::none || !channels_.out[out].wired.load(std::memory_order_relaxed)) {
        return false;
    }
    const Wire& wire = *channels_.out[out].wire;
    return post_control(out, acknowledgement(wire.id, started.use,
                                             static_cast<std::uint32_t>(channel.ring), wire.proof));
}

void Poster::accepted(const DirectCall& call, std::uint32_t in, std::uint64_t from) noexcept {
    for (Posting& posting : postings_) {
        if (posting.call != &call || posting.number < from) {
            continue;
        }
        const auto& incoming = posting.direct->incoming;
        for (std::uint32_t i = 0; i < incoming.size(); ++i) {
            if (incoming[i].in == in) {
                posting.permissions.push_back(i);
            }
        }
    }
}

/// True: some were put.
bool Poster::post_permissions(RunningSegment& segment, Posting& posting) noexcept {
    return std::erase_if(posting.permissions, [&](std::uint32_t i) {
               return post_permission(segment, posting.direct->incoming[i]);
           }) > 0;
}

/// As soon as what comes before is complete: then a later step of that part is open.
bool Poster::post_permission(RunningSegment& segment,
                             const DirectProgram::Incoming& incoming) noexcept {
    for (const DirectProgram::Passed& passed : incoming.after) {
        const std::uint32_t open = segment.open_step(passed.part);
        if (open == RunningSegment::none || open <= passed.step) {
            return false;
        }
    }
    const InChannel& in = channels_.in[incoming.in];
    const std::uint32_t out = in.way_back();
    if (out == InChannel::none || !channels_.out[out].wired.load(std::memory_order_relaxed)) {
        return false;
    }
    const Wire& wire = *channels_.out[out].wire;
    return post_control(out, permission_of(wire.id, segment.in_use(incoming.in),
                                           static_cast<std::uint32_t>(in.ring),
                                           segment.call().vectors().direct->sign(), wire.proof));
}

/// A put without bytes, which belongs to no step. True: it will arrive.
bool Poster::post_control(std::uint32_t out, std::uint64_t bits) noexcept {
    OutChannel& channel = channels_.out[out];
    const Wire& wire = *channel.wire;
    const PutResult result =
        group_->put({.port = channel.port,
                     .peer = channel.endpoint,
                     .target = wire.memory,
                     .offset = wire.offset,
                     .notification = bits,
                     .cookie = PutCookie(executor_, out, 0, PutCookie::no_step).bits()});
    if (result == PutResult::again) {
        refused_ = true;
        return false;
    }
    if (result == PutResult::failed) {
        fail_by(channel);
        return false;
    }
    channel.puts += 1;
    ++channel.wire->puts;
    leaving_ += result == PutResult::queued ? 1 : 0;
    return true;
}

/// The peer has started the same persistent call, and its runs are the message's and stay inside
/// its vector.
bool Poster::is_direct_as_told(const RunningSegment& segment, const ProgramPut& put) noexcept {
    const OutChannel& channel = channels_.out[put.channel];
    const Call& call = segment.call().call();
    const DirectOutgoing& to = *segment.direct()->outgoing[put.channel];
    bool is_inside = true;
    std::uint64_t bytes = 0;
    for (const DirectRun& run : direct_runs(segment, put)) {
        const std::uint64_t begin = to.base + segment.offset() + run.target;
        is_inside &= run.bytes <= to.memory.bytes && begin <= to.memory.bytes - run.bytes;
        bytes += run.bytes;
    }
    if (channel.permissions.sign_of(segment.out_use(put.channel)) ==
            segment.call().vectors().direct->sign() &&
        is_inside && bytes == put.bytes) {
        return true;
    }
    failure_.disagree(channel.peer, call, "have started different persistent calls");
    return false;
}

void Poster::fail_by(const OutChannel& channel) noexcept {
    failure_.suspect(
        Status::peer_lost, channel.peer,
        "a put to it through port " + to_string(channel.port) + " failed: " + group_->error_text());
}

bool Poster::post_ready() noexcept {
    bool posted = false;
    refused_ = false;
    for (std::uint32_t place = 0; place < segment_window; ++place) {
        Posting& posting = postings_[place];
        if (!posting.permissions.empty()) {
            posted |= post_permissions(queue_.at(place), posting);
        }
        if (posting.unfinished == 0) {
            continue;
        }
        RunningSegment& segment = queue_.at(place);
        const auto parts = static_cast<std::uint32_t>(segment.program().parts.size());
        for (std::uint32_t part = 0; part < parts; ++part) {
            posted |= post_part(segment, part, posting);
        }
        if (posting.unfinished == 0) {
            steps_.release(segment, notes_);  // this worker does not look at the segment again
        }
    }
    if (!due_.empty()) {
        posted |= std::erase_if(
                      due_, [&](const StartedUse& started) { return acknowledge(started); }) > 0;
    }
    return posted;
}

bool Poster::post_part(RunningSegment& segment, std::uint32_t part, Posting& posting) noexcept {
    const Program& program = segment.program();
    Cursor& cursor = posting.cursors[part];
    const std::uint32_t end = program.parts[part].first + program.parts[part].count;
    bool posted = false;
    while (cursor.step < end) {
        const std::uint32_t open = segment.open_step(part);
        if (open == RunningSegment::none || cursor.step > open) {
            break;
        }
        const Cursor before = cursor;
        if (!post_step(segment, program.steps[cursor.step], cursor)) {
            posted |= cursor.put != before.put || cursor.run != before.run;
            break;
        }
        posted = true;
        cursor = {cursor.step + 1, 0};
    }
    if (cursor.step == end && cursor.put == 0) {
        cursor.put = posted_all;
        --posting.unfinished;
    }
    return posted;
}

/// True: all puts of the step that are this group's have been posted.
bool Poster::post_step(RunningSegment& segment, const ProgramStep& step, Cursor& cursor) noexcept {
    while (cursor.put < step.puts.count) {
        const ProgramPut& put = segment.program().puts[step.puts.first + cursor.put];
        if (put.group == group_number_ && !post_message(segment, step, put, cursor)) {
            return false;
        }
        cursor = {cursor.step, cursor.put + 1};
    }
    return true;
}

/// True: all of it has been posted.
bool Poster::post_message(RunningSegment& segment, const ProgramStep& step, const ProgramPut& put,
                          Cursor& cursor) noexcept {
    OutChannel& channel = channels_.out[put.channel];
    if (awaits_room(channels_, segment, put)) {
        return false;
    }
    const std::size_t in_vector = direct_runs(segment, put).size();
    if (in_vector > 0 && !is_direct_as_told(segment, put)) {
        return false;
    }
    const auto runs = static_cast<std::uint32_t>(std::max<std::size_t>(in_vector, 1));
    while (cursor.run < runs) {
        const std::int64_t begin = notes_.clock();
        const Portion portion = next_portion(segment, put, cursor);
        const PutResult result = post(segment, put, cursor, portion);
        switch (result) {
            case PutResult::again:
                refused_ = true;
                return false;
            case PutResult::failed:
                fail_by(channel);
                return false;
            case PutResult::done:
            case PutResult::queued:
                break;
        }
        if (cursor.run == 0 && runs > 1) {
            // Before the event of the first is counted, here or later.
            segment.add_events(cursor.step, runs - 1);
        }
        ++cursor.run;
        cursor.bytes += portion.bytes;
        channel.puts += 1;
        channel.bytes += portion.bytes;
        ++channel.wire->puts;
        leaving_ += result == PutResult::queued ? 1 : 0;
        if (notes_.on() && cursor.run == runs) {
            notes_.put(segment.number(), step, put, channel, begin);
        }
        if (result == PutResult::done) {
            steps_.count_event(segment, cursor.step, notes_);
        }
    }
    return true;
}

Poster::Portion Poster::next_portion(const RunningSegment& segment, const ProgramPut& put,
                                     const Cursor& cursor) const noexcept {
    const auto in_vector = direct_runs(segment, put);
    if (in_vector.empty()) {
        const OutChannel& channel = channels_.out[put.channel];
        return {0, put.bytes, channel.wire->memory,
                channel.wire->offset + segment.out_offset(put.channel) + put.landing_offset};
    }
    const DirectOutgoing& to = *segment.direct()->outgoing[put.channel];
    return {cursor.bytes, in_vector[cursor.run].bytes, to.memory,
            to.base + segment.offset() + in_vector[cursor.run].target};
}

PutResult Poster::post(RunningSegment& segment, const ProgramPut& put, Cursor& cursor,
                       const Portion& portion) noexcept {
    const OutChannel& channel = channels_.out[put.channel];
    const Wire& wire = *channel.wire;
    void* descriptor = nullptr;
    const std::byte* source = source_of(segment, put, portion, descriptor);
    if (source == nullptr && portion.bytes > 0) {
        source = gather(segment, put, portion, descriptor);
    }
    if (channels_.checksums && portion.bytes == put.bytes) {
        cursor.checksum = crc32c(source, put.bytes);
    } else if (channels_.checksums && cursor.run == 0) {
        cursor.checksum = checksum_of(segment, put);
    }
    const Notification notification =
        Notification{put.index, wire.id, 0, segment.out_use(put.channel)}.signed_for(
            segment.call().hash(), put.bytes, cursor.checksum);
    const bool is_direct = !direct_runs(segment, put).empty();
    const std::uint64_t bits = (is_direct ? notification.landed_directly() : notification).encode();
    const PutCookie cookie(executor_, put.channel, place_of(segment), cursor.step);
    return group_->put({.port = channel.port,
                        .peer = channel.endpoint,
                        .source = source,
                        .descriptor = descriptor,
                        .target = portion.memory,
                        .offset = portion.target,
                        .bytes = portion.bytes,
                        .notification = bits,
                        .cookie = cookie.bits()});
}

/// Where the portion lies, if a put can read it there; else null.
const std::byte* Poster::source_of(const RunningSegment& segment, const ProgramPut& put,
                                   const Portion& portion, void*& descriptor) const noexcept {
    if (put.packs.count == 0) {
        return put.bytes == 0 ? nullptr : segment.buffers().at(put.source) + portion.from;
    }
    const DirectCall* const call = segment.call().vectors().direct;
    for (std::uint32_t i = 0; call != nullptr && i < put.packs.count; ++i) {
        const ProgramOp& op = segment.program().ops[put.packs.first + i];
        const std::size_t first = op.target.offset - put.pack_offset;
        if (portion.from < first || first + op.elements < portion.from + portion.bytes) {
            continue;
        }
        const std::byte* const data = segment.buffers().at(op.source) + (portion.from - first);
        const bool may_read = !group_->traits().needs_registered_source ||
                              call->may_be_read(group_number_, data, portion.bytes, descriptor);
        return may_read ? data : nullptr;
    }
    return nullptr;
}

/// Where the portion goes itself, where that is possible: it is free, or the put would have to
/// wait.
const std::byte* Poster::gather(const RunningSegment& segment, const ProgramPut& put,
                                const Portion& portion, void*& descriptor) noexcept {
    OutChannel& channel = channels_.out[put.channel];
    const Landings* const landings = group_->landings();
    std::byte* to = landings == nullptr ? nullptr
                                        : landings->landing(channel.endpoint, portion.memory,
                                                            portion.target, portion.bytes);
    if (to == nullptr) {
        channel.staged += portion.bytes;
        const LocalMemory& staging = segment.staging().of(group_number_);
        to = staging.data + put.pack_offset + portion.from;
        descriptor = staging.descriptor;
    }
    for (std::uint32_t i = 0; i < put.packs.count; ++i) {
        const ProgramOp& op = segment.program().ops[put.packs.first + i];
        const std::size_t first = op.target.offset - put.pack_offset;
        const std::size_t begin = std::max(first, portion.from);
        const std::size_t end = std::min(first + op.elements, portion.from + portion.bytes);
        if (begin < end) {
            std::memcpy(to + (begin - portion.from),
                        segment.buffers().at(op.source) + (begin - first), end - begin);
        }
    }
    return to;
}

}  // namespace trefoil
