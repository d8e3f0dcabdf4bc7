// SPDX-License-Identifier: BSD-3-Clause
// Posting the puts of open steps.
#include "threads/executor/poster.hpp"

#include <algorithm>
#include <cstring>

#include "threads/executor/put_cookie.hpp"
#include "threads/kernels/checksum.hpp"

namespace trefoil {

namespace {
constexpr std::uint32_t posted_all = ~0U;  // Cursor::put once its part is finished

std::uint32_t place_of(const RunningSegment& segment) {
    return static_cast<std::uint32_t>(segment.number() % segment_window);
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
}

void Poster::adopt(RunningSegment& segment) noexcept {
    Posting& posting = postings_[place_of(segment)];
    const auto& parts = segment.program().parts;
    for (std::size_t part = 0; part < parts.size(); ++part) {
        posting.cursors[part] = {parts[part].first, 0};
    }
    posting.unfinished = static_cast<std::uint32_t>(parts.size());
    if (parts.empty()) {
        steps_.release(segment, notes_);
    }
}

bool Poster::post_ready() noexcept {
    bool posted = false;
    refused_ = false;
    for (std::uint32_t place = 0; place < segment_window; ++place) {
        Posting& posting = postings_[place];
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
        const std::uint32_t before = cursor.put;
        if (!post_step(segment, program.steps[cursor.step], cursor)) {
            posted |= cursor.put != before;
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
    const Program& program = segment.program();
    const std::uint32_t number = cursor.step;
    while (cursor.put < step.puts.count) {
        const ProgramPut& put = program.puts[step.puts.first + cursor.put];
        if (put.group != group_number_) {
            ++cursor.put;
            continue;
        }
        OutChannel& channel = channels_.out[put.channel];
        if (awaits_room(channel, segment, put)) {
            return false;
        }
        const std::int64_t begin = notes_.clock();
        const PutResult result = post(segment, put, channel, number);
        switch (result) {
            case PutResult::again:
                refused_ = true;
                return false;
            case PutResult::failed:
                failure_.suspect(Status::peer_lost, channel.peer,
                                 "a put to it through port " + to_string(channel.port) +
                                     " failed: " + group_->error_text());
                return false;
            case PutResult::done:
            case PutResult::queued:
                break;
        }
        ++cursor.put;
        channel.puts += 1;
        channel.bytes += put.bytes;
        ++channel.wire->puts;
        leaving_ += result == PutResult::queued ? 1 : 0;
        if (notes_.on()) {
            notes_.put(segment, step, put, channel, begin);
        }
        if (result == PutResult::done) {
            steps_.spend_token(segment, number, notes_);
        }
    }
    return true;
}

PutResult Poster::post(RunningSegment& segment, const ProgramPut& put, const OutChannel& channel,
                       std::uint32_t step) noexcept {
    const Wire& wire = *channel.wire;
    std::uint64_t target = wire.offset;
    const bool acknowledges = put.acknowledged_in != ProgramPut::nothing;
    const std::uint32_t use = acknowledges ? 0 : segment.out_use(put.channel);
    if (!acknowledges) {
        target += channels_.slot_offset(use) + put.landing_offset;
    }
    const std::byte* source = nullptr;
    void* descriptor = nullptr;
    if (put.packs.count > 0) {
        source = gather(segment, put, channel, target, descriptor);
    } else if (put.bytes > 0) {
        source = segment.buffers().at(put.source);
    }
    std::uint64_t bits = 0;
    if (acknowledges) {
        bits = acknowledgement(wire.id, segment.in_use(put.acknowledged_in), wire.proof);
    } else {
        const std::uint32_t checksum = channels_.checksums ? crc32c(source, put.bytes) : 0;
        bits = Notification{put.index, wire.id, 0, use}
                   .signed_for(segment.call().hash(), put.bytes, checksum)
                   .encode();
    }
    return group_->put(channel.port, channel.endpoint, source, descriptor, wire.memory, target,
                       put.bytes, bits,
                       PutCookie(executor_, put.channel, place_of(segment), step).bits());
}

/// In the landing slot itself, where that is possible: it is free, or the put would have to wait.
const std::byte* Poster::gather(const RunningSegment& segment, const ProgramPut& put,
                                const OutChannel& channel, std::uint64_t target,
                                void*& descriptor) const noexcept {
    std::byte* to = group_->landing(channel.endpoint, channel.wire->memory, target, put.bytes);
    if (to == nullptr) {
        const LocalMemory& staging = segment.staging().of(group_number_);
        to = staging.data + put.pack_offset;
        descriptor = staging.descriptor;
    }
    for (std::uint32_t i = 0; i < put.packs.count; ++i) {
        const ProgramOp& op = segment.program().ops[put.packs.first + i];
        std::memcpy(to + (op.target.offset - put.pack_offset), segment.buffers().at(op.source),
                    op.elements);
    }
    return to;
}

}  // namespace trefoil
