// SPDX-License-Identifier: BSD-3-Clause
// Reduction kernels against the bound of their streams and against memcpy, in turns, so that what
// else the machine does meets all of them alike. Counters are medians of the turns' ratios:
// of_bound (1: as fast as an xor loop) and of_memcpy (1: as fast as a copy of so many bytes).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bench/micro/groups.hpp"
#include "bench/micro/streams.hpp"
#include "threads/kernels/reduce.hpp"

namespace trefoil::micro {

namespace {

/// Where two or three vectors of so many bytes find place.
struct Place {
    const char* name;
    std::size_t bytes;
    int turns;
};
constexpr Place places[] = {{"L1", std::size_t{8} << 10, 101},
                            {"L2", std::size_t{256} << 10, 101},
                            {"L3", std::size_t{16} << 20, 21},
                            {"memory", std::size_t{256} << 20, 7}};

/// 64 KiB-aligned zeros that the system has given pages for. Zeros stay zeros under every
/// operation, so no number ever becomes denormal. Kept for the next benchmark: the pages cost more
/// than that.
std::byte* vector_of(int which, std::size_t bytes) {
    constexpr std::size_t alignment = 65536;
    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };
    struct Kept {
        std::unique_ptr<std::byte[], Free> memory;
        std::size_t bytes = 0;
    };
    static std::array<Kept, 3> all;
    Kept& kept = all[static_cast<std::size_t>(which)];
    if (kept.bytes < bytes) {
        const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
        kept.memory.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, size)));
        kept.bytes = size;
        std::memset(kept.memory.get(), 0, size);
    }
    return kept.memory.get();
}

/// Seconds of one of `times` calls.
template <typename Function>
double seconds_of(std::size_t times, Function&& function) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < times; ++i) {
        function();
        benchmark::ClobberMemory();
    }
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    return passed.count() / static_cast<double>(times);
}

double median(std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// `kernel(target, first, second)` and `bound(streams, target, first, second)` work on `bytes`.
template <typename Kernel, typename Bound>
void compare(benchmark::State& state, std::size_t bytes, int streamed, Kernel kernel, Bound bound) {
    std::byte* const target = vector_of(0, bytes);
    std::byte* const first = vector_of(1, bytes);
    std::byte* const second = vector_of(2, bytes);
    const std::size_t times = std::max<std::size_t>(1, (std::size_t{4} << 20) / bytes);
    std::vector<double> of_bound, of_memcpy;
    for (auto _ : state) {
        const double reduced = seconds_of(times, [&] { kernel(target, first, second); });
        double fastest = 1e9;
        for (const Streams& one : streams()) {
            fastest =
                std::min(fastest, seconds_of(times, [&] { bound(one, target, first, second); }));
        }
        const double copied = seconds_of(times, [&] { std::memcpy(target, first, bytes); });
        of_bound.push_back(fastest / reduced);
        of_memcpy.push_back(copied / reduced);
        state.SetIterationTime(reduced);
    }
    state.SetBytesProcessed(state.iterations() * streamed * static_cast<std::int64_t>(bytes));
    state.counters["of_bound"] = median(of_bound);
    state.counters["of_memcpy"] = median(of_memcpy);
}

void run_reduce(benchmark::State& state, ReduceKernels kernels, std::size_t element,
                std::size_t bytes) {
    compare(
        state, bytes, 3,
        [=](void* target, const void* first, const void*) {
            kernels.reduce(target, target, first, bytes / element);
        },
        [=](const Streams& streams, void* target, const void* first, const void*) {
            streams.three(target, first, bytes);
        });
}

void run_joint(benchmark::State& state, ReduceKernels kernels, std::size_t element,
               std::size_t bytes) {
    compare(
        state, bytes, 4,
        [=](void* target, const void* first, const void* second) {
            kernels.joint(target, target, first, second, bytes / element);
        },
        [=](const Streams& streams, void* target, const void* first, const void* second) {
            streams.four(target, first, second, bytes);
        });
}

void register_kernels(DataType type, Operation operation, const Place& place) {
    const ReduceKernels kernels = reduce_kernels(type, operation);
    const std::string name =
        std::string(to_string(type)) + '/' + std::string(to_string(operation)) + '/' + place.name;
    benchmark::RegisterBenchmark(("reduce/" + name).c_str(), run_reduce, kernels, size_of(type),
                                 place.bytes)
        ->UseManualTime()
        ->Iterations(place.turns);
    benchmark::RegisterBenchmark(("joint/" + name).c_str(), run_joint, kernels, size_of(type),
                                 place.bytes)
        ->UseManualTime()
        ->Iterations(place.turns);
}

}  // namespace

void register_reductions() {
    for (int type = 0; type < datatype_count; ++type) {
        for (int operation = 0; operation < operation_count; ++operation) {
            if (reduce_kernels(DataType(type), Operation(operation)).reduce != nullptr) {
                for (const Place& place : places) {
                    register_kernels(DataType(type), Operation(operation), place);
                }
            }
        }
    }
}

}  // namespace trefoil::micro
