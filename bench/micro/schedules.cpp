// SPDX-License-Identifier: BSD-3-Clause
// Building one rank's schedule: time, memory and length by algorithm and torus. Counters: peak and
// held (bytes that building takes, and that the schedule has), steps, messages (sent), extents,
// peers.
#include <benchmark/benchmark.h>

#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "algorithms/registry/registry.hpp"
#include "algorithms/schedule/algorithm.hpp"
#include "bench/micro/groups.hpp"
#include "bench/micro/heap.hpp"

namespace trefoil::micro {

namespace {

constexpr const char* shapes[] = {"8x8", "64x64", "128x128", "1024x1024"};
/// Algorithms that say more than this on a torus grow with the number of ranks (rings do by
/// nature) and are not built for the next larger one.
constexpr std::size_t longest_schedule = 10'000;

/// No corner of the torus.
Schedule build_inner(const Algorithm& algorithm, const Torus& torus) {
    return algorithm.build(torus, torus.ranks() / 3);
}

void build_schedule(benchmark::State& state, const Algorithm* algorithm, const char* shape) {
    const Torus torus = Torus::parse(shape);
    const std::size_t before = heap_in_use();
    reset_heap_peak();
    const Schedule one = build_inner(*algorithm, torus);
    state.counters["peak"] = static_cast<double>(heap_peak() - before);
    state.counters["held"] = static_cast<double>(heap_in_use() - before);
    state.counters["steps"] = static_cast<double>(one.steps.size());
    state.counters["messages"] = static_cast<double>(one.sends.size());
    state.counters["extents"] = static_cast<double>(one.extents.size());
    std::set<Rank> peers;
    for (const Send& send : one.sends) {
        peers.insert(send.peer);
    }
    for (const Receive& receive : one.receives) {
        peers.insert(receive.peer);
    }
    state.counters["peers"] = static_cast<double>(peers.size());
    for (auto _ : state) {
        benchmark::DoNotOptimize(build_inner(*algorithm, torus));
    }
}

void register_algorithm(const Algorithm& algorithm) {
    for (const char* shape : shapes) {
        const Torus torus = Torus::parse(shape);
        if (!algorithm.refusal(torus).empty()) {
            continue;
        }
        const std::string name = "schedule/" + std::string(to_string(algorithm.collective)) + '/' +
                                 std::string(algorithm.name) + '/' + shape;
        benchmark::RegisterBenchmark(name.c_str(), build_schedule, &algorithm, shape)
            ->MinTime(0.05)
            ->Unit(benchmark::kMicrosecond);
        if (shape == std::string_view(std::end(shapes)[-1])) {
            break;
        }
        const Schedule built = build_inner(algorithm, torus);
        if (built.sends.size() + built.extents.size() > longest_schedule) {
            break;
        }
    }
}

}  // namespace

void register_schedules() {
    for (const Algorithm& algorithm : algorithms()) {
        register_algorithm(algorithm);
    }
}

}  // namespace trefoil::micro
