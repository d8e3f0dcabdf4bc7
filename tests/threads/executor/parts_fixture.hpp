// SPDX-License-Identifier: BSD-3-Clause
// The parts of an executor over recording groups, for tests of one part in one thread.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <numeric>

#include "program_writer.hpp"
#include "recording_box.hpp"
#include "recording_group.hpp"
#include "threads/executor/executor_parts.hpp"
#include "threads/executor/running_call.hpp"

namespace trefoil::test {

/// Rank 0 with one channel each way to rank 1 through port +0 (number 0), and to rank 2 through
/// port -0 (number 1), all of them wired. Both are of group 0, or of a group each. What is said to
/// peers stays in `boxes_`.
class PartsFixture : public testing::Test {
  protected:
    static constexpr std::size_t slot_bytes = 1024;
    static constexpr std::size_t region_bytes = LandingRings::few_slots * slot_bytes;
    static constexpr std::uint32_t first_id = 7;  ///< what the peers call this rank's channels
    static constexpr std::uint32_t peers_proof = 0x51;  ///< what their notifications carry
    static constexpr std::uint64_t offset_there = 640;  ///< of the peers' landing slots
    static constexpr std::uint64_t communicator = 4711;
    static constexpr auto few_ring = static_cast<std::uint32_t>(Ring::few);

    explicit PartsFixture(int groups = 1) : landing_(2 * region_bytes) {
        channels_.rings = LandingRings(slot_bytes, 0);
        channels_.communicator = communicator;
        for (int g = 0; g < groups; ++g) {
            auto group = std::make_unique<RecordingGroup>(
                groups == 1 ? std::vector<Port>{Port{0}, Port{1}} : std::vector<Port>{Port{g}});
            groups_.push_back(group.get());
            channels_.groups.push_back(std::move(group));
            boxes_.push_back(std::make_unique<RecordingBox>());
        }
        for (std::uint32_t c = 0; c < 2; ++c) {
            const Port port{static_cast<int>(c)};
            const auto peer = static_cast<Rank>(c + 1);
            channel_groups_.push_back(channels_.group_of(port));
            wires_[c].id = first_id + c;
            wires_[c].proof = peers_proof + c;
            wires_[c].offset = offset_there;
            OutChannel& out = channels_.out[channels_.add_out(peer, port)];
            out.wire = &wires_[c];
            out.connected = out.wired = true;
            InChannel& in = channels_.in[channels_.add_in(peer, port)];
            in.landing = landing_.data() + c * region_bytes;
            in.proof = own_proof(c);
            in.landed = true;
        }
        engine_ =
            std::make_unique<Engine>(channels_.groups, Engine::Member{0, 3}, port_threads_, false);
        parts_ = std::make_unique<ExecutorParts>(channels_, *engine_, ExecutorOptions{});
        std::vector<LetterBox*> boxes;
        for (const auto& box : boxes_) {
            boxes.push_back(box.get());
        }
        controls_ = std::make_unique<ControlMessages>(channels_, parts_->wake_up, std::move(boxes));
        call_.kernels = reduce_kernels(DataType::int32, Operation::sum);
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
            segment.make_room(parts_->room, channels_);
        }
        segments_.assign(count, CallSegment{&program, 0});
        call_.segments = segments_;
        running_call_.begin(call_,
                            {reinterpret_cast<const std::byte*>(input_.data()),
                             reinterpret_cast<std::byte*>(output_.data())},
                            ++calls_);
    }
    /// make(sizes), of the programs so far.
    template <typename Make>
    void make_room(Make&& make) {
        std::uint64_t none = 0;
        parts_->room.make_room(none, make);
    }
    /// Starts the next segment of the call and everything that can be done of it.
    RunningSegment& begin_segment() {
        SegmentQueue& queue = parts_->queue;
        RunningSegment& segment = queue.next();
        segment.start(running_call_, running_call_.next_segment(), queue.next_number(), channels_,
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
    /// A peer's word that it has started `use` of the opposite channel.
    Notification started(std::uint32_t channel, std::uint32_t use) const {
        return Notification::decode(
            acknowledgement(id_of(channel), use, few_ring, own_proof(channel)));
    }
    void acknowledge(std::uint32_t channel, std::uint32_t use) {
        EXPECT_TRUE(controls_->acknowledged(static_cast<std::size_t>(channel_groups_[channel]),
                                            channel, started(channel, use)));
    }
    /// A peer's report has come.
    void tell(Rank peer, const StallReport& report) {
        controls_->take_letter(peer, static_cast<char>(LetterKind::stall) + encode(report));
    }
    void tell(Rank peer, const Cause& cause) {
        controls_->take_letter(peer, static_cast<char>(LetterKind::failure) + encode(cause));
    }
    /// The peer of the channel has said that its communicator has ended.
    void leaves(std::uint32_t channel) { channels_.in[channel].left = true; }
    /// What this rank calls its incoming channel.
    static std::uint32_t id_of(std::uint32_t channel) { return 20 + channel; }
    static std::uint32_t own_proof(std::uint32_t channel) { return 0xabcd01 + channel; }

    std::vector<std::byte> landing_;
    Channels channels_;
    std::array<Wire, 2> wires_;
    std::vector<RecordingGroup*> groups_;
    std::vector<std::unique_ptr<RecordingBox>> boxes_;
    std::vector<int> channel_groups_;
    PortThreads port_threads_{0, {}};
    std::unique_ptr<Engine> engine_;
    std::unique_ptr<ExecutorParts> parts_;
    std::unique_ptr<ControlMessages> controls_;
    TimelineNotes notes_{nullptr};
    std::array<std::int32_t, 16> input_{}, output_{};
    std::vector<CallSegment> segments_;
    Call call_;
    RunningCall running_call_;
    std::uint64_t calls_ = 0;
};

}  // namespace trefoil::test
