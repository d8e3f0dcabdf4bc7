// SPDX-License-Identifier: BSD-3-Clause
// Saying and taking control messages.
#include "threads/executor/control_messages.hpp"

#include <algorithm>
#include <chrono>

#include "threads/executor/put_cookie.hpp"

namespace trefoil {

namespace {

constexpr std::chrono::microseconds retry_after{100};
/// A peer that is gone may never take a word: few attempts, then on to the next.
constexpr int attempts = 10;

bool has_left(const Channels& channels, Rank peer) {
    return std::any_of(channels.in.begin(), channels.in.end(), [peer](const InChannel& channel) {
        return channel.peer == peer && channel.news.left();
    });
}

}  // namespace

PutResult ControlMessages::put(std::size_t out_channel, std::uint64_t notification) noexcept {
    const OutChannel& channel = channels_.out[out_channel];
    const PutResult result = channels_.groups[channel.group]->put(
        channel.port, channel.endpoint, nullptr, nullptr, channel.landing, channel.offset, 0,
        notification, PutCookie::of_control(out_channel).bits());
    if (result == PutResult::queued) {
        under_way_.fetch_add(1, std::memory_order_relaxed);
    }
    return result;
}

PutResult ControlMessages::say(std::size_t out_channel, Control kind,
                               std::uint32_t number) noexcept {
    return put(out_channel, control_notification(kind, channels_.out[out_channel].id, number));
}

PutResult ControlMessages::say(std::size_t out_channel, const StallReport& report,
                               std::uint32_t piece) noexcept {
    return put(out_channel, report.notification(piece, channels_.out[out_channel].id));
}

void ControlMessages::take(std::size_t group, const Notification& notification) noexcept {
    const std::uint32_t number = channels_.in_of(group, notification.channel);
    if (number == InChannel::none) {
        return;
    }
    InChannel& channel = channels_.in[number];
    if (notification.is_report()) {
        channel.news.take_report(notification);
        return;
    }
    const auto kind = static_cast<Control>(notification.signature);
    if (kind != Control::taken) {
        channel.news.take(kind, notification.use);
    } else if (channel.opposite != InChannel::none) {
        channels_.out[channel.opposite].uses.acknowledge(notification.use);
        wake_up_.announce();
    }
}

void tell_peers(const Channels& channels, ControlMessages& controls, const Listen& listen,
                Control kind) noexcept {
    const auto listen_to_all = [&] {
        for (std::size_t group = 0; group < channels.groups.size(); ++group) {
            (void)listen(group);
        }
    };
    listen_to_all();
    for (std::size_t number = 0; number < channels.out.size(); ++number) {
        const OutChannel& to = channels.out[number];
        const auto group = static_cast<std::size_t>(to.group);
        for (int i = 0; i < attempts && !has_left(channels, to.peer); ++i) {
            if (controls.say(number, kind) != PutResult::again) {
                break;
            }
            if (!listen(group)) {
                channels.groups[group]->wait(retry_after);
            }
        }
    }
    for (int round = 0; round < attempts; ++round) {
        listen_to_all();
    }
}

}  // namespace trefoil
