// SPDX-License-Identifier: BSD-3-Clause
// Calls whose schedule names circuits: right results, the right circuits in the right order with
// nothing else going on, and words for what goes wrong.
#include <atomic>
#include <nlohmann/json.hpp>
#include <numeric>

#include "algorithms/json/circuits.hpp"
#include "algorithms/json/user_schedule.hpp"
#include "algorithms/json/write.hpp"
#include "algorithms/registry/registry.hpp"
#include "thread_job.hpp"
#include "topo/error.hpp"

namespace trefoil::test::circuits_test {
namespace {

constexpr int ranks = 8;

JobOptions on_a_ring() {
    JobOptions options;
    options.torus = "8";
    return options;
}

CircuitChange ring_of_stride(std::size_t step, Rank stride, Rank size = ranks) {
    const Torus torus({size});
    CircuitChange change{step, {}};
    for (Rank r = 0; r < size; ++r) {
        change.peers.push_back(torus.shifted(r, 0, stride));
        change.peers.push_back(torus.shifted(r, 0, -stride));
    }
    return change;
}

/// Halving and doubling: partners 1, 2, 4, 4, 2, 1 further, each of them a neighbour.
std::vector<CircuitChange> circuits_of_halving() {
    return {ring_of_stride(1, 2), ring_of_stride(2, 4), ring_of_stride(4, 2), ring_of_stride(5, 1)};
}

std::string schedules(const std::vector<CircuitChange>& changes,
                      const std::function<void(int, nlohmann::ordered_json&)>& edit = {},
                      const char* name = "recursive-doubling-b", Rank size = ranks) {
    const Torus torus({size});
    const Algorithm& algorithm = find_algorithm(Collective::allreduce, name);
    std::string text;
    for (Rank r = 0; r < size; ++r) {
        auto one = schedule_json(torus, algorithm, {}, algorithm.build(torus, r, {}));
        one["circuits"] = circuits_json(changes, torus, r);
        if (edit) {
            edit(r, one);
        }
        text += one.dump() + "\n";
    }
    return text;
}

/// What one rank's function was told.
struct Switch {
    std::vector<std::vector<trefoil_circuit_t>> made;
    int fails_at = -1;
    std::atomic<int>* inside = nullptr;  ///< of all ranks

    static int rewire(const trefoil_circuit_t* circuits, int count, void* context) {
        auto* const self = static_cast<Switch*>(context);
        if (self->inside != nullptr) {
            ++*self->inside;
        }
        self->made.emplace_back(circuits, circuits + count);
        return static_cast<int>(self->made.size()) - 1 == self->fails_at ? 7 : 0;
    }
    /// What rank 0's port +0 was joined to, by change.
    std::vector<int> partners() const {
        std::vector<int> all;
        for (const auto& circuits : made) {
            for (const trefoil_circuit_t& one : circuits) {
                if (one.from == 0 && one.port == 0) {
                    all.push_back(one.to);
                }
            }
        }
        return all;
    }
};

void expect_sums(trefoil_comm_t comm, int rank, std::size_t count, bool in_place,
                 trefoil_op_t op = TREFOIL_SUM) {
    std::vector<std::int64_t> mine(count), sum(count, -1);
    std::iota(mine.begin(), mine.end(), rank);
    const void* const send = in_place ? TREFOIL_IN_PLACE : mine.data();
    if (in_place) {
        sum = mine;
    }
    ASSERT_EQ(TREFOIL_SUCCESS, trefoil_allreduce(send, sum.data(), count, TREFOIL_INT64, op, comm))
        << trefoil_last_error(nullptr);
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t expected = ranks * static_cast<std::int64_t>(i) + 28;
        ASSERT_EQ(op == TREFOIL_AVG ? expected / ranks : expected, sum[i]) << i;
    }
}

TEST(CallsWithCircuits, RunPieceByPiece) {
    const std::string text = schedules(circuits_of_halving());
    run_ranks(ranks, on_a_ring(), [&](int rank, trefoil_comm_t comm) {
        Switch own;
        ASSERT_EQ(TREFOIL_SUCCESS, trefoil_comm_set_schedule(comm, "allreduce", text.c_str()))
            << trefoil_last_error(nullptr);
        ASSERT_EQ(TREFOIL_SUCCESS, trefoil_comm_set_rewire(comm, &Switch::rewire, &own));
        const std::vector<int> once{2, 4, 2, 1};
        std::vector<int> expected;
        for (const std::size_t count : {1UL, 7UL, 1000UL, 300000UL, 1000UL}) {
            for (const bool in_place : {false, true}) {
                expect_sums(comm, rank, count, in_place);
                expected.insert(expected.end(), once.begin(), once.end());
                ASSERT_EQ(expected, own.partners());
            }
        }
        expect_sums(comm, rank, 1000, false, TREFOIL_AVG);
        EXPECT_EQ(TREFOIL_SUCCESS, trefoil_barrier(comm));
        ASSERT_EQ(TREFOIL_SUCCESS, trefoil_comm_set_algorithm(comm, "allreduce", "auto"));
        const std::size_t made = own.made.size();
        expect_sums(comm, rank, 1000, false);
        EXPECT_EQ(made, own.made.size());
        for (const auto& circuits : own.made) {
            EXPECT_EQ(8U, circuits.size());
        }
    });
}

TEST(CallsWithCircuits, GiveTheTorusBack) {
    // Circuits of stride 4 stand to the end, where partners are 2 and 1 further.
    const std::string text = schedules({ring_of_stride(2, 4)});
    run_ranks(ranks, on_a_ring(), [&](int, trefoil_comm_t comm) {
        EXPECT_EQ(TREFOIL_ERROR_INVALID_ARGUMENT,
                  trefoil_comm_set_schedule(comm, "allreduce", text.c_str()));
        EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("step 4: the circuits behind port"),
                  std::string::npos)
            << trefoil_last_error(nullptr);
    });
    const std::string odd = schedules({ring_of_stride(0, 3)});  // one ring: leads everywhere
    run_ranks(ranks, on_a_ring(), [&](int rank, trefoil_comm_t comm) {
        Switch own;
        ASSERT_EQ(TREFOIL_SUCCESS, trefoil_comm_set_schedule(comm, "allreduce", odd.c_str()))
            << trefoil_last_error(nullptr);
        ASSERT_EQ(TREFOIL_SUCCESS, trefoil_comm_set_rewire(comm, &Switch::rewire, &own));
        expect_sums(comm, rank, 1000, false);
        EXPECT_EQ((std::vector<int>{3, 1}), own.partners());
    });
}

