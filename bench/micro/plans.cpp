// SPDX-License-Identifier: BSD-3-Clause
// Plan look-up: allreduces of no elements, which check their arguments, find their plan, and are
// done. The plan must have been made by both ranks of a communicator, and others lie in the cache.
#include <benchmark/benchmark.h>

#include <barrier>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "bench/micro/groups.hpp"
#include "comm/plan/request.hpp"
#include "include/trefoil/trefoil.h"

namespace trefoil::micro {

namespace {

/// Two ranks that are threads of this process.
class Pair {
  public:
    /// Runs body(comm) on both; rank 1's communicator lives until rank 0 is done.
    void run(const std::function<void(int, trefoil_comm_t)>& body) {
        std::thread other([&] { run_rank(1, body); });
        run_rank(0, body);
        other.join();
    }

  private:
    struct Member {
        Pair* pair;
        int rank;
    };
    static int allgather(const void* mine, void* all, std::size_t bytes, void* context) {
        const auto* member = static_cast<Member*>(context);
        Pair& pair = *member->pair;
        pair.blobs_[member->rank].assign(static_cast<const char*>(mine), bytes);
        pair.meeting_.arrive_and_wait();
        for (int rank = 0; rank < 2; ++rank) {
            std::memcpy(static_cast<char*>(all) + bytes * rank, pair.blobs_[rank].data(), bytes);
        }
        pair.meeting_.arrive_and_wait();
        return 0;
    }
    void run_rank(int rank, const std::function<void(int, trefoil_comm_t)>& body) {
        Member member{this, rank};
        trefoil_config_t config = TREFOIL_CONFIG_INITIALIZER;
        config.rank = rank;
        config.ranks = 2;
        config.allgather = &Pair::allgather;
        config.context = &member;
        config.torus = "2";
        config.backend = "memory";
        config.port_threads = -1;
        trefoil_comm_t comm = nullptr;
        trefoil_comm_create(&config, &comm);
        body(rank, comm);
        meeting_.arrive_and_wait();
        trefoil_comm_destroy(comm);
    }

    std::barrier<> meeting_{2};
    std::string blobs_[2];
};

trefoil_status_t allreduce(std::vector<float>& data, std::size_t count, trefoil_comm_t comm) {
    return trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), count, TREFOIL_FLOAT, TREFOIL_SUM,
                             comm);
}

void look_up(benchmark::State& state) {
    const auto plans = static_cast<std::size_t>(state.range(0));
    Pair().run([&](int rank, trefoil_comm_t comm) {
        std::vector<float> data(plans);
        trefoil_status_t status = TREFOIL_SUCCESS;
        for (std::size_t count = 0; count < plans && status == TREFOIL_SUCCESS; ++count) {
            status = comm == nullptr ? TREFOIL_ERROR_INTERNAL : allreduce(data, count, comm);
        }
        if (rank != 0) {
            return;
        }
        if (status != TREFOIL_SUCCESS) {
            state.SkipWithError(trefoil_last_error(comm));
        }
        for (auto _ : state) {
            benchmark::DoNotOptimize(allreduce(data, 0, comm));
        }
    });
}

void hash_request(benchmark::State& state) {
    Request request{.type = DataType::float32, .count = 1000};
    for (auto _ : state) {
        benchmark::DoNotOptimize(request);
        benchmark::DoNotOptimize(request.hash());
    }
}

}  // namespace

void register_plans() {
    benchmark::RegisterBenchmark("plan/hash", hash_request);
    benchmark::RegisterBenchmark("plan/call_without_data", look_up)->Arg(1)->Arg(64)->Arg(1024);
}

}  // namespace trefoil::micro
