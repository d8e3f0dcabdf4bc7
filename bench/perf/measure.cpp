// SPDX-License-Identifier: BSD-3-Clause
// Times and checks one case on one rank.
#include "bench/perf/measure.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "algorithms/registry/registry.hpp"
#include "bench/common/percentile.hpp"

namespace trefoil::tool {

std::int64_t Measurement::all_wrong() const {
    return wrong.value_or(0) + (persistent ? persistent->wrong.value_or(0) : 0) +
           (in_flight ? in_flight->wrong.value_or(0) : 0) +
           (overlap ? overlap->wrong.value_or(0) : 0);
}

const Traits& Meter::traits(Collective collective, std::string_view algorithm) const {
    const bool users = schedule_ != nullptr && algorithm == schedule_->algorithm().name;
    return users ? schedule_->algorithm().traits : find_algorithm(collective, algorithm).traits;
}

std::size_t Meter::vector_bytes(const Case& what) const {
    if (!traits_of(what.collective).has_data()) {
        return 0;
    }
    const Rank ranks = session_.torus().ranks();
    return size_of(what.type) * (what.uneven
                                     ? mean_count(rank_call_of(what, session_).block_count, ranks)
                                     : whole_count(what.collective, what.count, session_.torus()));
}

Measurement Meter::measure(const Case& what) {
    Measurement m;
    m.what = what;
    m.iterations = options_.iterations;
    m.bytes = vector_bytes(what);
    Workload workload(what, session_, patterns_);
    const bool check = options_.check && what.has_result();
    std::int64_t wrong = 0;
    session_.set_algorithm(what.collective, what.algorithm);
    m.used = session_.algorithm(what.collective, what.count, what.type, what.uneven.has_value());
    if (check) {
        wrong += checked_call(workload);  // the first call, with all that it has to set up
    }
    std::vector<double> seconds = timed_calls(workload);
    std::optional<std::vector<double>> stretches, separated;
    if (options_.barriers) {
        constexpr int most = 10, least_calls = 3;  // as bench/peers/peer.h
        stretches =
            timed_stretches(workload, std::clamp(options_.iterations / least_calls, 1, most));
        separated = timed_stretches(workload, options_.iterations);
    }
    if (check) {
        wrong += checked_call(workload);
    }
    measure_requests(workload, check, m);  // sets another algorithm, as what follows
    if (check) {
        if (traits_of(what.collective).replicates_results() && is_floating(what.type) &&
            traits(what.collective, m.algorithm()).identical_results) {
            session_.set_algorithm(what.collective, what.algorithm);
            m.identical = identical_call(workload);
        }
        m.wrong = session_.total(wrong) + (m.identical.value_or(true) ? 0 : 1);
    }
    if (options_.barriers) {  // which sets another algorithm
        m.loop = slowest_median(session_, std::move(*stretches));
        m.separated = slowest_median(session_, std::move(*separated));
    }
    summarize(std::move(seconds), m);
    return m;
}

void Meter::measure_requests(Workload& workload, bool check, Measurement& m) {
    const Repetitions repetitions{options_.iterations, options_.warmup, check};
    if (options_.persistent) {
        m.persistent = persistent_against_blocking(session_, workload, repetitions, salt_);
    }
    if (options_.in_flight > 0) {
        m.in_flight = in_flight_against_blocking(session_, workload.what(), patterns_,
                                                 options_.in_flight, repetitions, salt_);
    }
    if (options_.overlap) {
        const OverlapOptions how{options_.test_every * 1e-6, options_.launch == "threads"};
        m.overlap = measure_overlap(session_, workload, how, repetitions, salt_);
    }
}

/// One call on data whose result is known; returns how many elements of this rank are wrong.
std::int64_t Meter::checked_call(Workload& workload) {
    const std::uint64_t salt = ++salt_;
    workload.fill(salt);
    session_.call(workload.call(salt % 2 == 0));
    return workload.wrong(salt);
}

/// Of an allreduce.
bool Meter::identical_call(Workload& workload) {
    workload.fill_mixed(++salt_);
    session_.call(workload.call(true));
    return session_.equal_everywhere(workload.hash());
}

/// Seconds of each call on this rank.
std::vector<double> Meter::timed_calls(Workload& workload) {
    workload.make_repeatable();
    for (int i = 0; i < options_.warmup; ++i) {
        session_.call(workload.call(true));
    }
    session_.barrier();
    std::vector<double> seconds(options_.iterations);
    for (double& s : seconds) {
        const auto start = std::chrono::steady_clock::now();
        session_.call(workload.call(true));
        s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    return seconds;
}

/// Seconds per call of each stretch on this rank. A barrier before each, which is not timed, makes
/// it whole: what is sent in a stretch is taken in before it ends.
std::vector<double> Meter::timed_stretches(Workload& workload, int stretches) {
    std::vector<double> seconds(stretches);
    for (int i = 0; i < stretches; ++i) {
        const auto first = std::int64_t{i} * options_.iterations / stretches;
        const auto last = (std::int64_t{i} + 1) * options_.iterations / stretches;
        session_.barrier();
        const auto start = std::chrono::steady_clock::now();
        for (auto call = first; call < last; ++call) {
            session_.call(workload.call(true));
        }
        seconds[i] =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() /
            static_cast<double>(last - first);
    }
    return seconds;
}

void Meter::summarize(std::vector<double> seconds, Measurement& m) {
    const double mean =
        std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
    seconds.push_back(mean);
    seconds.push_back(-mean);
    session_.maximize(seconds);
    m.min = -seconds.back() * 1e6;
    seconds.pop_back();
    m.max = seconds.back() * 1e6;
    seconds.pop_back();
    std::sort(seconds.begin(), seconds.end());
    m.p50 = percentile(seconds, 0.50) * 1e6;
    m.p99 = percentile(seconds, 0.99) * 1e6;
    m.algbw = m.p50 > 0 ? static_cast<double>(m.bytes) / (m.p50 * 1e-6) : 0;
    m.busbw = m.algbw * bus_factor(m.what.collective, session_.torus().ranks());
}

}  // namespace trefoil::tool
