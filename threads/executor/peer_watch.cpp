// SPDX-License-Identifier: BSD-3-Clause
// The executor's cold side: stalls, lost peers, and telling the others.
#include <algorithm>
#include <cstdio>

#include "threads/executor/state.hpp"

namespace trefoil {

namespace {
constexpr std::chrono::milliseconds grace{200};
constexpr std::chrono::milliseconds report_after{500};
constexpr std::chrono::microseconds retry_after{100};

double seconds(std::chrono::steady_clock::duration d) {
    return std::chrono::duration<double>(d).count();
}

std::string with_seconds(const std::string& text, std::chrono::steady_clock::duration d) {
    char number[32];
    std::snprintf(number, sizeof number, "%.1f", seconds(d));
    return text + " (" + number + " s without progress)";
}
}  // namespace

bool Executor::look_for_trouble(Worker& me, std::chrono::steady_clock::duration idle_for) {
    me.next_check = std::chrono::steady_clock::now() + check_interval;
    if (me.index != 0) {
        return true;  // worker 0 looks; it may read the segments that it starts
    }
    if (completed_.load(std::memory_order_acquire) == call_->segments.size()) {
        return true;
    }
    if (fail_with_a_peer(idle_for)) {
        return false;
    }
    if (!me.reported && idle_for >= report_after) {
        me.reported = true;
        report_stall();
    }
    if (idle_for >= options_.timeout) {
        failure_.set(Status::timeout, with_seconds(waiting_text(), idle_for));
        return false;
    }
    if (options_.check_peers && idle_for >= me.next_look) {
        me.next_look = idle_for + look_interval;
        const std::string lost = options_.check_peers();
        if (!lost.empty()) {
            failure_.set(Status::peer_lost, lost + "; " + with_seconds(waiting_text(), idle_for));
            return false;
        }
    }
    if (!me.warned && idle_for >= options_.stall_warning) {
        me.warned = true;
        std::fprintf(stderr, "trefoil: %s\n", with_seconds(waiting_text(), idle_for).c_str());
    }
    return true;
}

/// Outside calls, of all that comes only what peers say of themselves matters. False: nothing came.
bool Executor::listen(std::size_t group) noexcept {
    Worker& me = *workers_[group];
    const std::size_t count = channels_.groups[group]->poll(me.events);
    for (std::size_t i = 0; i < count; ++i) {
        const Event& event = me.events[i];
        if (event.kind == Event::Kind::arrived &&
            Notification::decode(event.notification).is_control()) {
            control(me, event.notification);
        }
    }
    return count > 0;
}

bool Executor::has_left(Rank peer) const noexcept {
    return std::any_of(channels_.in.begin(), channels_.in.end(), [peer](const InChannel& channel) {
        return channel.peer == peer && channel.peer_left;
    });
}

/// All but those that have left: a transport would try to connect to them anew, each time in vain.
/// So it does to a peer that only receives from this rank, which cannot say that it leaves.
void Executor::tell_peers(std::uint32_t control) noexcept {
    for (std::size_t g = 0; g < channels_.groups.size(); ++g) {
        (void)listen(g);
    }
    for (std::size_t channel = 0; channel < channels_.out.size(); ++channel) {
        const OutChannel& to = channels_.out[channel];
        const auto group = static_cast<std::size_t>(to.group);
        // A peer that is gone may never take it: few attempts, then on to the next.
        for (int attempt = 0; attempt < 10 && !has_left(to.peer); ++attempt) {
            if (say(channel, static_cast<Control>(control), 0) != PutResult::again) {
                break;
            }
            if (!listen(group)) {
                channels_.groups[group]->wait(retry_after);
            }
        }
    }
    for (int round = 0; round < 10; ++round) {
        for (std::size_t g = 0; g < channels_.groups.size(); ++g) {
            (void)listen(g);
        }
    }
}

void Executor::leave() noexcept {
    if (!failure_.happened()) {
        tell_peers(static_cast<std::uint32_t>(Control::leaving));
    }
}

bool Executor::missing(std::size_t in_channel, const Segment*& found, std::uint32_t& step) const {
    for (const auto& segment : segments_) {
        if (!segment->running.load(std::memory_order_acquire) ||
            in_channel >= segment->program->arrivals.size()) {
            continue;
        }
        const Program& program = *segment->program;
        const ProgramRange range = program.arrivals[in_channel];
        for (std::uint32_t i = range.first; i < range.first + range.count; ++i) {
            const ProgramStep& at = program.steps[program.arrival_steps[i]];
            const std::uint32_t open = segment->open_step[at.part].load(std::memory_order_acquire);
            if (open == program.arrival_steps[i] &&
                segment->arrived[i].load(std::memory_order_relaxed) == 0) {
                found = segment.get();
                step = open;
                return true;
            }
        }
    }
    return false;
}

std::string Executor::waiting_text() const {
    std::string text = std::string(call_->text) + ": ";
    int listed = 0;
    for (std::size_t c = 0; c < channels_.in.size() && listed < 4; ++c) {
        const Segment* segment = nullptr;
        std::uint32_t step = 0;
        if (missing(c, segment, step)) {
            const ProgramStep& at = segment->program->steps[step];
            text += (listed++ > 0 ? ", " : "waits for ") + std::string("step ") +
                    std::to_string(at.schedule_step) + " of part " +
                    std::to_string(at.schedule_part) + " from rank " +
                    std::to_string(channels_.in[c].peer) + " through port " +
                    to_string(channels_.in[c].port);
        }
    }
    for (std::size_t c = 0; c < channels_.out.size() && listed < 4; ++c) {
        if (blocked(c)) {
            text += (listed++ > 0 ? ", " : "waits for ") + std::string("rank ") +
                    std::to_string(channels_.out[c].peer) + " to take in what came through port " +
                    to_string(channels_.out[c].port) + " before";
        }
    }
    return listed > 0 ? text : text + "waits for its own puts to leave";
}

/// True when a put of an open step waits for the peer's acknowledgement of an earlier use.
bool Executor::blocked(std::size_t out_channel) const {
    for (const auto& segment : segments_) {
        if (!segment->running.load(std::memory_order_acquire)) {
            continue;
        }
        const Program& program = *segment->program;
        for (std::size_t p = 0; p < program.parts.size(); ++p) {
            const std::uint32_t open = segment->open_step[p].load(std::memory_order_acquire);
            if (open == Segment::none) {
                continue;
            }
            const ProgramRange puts = program.steps[open].puts;
            for (std::uint32_t i = puts.first; i < puts.first + puts.count; ++i) {
                if (program.puts[i].channel == out_channel &&
                    awaits_room(*segment, program.puts[i])) {
                    return true;
                }
            }
        }
    }
    return false;
}

/// Tells every peer which call this rank is stalled in, so that ranks whose calls differ find out
/// even when these calls share no channel. Best effort.
void Executor::report_stall() noexcept {
    const StallReport report = StallReport::of(calls_, call_->signature);
    for (std::size_t number = 0; number < channels_.out.size(); ++number) {
        const OutChannel& channel = channels_.out[number];
        if (channel.group != 0) {
            continue;  // another worker's
        }
        for (std::uint32_t piece = 0; piece < Notification::report_pieces; ++piece) {
            for (int attempt = 0; attempt < 100; ++attempt) {
                const PutResult result = channels_.groups[0]->put(
                    channel.port, channel.endpoint, nullptr, nullptr, channel.landing,
                    channel.offset, 0, report.notification(piece, channel.id),
                    control_cookie(number));
                if (result != PutResult::again) {
                    break;
                }
                (void)poll(*workers_[0]);
            }
        }
    }
}

/// A peer that left, or failed, and from which something is missing: waiting longer is in vain. The
/// grace lets puts that were sent before the bad news arrive.
bool Executor::fail_with_a_peer(std::chrono::steady_clock::duration idle_for) {
    if (idle_for < grace) {
        return false;
    }
    for (std::size_t c = 0; c < channels_.in.size(); ++c) {
        InChannel& channel = channels_.in[c];
        const std::string peer = "rank " + std::to_string(channel.peer);
        const auto control = static_cast<Control>(
            std::atomic_ref(channel.peer_failed).load(std::memory_order_relaxed));
        if (control == Control::mismatch) {
            failure_.set(Status::mismatch,
                         peer + " found that the ranks make different calls; this rank's is " +
                             call_->text + "; " + call_->agreement);
            return true;
        }
        if (control == Control::failed) {
            failure_.set(Status::peer_lost, peer + " reported a failure during this rank's " +
                                                call_->text + "; its own message says which");
            return true;
        }
        const StallReport own = StallReport::of(calls_, call_->signature);
        constexpr std::uint32_t all_pieces = (1U << Notification::report_pieces) - 1;
        if (std::atomic_ref(channel.peer_report_pieces).load(std::memory_order_acquire) ==
            all_pieces) {
            const StallReport report{
                std::atomic_ref(channel.peer_stalled).load(std::memory_order_relaxed)};
            if (report.same_call_number(own) && report.bits != own.bits) {
                failure_.set(Status::mismatch, peer + " waits in another call than this rank's " +
                                                   call_->text + "; " + call_->agreement);
                return true;
            }
        }
        const Segment* segment = nullptr;
        std::uint32_t step = 0;
        if (!missing(c, segment, step) &&
            (channel.opposite == InChannel::none || !blocked(channel.opposite))) {
            continue;
        }
        // An older set-up's number may still stand here; the next one's means that the peer has
        // finished its earlier calls and will not send for this one.
        const std::uint32_t next = (greetings_ + 1) % Notification::use_modulus;
        if (std::atomic_ref(channel.peer_connecting).load(std::memory_order_relaxed) == next) {
            failure_.set(Status::mismatch, peer + " prepares another call than this rank's " +
                                               call_->text + "; " + call_->agreement);
            return true;
        }
        if (std::atomic_ref(channel.peer_left).load(std::memory_order_relaxed)) {
            failure_.set(Status::peer_lost, std::string(call_->text) + " needs " + peer +
                                                ", which has destroyed its communicator");
            return true;
        }
    }
    return false;
}

}  // namespace trefoil