// No rank goes on before all ranks' functions have returned.
TEST(CallsWithCircuits, WaitForAllBeforeAndAfter) {
    const std::string text = schedules(circuits_of_halving());
    std::atomic<int> inside{0};
    run_ranks(ranks, on_a_ring(), [&](int rank, trefoil_comm_t comm) {
        Switch own;
        own.inside = &inside;
        ASSERT_EQ(TREFOIL_SUCCESS, trefoil_comm_set_schedule(comm, "allreduce", text.c_str()));
        ASSERT_EQ(TREFOIL_SUCCESS, trefoil_comm_set_rewire(comm, &Switch::rewire, &own));
        expect_sums(comm, rank, 100, false);
        EXPECT_EQ(4 * ranks, inside.load());
    });
}

TEST(CallsWithCircuits, EndOnAllRanksWhenTheFunctionFails) {
    const std::string text = schedules(circuits_of_halving());
    run_ranks(ranks, on_a_ring(), [&](int rank, trefoil_comm_t comm) {
        Switch own;
        own.fails_at = rank == 3 ? 1 : -1;
        ASSERT_EQ(TREFOIL_SUCCESS, trefoil_comm_set_schedule(comm, "allreduce", text.c_str()));
        ASSERT_EQ(TREFOIL_SUCCESS, trefoil_comm_set_rewire(comm, &Switch::rewire, &own));
        std::vector<int> values(100);
        EXPECT_EQ(TREFOIL_ERROR_SYSTEM, trefoil_allreduce(TREFOIL_IN_PLACE, values.data(), 100,
                                                          TREFOIL_INT32, TREFOIL_SUM, comm));
        const std::string said = trefoil_last_error(nullptr);
        EXPECT_NE(said.find("trefoil_comm_set_rewire returned 7"), std::string::npos) << said;
        if (rank != 3) {
            EXPECT_NE(said.find("rank 3"), std::string::npos) << said;
        }
        EXPECT_EQ(2U, own.made.size());
        EXPECT_EQ(TREFOIL_ERROR_SYSTEM, trefoil_barrier(comm)) << "the communicator has failed";
    });
}

