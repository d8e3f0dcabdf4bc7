// SPDX-License-Identifier: BSD-3-Clause
// Saying and taking control messages.
#include "threads/executor/control_messages.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>

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

constexpr std::size_t offset_of_stall(std::uint32_t place) {
    return offsetof(ControlArea, stalls) + place * sizeof(StallReport);
}

/// Peers write there, so it is copied before it is looked at.
template <typename Body>
Report<Body> copy_of(const std::byte* from) noexcept {
    Report<Body> report;
    std::memcpy(&report, from, sizeof report);
    return report;
}

}  // namespace

ControlMessages::ControlMessages(Channels& channels, WakeUp& wake_up)
    : channels_(channels), wake_up_(wake_up), sources_(channels.groups.size()) {
    for (std::size_t g = 0; g < sources_.size(); ++g) {
        Source& source = sources_[g];
        if (channels.groups[g]->needs_registered_source()) {
            source.memory = channels.groups[g]->allocate(control_area_bytes);
        } else {
            source.unregistered.resize(control_area_bytes);
            source.memory = {source.unregistered.data(), control_area_bytes, nullptr};
        }
    }
}

PutResult ControlMessages::put(std::size_t out_channel, const void* source, std::size_t area_offset,
                               std::size_t bytes, std::uint64_t notification,
                               const PutCookie& cookie) noexcept {
    const OutChannel& channel = channels_.out[out_channel];
    const auto group = static_cast<std::size_t>(channel.group);
    const PutResult result = channels_.groups[group]->put(
        channel.port, channel.endpoint, source, sources_[group].memory.descriptor, channel.landing,
        bytes == 0 ? channel.offset : channel.offset + channels_.control_offset() + area_offset,
        bytes, notification, cookie.bits());
    if (result == PutResult::queued) {
        under_way_.fetch_add(1, std::memory_order_relaxed);
    }
    return result;
}

PutResult ControlMessages::say(std::size_t out_channel, Control kind,
                               std::uint32_t number) noexcept {
    const OutChannel& channel = channels_.out[out_channel];
    return put(out_channel, nullptr, 0, 0,
               control_notification(kind, channel.id, number, channel.proof),
               PutCookie::of_control(out_channel));
}

PutResult ControlMessages::say_failure(std::size_t out_channel, const Cause& cause) noexcept {
    OutChannel& channel = channels_.out[out_channel];
    if (channel.told_of_failure) {
        return PutResult::done;
    }
    constexpr std::size_t offset = offsetof(ControlArea, failure);
    Source& source = sources_[static_cast<std::size_t>(channel.group)];
    std::byte* const from = source.memory.data + offset;
    if (source.failure_bytes == 0) {
        const FailureReport report = failure_report(cause);
        std::memcpy(from, &report, sizeof report);
        source.failure_bytes = report.bytes();
        source.failure_kind =
            cause.status == Status::mismatch ? Control::mismatch : Control::failed;
    }
    const PutResult result =
        put(out_channel, from, offset, source.failure_bytes,
            control_notification(source.failure_kind, channel.id, 0, channel.proof),
            PutCookie::of_control(out_channel));
    channel.told_of_failure = result != PutResult::again;
    return result;
}

void ControlMessages::pass_failure_on(std::size_t group) noexcept {
    Source& source = sources_[group];
    if (source.passed_on) {
        return;
    }
    source.passed_on = true;
    try {
        const auto told = reports_.failure();
        for (std::size_t c = 0; told && c < channels_.out.size(); ++c) {
            if (channels_.out[c].group == static_cast<int>(group) &&
                channels_.out[c].peer != told->from) {
                (void)say_failure(c, told->cause);
            }
        }
    } catch (const std::bad_alloc&) {  // they hear it when this rank's call ends
    }
}

bool ControlMessages::report_stall(std::size_t group, const StallReport& report) noexcept {
    Source& source = sources_[group];
    if (source.stalls_under_way > 0) {
        return false;
    }
    std::byte* const from = source.memory.data + offset_of_stall(0);
    std::memcpy(from, &report, sizeof report);
    for (std::size_t number = 0; number < channels_.out.size(); ++number) {
        OutChannel& channel = channels_.out[number];
        if (channel.group != static_cast<int>(group)) {
            continue;
        }
        if (channel.reported_call != report.body.call) {
            channel.reported_call = report.body.call;
            channel.reports = 0;
        }
        if (channel.reports == ControlArea::stall_places) {
            continue;
        }
        const PutResult result =
            put(number, from, offset_of_stall(channel.reports), report.bytes(),
                control_notification(Control::stalled, channel.id, channel.reports, channel.proof),
                PutCookie::of_stall_report(number));
        channel.reports += result == PutResult::done || result == PutResult::queued ? 1 : 0;
        source.stalls_under_way += result == PutResult::queued ? 1 : 0;
    }
    return true;
}

void ControlMessages::sent(const PutCookie& cookie) noexcept {
    under_way_.fetch_sub(1, std::memory_order_relaxed);
    if (cookie.is_stall_report()) {
        const OutChannel& channel = channels_.out[cookie.channel()];
        --sources_[static_cast<std::size_t>(channel.group)].stalls_under_way;
    }
}

bool ControlMessages::take(std::size_t group, const Notification& notification) noexcept {
    const std::uint32_t number = channels_.in_of(group, notification.channel);
    if (number == InChannel::none) {
        return false;
    }
    InChannel& channel = channels_.in[number];
    // Where notifications have room for it.
    if (notification.check != Notification::folded(channel.proof) &&
        channels_.groups[group]->notification_bits() == 64) {
        refused_.fetch_add(1, std::memory_order_relaxed);
        return false;
    }
    const auto kind = static_cast<Control>(notification.signature);
    const std::byte* const area = channel.landing + channels_.control_offset();
    switch (kind) {
        case Control::taken:
            if (channel.opposite == InChannel::none) {
                return false;
            }
            channels_.out[channel.opposite].uses.acknowledge(notification.use);
            wake_up_.announce();
            return true;
        case Control::stalled:
            reports_.take(channel.peer,
                          copy_of<StallBody>(area + offset_of_stall(notification.use)));
            return false;
        case Control::mismatch:
        case Control::failed:
            reports_.take(channel.peer, copy_of<FailureBody>(area + offsetof(ControlArea, failure)),
                          kind == Control::mismatch ? Status::mismatch : Status::peer_lost);
            break;
        default:
            break;
    }
    channel.news.take(kind, notification.use);
    return false;
}

void tell_peers(const Channels& channels, const Listen& listen,
                const std::function<PutResult(std::size_t out_channel)>& say,
                const std::vector<Rank>& gone) noexcept {
    const auto listen_to_all = [&] {
        for (std::size_t group = 0; group < channels.groups.size(); ++group) {
            (void)listen(group);
        }
    };
    listen_to_all();
    for (std::size_t number = 0; number < channels.out.size(); ++number) {
        const OutChannel& to = channels.out[number];
        const auto group = static_cast<std::size_t>(to.group);
        const bool is_gone = std::find(gone.begin(), gone.end(), to.peer) != gone.end();
        for (int i = 0; i < attempts && !is_gone && !has_left(channels, to.peer); ++i) {
            if (say(number) != PutResult::again) {
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
