// SPDX-License-Identifier: BSD-3-Clause
// Communication, computation, and both, in turns.
#include "bench/perf/overlap.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <vector>

#include "bench/perf/clock.hpp"

namespace trefoil::tool {

namespace {

using Clock = std::chrono::steady_clock;

/// Of all that this process may run on, its ranks' siblings being on the same.
int usable_cores() {
    cpu_set_t mask;
    return sched_getaffinity(0, sizeof mask, &mask) == 0 ? std::max(1, CPU_COUNT(&mask)) : 1;
}

/// Work on memory that fits into a core's own cache, in portions of some microseconds.
class Computation {
  public:
    Computation() : numbers_(std::size_t{8} << 10, 1.0F) {}

    void portion() {
        for (float& number : numbers_) {
            number = number * 0.999F + 0.001F;
        }
        // The compiler must believe that somebody looks at the numbers.
        asm volatile("" : : "r"(numbers_.data()) : "memory");
    }
    /// Of one portion, as the median of many.
    double seconds() {
        std::vector<double> times(201);
        for (double& time : times) {
            const auto start = Clock::now();
            portion();
            time = seconds_since(start);
        }
        std::nth_element(times.begin(), times.begin() + 100, times.end());
        return times[100];
    }

  private:
    std::vector<float> numbers_;
};

}  // namespace

double Overlap::bound() const {
    return std::max({communication, computation, processors});
}

double Overlap::hidden() const {
    return (communication + computation - together) / std::min(communication, computation);
}

Overlap measure_overlap(Session& session, Workload& workload, const OverlapOptions& how,
                        const Repetitions& repetitions, std::uint64_t& salt) {
    const Case& what = workload.what();
    trefoil_request_t request = TREFOIL_REQUEST_NULL;
    const auto begin = [&] { session.begin(workload.call(true), &request); };
    const auto wait = [&] { require_success(trefoil_wait(&request)); };
    Computation computation;
    long portions = 0, between_tests = 0;
    const auto compute = [&](bool tests) {
        for (long i = 1; i <= portions; ++i) {
            computation.portion();
            if (tests && between_tests > 0 && i % between_tests == 0) {
                int done = 0;
                require_success(trefoil_test(&request, &done));
            }
        }
    };

    // As many portions as fit into a call, alike on all ranks.
    session.set_algorithm(what.collective, what.algorithm);
    workload.make_repeatable();
    std::vector<double> alone;
    for (int i = -repetitions.warmup; i < std::min(repetitions.iterations, 5); ++i) {
        session.barrier();
        const auto start = Clock::now();
        begin();
        wait();
        session.barrier();
        if (i >= 0) {
            alone.push_back(seconds_since(start));
        }
    }
    const double target = slowest_median(session, alone) * 1e-6;
    std::vector<double> portion{computation.seconds()};
    session.maximize(portion);
    portions = std::max(1L, std::lround(target / portion[0]));
    between_tests = how.test_every > 0 ? std::max(1L, std::lround(how.test_every / portion[0])) : 0;

    // Each until all ranks are done: where ranks share cores, one computes while another waits.
    session.set_algorithm(what.collective, what.algorithm);
    std::vector<double> communication, computing, together;
    double processors = 0;
    const bool counts = !how.one_process || session.rank() == 0;
    for (int i = 0; i < repetitions.iterations; ++i) {
        session.barrier();
        auto start = Clock::now();
        begin();
        wait();
        session.barrier();
        communication.push_back(seconds_since(start));
        start = Clock::now();
        compute(false);
        session.barrier();
        computing.push_back(seconds_since(start));
        const double used = processor_seconds();
        start = Clock::now();
        begin();
        compute(true);
        wait();
        session.barrier();
        together.push_back(seconds_since(start));
        processors += processor_seconds() - used;
    }
    std::optional<std::int64_t> wrong;
    if (repetitions.check) {
        workload.fill(++salt);
        begin();
        compute(true);
        wait();
        wrong = workload.wrong(salt);
    }

    Overlap o;
    o.communication = slowest_median(session, communication);
    o.computation = slowest_median(session, computing);
    o.together = slowest_median(session, together);
    o.cores = usable_cores();
    const auto nanoseconds = session.total(counts ? std::llround(processors * 1e9) : 0);
    o.processors = static_cast<double>(nanoseconds) * 1e-3 / repetitions.iterations / o.cores;
    if (wrong) {
        o.wrong = session.total(*wrong);
    }
    return o;
}

}  // namespace trefoil::tool
