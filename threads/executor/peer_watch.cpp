// SPDX-License-Identifier: BSD-3-Clause
// The look at what holds a call up.
#include "threads/executor/peer_watch.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <set>

#include "topo/decimals.hpp"
#include "topo/log/log.hpp"
#include "topo/patience.hpp"

namespace trefoil {

namespace {

std::string calls_text(Rank rank, const std::string& call) {
    return "rank " + std::to_string(rank) + " calls " + call;
}

}  // namespace

void PeerWatch::begin_wait() {
    idle_ = Duration{-1};
    next_look_ = patience().first_look;
    next_report_ = patience().report_after;
    bad_news_at_ = Duration::max() / 2;
    suspect_ = {};
    processes_.clear();
}

/// Meanwhile the segments cannot end, so that calls and programs stay where they are.
bool PeerWatch::look(Duration idle_for) {
    idle_ = idle_for;
    const RunningSegment* oldest = nullptr;
    std::array<RunningSegment*, segment_window> held{};
    for (std::size_t i = 0; i < held.size(); ++i) {
        RunningSegment& segment = queue_.places()[i];
        if (segment.running() && segment.hold()) {
            held[i] = &segment;
            oldest = oldest == nullptr || segment.number() < oldest->number() ? &segment : oldest;
        }
    }
    const RunningCall* call = oldest != nullptr ? &oldest->call() : stored_.running();
    if (call == nullptr) {
        call = calls_.first();  // it waits for something of this rank's own
    }
    const bool goes_on = call == nullptr || look_at(*call, idle_for);
    for (RunningSegment* const segment : held) {
        if (segment != nullptr) {
            steps_.release(*segment, notes_);
        }
    }
    return goes_on;
}

bool PeerWatch::look_at(const RunningCall& call, Duration idle_for) {
    call_ = &call;
    if (idle_for >= patience().news_may_overtake) {
        if (const auto news = bad_news()) {
            bad_news_at_ = std::min(bad_news_at_, idle_for);
            if (idle_for >= bad_news_at_ + patience().news_may_overtake) {
                failure_.set(*news);
                return false;
            }
        }
    }
    if (idle_for >= next_look_) {
        next_look_ = idle_for + patience().look_interval;
        if (fail_with_a_process(idle_for)) {
            return false;
        }
    }
    if (idle_for >= patience().report_after) {
        note_stall(idle_for);
    }
    if (idle_for >= options_.timeout) {
        fail_in_time(idle_for);
        return false;
    }
    if (warned_of_ != call_->number() && idle_for >= options_.stall_warning) {
        warned_of_ = call_->number();
        const LogScope scope(options_.log);
        log_warning(LogTopic::call, [&] { return waiting(idle_for); });
    }
    return true;
}

std::string PeerWatch::waiting(Duration idle_for) const {
    const double seconds = std::chrono::duration<double>(idle_for).count();
    return missing_.text(call_->call().text) + " (" + fixed_decimal(seconds, 1) +
           " s without progress)";
}

/// Of a peer that left, or failed, and from which something is missing: waiting longer is in vain.
std::optional<Cause> PeerWatch::bad_news() const {
    if (controls_.reports().failure_has_come()) {
        if (const auto told = controls_.reports().failure()) {
            return as_told(*told);
        }
    }
    std::set<Rank> peers;
    for (const InChannel& channel : channels_.in) {
        peers.insert(channel.peer);
    }
    for (const OutChannel& channel : channels_.out) {
        peers.insert(channel.peer);
    }
    // In another call a rank may have other peers: who reports need not be among this rank's.
    for (const Rank peer : controls_.reports().stalled()) {
        peers.insert(peer);
    }
    const std::vector<Rank> missing = missing_.ranks();
    for (const Rank peer : peers) {
        const bool is_missing = std::find(missing.begin(), missing.end(), peer) != missing.end();
        if (auto news = bad_news_of_peer(peer, is_missing)) {
            return news;
        }
    }
    return std::nullopt;
}

Cause PeerWatch::as_told(const PeerReports::Failure& told) const {
    const Call& call = call_->call();
    Cause cause = told.cause;
    if (cause.status == Status::aborted) {
        cause.tentative = true;
        return cause;
    }
    const std::string from = "; reported by rank " + std::to_string(told.from);
    if (cause.status == Status::mismatch) {
        const bool is_named = cause.names_calls && (cause.blame.culprit == channels_.rank ||
                                                    cause.blame.finder == channels_.rank);
        cause.own = from + (is_named ? "" : "; " + calls_text(channels_.rank, call.text)) + "; " +
                    call.agreement;
    } else {
        cause.own = from + " during this rank's " + call.text;
    }
    return cause;
}

std::optional<Cause> PeerWatch::bad_news_of_peer(Rank peer, bool is_missing) const {
    const Call& call = call_->call();
    const auto stall = controls_.reports().stall_of(peer);
    if (stall && stall->report.call == call_->number() &&
        stall->report.signature != call.signature) {
        return disagreement(peer, stall->report.during);
    }
    if (is_missing && has_ended(channels_, peer)) {
        return Cause{Status::peer_lost,
                     {peer, Evidence::left},
                     rank_text(options_, peer) + " has destroyed its communicator; rank " +
                         std::to_string(channels_.rank) + " needs it in its " + call.text};
    }
    return std::nullopt;
}

Cause PeerWatch::disagreement(Rank peer, const std::string& in) const {
    const Call& call = call_->call();
    Cause cause{Status::mismatch,
                {peer, Evidence::disagrees},
                calls_text(peer, in) + ", " + calls_text(channels_.rank, call.text),
                std::string("; ") + call.agreement};
    cause.names_calls = true;
    return cause;
}

/// Which of several began it is found out afterwards, when reports have had time to come. A rank
/// whose part is done may end its process in order while others still work, so what ended counts at
/// once only if something is missing from it; else whoever needs it tells.
bool PeerWatch::fail_with_a_process(Duration idle_for) {
    if (!options_.look_at_processes) {
        return false;
    }
    processes_ = options_.look_at_processes();
    const std::vector<Rank> missing = missing_.ranks();
    const auto is_needed = [&](Rank rank) {
        if (std::find(missing.begin(), missing.end(), rank) != missing.end()) {
            return true;
        }
        return idle_for >= std::min<Duration>(patience().nobody_told_after, options_.timeout / 2) &&
               !has_ended(channels_, rank);
    };
    for (const ProcessNews& process : processes_) {
        if (process.state == ProcessNews::State::ended && is_needed(process.rank)) {
            failure_.suspect(Status::peer_lost, Cause::nobody, waiting(idle_for));
            return true;
        }
    }
    return false;
}

void PeerWatch::fail_in_time(Duration idle_for) {
    const Suspect suspected = suspect(idle_for);
    Cause cause{Status::timeout, suspected.blame, waiting(idle_for)};
    cause.blame.finder = channels_.rank;
    cause.blame.since = std::chrono::system_clock::now() -
                        std::chrono::duration_cast<std::chrono::system_clock::duration>(idle_for);
    if (cause.blame.culprit != Blame::nobody) {
        cause.text = suspected.text + "; rank " + std::to_string(channels_.rank) +
                     " found it: " + cause.text;
    }
    failure_.set(cause);
}

Suspect PeerWatch::suspect(Duration idle_for) const {
    const std::vector<Rank> missing = missing_.ranks();
    const StallKnowledge known{channels_.rank, call_->number(),
                               PeerReports::Clock::now() - idle_for, missing, processes_};
    // A short time-out leaves less time.
    const bool settled = idle_for >= std::min<Duration>(patience().settled_after, options_.timeout);
    return suspect_of(known, controls_.reports(), options_, settled);
}

/// The first report says that this rank lives, the next ones whom it suspects.
void PeerWatch::note_stall(Duration idle_for) {
    Suspect now = suspect(idle_for);
    if (idle_for >= next_report_ || now != suspect_) {
        constexpr Duration never = std::chrono::hours(24 * 365);
        next_report_ = std::min<Duration>(std::max(next_report_, idle_for), never) * 2;
        suspect_ = std::move(now);
        const std::lock_guard lock(mutex_);
        report_ = {call_->number(), call_->call().signature, call_->call().text, suspect_.blame,
                   suspect_.text};
        reports_.fetch_add(1, std::memory_order_relaxed);  // the mutex orders
    }
    report(0);
}

void PeerWatch::report(std::size_t group) noexcept {
    if (reported_[group] == reports_.load(std::memory_order_relaxed)) {
        return;
    }
    StallReport told;
    {
        const std::lock_guard lock(mutex_);
        reported_[group] = reports_.load(std::memory_order_relaxed);
        try {
            told = report_;
        } catch (const std::bad_alloc&) {  // the next one says it, too
            return;
        }
    }
    controls_.report_stall(group, told);
}

}  // namespace trefoil
