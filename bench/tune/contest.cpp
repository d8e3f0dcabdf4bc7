// SPDX-License-Identifier: BSD-3-Clause
// Rounds of calls, each algorithm once in each round; then a final.
#include "bench/tune/contest.hpp"

#include <algorithm>
#include <limits>

#include "bench/tune/stopwatch.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

/// The least median of those that took part.
double best_of(const std::vector<Contender>& all) {
    double best = std::numeric_limits<double>::max();
    for (const Contender& one : all) {
        best = one.seconds.empty() ? best : std::min(best, one.median);
    }
    return best;
}

}  // namespace

/// Its first call, which makes plan and connections, is checked. All ranks find it refused alike.
bool Contests::admit(Contender& one, Workload& workload) {
    const Collective collective = workload.what().collective;
    const std::uint64_t salt = ++salt_;
    workload.fill(salt);
    session_.set_algorithm(collective, one.algorithm);
    try {
        session_.call(workload.call(true));
    } catch (const Error& error) {
        if (error.status() != Status::unsupported) {
            throw;
        }
        return false;
    }
    wrong_ += session_.total(workload.wrong(salt));
    return true;
}

void Contests::time(Contender& one, Workload& workload, int calls) {
    session_.set_algorithm(workload.what().collective, one.algorithm);
    const double seconds =
        seconds_per_call(session_, calls, [&] { session_.call(workload.call(true)); });
    one.seconds.push_back(seconds);
    one.median = median(one.seconds);
}

std::vector<Contender> Contests::hold(const Case& what,
                                      const std::vector<std::string>& algorithms) {
    std::vector<Contender> all;
    Workload workload(what, session_, patterns_);
    for (const std::string& name : algorithms) {
        all.push_back({.algorithm = name});
        all.back().took_part = admit(all.back(), workload);
    }
    std::vector<Contender*> running;
    std::vector<int> calls(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].took_part) {
            // A call tells how many a round has; a round that does not count uses all slots once.
            time(all[i], workload, 1);
            time(all[i], workload, calls_in(rules_.slice, all[i].seconds.front()));
            calls[i] = calls_in(rules_.slice, all[i].seconds.back());
            all[i].seconds.clear();
            running.push_back(&all[i]);
        }
    }
    for (int round = 1; round <= rules_.rounds; ++round) {
        for (Contender* const one : running) {
            time(*one, workload, calls[static_cast<std::size_t>(one - all.data())]);
        }
        const double slower = round < 3 ? rules_.slower_at_once : rules_.slower_in_the_end;
        const double limit = slower * best_of(all);
        std::erase_if(running,
                      [&](const Contender* one) { return std::ranges::min(one->seconds) > limit; });
        if (running.size() > 1) {
            std::rotate(running.begin(), running.begin() + 1, running.end());
        } else if (round >= 2) {
            break;
        }
    }
    hold_final(all, calls, workload);
    return all;
}

void Contests::hold_final(std::vector<Contender>& all, const std::vector<int>& calls,
                          Workload& workload) {
    const double limit = rules_.slower_in_the_end * best_of(all);
    std::vector<Contender*> running;
    for (Contender& one : all) {
        one.in_final = false;
        if (one.took_part && one.median <= limit) {
            running.push_back(&one);
        }
    }
    std::ranges::stable_sort(running, {}, &Contender::median);
    running.resize(std::min(running.size(), rules_.most_in_final));
    if (Contender* const first = all.data();
        first->took_part && std::ranges::count(running, first) == 0) {
        running.push_back(first);
    }
    for (Contender* const one : running) {
        one->in_final = true;
    }
    if (running.size() < 2) {
        return;
    }
    for (Contender* const one : running) {
        one->seconds.clear();
    }
    for (int round = 0; round < rules_.final_rounds; ++round) {
        for (Contender* const one : running) {
            const int of_slice = calls[static_cast<std::size_t>(one - all.data())];
            time(*one, workload, static_cast<int>(of_slice * rules_.final_slices));
        }
        std::rotate(running.begin(), running.begin() + 1, running.end());
    }
}

}  // namespace trefoil::tool
