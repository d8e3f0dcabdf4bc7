// SPDX-License-Identifier: BSD-3-Clause
// Matching notifications with segments.
#include "threads/executor/arrivals.hpp"

#include <algorithm>
#include <new>

#include "threads/kernels/checksum.hpp"

namespace trefoil {

Arrivals::Arrivals(std::size_t group, Channels& channels, SegmentQueue& queue, Steps& steps,
                   ControlMessages& controls, Failure& failure, TimelineNotes& notes)
    : group_(group),
      channels_(channels),
      compared_check_(channels.groups[group]->traits().notification_bits == 64 ? ~0U : 0),
      compared_use_(Notification::use_modulus(channels.groups[group]->traits().notification_bits) -
                    1),
      queue_(queue),
      steps_(steps),
      controls_(controls),
      failure_(failure),
      notes_(notes) {}

void Arrivals::make_room(const ProgramSizes& sizes) {
    uses_.resize(std::max(uses_.size(), sizes.channels_in));
    // Senders are seldom further ahead of this rank, and then messages are small and few.
    early_.reserve(segment_window * sizes.arrivals);
}

void Arrivals::adopt(RunningSegment& segment) noexcept {
    std::size_t expected = 0;
    for (const std::uint32_t channel : segment.program().used_in) {
        const std::uint32_t use = segment.in_use(channel);
        const auto messages = static_cast<std::uint16_t>(segment.program().arrivals[channel].count);
        uses_[channel][use % kept_uses] = {segment.number() + 1, use, messages, messages};
        expected += messages;
    }
    if (!early_.empty()) {
        take_early(expected);
    }
}

/// Those of the segment that was adopted last, which has so many messages. A sender that runs ahead
/// sends in order, as a rule: so they stand at the front.
void Arrivals::take_early(std::size_t expected) noexcept {
    std::size_t kept = 0, i = 0;
    for (; i < early_.size() && expected > 0; ++i) {
        const Early early = early_[i];
        const Notification notification = Notification::decode(early.bits);
        Use* const found = use_of(early.channel, notification);
        if (found != nullptr) {
            count(*found, early.channel, notification);
            --expected;
        } else {
            early_[kept++] = early;
        }
    }
    const auto begin = early_.begin();
    early_.erase(begin + static_cast<std::ptrdiff_t>(kept), begin + static_cast<std::ptrdiff_t>(i));
}

bool Arrivals::arrive(std::uint64_t bits, std::uint32_t channel) noexcept {
    const Notification notification = Notification::decode(bits);
    if (!notification.is_message()) {
        return controls_.acknowledged(group_, channel, notification);
    }
    if (Use* const use = use_of(channel, notification)) {
        count(*use, channel, notification);
    } else {
        keep({bits, channel});
    }
    return true;
}

void Arrivals::keep(const Early& early) noexcept {
    try {
        early_.push_back(early);
    } catch (const std::bad_alloc&) {
        failure_.set_own(Status::out_of_memory);
    }
}

/// The use that the message belongs to, or null where its segment has not begun here.
Arrivals::Use* Arrivals::use_of(std::uint32_t channel, const Notification& notification) noexcept {
    if (channel >= uses_.size()) {
        return nullptr;  // a new channel, which no program here knows yet
    }
    Use& use = uses_[channel][notification.use % kept_uses];
    const bool is_it = use.segment != 0 && ((use.number ^ notification.use) & compared_use_) == 0;
    return is_it ? &use : nullptr;
}

/// The message is one that the call expects, and its bytes are those that were sent. `runs`: how
/// many puts to the vector it comes by; 0: one to its slot.
bool Arrivals::fits(const RunningSegment& segment, std::uint32_t channel,
                    const Notification& notification, std::size_t& runs) noexcept {
    const Program& program = segment.program();
    const Call& call = segment.call().call();
    const bool expected =
        channel < program.arrivals.size() && notification.index < program.arrivals[channel].count;
    Notification due;
    if (expected) {
        const std::uint32_t arrival = program.arrivals[channel].first + notification.index;
        const auto signed_by = [&](std::uint32_t checksum) {
            return notification.signed_for(segment.call().hash(), program.arrival_bytes[arrival],
                                           checksum);
        };
        due = signed_by(0);
        const bool landed_directly = segment.direct() != nullptr &&
                                     notification.signature == due.landed_directly().signature;
        runs = landed_directly ? segment.direct()->runs.of(arrival).size() : 0;
        const bool is_whole = segment.puts_missing(arrival, runs) <= 1;
        if (channels_.checksums && is_whole) {
            due = signed_by(checksum_of(segment, channel, notification, runs));
        }
        due = runs > 0 ? due.landed_directly() : due;
        due.check = channels_.checksums && !is_whole ? notification.check : due.check;
    }
    const bool same_call = expected && notification.signature == due.signature;
    if (same_call && ((notification.check ^ due.check) & compared_check_) == 0) {
        return true;
    }
    const Rank peer = channels_.in[channel].peer;
    if (same_call && channels_.checksums) {
        failure_.set(Status::system_error,
                     "the checksum of a message from rank " + std::to_string(peer) +
                         " is wrong in rank " + std::to_string(channels_.rank) + "'s " + call.text +
                         ": its bytes have changed on the way, or that rank makes another call "
                         "(TREFOIL_CHECK=1 shows which)");
    } else {
        failure_.disagree(peer, call);
    }
    return false;
}

std::uint32_t Arrivals::checksum_of(const RunningSegment& segment, std::uint32_t channel,
                                    const Notification& notification,
                                    std::size_t runs) const noexcept {
    const Program& program = segment.program();
    const std::uint32_t arrival = program.arrivals[channel].first + notification.index;
    if (runs == 0) {
        return crc32c(segment.buffers().at(
                          {Location::first_landing + channel, program.arrival_offsets[arrival]}),
                      program.arrival_bytes[arrival]);
    }
    std::uint32_t checksum = 0;
    for (const DirectRun& run : segment.direct()->runs.of(arrival)) {
        checksum =
            crc32c(segment.buffers().at({Location::output, run.target}), run.bytes, checksum);
    }
    return checksum;
}

void Arrivals::fail_for_double(std::uint32_t channel) noexcept {
    failure_.set(Status::internal, "a message from rank " +
                                       std::to_string(channels_.in[channel].peer) +
                                       " arrived twice; please report this");
}

void Arrivals::count(Use& use, std::uint32_t channel, const Notification& notification) noexcept {
    if (use.missing == 0) {  // then another segment may be in its place
        if (notification.index < use.messages) {
            fail_for_double(channel);
        } else {
            failure_.set(Status::mismatch,
                         "rank " + std::to_string(channels_.in[channel].peer) +
                             " sends more messages than a call of this rank has: the two make "
                             "different calls",
                         {channels_.in[channel].peer, Evidence::disagrees});
        }
        return;
    }
    RunningSegment& segment = queue_.at(use.segment - 1);
    const Program& program = segment.program();
    std::size_t runs = 0;
    if (!fits(segment, channel, notification, runs)) {
        return;
    }
    const std::uint32_t arrival = program.arrivals[channel].first + notification.index;
    const RunningSegment::Taken taken = segment.take_arrival(arrival, runs);
    if (taken == RunningSegment::Taken::twice) {
        fail_for_double(channel);
        return;
    }
    if (taken == RunningSegment::Taken::in_part) {
        return;
    }
    channels_.in[channel].bytes += program.arrival_bytes[arrival];
    channels_.in[channel].copied += runs > 0 ? 0 : program.arrival_copies[arrival];
    --use.missing;
    const std::uint32_t step = program.arrival_steps[arrival];
    if (!notes_.on()) {
        steps_.count_event(segment, step, notes_);
        return;
    }
    const std::int64_t begin = notes_.clock();
    const std::uint64_t number = segment.number();  // the event may complete segment and call
    const ProgramStep noted = program.steps[step];
    steps_.count_event(segment, step, notes_);
    notes_.arrival(number, noted, notification.index, channels_.in[channel], begin);
}

}  // namespace trefoil
