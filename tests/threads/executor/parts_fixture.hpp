// SPDX-License-Identifier: BSD-3-Clause
// The parts of an executor over recording groups, for tests of one part in one thread.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <numeric>

#include "program_writer.hpp"
#include "recording_group.hpp"
#include "threads/executor/executor_parts.hpp"
#include "threads/executor/running_call.hpp"

namespace trefoil::test {

/// Rank 0 with one channel each way to rank 1 through port +0 (number 0), and to rank 2 through
/// port -0 (number 1). Both are of group 0, or of a group each.
class PartsFixture : public testing::Test {
  protected:
    static constexpr std::size_t slot_bytes = 1024;
    static constexpr std::size_t region_bytes = landing_slots * slot_bytes + control_area_bytes;
    static constexpr std::uint32_t first_id = 7;  ///< what the peers call this rank's channels

    explicit PartsFixture(int groups = 1) : landing_(2 * region_bytes) {
        channels_.slot_bytes = slot_bytes;
        channels_.in_by_id.resize(static_cast<std::size_t>(groups));
        for (int g = 0; g < groups; ++g) {
            auto group = std::make_unique<RecordingGroup>();
            groups_.push_back(group.get());
            channels_.groups.push_back(std::move(group));
        }
        for (std::uint32_t c = 0; c < 2; ++c) {
            const int group = static_cast<int>(c) % groups;
            channel_groups_.push_back(group);
            OutChannel out;
            out.peer = static_cast<Rank>(c + 1);
            out.port = Port{static_cast<int>(c)};
            out.group = group;
            out.id = first_id + c;
            channels_.out.push_back(out);
            InChannel in;
            in.peer = static_cast<Rank>(c + 1);
            in.port = Port{static_cast<int>(c)};
            in.group = group;
            in.landing = landing_.data() + c * region_bytes;
            in.opposite = c;
            channels_.in.push_back(in);
            channels_.in_by_id[static_cast<std::size_t>(group)].push_back(c);
        }
        engine_ = std::make_unique<Engine>(channels_.groups, port_threads_, false);
        parts_ = std::make_unique<ExecutorParts>(channels_, *engine_, ExecutorOptions{});
        call_.kernels = reduce_kernels(DataType::int32, Operation::sum);
        call_.input = reinterpret_cast<const std::byte*>(input_.data());
        call_.output = reinterpret_cast<std::byte*>(output_.data());
        call_.text = "the test's call";
        call_.agreement = "give all ranks the same";
        call_.signature = 0x123456789abcdef0;
        std::iota(input_.begin(), input_.end(), 1);
    }

    ProgramWriter writer() const { return ProgramWriter(channel_groups_); }
    /// Starts a call of `count` equal segments, as the executor does; call once per call.
    void begin_call(const Program& program, std::size_t count = 1) {
        parts_->room.include(program, channels_.in.size(), channels_.out.size());
        for (RunningSegment& segment : parts_->queue.places()) {
            segment.make_room(parts_->room, groups_.size());
        }
        pieces_.assign(count, CallSegment{&program, 0});
        call_.segments = pieces_;
        running_call_.begin(call_, ++calls_);
    }
    /// Starts the next segment of the call and everything that can be done of it.
    RunningSegment& begin_segment() {
        SegmentQueue& queue = parts_->queue;
        RunningSegment& segment = queue.next();
        segment.start(running_call_, running_call_.next_piece(), queue.next_number(), channels_,
                      static_cast<std::uint32_t>(groups_.size()), 0);
        parts_->steps.begin(queue, notes_);
        return segment;
    }
    /// What the peer's message number `index` of the given use carries.
    std::uint64_t message(std::uint32_t channel, std::uint32_t index, std::uint32_t use,
                          std::size_t bytes, std::uint32_t checksum = 0) const {
        return Notification{index, id_of(channel), 0, use}
            .signed_for(running_call_.hash(), bytes, checksum)
            .encode();
    }
    std::uint64_t word(std::uint32_t channel, Control kind, std::uint32_t number = 0) const {
        return control_notification(kind, id_of(channel), number);
    }
    /// A peer's report lands, and the word of it comes.
    void tell(std::uint32_t channel, const StallReport& report, std::uint32_t place = 0) {
        put_into_area(channel, offsetof(ControlArea, stalls) + place * sizeof report, report);
        parts_->controls.take(static_cast<std::size_t>(channels_.in[channel].group),
                              Notification::decode(word(channel, Control::stalled, place)));
    }
    void tell(std::uint32_t channel, const Cause& cause) {
        put_into_area(channel, offsetof(ControlArea, failure), failure_report(cause));
        const bool mismatch = cause.status == Status::mismatch;
        parts_->controls.take(
            static_cast<std::size_t>(channels_.in[channel].group),
            Notification::decode(word(channel, mismatch ? Control::mismatch : Control::failed)));
    }
    template <typename T>
    void put_into_area(std::uint32_t channel, std::size_t offset, const T& report) {
        std::memcpy(channels_.in[channel].landing + channels_.control_offset() + offset, &report,
                    sizeof report);
    }
    /// What this rank calls its incoming channel.
    std::uint32_t id_of(std::uint32_t channel) const { return groups_.size() == 1 ? channel : 0; }

    std::vector<std::byte> landing_;
    Channels channels_;
    std::vector<RecordingGroup*> groups_;
    std::vector<int> channel_groups_;
    PortThreads port_threads_{0, {}};
    std::unique_ptr<Engine> engine_;
    std::unique_ptr<ExecutorParts> parts_;
    TimelineNotes notes_{nullptr};
    std::array<std::int32_t, 16> input_{}, output_{};
    std::vector<CallSegment> pieces_;
    Call call_;
    RunningCall running_call_;
    std::uint64_t calls_ = 0;
};

}  // namespace trefoil::test
