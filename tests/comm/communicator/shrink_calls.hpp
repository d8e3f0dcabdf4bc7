// SPDX-License-Identifier: BSD-3-Clause
// What tests of shrunk communicators share: calls that are checked, and the last one before.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <map>
#include <ostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "algorithms/registry/registry.hpp"
#include "ok.hpp"
#include "process_job.hpp"
#include "random_calls.hpp"

namespace trefoil::test {

/// What a rank ends with when something is wrong; 0: nothing is.
inline int wrong(const char* what, trefoil_comm_t comm) {
    fprintf(stderr, "process %d: %s: %s; %s\n", static_cast<int>(getpid()), what,
            trefoil_last_error(nullptr), comm != nullptr ? trefoil_last_error(comm) : "");
    return 1;
}

inline std::string torus_of(trefoil_comm_t comm) {
    int dimensions = 0, sizes[16] = {};
    (void)trefoil_comm_torus(comm, &dimensions, sizes, 16);
    return Torus(std::vector<Rank>(sizes, sizes + dimensions)).name();
}

/// So many calls with results that are known. "" or what is wrong.
inline std::string checked_calls(trefoil_comm_t comm, int calls, unsigned seed) {
    int ranks = 0;
    (void)trefoil_comm_size(comm, &ranks);
    std::mt19937 shared(seed);
    std::vector<NamedAlgorithm> names = algorithms_for(Torus::parse(torus_of(comm)));
    const char* backend = "";
    (void)trefoil_comm_transport(comm, &backend, nullptr);
    if (backend != std::string("memory")) {
        std::erase_if(names, [](const NamedAlgorithm& one) {
            const std::string name = one.name.substr(0, one.name.find(':'));
            return find_algorithm(one.collective, name).traits.reads_peers;
        });
    }
    for (int call = 0; call < calls;) {
        const CollectiveCase drawn = draw(shared, names, ranks);
        if (drawn.collective == Collective::scan || drawn.collective == Collective::exscan) {
            continue;  // a logical shape may have the ranks in another order
        }
        ++call;
        const std::string told = check_collective(comm, drawn);
        if (!told.empty()) {
            return "call " + std::to_string(call) + ", " + describe(drawn) + ": " + told;
        }
    }
    return "";
}

/// The ranks that its ranks had at first.
inline bool consists_of(trefoil_comm_t comm, int first_rank, const std::vector<int>& expected) {
    int ranks = 0;
    if (trefoil_comm_size(comm, &ranks) != ok || ranks != static_cast<int>(expected.size())) {
        return false;
    }
    std::vector<int> all(expected.size(), -1);
    return trefoil_allgather(&first_rank, all.data(), 1, TREFOIL_INT32, comm) == ok &&
           all == expected;
}

enum class Last { barrier, large, in_flight };

/// The last call on a communicator of which ranks have died. It fails.
inline trefoil_status_t last_call(trefoil_comm_t comm, Last what) {
    if (what == Last::barrier) {
        return trefoil_barrier(comm);
    }
    std::vector<double> in(300'000, 1.0), out(in.size());
    if (what == Last::large) {
        return trefoil_allreduce(in.data(), out.data(), in.size(), TREFOIL_DOUBLE, TREFOIL_SUM,
                                 comm);
    }
    // Begun, and shrunk before it is waited for.
    trefoil_request_t request = TREFOIL_REQUEST_NULL;
    (void)trefoil_iallreduce(in.data(), out.data(), in.size(), TREFOIL_DOUBLE, TREFOIL_SUM, comm,
                             &request);
    trefoil_comm_t made = nullptr;
    (void)trefoil_comm_shrink(comm, &made);
    const trefoil_status_t status = trefoil_wait(&request);
    (void)trefoil_comm_destroy(made);
    return status;
}

/// What a job runs over.
struct Case {
    std::string name, backend, torus;
    std::map<std::string, std::string> variables{};
    friend void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }
};

inline Job start(const Case& one, int ranks, const std::function<int(int, trefoil_comm_t)>& body) {
    return start(ranks, one.torus.c_str(), one.backend.c_str(), body, one.variables);
}

/// All at the same time: whoever dies is reaped at once, as by a launcher.
inline std::vector<int> codes_of(const Job& job, std::chrono::seconds longest) {
    const StoreServer store;
    job.meet_at(store.port());
    const auto deadline = Clock::now() + longest;
    std::vector<int> codes(job.pids.size());
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r < job.pids.size(); ++r) {
        threads.emplace_back([&, r] { codes[r] = finish(job.pids[r], deadline); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    return codes;
}

}  // namespace trefoil::test
