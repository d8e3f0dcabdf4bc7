// SPDX-License-Identifier: BSD-3-Clause
// Times and checks persistent calls, and calls in flight.
#include "bench/perf/in_flight.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

#include "bench/common/percentile.hpp"
#include "bench/perf/clock.hpp"

namespace trefoil::tool {

namespace {

using Clock = std::chrono::steady_clock;

/// Of persistent calls; the program ends them before.
class Requests {
  public:
    explicit Requests(std::size_t count) : requests_(count, TREFOIL_REQUEST_NULL) {}
    ~Requests() {
        for (trefoil_request_t& request : requests_) {
            trefoil_request_free(&request);
        }
    }
    Requests(const Requests&) = delete;
    Requests& operator=(const Requests&) = delete;
    trefoil_request_t& operator[](std::size_t i) { return requests_[i]; }
    void wait_for_all() {
        require_success(trefoil_waitall(static_cast<int>(requests_.size()), requests_.data()));
    }

  private:
    std::vector<trefoil_request_t> requests_;
};

/// Seconds of each iteration.
struct Times {
    std::vector<double> begin, requests, blocking;
};

/// In turns, so that both meet the same machine. `begin` begins all, `wait` waits, `block` calls.
template <typename Begin, typename Wait, typename Block>
Times in_turns(Session& session, const Repetitions& repetitions, Begin&& begin, Wait&& wait,
               Block&& block) {
    Times times;
    for (int i = -repetitions.warmup; i < repetitions.iterations; ++i) {
        session.barrier();
        auto start = Clock::now();
        begin();
        const double begun = seconds_since(start);
        wait();
        const double requests = seconds_since(start);
        session.barrier();
        start = Clock::now();
        block();
        const double blocking = seconds_since(start);
        if (i >= 0) {
            times.begin.push_back(begun);
            times.requests.push_back(requests);
            times.blocking.push_back(blocking);
        }
    }
    return times;
}

/// `wrong`: of this rank.
Comparison summary(Session& session, int calls, const Times& times,
                   std::optional<std::int64_t> wrong) {
    Comparison c;
    c.calls = calls;
    c.requests = slowest_median(session, times.requests);
    c.blocking = slowest_median(session, times.blocking);
    c.begin = slowest_median(session, times.begin);
    if (wrong) {
        c.wrong = session.total(*wrong);
    }
    return c;
}

}  // namespace

double slowest_median(Session& session, std::vector<double> seconds) {
    session.maximize(seconds);
    std::sort(seconds.begin(), seconds.end());
    return percentile(seconds, 0.50) * 1e6;
}

Comparison persistent_against_blocking(Session& session, Workload& workload,
                                       const Repetitions& repetitions, std::uint64_t& salt) {
    Requests requests(1);
    session.prepare(workload.call(true), &requests[0]);
    const auto start = [&] { require_success(trefoil_start(&requests[0])); };
    const auto wait = [&] { require_success(trefoil_wait(&requests[0])); };
    std::optional<std::int64_t> wrong;
    const auto check = [&] {
        if (repetitions.check) {
            workload.fill(++salt);
            start();
            wait();
            wrong = wrong.value_or(0) + workload.wrong(salt);
        }
    };
    check();
    workload.make_repeatable();
    const Times times =
        in_turns(session, repetitions, start, wait, [&] { session.call(workload.call(true)); });
    check();
    Comparison c = summary(session, 1, times, wrong);
    // One more, alone: what the blocking calls have moved does not count.
    const trefoil_resources_t before = session.resources();
    start();
    wait();
    const trefoil_resources_t after = session.resources();
    c.received_bytes =
        session.total(static_cast<std::int64_t>(after.received_bytes - before.received_bytes));
    c.copied_bytes =
        session.total(static_cast<std::int64_t>(after.copied_bytes - before.copied_bytes));
    return c;
}

Comparison in_flight_against_blocking(Session& session, const Case& what, Patterns& patterns,
                                      int calls, const Repetitions& repetitions,
                                      std::uint64_t& salt) {
    session.set_algorithm(what.collective, what.algorithm);
    std::vector<std::unique_ptr<Workload>> workloads;
    for (int i = 0; i < calls; ++i) {
        workloads.push_back(std::make_unique<Workload>(what, session, patterns));
    }
    Requests requests(workloads.size());
    const auto begin = [&] {
        for (std::size_t i = 0; i < workloads.size(); ++i) {
            session.begin(workloads[i]->call(true), &requests[i]);
        }
    };
    const auto wait = [&] { requests.wait_for_all(); };
    std::optional<std::int64_t> wrong;
    const auto check = [&] {
        if (!repetitions.check) {
            return;
        }
        for (const auto& workload : workloads) {
            workload->fill(++salt);
        }
        begin();
        wait();
        std::uint64_t of = salt - workloads.size();
        for (const auto& workload : workloads) {
            wrong = wrong.value_or(0) + workload->wrong(++of);
        }
    };
    check();
    for (const auto& workload : workloads) {
        workload->make_repeatable();
    }
    const Times times = in_turns(session, repetitions, begin, wait, [&] {
        for (const auto& workload : workloads) {
            session.call(workload->call(true));
        }
    });
    check();
    return summary(session, calls, times, wrong);
}

}  // namespace trefoil::tool
