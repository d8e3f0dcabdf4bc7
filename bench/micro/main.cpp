// SPDX-License-Identifier: BSD-3-Clause
// trefoil_micro: what kernels, schedules, plans, puts and channels cost, each by itself. The
// options are those of Google Benchmark, --benchmark_filter=REGEX first of all.
#include <benchmark/benchmark.h>

#include "bench/micro/groups.hpp"

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
        return 2;
    }
    trefoil::micro::register_reductions();
    trefoil::micro::register_schedules();
    trefoil::micro::register_plans();
    trefoil::micro::register_puts();
    trefoil::micro::register_connections();
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
