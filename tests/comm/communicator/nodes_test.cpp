// SPDX-License-Identifier: BSD-3-Clause
// Nodes of several ranks, run: each algorithm as it is and by node, memory inside nodes and every
// transport between them; and communicators that are made from such a torus.
#include <mutex>

#include "algorithms/registry/registry.hpp"
#include "random_calls.hpp"
#include "tests/backend/registry/transports_to_test.hpp"
#include "thread_job.hpp"
#include "trefoil/communicators.h"

namespace trefoil::test {
namespace {

class NodesRun : public testing::TestWithParam<TransportToTest> {
  protected:
    /// Of the first rank that found anything.
    void run(const std::string& torus, const std::function<std::string(int, trefoil_comm_t)>& body,
             int port_threads = -1) {
        JobOptions options;
        options.torus = torus;
        options.backend = GetParam().backend;
        options.provider = GetParam().provider;
        options.port_threads = port_threads;
        options.timeout_seconds = 30;
        std::mutex mutex;
        std::string wrong;
        run_ranks(Torus::parse(torus).ranks(), options, [&](int rank, trefoil_comm_t comm) {
            const std::string found =
                comm == nullptr ? trefoil_last_error(nullptr) : body(rank, comm);
            const std::scoped_lock lock(mutex);
            if (wrong.empty() && !found.empty()) {
                wrong = "rank " + std::to_string(rank) + ": " + found;
            }
        });
        EXPECT_EQ("", wrong) << torus;
    }

    static std::string call_all(trefoil_comm_t comm, const Torus& torus,
                                const std::vector<std::size_t>& counts) {
        std::string found;
        CollectiveCase what;
        for (const NamedAlgorithm& named : algorithms_for(torus)) {
            if (!traits_of(named.collective).has_data()) {
                continue;
            }
            const bool reads =
                find_algorithm(named.collective, named.name.substr(0, named.name.find(':')))
                    .traits.reads_peers;
            for (const std::size_t count : counts) {
                what = {.collective = named.collective, .algorithm = named.name};
                what.root = traits_of(what.collective).rooted() ? torus.ranks() - 1 : 0;
                what.count = traits_of(what.collective).has_blocks()
                                 ? 1 + count / static_cast<std::size_t>(torus.ranks())
                                 : count;
                what.salt = static_cast<std::int64_t>(count);
                found = reads ? "" : check_collective(comm, what);
                if (!found.empty()) {
                    return describe(what) + ": " + found;
                }
            }
        }
        return "";
    }
};

TEST_P(NodesRun, EveryAlgorithmIsRight) {
    for (const char* torus : {"2x2h", "3x2h"}) {
        run(torus, [&](int, trefoil_comm_t comm) {
            return call_all(comm, Torus::parse(torus), {1, 5'000});
        });
    }
}

TEST_P(NodesRun, EveryAlgorithmIsRightOnATorusOfNodesLong) {
    for (const char* torus : {"2x2x2h", "2x3x2h", "2x2x4h", "3x3x2h"}) {
        run(torus, [&](int, trefoil_comm_t comm) {
            return call_all(comm, Torus::parse(torus), {1, 100, 20'000});
        });
    }
}

TEST_P(NodesRun, PortThreadsDriveTheMemoryToo) {
    run(
        "2x2h",
        [&](int, trefoil_comm_t comm) {
            for (const char* algorithm : {"trivance-b:by-node", "ring", "auto"}) {
                CollectiveCase what{.algorithm = algorithm, .count = 30'000};
                if (const std::string found = check_collective(comm, what); !found.empty()) {
                    return describe(what) + ": " + found;
                }
            }
            return std::string();
        },
        2);
}

/// Nodes, rows across nodes, and what is neither; `auto` as users have it.
TEST_P(NodesRun, CommunicatorsMadeFromItAreRight) {
    const Torus torus = Torus::parse("2x2x2h");
    run(torus.name(), [&](int rank, trefoil_comm_t comm) -> std::string {
        const std::vector<int> colours{rank / 2, rank % 2, rank == 3 || rank == 4 ? 1 : 0,
                                       rank < 5 ? 0 : 1};
        const std::vector<int> per_node{2, 1, 1, 1};
        for (std::size_t i = 0; i < colours.size(); ++i) {
            trefoil_comm_t part = nullptr;
            int ranks_per_node = 0;
            if (trefoil_comm_split(comm, colours[i], 0, &part) != TREFOIL_SUCCESS ||
                trefoil_comm_ranks_per_node(part, &ranks_per_node) != TREFOIL_SUCCESS) {
                return trefoil_last_error(comm);
            }
            std::string found;
            for (const Collective collective :
                 {Collective::allreduce, Collective::bcast, Collective::alltoall,
                  Collective::allgather, Collective::reduce_scatter}) {
                for (const std::size_t count : {3U, 4'000U}) {
                    CollectiveCase what{.collective = collective, .count = count};
                    if (found.empty()) {
                        found = check_collective(part, what);
                    }
                }
            }
            if (found.empty() && i < 2 && ranks_per_node != per_node[i]) {
                found = std::to_string(ranks_per_node) + " ranks on a node of part " +
                        std::to_string(i);
            }
            trefoil_barrier(comm);
            trefoil_comm_destroy(part);
            if (!found.empty()) {
                return found;
            }
        }
        return "";
    });
}

/// Whether threads of one process go by libfabric's shm.
std::vector<TransportToTest> transports(bool by_shm) {
    std::vector<TransportToTest> all = transports_to_test();
    std::erase_if(all,
                  [&](const TransportToTest& one) { return (one.provider == "shm") != by_shm; });
    return all;
}

INSTANTIATE_TEST_SUITE_P(All, NodesRun, testing::ValuesIn(transports(false)), name_of_transport);
// Long, as these wait for each other in naps.
INSTANTIATE_TEST_SUITE_P(LongByShm, NodesRun, testing::ValuesIn(transports(true)),
                         name_of_transport);

}  // namespace
}  // namespace trefoil::test