TEST(CallsWithCircuits, AreRefusedInWords) {
    const std::string text = schedules(circuits_of_halving());
    run_ranks(ranks, on_a_ring(), [&](int rank, trefoil_comm_t comm) {
        const auto refused = [&](trefoil_status_t wanted, trefoil_status_t told, const char* why) {
            EXPECT_EQ(wanted, told);
            EXPECT_NE(std::string(trefoil_last_error(nullptr)).find(why), std::string::npos)
                << trefoil_last_error(nullptr);
        };
        std::vector<int> values(100, 1);
        const auto reduce = [&](trefoil_comm_t on) {
            return trefoil_allreduce(TREFOIL_IN_PLACE, values.data(), values.size(), TREFOIL_INT32,
                                     TREFOIL_SUM, on);
        };
        ASSERT_EQ(TREFOIL_SUCCESS, trefoil_comm_set_schedule(comm, "allreduce", text.c_str()));
        Switch own;
        if (rank != 5) {
            ASSERT_EQ(TREFOIL_SUCCESS, trefoil_comm_set_rewire(comm, &Switch::rewire, &own));
        }
        refused(TREFOIL_ERROR_UNSUPPORTED, reduce(comm), "nobody makes them here");
        if (rank != 5) {
            refused(TREFOIL_ERROR_UNSUPPORTED, reduce(comm), "rank 5");
        } else {
            refused(TREFOIL_ERROR_UNSUPPORTED, reduce(comm), "trefoil_comm_set_rewire first");
        }
        ASSERT_EQ(TREFOIL_SUCCESS, trefoil_comm_set_rewire(comm, &Switch::rewire, &own));
        trefoil_request_t request = TREFOIL_REQUEST_NULL;
        refused(TREFOIL_ERROR_UNSUPPORTED,
                trefoil_iallreduce(TREFOIL_IN_PLACE, values.data(), 100, TREFOIL_INT32, TREFOIL_SUM,
                                   comm, &request),
                "calls that block");
        std::vector<int> other(100);
        ASSERT_EQ(TREFOIL_SUCCESS,
                  trefoil_ibcast(other.data(), 100, TREFOIL_INT32, 0, comm, &request));
        if (rank == 0) {  // the root's part may be over at once elsewhere
            const trefoil_status_t told = trefoil_comm_set_rewire(comm, &Switch::rewire, &own);
            EXPECT_TRUE(told == TREFOIL_ERROR_BUSY || told == TREFOIL_SUCCESS);
        }
        ASSERT_EQ(TREFOIL_SUCCESS, trefoil_wait(&request));
        ASSERT_EQ(TREFOIL_SUCCESS, trefoil_comm_set_rewire(comm, nullptr, nullptr));
        refused(TREFOIL_ERROR_UNSUPPORTED, reduce(comm), "nobody makes them here");
        ASSERT_EQ(TREFOIL_SUCCESS, trefoil_comm_set_rewire(comm, &Switch::rewire, &own));
        EXPECT_EQ(TREFOIL_SUCCESS, reduce(comm)) << trefoil_last_error(nullptr);
        EXPECT_EQ(ranks, values[0]);
    });
}

// The switch is one for all: who is not asked could have messages under way.
TEST(CallsWithCircuits, AreForAllRanksInTheirOrder) {
    const std::string of_four = schedules({ring_of_stride(1, 2, 4), ring_of_stride(3, 1, 4)}, {},
                                          "recursive-doubling-b", 4);
    const std::string of_all = schedules(circuits_of_halving());
    run_ranks(ranks, on_a_ring(), [&](int rank, trefoil_comm_t comm) {
        const auto refused_on = [&](int colour, int key, const std::string& text) {
            trefoil_comm_t other = nullptr;
            ASSERT_EQ(TREFOIL_SUCCESS, trefoil_comm_split(comm, colour, key, &other));
            ASSERT_EQ(TREFOIL_SUCCESS, trefoil_comm_set_schedule(other, "allreduce", text.c_str()))
                << trefoil_last_error(nullptr);
            Switch own;
            ASSERT_EQ(TREFOIL_SUCCESS, trefoil_comm_set_rewire(other, &Switch::rewire, &own));
            int value = 1;
            EXPECT_EQ(
                TREFOIL_ERROR_UNSUPPORTED,
                trefoil_allreduce(TREFOIL_IN_PLACE, &value, 1, TREFOIL_INT32, TREFOIL_SUM, other));
            EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("of all ranks"),
                      std::string::npos)
                << trefoil_last_error(nullptr);
            EXPECT_TRUE(own.made.empty());
            ASSERT_EQ(TREFOIL_SUCCESS, trefoil_comm_destroy(other));
        };
        refused_on(rank % 2, rank, of_four);
        refused_on(0, -rank, of_all);
        expect_sums(comm, rank, 100, false);
    });
}

TEST(SchedulesWithCircuits, AreCheckedBeforeTheyRun) {
    const auto reason = [](const std::string& text) -> std::string {
        try {
            const UserSchedule schedule(Collective::allreduce, text);
            return "";
        } catch (const Error& error) {
            return error.what();
        }
    };
    const auto expect = [&](const std::string& text, const char* wanted) {
        EXPECT_NE(reason(text).find(wanted), std::string::npos) << reason(text);
    };
    EXPECT_EQ("", reason(schedules(circuits_of_halving())));
    expect(schedules({ring_of_stride(6, 2)}), "there are 6 steps");
    expect(schedules({ring_of_stride(2, 2), ring_of_stride(2, 4)}), "do not ascend");
    expect(schedules(circuits_of_halving(),
                     [](int rank, auto& one) {
                         if (rank == 3) {
                             one["circuits"][0]["ports"][0]["peer"] = 6;
                         }
                     }),
           "is not joined to it");
    expect(schedules(circuits_of_halving(),
                     [](int rank, auto& one) {
                         if (rank == 3) {
                             one["circuits"].erase(2);
                         }
                     }),
           "circuits change before other steps");
    expect(schedules(circuits_of_halving(),
                     [](int rank, auto& one) {
                         if (rank == 3) {
                             one["circuits"][0]["ports"][1]["port"] = "+1";
                         }
                     }),
           "there is no port");
    expect(schedules(circuits_of_halving(),
                     [](int rank, auto& one) {
                         if (rank == 3) {
                             one["circuits"][0]["ports"][1] = one["circuits"][0]["ports"][0];
                         }
                     }),
           "there are two circuits behind");
    expect(schedules({ring_of_stride(0, 3)}, {}, "trivance-l"), "scratch blocks");
}

}  // namespace
}  // namespace trefoil::test::circuits_test
