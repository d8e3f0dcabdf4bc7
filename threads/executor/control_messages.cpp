// SPDX-License-Identifier: BSD-3-Clause
// Saying and taking what is outside the schedule.
#include "threads/executor/control_messages.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <utility>

namespace trefoil {

namespace {
/// So that it fits a mailbox's place for urgent words (threads/connections/record.hpp).
constexpr std::size_t urgent_text = 400;
}  // namespace

std::set<std::pair<Rank, int>> ControlMessages::peers_of(std::size_t group) const {
    std::set<std::pair<Rank, int>> peers;
    const auto add = [&](const auto& channel) {
        if (channel.group == static_cast<int>(group)) {
            peers.insert({channel.peer, channel.port.index});
        }
    };
    for (const OutChannel& channel : channels_.out) {
        add(channel);
    }
    for (const InChannel& channel : channels_.in) {
        add(channel);
    }
    return peers;
}

std::set<std::pair<Rank, int>> ControlMessages::all_to_be_told(std::size_t group) const {
    std::set<std::pair<Rank, int>> all = peers_of(group);
    const auto& ports = channels_.groups[group]->ports();
    for (const auto& [neighbour, port] : channels_.neighbours) {
        if (neighbour != channels_.rank &&
            std::find(ports.begin(), ports.end(), port) != ports.end()) {
            all.insert({neighbour, port.index});
        }
    }
    return all;
}

bool ControlMessages::send(std::size_t group, Rank peer, Port port, LetterKind kind,
                           std::string_view text, Urgency urgency) {
    std::string letter(1, static_cast<char>(kind));
    letter += text;
    return boxes_[group] != nullptr &&
           boxes_[group]->letter(first_rank_of(channels_, peer), port, channels_.communicator,
                                 letter, urgency);
}

void ControlMessages::say_failure(std::size_t group, const Cause& cause,
                                  std::span<const Rank> gone) noexcept {
    try {
        const std::string text = encode(cause, urgent_text);
        for (const auto& [peer, port] : all_to_be_told(group)) {
            if (std::find(gone.begin(), gone.end(), peer) == gone.end() &&
                told_[group].insert({peer, port}).second) {
                (void)send(group, peer, Port{port}, LetterKind::failure, text, Urgency::urgent);
            }
        }
    } catch (const std::exception&) {  // no memory: the peers find out by themselves
    }
}

void ControlMessages::pass_failure_on(std::size_t group) noexcept {
    if (passed_on_[group] != 0) {
        return;
    }
    passed_on_[group] = 1;
    try {
        if (const auto told = reports_->failure()) {
            const Rank from[] = {told->from};
            say_failure(group, told->cause, from);
        }
    } catch (const std::exception&) {  // they hear it when this rank's call ends
    }
}

void ControlMessages::report_stall(std::size_t group, const StallReport& report) noexcept {
    try {
        const std::string text = encode(report);
        for (const auto& [peer, port] : peers_of(group)) {
            (void)send(group, peer, Port{port}, LetterKind::stall, text, Urgency::dropped);
        }
    } catch (const std::exception&) {  // no memory: the next report says it, too
    }
}

bool ControlMessages::acknowledged(std::size_t group, std::uint32_t in_channel,
                                   const Notification& notification) noexcept {
    const InChannel& channel = channels_.in[in_channel];
    const std::uint32_t ring = notification.ring();
    const std::uint32_t opposite = ring < ring_kinds
                                       ? channel.opposite[ring].load(std::memory_order_acquire)
                                       : InChannel::none;
    // Where notifications have room for it.
    const bool is_proved = notification.check == Notification::folded(channel.proof) ||
                           channels_.groups[group]->traits().notification_bits != 64;
    if (opposite == InChannel::none && is_proved && keep_word(group, in_channel, notification)) {
        return false;
    }
    if (opposite == InChannel::none || !is_proved) {
        refused_.fetch_add(1, std::memory_order_relaxed);
        return false;
    }
    OutChannel& out = channels_.out[opposite];
    if (notification.is_acknowledgement()) {
        out.uses.acknowledge(notification.use, out.ring);
    } else {
        out.permissions.take(notification.use, notification.signature);
    }
    wake_up_.announce();
    return true;
}

/// The peer may have started a call that this rank does not know yet.
bool ControlMessages::keep_word(std::size_t group, std::uint32_t in_channel,
                                const Notification& notification) noexcept {
    constexpr std::size_t most = 1024;
    try {
        if (early_words_[group].size() < most && notification.ring() < ring_kinds) {
            early_words_[group].push_back({in_channel, notification});
            return true;
        }
    } catch (const std::bad_alloc&) {  // then the call fails in its time-out
    }
    return false;
}

void ControlMessages::take_early_words(std::size_t group) noexcept {
    for (const EarlyWord& word : std::exchange(early_words_[group], {})) {
        (void)acknowledged(group, word.in_channel, word.notification);
    }
}

void ControlMessages::take_letter(Rank peer, std::string_view letter) noexcept {
    try {
        switch (static_cast<LetterKind>(letter.empty() ? '\0' : letter.front())) {
            case LetterKind::failure:
                reports_->take(peer, decode_cause(letter.substr(1)));
                break;
            case LetterKind::stall:
                reports_->take(peer, decode_stall(letter.substr(1)));
                break;
            case LetterKind::agreement:
            case LetterKind::direct:
                break;
        }
    } catch (const std::exception&) {  // torn by another version, or no memory
    }
}

}  // namespace trefoil
