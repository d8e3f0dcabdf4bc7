// SPDX-License-Identifier: BSD-3-Clause
// Put and poll on backend memory, by one thread: what the software costs where no cache line has to
// travel. `trefoil perf put` measures between two ranks.
#include <benchmark/benchmark.h>

#include <array>
#include <string>
#include <vector>

#include "backend/registry/transports.hpp"
#include "bench/micro/groups.hpp"

namespace trefoil::micro {

namespace {

std::unique_ptr<PortGroup> open_group() {
    BackendConfig config;
    config.groups = {{Port{0}, Port{1}}};
    return std::move(open_backend("memory", config)[0]);
}

void put_and_poll(benchmark::State& state) {
    const auto bytes = static_cast<std::size_t>(state.range(0));
    const auto writer = open_group();
    const auto reader = open_group();
    const RemoteMemory memory = writer->import_memory(reader->describe(reader->allocate(bytes)));
    const Peer peer = writer->connect(Port{0}, reader->address(Port{1}));
    const std::vector<std::byte> source(bytes);
    std::array<Event, 16> events;
    for (auto _ : state) {
        const PutResult result = writer->put({.port = Port{0},
                                              .peer = peer,
                                              .source = source.data(),
                                              .target = memory,
                                              .bytes = bytes,
                                              .notification = 1});
        if (result != PutResult::done || reader->poll(events) != 1) {
            state.SkipWithError("the put did not arrive at once");
            break;
        }
    }
}

void poll_in_vain(benchmark::State& state) {
    const auto reader = open_group();
    std::array<Event, 16> events;
    for (auto _ : state) {
        benchmark::DoNotOptimize(reader->poll(events));
    }
}

}  // namespace

void register_puts() {
    benchmark::RegisterBenchmark("put/poll_in_vain", poll_in_vain);
    benchmark::RegisterBenchmark("put/put_and_poll", put_and_poll)
        ->Arg(8)
        ->Arg(36)
        ->Arg(64)
        ->Arg(4096)
        ->Arg(65536);
}

}  // namespace trefoil::micro
