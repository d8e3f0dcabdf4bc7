// SPDX-License-Identifier: BSD-3-Clause
// Making room for a segment, and starting it.
#include "threads/executor/running_segment.hpp"

#include <algorithm>

#include "threads/executor/direct_call.hpp"

namespace trefoil {

void RunningSegment::make_room(RoomNeeded& room, const Channels& channels) {
    room.make_room(room_, [&](const ProgramSizes& sizes) {
        events_left_.reserve(sizes.steps);
        open_step_.reserve(sizes.parts);
        drains_at_.reserve(sizes.parts);
        arrived_.reserve(sizes.arrivals);
        scratch_.reserve(sizes.scratch_bytes);
        if (sizes.image_bytes > 0) {
            image_.reserve(channels.groups.front(), sizes.image_bytes);
        }
        staging_.resize(channels.groups.size());
        buffers_.reserve(sizes.channels_in, sizes.spaces, sizes.told);
        in_use_.resize(sizes.channels_in);
        out_use_.resize(sizes.channels_out);
        out_offset_.resize(sizes.channels_out);
        opened_.resize(std::max(opened_.size(), sizes.parts));
    });
}

bool RunningSegment::may_start(const Program& program, const Channels& channels) noexcept {
    // Loops, because what the library makes of all_of() is long for lists of one or two.
    for (const std::uint32_t c : program.used_in) {
        if (!channels.in[c].landed.load(std::memory_order_acquire)) {
            return false;
        }
    }
    for (const std::uint32_t c : program.peers) {
        if (!channels.out[c].connected.load(std::memory_order_acquire)) {
            return false;
        }
    }
    return true;
}

void RunningSegment::start(RunningCall& call, const CallSegment& segment, std::uint64_t number,
                           Channels& channels, std::uint32_t workers, std::int64_t now) noexcept {
    const Program& program = *segment.program;
    program_ = &program;
    is_shared_ = workers > 1;
    call_ = &call;
    number_ = number;
    offset_ = segment.offset;
    const DirectCall* const direct = call.vectors().direct;
    direct_ = direct == nullptr ? nullptr : &direct->program(program.number);
    begun_ = now;
    const auto shifted = [&](auto* base) {
        return base == nullptr ? nullptr : base + segment.offset;
    };
    // Programs only read the input.
    auto* const input = const_cast<std::byte*>(shifted(call.vectors().input));
    std::byte* const output = shifted(call.vectors().output);
    buffers_.place_vectors(input, output);
    std::byte* const scratch = program.shows_image ? image_.data() : scratch_.data();
    buffers_.tell(program.image_is_input ? scratch : input,
                  program.image_is_output ? scratch : output, program.told);
    buffers_.place(Location::scratch, scratch);
    begin_uses(channels);
    for (std::size_t i = 0; i < program.arrival_steps.size(); ++i) {
        arrived_[i].store(0, std::memory_order_relaxed);
    }
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        events_left_[i].store(program.steps[i].events, std::memory_order_relaxed);
    }
    const auto parts = static_cast<std::uint32_t>(program.parts.size());
    for (std::uint32_t part = 0; part < parts; ++part) {
        open_step_[part].store(none, std::memory_order_relaxed);
    }
    drains_at_.assign(program.drains_at.begin(), program.drains_at.end());
    unfinished_.store(parts, std::memory_order_relaxed);
    holders_.store(parts + workers, std::memory_order_relaxed);
    running_.store(true, std::memory_order_relaxed);
}

bool RunningSegment::drains() const noexcept {
    if (!running()) {
        return true;
    }
    for (std::uint32_t part = 0; part < drains_at_.size(); ++part) {
        const std::uint32_t open = open_step(part);
        if (open == none || open < drains_at_[part]) {
            return false;
        }
    }
    return true;
}

void RunningSegment::begin_uses(Channels& channels) noexcept {
    for (std::size_t i = 0; i < program_->used_in.size(); ++i) {
        const std::uint32_t c = program_->used_in[i];
        InChannel& channel = channels.in[c];
        in_use_[c] = channel.uses.begin();
        buffers_.place(
            Location::first_landing + c,
            channel.landing + channels.offset_of(channel, in_use_[c], program_->in_bytes[i]));
    }
    for (std::size_t i = 0; i < program_->used_out.size(); ++i) {
        const std::uint32_t c = program_->used_out[i];
        OutChannel& channel = channels.out[c];
        out_use_[c] = channel.uses.begin(program_->acknowledged, channel.ring);
        out_offset_[c] = channels.offset_of(channel, out_use_[c], program_->out_bytes[i]);
        channel.permissions.begin(out_use_[c]);
    }
}

}  // namespace trefoil
