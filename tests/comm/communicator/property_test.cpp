// SPDX-License-Identifier: BSD-3-Clause
// Jobs that are drawn from seeds: any torus, any threads and segments, any calls. What fails is
// made as small as it can be while it still fails.
#include <algorithm>
#include <functional>
#include <mutex>
#include <random>

#include "random_calls.hpp"
#include "tests/variable.hpp"
#include "thread_job.hpp"

namespace trefoil::test::property_test {
namespace {

struct RandomJob {
    std::vector<Rank> sizes;
    bool has_nodes = false;
    int port_threads = -1;
    int segment_kibibytes = 1024;
    std::vector<CollectiveCase> calls;

    Torus torus() const { return has_nodes ? Torus(sizes).with_host_dimension() : Torus(sizes); }
};

std::string describe(const RandomJob& job) {
    std::string text = "torus " + job.torus().name() + ", " + std::to_string(job.port_threads) +
                       " port threads, segments of " + std::to_string(job.segment_kibibytes) +
                       " KiB";
    for (const CollectiveCase& call : job.calls) {
        text += "\n  " + describe(call);
    }
    return text;
}

RandomJob draw_job(unsigned seed) {
    std::mt19937 random(seed);
    RandomJob job;
    do {
        job.sizes.assign(1 + random() % 3, 1);
        for (Rank& size : job.sizes) {
            size = static_cast<Rank>(1 + random() % 6);
        }
    } while (job.torus().ranks() < 2 || job.torus().ranks() > 12);
    job.has_nodes = random() % 3 == 0;
    job.port_threads = random() % 3 == 0 ? 1 + static_cast<int>(random() % 2) : -1;
    job.segment_kibibytes = 8 << random() % 4;
    const std::vector<NamedAlgorithm> names = algorithms_for(job.torus());
    for (std::size_t n = 1 + random() % 6; n > 0; --n) {
        job.calls.push_back(draw(random, names, job.torus().ranks()));
        job.calls.back().gap = job.calls.back().counts.empty() ? 0 : random() % 3;
    }
    return job;
}

/// What is wrong with the job: what the first rank found that found anything, or nothing.
std::string run(const RandomJob& job) {
    const Variable segment("TREFOIL_SEGMENT_BYTES",
                           (std::to_string(job.segment_kibibytes) + "K").c_str());
    JobOptions options;
    options.torus = job.torus().name();
    options.port_threads = job.port_threads;
    options.timeout_seconds = 10;
    std::mutex mutex;
    std::string wrong;
    run_ranks(job.torus().ranks(), options, [&](int rank, trefoil_comm_t comm) {
        std::string found = comm == nullptr ? trefoil_last_error(nullptr) : "";
        for (std::size_t i = 0; comm != nullptr && found.empty() && i < job.calls.size(); ++i) {
            found = check_collective(comm, job.calls[i]);
        }
        const std::scoped_lock lock(mutex);
        if (wrong.empty() && !found.empty()) {
            wrong = "rank " + std::to_string(rank) + ": " + found;
        }
    });
    return wrong;
}

/// Smaller jobs of the same kind, the much smaller ones first.
std::vector<RandomJob> smaller(const RandomJob& job) {
    std::vector<RandomJob> found;
    const auto add = [&](const std::function<void(RandomJob&)>& change) {
        change(found.emplace_back(job));
    };
    for (std::size_t i = 0; job.calls.size() > 1 && i < job.calls.size(); ++i) {
        add([i](RandomJob& j) { j.calls = {j.calls[i]}; });
        add([i](RandomJob& j) { j.calls.erase(j.calls.begin() + static_cast<std::ptrdiff_t>(i)); });
    }
    for (std::size_t d = 0; d < job.sizes.size(); ++d) {
        if (job.sizes[d] > 1 && job.torus().ranks() / job.sizes[d] * (job.sizes[d] - 1) > 1) {
            add([d](RandomJob& j) {
                --j.sizes[d];
                const auto ranks = static_cast<std::size_t>(j.torus().ranks());
                for (CollectiveCase& call : j.calls) {
                    call.root %= static_cast<int>(ranks);
                    call.counts.resize(call.counts.empty() ? 0 : ranks);
                }
            });
        }
    }
    for (std::size_t i = 0; i < job.calls.size(); ++i) {
        const CollectiveCase& call = job.calls[i];
        if (call.count > 0 || std::ranges::any_of(call.counts, [](auto n) { return n > 0; })) {
            add([i](RandomJob& j) {
                j.calls[i].count /= 2;
                std::ranges::for_each(j.calls[i].counts, [](std::size_t& n) { n /= 2; });
            });
        }
        if (call.root != 0 || call.gap != 0) {
            add([i](RandomJob& j) { j.calls[i].root = 0, j.calls[i].gap = 0; });
        }
    }
    if (job.port_threads != -1) {
        add([](RandomJob& j) { j.port_threads = -1; });
    }
    return found;
}

/// The smallest job found that `wrong` still finds something wrong with.
RandomJob shrink(RandomJob job, const std::function<bool(const RandomJob&)>& fails) {
    for (int tries = 100; tries > 0;) {
        const std::vector<RandomJob> candidates = smaller(job);
        const auto next = std::ranges::find_if(
            candidates, [&](const RandomJob& one) { return tries-- > 0 && fails(one); });
        if (next == candidates.end()) {
            break;
        }
        job = *next;
    }
    return job;
}

void run_seeds(unsigned first, unsigned last) {
    for (unsigned seed = first; seed < last; ++seed) {
        const RandomJob job = draw_job(seed);
        if (const std::string wrong = run(job); !wrong.empty()) {
            const RandomJob least =
                shrink(job, [](const RandomJob& one) { return !run(one).empty(); });
            FAIL() << "seed " << seed << ": " << wrong << "\n"
                   << describe(job) << "\nit fails also as " << describe(least) << "\n"
                   << run(least);
        }
    }
}

TEST(Property, RandomJobsGiveWhatTheReferenceGives) {
    run_seeds(1, 41);
}

TEST(Property, RandomJobsLong) {
    run_seeds(1000, 3000);
}

TEST(Property, WhatFailsIsMadeSmall) {
    RandomJob job = draw_job(7);
    job.sizes = {3, 4};
    job.calls.assign(5, {.collective = Collective::allreduce, .count = 1000});
    job.calls[3].count = 4000;
    const RandomJob least = shrink(job, [](const RandomJob& one) {
        return one.torus().ranks() >= 4 &&
               std::ranges::any_of(one.calls, [](const auto& call) { return call.count > 1200; });
    });
    EXPECT_EQ(least.calls.size(), 1U);
    EXPECT_EQ(least.calls[0].count, 2000U);
    EXPECT_EQ(least.torus().ranks(), 4);
}

}  // namespace
}  // namespace trefoil::test::property_test
