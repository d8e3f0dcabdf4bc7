// SPDX-License-Identifier: BSD-3-Clause
// Listening for reports, then judging by the processes.
#include "threads/executor/inquiry.hpp"

#include <algorithm>
#include <chrono>

#include "threads/executor/suspects.hpp"
#include "topo/patience.hpp"

namespace trefoil {

namespace {

using Clock = std::chrono::steady_clock;

bool ended(const ProcessNews& process) {
    return process.state == ProcessNews::State::ended;
}

}  // namespace

bool Inquiry::has_left(Rank rank) const {
    return has_ended(channels_, rank);
}

/// Without those that left in order, unless nobody else is missing.
std::vector<ProcessNews> Inquiry::processes() const {
    if (!options_.look_at_processes) {
        return {};
    }
    std::vector<ProcessNews> all = options_.look_at_processes();
    const auto left = [this](const ProcessNews& process) {
        return ended(process) && has_left(process.rank);
    };
    if (!std::all_of(all.begin(), all.end(), left)) {
        std::erase_if(all, left);
    }
    return all;
}

Cause Inquiry::cause_of(const Cause& noticed, const std::string& during) const {
    const auto begin = Clock::now();
    Clock::time_point next_look = begin;
    std::vector<ProcessNews> found;
    std::optional<Cause> heard;
    (void)listen_until_(
        [&] {
            heard = told(during);
            const auto now = Clock::now();
            if (!heard && now >= next_look) {
                next_look = now + patience().inquiry_look_interval;
                found = processes();
            }
            return heard || (std::ranges::count_if(found, ended) == 1 &&
                             now - begin >= patience().inquiry_if_one_has_ended);
        },
        begin + patience().longest_inquiry);
    return heard ? *heard : accuse(noticed, found, during);
}

std::vector<Rank> Inquiry::gone() const {
    std::vector<Rank> ranks;
    for (const ProcessNews& process : processes()) {
        if (ended(process)) {
            ranks.push_back(process.rank);
        }
    }
    return ranks;
}

/// What a peer has reported.
std::optional<Cause> Inquiry::told(const std::string& during) const {
    if (!controls_.reports().failure_has_come()) {
        return std::nullopt;
    }
    const auto report = controls_.reports().failure();
    if (!report) {
        return std::nullopt;
    }
    Cause cause = report->cause;
    cause.own = "; reported by rank " + std::to_string(report->from) +
                (during.empty() ? "" : " during this rank's " + during);
    return cause;
}

// Errors of set-up come from a launcher or a store, which see who is gone, or from ranks that have
// said what is wrong with them. They stand unless they name nobody else.
Cause Inquiry::cause_of(const Error& error) const {
    Cause cause{error.status(), error.blame(), error.what()};
    if (error.status() != Status::peer_lost && error.status() != Status::timeout) {
        return cause;
    }
    std::optional<Cause> heard;
    if (listen_until_([&] { return (heard = told("set-up")).has_value(); },
                      Clock::now() + patience().inquiry_in_set_up)) {
        return *heard;
    }
    const std::vector<ProcessNews> found = processes();
    // Who has ended may have given up on one that is stopped, and who did not come may wait for it.
    auto first = std::find_if_not(found.begin(), found.end(), ended);
    const bool is_guess =
        cause.blame.evidence == Evidence::unreachable || cause.blame.evidence == Evidence::silent;
    if (first == found.end() || error.status() != Status::timeout) {
        const bool names_another = !is_guess && cause.blame.culprit != Blame::nobody &&
                                   cause.blame.culprit != channels_.rank;
        first = names_another ? found.end() : found.begin();
    }
    if (first != found.end() && (is_guess || first->rank != cause.blame.culprit)) {
        cause.blame = {first->rank, ended(*first) ? Evidence::ended : Evidence::stopped};
        cause.text = rank_text(options_, first->rank) +
                     (ended(*first) ? " has ended; " : " is stopped; ") + cause.text;
    }
    return cause;
}

Cause Inquiry::accuse(const Cause& noticed, const std::vector<ProcessNews>& processes,
                      const std::string& during) const {
    const std::string found =
        "; rank " + std::to_string(channels_.rank) + " found it: " +
        (noticed.blame.culprit == Blame::nobody || during.empty() ? "" : during + ": ") +
        noticed.text;
    const auto accused = [&](Rank rank, Evidence evidence, const std::string& what) {
        Blame blame = noticed.blame;
        blame.culprit = rank;
        blame.evidence = evidence;
        return Cause{noticed.status, blame, rank_text(options_, rank) + what + found};
    };
    const auto has_left_or = [&](Rank rank, Evidence evidence, const char* what) {
        return has_left(rank) ? accused(rank, Evidence::left, " has destroyed its communicator")
                              : accused(rank, evidence, what);
    };
    // The first that was found is the one that began it.
    const auto first = std::find_if(processes.begin(), processes.end(), ended);
    if (first != processes.end()) {
        return has_left_or(first->rank, Evidence::ended, " has ended");
    }
    if (noticed.blame.culprit == Blame::nobody) {
        Cause cause = noticed;
        cause.tentative = false;
        return cause;
    }
    return has_left_or(noticed.blame.culprit, Evidence::unreachable, " cannot be reached");
}

}  // namespace trefoil
