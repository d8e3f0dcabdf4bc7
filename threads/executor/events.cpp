// SPDX-License-Identifier: BSD-3-Clause
// The executor's incoming side: completions and arrivals.
#include "threads/executor/state.hpp"

namespace trefoil {

bool Executor::poll(Worker& me) {
    const std::size_t count = channels_.groups[me.index]->poll(me.events);
    for (std::size_t i = 0; i < count; ++i) {
        handle(me, me.events[i]);
    }
    return count > 0;
}

void Executor::handle(Worker& me, const Event& event) {
    switch (event.kind) {
        case Event::Kind::sent:
            if (is_control_cookie(event.cookie)) {
                controls_under_way_.fetch_sub(1, std::memory_order_relaxed);
            } else {
                spend_token(me, *segments_[event.cookie >> 32],
                            static_cast<std::uint32_t>(event.cookie));
            }
            break;
        case Event::Kind::arrived:
            arrive(me, event.notification);
            break;
        case Event::Kind::failed:
            failure_.set(Status::peer_lost, (is_control_cookie(event.cookie)
                                                 ? "a message failed from " +
                                                       route_text(channel_of_control(event.cookie))
                                                 : std::string("a transfer failed")) +
                                                ": " + channels_.groups[me.index]->error_text());
            break;
    }
}

void Executor::arrive(Worker& me, std::uint32_t bits) {
    const Notification notification = Notification::decode(bits);
    if (notification.is_control()) {
        control(me, bits);
        return;
    }
    Segment* const segment =
        call_ == nullptr || notification.is_report() ? nullptr : segment_of(me, notification);
    if (segment != nullptr) {
        count_arrival(me, *segment, bits);
    } else if (notification.is_report()) {
        take_report(me, notification);
    } else {
        me.early.push_back(bits);
    }
}

/// The segment that has begun here and whose use of the channel the notification belongs to, or
/// null.
Executor::Segment* Executor::segment_of(Worker& me, const Notification& notification) {
    const auto& by_id = channels_.in_by_id[me.index];
    if (notification.channel >= by_id.size()) {
        failure_.set(Status::internal, "a notification names channel " +
                                           std::to_string(notification.channel) +
                                           ", which does not exist; please report this");
        return nullptr;
    }
    const std::uint32_t channel = by_id[notification.channel];
    if (channel >= me.segments_by_use.size()) {
        return nullptr;  // a new channel, which no program here knows yet
    }
    const std::uint64_t number = me.segments_by_use[channel][notification.use];
    return number == 0 ? nullptr : segments_[(number - 1) % window].get();
}

void Executor::take_report(Worker& me, const Notification& notification) {
    const auto& by_id = channels_.in_by_id[me.index];
    if (notification.channel >= by_id.size()) {
        return;
    }
    InChannel& channel = channels_.in[by_id[notification.channel]];
    StallReport report{std::atomic_ref(channel.peer_stalled).load(std::memory_order_relaxed)};
    report.take(notification);
    std::atomic_ref(channel.peer_stalled).store(report.bits, std::memory_order_relaxed);
    const std::uint32_t piece = notification.index - Notification::index_limit;
    std::atomic_ref(channel.peer_report_pieces).fetch_or(1U << piece, std::memory_order_release);
}

void Executor::count_arrival(Worker& me, Segment& segment, std::uint32_t bits) {
    const Notification notification = Notification::decode(bits);
    const Program& program = *segment.program;
    const std::uint32_t channel = channels_.in_by_id[me.index][notification.channel];
    const bool expected =
        channel < program.arrivals.size() && notification.index < program.arrivals[channel].count;
    const std::uint32_t arrival =
        expected ? program.arrivals[channel].first + notification.index : 0;
    if (!expected || notification.signature != notification.expected_signature(
                                                   call_hash_, program.arrival_bytes[arrival])) {
        failure_.set(Status::mismatch, "rank " + std::to_string(channels_.in[channel].peer) +
                                           " makes another call than this rank's " + call_->text +
                                           "; " + call_->agreement);
        return;
    }
    if (segment.arrived[arrival].exchange(1, std::memory_order_relaxed) != 0) {
        failure_.set(Status::internal, "a message from rank " +
                                           std::to_string(channels_.in[channel].peer) +
                                           " arrived twice; please report this");
        return;
    }
    const std::uint32_t step = program.arrival_steps[arrival];
    if (me.trace == nullptr) {
        spend_token(me, segment, step);
        return;
    }
    const std::int64_t begin = trace_clock();
    const std::uint64_t number = segment.number;  // the token may complete the segment
    const ProgramStep& done = program.steps[step];
    spend_token(me, segment, step);
    note_arrival(me, channels_.in[channel], number, done, notification.index, begin);
}

void Executor::control(Worker& me, std::uint32_t bits) {
    const Notification notification = Notification::decode(bits);
    const auto& by_id = channels_.in_by_id[me.index];
    if (notification.channel >= by_id.size()) {
        return;
    }
    InChannel& channel = channels_.in[by_id[notification.channel]];
    switch (static_cast<Control>(notification.signature)) {
        case Control::hello:
            channel.greeted = true;
            break;
        case Control::leaving:
            std::atomic_ref(channel.peer_left).store(true, std::memory_order_relaxed);
            break;
        case Control::taken:
            if (channel.opposite != InChannel::none) {
                std::atomic_ref(channels_.out[channel.opposite].unacknowledged)
                    .fetch_and(static_cast<std::uint8_t>(~(1U << notification.use)),
                               std::memory_order_release);
                wake_up_.announce();
            }
            break;
        case Control::connecting:
            std::atomic_ref(channel.peer_connecting)
                .store(notification.use, std::memory_order_relaxed);
            break;
        case Control::mismatch:
        case Control::failed:
            // The peer failed in this call or in a later one: if in a later one, this one can still
            // complete, so look_for_trouble() decides when nothing moves any more.
            std::atomic_ref(channel.peer_failed)
                .store(notification.signature, std::memory_order_relaxed);
            break;
    }
}

}  // namespace trefoil
