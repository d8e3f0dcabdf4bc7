// SPDX-License-Identifier: BSD-3-Clause
// The executor's outgoing side: which puts may leave, and posting them.
#include <cstring>

#include "threads/executor/state.hpp"

namespace trefoil {

namespace {
constexpr std::uint32_t posted_all = ~0U;  // Cursor::put once its part is finished
}  // namespace

bool Executor::post_ready(Worker& me) {
    bool posted = false;
    me.refused = false;
    for (std::uint32_t slot = 0; slot < window; ++slot) {
        if (me.parts_to_post[slot] == 0) {
            continue;
        }
        Segment& segment = *segments_[slot];
        const Program& program = *segment.program;
        std::uint32_t finished = 0;
        for (std::size_t p = 0; p < program.parts.size(); ++p) {
            Worker::Cursor& cursor = me.cursors[slot][p];
            const std::uint32_t end = program.parts[p].first + program.parts[p].count;
            while (cursor.step < end) {
                const std::uint32_t open = segment.open_step[p].load(std::memory_order_acquire);
                if (open == Segment::none || cursor.step > open) {
                    break;
                }
                const std::uint32_t step = cursor.step;
                const std::uint32_t before = cursor.put;
                if (!post_step(me, segment, program.steps[step])) {
                    posted |= cursor.put != before;
                    break;
                }
                posted = true;
                cursor = {step + 1, 0};
            }
            if (cursor.step == end && cursor.put == 0) {
                cursor.put = posted_all;
                finished += 1;
            }
        }
        me.parts_to_post[slot] -= finished;
        if (me.parts_to_post[slot] == 0) {
            release(me, segment);  // this worker does not look at the segment again
        }
    }
    return posted;
}

bool Executor::post_step(Worker& me, Segment& segment, const ProgramStep& step) {
    const std::uint32_t slot = static_cast<std::uint32_t>(segment.number % window);
    const Program& program = *segment.program;
    Worker::Cursor& cursor = me.cursors[slot][step.part];
    const std::uint32_t number = cursor.step;
    while (cursor.put < step.puts.count) {
        const ProgramPut& put = program.puts[step.puts.first + cursor.put];
        if (put.group != me.index) {
            ++cursor.put;
            continue;
        }
        if (awaits_room(segment, put)) {
            return false;
        }
        const std::uint64_t cookie = static_cast<std::uint64_t>(slot) << 32 | number;
        const std::int64_t begin = me.clock();
        const PutResult result = post(me, segment, put, cookie);
        if (result == PutResult::done || result == PutResult::queued) {
            channels_.out[put.channel].puts += 1;
            channels_.out[put.channel].bytes += put.bytes;
            if (begin != 0) {
                note_put(me, segment, step, put, begin);
            }
        }
        switch (result) {
            case PutResult::again:
                me.refused = true;
                return false;
            case PutResult::failed:
                failure_.set(Status::peer_lost,
                             "the put to rank " + std::to_string(channels_.out[put.channel].peer) +
                                 " through port " + to_string(channels_.out[put.channel].port) +
                                 " failed: " + channels_.groups[me.index]->error_text());
                return false;
            case PutResult::done:
                ++cursor.put;
                spend_token(me, segment, number);
                break;
            case PutResult::queued:
                ++cursor.put;
                break;
        }
    }
    return true;
}

PutResult Executor::post(Worker& me, Segment& segment, const ProgramPut& put,
                         std::uint64_t cookie) {
    const OutChannel& channel = channels_.out[put.channel];
    std::uint64_t target = channel.offset;
    std::uint32_t bits = 0;
    if (put.acknowledged_in != ProgramPut::nothing) {
        bits =
            control_notification(Control::taken, channel.id, segment.in_use[put.acknowledged_in]);
    } else {
        Notification notification{put.index, channel.id, 0, segment.out_use[put.channel]};
        notification.signature = notification.expected_signature(call_hash_, put.bytes);
        bits = notification.encode();
        target += notification.use % landing_slots * channels_.slot_bytes + put.landing_offset;
    }
    PortGroup& group = *channels_.groups[me.index];
    const std::byte* source = nullptr;
    void* descriptor = nullptr;
    if (put.packs.count > 0) {
        const LocalMemory& pack = segment.packs[me.index];
        std::byte* to = group.landing(channel.endpoint, channel.landing, target, put.bytes);
        if (to == nullptr) {
            to = pack.data + put.pack_offset;
            descriptor = pack.descriptor;
        }
        for (std::uint32_t i = 0; i < put.packs.count; ++i) {
            const ProgramOp& op = segment.program->ops[put.packs.first + i];
            std::memcpy(to + (op.target.offset - put.pack_offset), segment.buffers.at(op.source),
                        op.elements);
        }
        source = to;
    } else if (put.bytes > 0) {
        source = segment.buffers.at(put.source);
    }
    return group.put(channel.port, channel.endpoint, source, descriptor, channel.landing, target,
                     put.bytes, bits, cookie);
}

/// True until the use before last of the put's channel is settled: see Executor.
bool Executor::awaits_room(const Segment& segment, const ProgramPut& put) const {
    if (put.acknowledged_in != ProgramPut::nothing) {
        return false;
    }
    const std::uint32_t before_last =
        (segment.out_use[put.channel] + Notification::use_modulus - 2) % Notification::use_modulus;
    return (std::atomic_ref(channels_.out[put.channel].unacknowledged)
                    .load(std::memory_order_acquire) >>
                before_last &
            1) != 0;
}

}  // namespace trefoil
