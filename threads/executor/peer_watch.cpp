// SPDX-License-Identifier: BSD-3-Clause
// The look at what holds a call up.
#include "threads/executor/peer_watch.hpp"

#include <cstdio>

#include "topo/log/log.hpp"

namespace trefoil {

namespace {

/// Lets puts that were sent before bad news arrive.
constexpr std::chrono::milliseconds grace{200};
constexpr std::chrono::milliseconds report_after{500};
constexpr std::chrono::seconds look_interval{1};
/// Only a better message is at stake.
constexpr int report_attempts = 100;

std::string with_seconds(const std::string& text, PeerWatch::Duration idle_for) {
    char number[32];
    std::snprintf(number, sizeof number, "%.1f", std::chrono::duration<double>(idle_for).count());
    return text + " (" + number + " s without progress)";
}

std::string name_of(const InChannel& channel) {
    return "rank " + std::to_string(channel.peer);
}

}  // namespace

void PeerWatch::begin_call(const RunningCall& call) {
    call_ = &call;
    warned_ = false;
    reported_ = false;
}

void PeerWatch::begin_wait() {
    next_look_ = look_interval;
}

bool PeerWatch::look(Duration idle_for) {
    if (call_->done()) {
        return true;
    }
    if (idle_for >= grace && fail_with_a_peer()) {
        return false;
    }
    if (!reported_ && idle_for >= report_after) {
        reported_ = true;
        report_stall();
    }
    const auto waiting = [&] { return with_seconds(missing_.text(call_->call().text), idle_for); };
    if (idle_for >= options_.timeout) {
        failure_.set(Status::timeout, waiting());
        return false;
    }
    if (options_.check_peers && idle_for >= next_look_) {
        next_look_ = idle_for + look_interval;
        const std::string lost = options_.check_peers();
        if (!lost.empty()) {
            failure_.set(Status::peer_lost, lost + "; " + waiting());
            return false;
        }
    }
    if (!warned_ && idle_for >= options_.stall_warning) {
        warned_ = true;
        const LogScope scope(options_.log);
        log_warning(LogTopic::call, waiting);
    }
    return true;
}

/// A peer that left, or failed, and from which something is missing: waiting longer is in vain.
bool PeerWatch::fail_with_a_peer() {
    for (std::size_t c = 0; c < channels_.in.size(); ++c) {
        if (fail_with_peer_of(c)) {
            return true;
        }
    }
    return false;
}

bool PeerWatch::fail_with_peer_of(std::size_t in_channel) {
    const InChannel& channel = channels_.in[in_channel];
    const Call& call = call_->call();
    if (channel.news.failure() == Control::mismatch) {
        fail_for_disagreement(name_of(channel) +
                              " found that the ranks make different calls; this rank's is ");
        return true;
    }
    if (channel.news.failure() == Control::failed) {
        failure_.set(Status::peer_lost, name_of(channel) +
                                            " reported a failure during this rank's " + call.text +
                                            "; its own message says which");
        return true;
    }
    const StallReport own = StallReport::of(call_->number(), call.signature);
    const auto report = channel.news.report();
    if (report && report->same_call_number(own) && report->bits != own.bits) {
        fail_for_disagreement(name_of(channel) + " waits in another call than this rank's ");
        return true;
    }
    if (!missing_.anything_from(in_channel)) {
        return false;
    }
    // An older set-up's number may still stand here. The next one's means that the peer has
    // finished its earlier calls and will not send for this one.
    if (channel.news.prepares(greeting_.next_set_up())) {
        fail_for_disagreement(name_of(channel) + " prepares another call than this rank's ");
        return true;
    }
    if (channel.news.left()) {
        failure_.set(Status::peer_lost, std::string(call.text) + " needs " + name_of(channel) +
                                            ", which has destroyed its communicator");
        return true;
    }
    return false;
}

void PeerWatch::fail_for_disagreement(const std::string& who_does_what) {
    const Call& call = call_->call();
    failure_.set(Status::mismatch, who_does_what + call.text + "; " + call.agreement);
}

/// Tells every peer of this worker's group which call this rank is stalled in, so that ranks whose
/// calls differ find out even when these calls share no channel. Best effort.
void PeerWatch::report_stall() noexcept {
    const StallReport report = StallReport::of(call_->number(), call_->call().signature);
    for (std::size_t number = 0; number < channels_.out.size(); ++number) {
        if (channels_.out[number].group != 0) {
            continue;  // another worker's
        }
        for (std::uint32_t piece = 0; piece < Notification::report_pieces; ++piece) {
            for (int attempt = 0; attempt < report_attempts; ++attempt) {
                if (controls_.say(number, report, piece) != PutResult::again) {
                    break;
                }
                poll_();
            }
        }
    }
}

}  // namespace trefoil
