// SPDX-License-Identifier: BSD-3-Clause
// Communicators that are made from others: who is in them, what torus they have, that all
// collectives run on them, and that they do not get in each other's way.
#include <dirent.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "derived_job.hpp"
#include "ok.hpp"
#include "topo/torus.hpp"

namespace trefoil::test::communicators_test {
namespace {

std::vector<int> counted(int from, int to) {
    std::vector<int> numbers;
    for (int n = from; n < to; ++n) {
        numbers.push_back(n);
    }
    return numbers;
}

/// All that must hold of one, whose ranks are `members` of its parent: `my_rank` there.
void expect_made(trefoil_comm_t comm, const std::string& torus, int my_rank,
                 const std::vector<int>& members) {
    EXPECT_EQ(torus_of(comm), torus);
    EXPECT_EQ(gathered(comm, my_rank), members);
    EXPECT_EQ(try_all(comm), "") << torus << ", " << source_of(comm);
}

class Duplicates : public testing::TestWithParam<std::tuple<const char*, int>> {};

TEST_P(Duplicates, RunEveryCollectiveAsTheirParentDoes) {
    const auto [torus, port_threads] = GetParam();
    run_on(
        torus,
        [&, name = torus](int rank, trefoil_comm_t comm) {
            const Made dup = dup_of(comm);
            ASSERT_NE(dup, nullptr);
            EXPECT_EQ(source_of(dup), source_of(comm));
            expect_made(dup, name, rank, counted(0, size_of(comm)));
            EXPECT_EQ(try_all(comm), "");
            EXPECT_EQ(try_all(dup, {0, 1, 7}), "");
            EXPECT_EQ(trefoil_barrier(dup), ok);
        },
        port_threads);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Duplicates,
                         testing::Values(std::tuple("1", -1), std::tuple("2", -1),
                                         std::tuple("5", -1), std::tuple("3x3", -1),
                                         std::tuple("2x2x2", -1), std::tuple("2x2", 4),
                                         std::tuple("5", 1)));

// A rank that has its duplicate may not call Trefoil again for long: nothing that the others wait
// for is left with it.
TEST(Communicators, AreMadeEverywhereOnceTheyAreMadeSomewhere) {
    const auto run = [](const char* torus, int port_threads) {
        std::atomic<int> made{0};
        const auto body = [&](int, trefoil_comm_t comm) {
            const int ranks = size_of(comm);
            for (int round = 1; round <= 5; ++round) {
                const Made dup = dup_of(comm);
                ASSERT_NE(dup, nullptr);
                ++made;
                const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(10);
                while (made < round * ranks && std::chrono::steady_clock::now() < patience) {
                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                }
                EXPECT_GE(made, round * ranks)
                    << torus << ", " << port_threads << " port threads, round " << round;
            }
        };
        run_on(torus, body, port_threads);
    };
    for (const char* torus : {"2", "3", "5", "3x3"}) {
        run(torus, -1);
    }
    run("2", 1);
    run("5", 1);
    run("2x2", 4);
}

// 3x3: rank 3i + j is at i,j.
TEST(Communicators, RowsAndColumnsOfASquare) {
    run_on("3x3", [](int rank, trefoil_comm_t comm) {
        const int i = rank / 3, j = rank % 3;
        const Made row = sub_of(comm, {0, 1}), column = sub_of(comm, {1, 0});
        ASSERT_TRUE(row != nullptr && column != nullptr);
        EXPECT_EQ(rank_in(row), j);
        EXPECT_EQ(rank_in(column), i);
        EXPECT_EQ(source_of(row),
                  "of the 3x3 torus: dimension 0 at " + std::to_string(i) + "; dimension 1 whole");
        expect_made(row, "3", rank, {3 * i, 3 * i + 1, 3 * i + 2});
        expect_made(column, "3", rank, {j, 3 + j, 6 + j});
        const Made whole = sub_of(comm, {1, 1});
        expect_made(whole, "3x3", rank, counted(0, 9));
        EXPECT_EQ(trefoil_barrier(comm), ok);
    });
}

TEST(Communicators, PlanesAndLinesOfACube) {
    run_on("2x2x2", [](int rank, trefoil_comm_t comm) {
        const int i = rank / 4, j = rank / 2 % 2, k = rank % 2;
        const Made plane = sub_of(comm, {1, 0, 1}), line = sub_of(comm, {0, 1, 0});
        ASSERT_TRUE(plane != nullptr && line != nullptr);
        expect_made(plane, "2x2", rank, {2 * j, 2 * j + 1, 4 + 2 * j, 4 + 2 * j + 1});
        expect_made(line, "2", rank, {4 * i + k, 4 * i + 2 + k});
        const Made half = sub_of(plane, {0, 1});
        expect_made(half, "2", rank, {4 * i + 2 * j, 4 * i + 2 * j + 1});
        EXPECT_EQ(trefoil_barrier(comm), ok);
    });
}

// A row uses the ports of the machine's dimension alone.
TEST(Communicators, ARowSendsThroughItsOwnLinks) {
    run_on("3x2", [](int, trefoil_comm_t comm) {
        const Made row = sub_of(comm, {0, 1}), column = sub_of(comm, {1, 0});
        ASSERT_TRUE(row != nullptr && column != nullptr);
        for (const Made* const made : {&row, &column}) {
            EXPECT_EQ(trefoil_comm_set_algorithm(*made, "allreduce", "ring"), ok);
            EXPECT_TRUE(sum_is_right(*made, 1));
            unsigned long long puts = 0;
            for (int port = 0; port < 2; ++port) {
                trefoil_port_t sent{};
                sent.size = sizeof sent;
                ASSERT_EQ(trefoil_comm_port(*made, port, &sent), ok) << trefoil_last_error(nullptr);
                puts += sent.puts;
            }
            EXPECT_GT(puts, 0U);
            trefoil_port_t none{};
            none.size = sizeof none;
            EXPECT_EQ(trefoil_comm_port(*made, 2, &none), TREFOIL_ERROR_INVALID_ARGUMENT);
            trefoil_resources_t held{};
            held.size = sizeof held;
            EXPECT_EQ(trefoil_comm_resources(*made, &held), ok);
            EXPECT_EQ(held.peers, size_of(*made) - 1);
        }
        EXPECT_EQ(trefoil_barrier(comm), ok);
    });
}

TEST(Communicators, SplitByParityInReverseOrder) {
    run_on("3x3", [](int rank, trefoil_comm_t comm) {
        const Made part = split_of(comm, rank % 2, -rank);
        ASSERT_NE(part, nullptr);
        const std::vector<int> members =
            rank % 2 == 0 ? std::vector<int>{8, 6, 4, 2, 0} : std::vector<int>{7, 5, 3, 1};
        EXPECT_NE(source_of(part).find("logical"), std::string::npos) << source_of(part);
        EXPECT_EQ(gathered(part, rank), members);
        EXPECT_EQ(try_all(part), "") << source_of(part);
        EXPECT_EQ(trefoil_barrier(comm), ok);
    });
}

TEST(Communicators, EqualKeysAreInTheOrderOfRanksAndTheUndefinedTakeNoPart) {
    run_on("5", [](int rank, trefoil_comm_t comm) {
        const Made part = split_of(comm, rank == 2 ? TREFOIL_UNDEFINED : 7, rank == 4 ? -1 : 0);
        if (rank == 2) {
            EXPECT_EQ(part, nullptr);
        } else {
            EXPECT_EQ(gathered(part, rank), (std::vector<int>{4, 0, 1, 3}));
            EXPECT_EQ(try_all(part), "") << source_of(part);
        }
        // The next one is right again on all ranks.
        const Made reversed = split_of(comm, 0, -rank);
        EXPECT_EQ(rank_in(reversed), 4 - rank);
        expect_made(reversed, "5", rank, {4, 3, 2, 1, 0});
        EXPECT_EQ(trefoil_barrier(comm), ok);
    });
}

TEST(Communicators, GroupsOfAnyRanks) {
    run_on("3x3", [](int rank, trefoil_comm_t comm) {
        const std::vector<int> corner{0, 1, 3, 6, 2}, box{8, 7, 5, 4};
        const bool in_corner = std::find(corner.begin(), corner.end(), rank) != corner.end();
        const std::vector<int>& own = in_corner ? corner : box;
        const Made group = group_of(comm, own, in_corner ? 1 : 2);
        ASSERT_NE(group, nullptr);
        EXPECT_EQ(gathered(group, rank), own);
        EXPECT_EQ(try_all(group), "") << source_of(group);
        EXPECT_EQ(source_of(group).find("logical") != std::string::npos, in_corner);
        if (rank == 4) {
            const Made alone = group_of(comm, {4});
            EXPECT_EQ(torus_of(alone), "1");
            EXPECT_EQ(try_all(alone), "");
        }
        // The same ranks again are another communicator.
        const Made again = group_of(comm, own, in_corner ? 1 : 2);
        EXPECT_TRUE(sum_is_right(again, 1) && sum_is_right(group, 2));
        EXPECT_EQ(trefoil_barrier(comm), ok);
    });
}

// Different ranks make groups at the same time, whose members overlap, each in an order of its own.
TEST(Communicators, GroupsOfPairsInAnyOrder) {
    run_on("4", [](int rank, trefoil_comm_t comm) {
        const int other = rank ^ 1, across = rank ^ 2;
        const Made near = group_of(comm, {std::min(rank, other), std::max(rank, other)});
        const Made far = group_of(comm, {std::min(rank, across), std::max(rank, across)});
        ASSERT_TRUE(near != nullptr && far != nullptr);
        EXPECT_TRUE(sum_is_right(far, 1) && sum_is_right(near, 2));
        EXPECT_EQ(trefoil_barrier(comm), ok);
    });
}

TEST(Communicators, AreMadeWhileCallsOfTheParentAreInFlight) {
    run_on("3x3", [](int rank, trefoil_comm_t comm) {
        const std::size_t count = 300'000;
        const std::vector<std::int64_t> send(count, rank + 1);
        std::vector<std::int64_t> sums(count), sums_of_dup(count);
        trefoil_request_t first = TREFOIL_REQUEST_NULL, second = TREFOIL_REQUEST_NULL;
        ASSERT_EQ(trefoil_iallreduce(send.data(), sums.data(), count, TREFOIL_INT64, TREFOIL_SUM,
                                     comm, &first),
                  ok);
        const Made dup = dup_of(comm);
        ASSERT_EQ(trefoil_iallreduce(send.data(), sums_of_dup.data(), count, TREFOIL_INT64,
                                     TREFOIL_SUM, dup, &second),
                  ok);
        const Made row = sub_of(comm, {0, 1});
        EXPECT_TRUE(sum_is_right(row, 5));
        EXPECT_EQ(trefoil_wait(&second), ok) << trefoil_last_error(nullptr);
        EXPECT_EQ(trefoil_wait(&first), ok) << trefoil_last_error(nullptr);
        EXPECT_EQ(sums, std::vector<std::int64_t>(count, 45));
        EXPECT_EQ(sums_of_dup, sums);
        EXPECT_EQ(trefoil_barrier(comm), ok);
    });
}

// Calls on two communicators, which ranks begin and end in different orders.
TEST(Communicators, DoNotWaitForEachOther) {
    run_on("2x2", [](int rank, trefoil_comm_t comm) {
        const Made dup = dup_of(comm);
        for (int round = 0; round < 50; ++round) {
            const int mine = rank + round;
            int a = -1, b = -1;
            trefoil_request_t requests[2] = {TREFOIL_REQUEST_NULL, TREFOIL_REQUEST_NULL};
            for (const int which : {rank % 2, 1 - rank % 2}) {
                ASSERT_EQ(trefoil_iallreduce(&mine, which == 0 ? &a : &b, 1, TREFOIL_INT32,
                                             which == 0 ? TREFOIL_SUM : TREFOIL_MAX,
                                             which == 0 ? comm : dup, &requests[which]),
                          ok);
            }
            ASSERT_EQ(trefoil_wait(&requests[1 - rank % 2]), ok) << trefoil_last_error(nullptr);
            ASSERT_EQ(trefoil_waitall(2, requests), ok) << trefoil_last_error(nullptr);
            EXPECT_EQ(a, 6 + 4 * round);
            EXPECT_EQ(b, 3 + round);
        }
        EXPECT_EQ(trefoil_barrier(dup), ok);
    });
}

/// Large allreduces in flight on all of them at a time; which ranks read each other differs.
void expect_large_sums(const std::vector<trefoil_comm_t>& comms, int rounds) {
    constexpr std::size_t count = 40'000;
    std::vector<std::vector<std::int64_t>> in(comms.size()), out(comms.size());
    std::vector<trefoil_request_t> requests(comms.size(), TREFOIL_REQUEST_NULL);
    for (int round = 0; round < rounds; ++round) {
        for (std::size_t c = 0; c < comms.size(); ++c) {
            in[c].assign(count, rank_in(comms[c]) + round);
            out[c].assign(count, -1);
            ASSERT_EQ(trefoil_iallreduce(in[c].data(), out[c].data(), count, TREFOIL_INT64,
                                         TREFOIL_SUM, comms[c], &requests[c]),
                      ok)
                << trefoil_last_error(comms[c]);
        }
        ASSERT_EQ(trefoil_waitall(static_cast<int>(comms.size()), requests.data()), ok)
            << trefoil_last_error(nullptr);
        for (std::size_t c = 0; c < comms.size(); ++c) {
            const int n = size_of(comms[c]);
            const std::int64_t sum = n * (n - 1) / 2 + std::int64_t{n} * round;
            EXPECT_EQ(out[c], std::vector<std::int64_t>(count, sum)) << "communicator " << c;
        }
    }
}
std::string algorithm_of(trefoil_comm_t comm) {
    const char* name = "";
    EXPECT_EQ(trefoil_comm_algorithm(comm, "allreduce", 40'000, TREFOIL_INT64, &name), ok);
    return name;
}

TEST(Communicators, ReadEachOthersMemoryEachForItself) {
    for (const int port_threads : {-1, 1}) {
        run_on(
            "3x3",
            [](int, trefoil_comm_t comm) {
                const Made dup = dup_of(comm), row = sub_of(comm, {1, 0}),
                           column = sub_of(comm, {0, 1});
                for (const trefoil_comm_t one :
                     {comm, static_cast<trefoil_comm_t>(dup), static_cast<trefoil_comm_t>(row)}) {
                    EXPECT_EQ(algorithm_of(one), "single-copy");
                }
                expect_large_sums({comm, dup, row, column}, 10);
                EXPECT_EQ(trefoil_barrier(comm), ok);
            },
            port_threads);
    }
}

TEST(Communicators, ReadNobodysMemoryWhenAllGuardsAreInUse) {
    run_on("2", [](int, trefoil_comm_t comm) {
        std::vector<Made> made;
        std::vector<trefoil_comm_t> all{comm};
        while (algorithm_of(all.back()) == "single-copy") {
            ASSERT_LT(made.size(), 100U);
            made.push_back(dup_of(comm));
            all.push_back(made.back());
        }
        EXPECT_EQ(made.size(), 64U);
        expect_large_sums(all, 2);
        made.erase(made.begin());  // and another one takes its place
        made.push_back(dup_of(comm));
        EXPECT_EQ(algorithm_of(made.back()), "single-copy");
        EXPECT_EQ(trefoil_barrier(comm), ok);
    });
}

void use_from_threads(const std::string& torus, int port_threads) {
    run_on(
        torus,
        [](int, trefoil_comm_t comm) {
            std::vector<Made> comms;
            for (int t = 0; t < 3; ++t) {
                comms.push_back(dup_of(comm));
            }
            std::vector<std::thread> threads;
            for (int t = 0; t < 3; ++t) {
                threads.emplace_back([&, t] {
                    for (int call = 0; call < 100; ++call) {
                        if (!sum_is_right(comms[static_cast<std::size_t>(t)], 10 * call + t)) {
                            return;
                        }
                    }
                    // Communicators are made from different parents at the same time, too.
                    const Made own = dup_of(comms[static_cast<std::size_t>(t)]);
                    EXPECT_TRUE(sum_is_right(own, t));
                    EXPECT_EQ(trefoil_barrier(own), ok);
                });
            }
            for (std::thread& thread : threads) {
                thread.join();
            }
            EXPECT_EQ(trefoil_barrier(comm), ok);
        },
        port_threads);
}

TEST(Communicators, ServeSeveralThreadsAtATime) {
    use_from_threads("2x2", -1);
    use_from_threads("3", 1);
}

// What is made from a communicator outlives it, in other threads, too.
TEST(Communicators, OutliveTheirParents) {
    std::vector<Made> rows(9), dups(9);
    run_on("3x3", [&](int rank, trefoil_comm_t comm) {
        const auto place = static_cast<std::size_t>(rank);
        const Made parent = dup_of(comm);
        rows[place] = sub_of(parent, {0, 1});
        dups[place] = dup_of(parent);
        EXPECT_TRUE(sum_is_right(rows[place], 1));
        EXPECT_EQ(trefoil_barrier(parent), ok);
    });
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < 9; ++rank) {
        threads.emplace_back([&, rank] {
            EXPECT_EQ(try_all(dups[rank]), "");
            EXPECT_EQ(try_all(rows[rank]), "");
            const Made column = sub_of(dups[rank], {1, 0});
            EXPECT_TRUE(sum_is_right(column, 2));
            EXPECT_EQ(trefoil_barrier(dups[rank]), ok);
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

TEST(Communicators, AreMadeFromThoseThatWereMade) {
    run_on("2x3", [](int rank, trefoil_comm_t comm) {
        std::vector<Made> chain;
        trefoil_comm_t last = comm;
        for (int depth = 0; depth < 12; ++depth) {
            chain.push_back(depth % 3 == 2 ? split_of(last, 0, -rank_in(last)) : dup_of(last));
            last = chain.back();
            ASSERT_NE(last, nullptr);
            EXPECT_TRUE(sum_is_right(last, depth));
        }
        // Turned round four times.
        EXPECT_EQ(gathered(last, rank), counted(0, 6));
        EXPECT_EQ(try_all(last), "");
        EXPECT_EQ(trefoil_barrier(comm), ok);
        // From the first on.
        for (Made& made : chain) {
            made = Made();
        }
    });
}

TEST(Communicators, TakeOverTheAlgorithmsThatSuitThem) {
    run_on("3x3", [](int, trefoil_comm_t comm) {
        ASSERT_EQ(trefoil_comm_set_algorithm(comm, "allreduce", "ring:single-port"), ok);
        ASSERT_EQ(trefoil_comm_set_algorithm(comm, "allgather", "hamiltonian"), ok);
        const Made dup = dup_of(comm), row = sub_of(comm, {0, 1});
        const auto name = [](trefoil_comm_t of, const char* collective) {
            const char* algorithm = "";
            EXPECT_EQ(trefoil_comm_algorithm(of, collective, 8, TREFOIL_INT32, &algorithm), ok)
                << trefoil_last_error(nullptr);
            return std::string(algorithm);
        };
        EXPECT_EQ(name(dup, "allreduce"), "ring:single-port");
        EXPECT_EQ(name(row, "allreduce"), "ring:single-port");
        EXPECT_EQ(name(dup, "allgather"), "hamiltonian");
        EXPECT_NE(name(row, "allgather"), "hamiltonian");  // for two dimensions only
        ASSERT_EQ(trefoil_comm_set_algorithm(dup, "allreduce", "bucket"), ok);
        EXPECT_EQ(name(comm, "allreduce"), "ring:single-port");
        EXPECT_TRUE(sum_is_right(dup, 1) && sum_is_right(row, 1) && sum_is_right(comm, 1));
        EXPECT_EQ(trefoil_barrier(comm), ok);
    });
}

std::size_t entries_of(const char* folder) {
    std::size_t entries = 0;
    DIR* const directory = opendir(folder);
    while (directory != nullptr && readdir(directory) != nullptr) {
        ++entries;
    }
    closedir(directory);
    return entries;
}

// Neither descriptors nor threads, however many there are at a time.
TEST(Communicators, HundredsTakeNoDescriptorsAndNoThreads) {
    std::size_t descriptors = 0, threads = 0;  // of rank 0
    run_on(
        "2x2",
        [&](int rank, trefoil_comm_t comm) {
            EXPECT_TRUE(sum_is_right(comm, 0));
            {
                const Made first = dup_of(comm);
                EXPECT_TRUE(sum_is_right(first, 0));
                EXPECT_EQ(trefoil_barrier(comm), ok);
            }
            EXPECT_EQ(trefoil_barrier(comm), ok);
            if (rank == 0) {
                descriptors = entries_of("/proc/self/fd");
                threads = entries_of("/proc/self/task");
            }
            EXPECT_EQ(trefoil_barrier(comm), ok);
            std::vector<Made> comms;
            for (int i = 0; i < 300; ++i) {
                comms.push_back(dup_of(comm));
                ASSERT_TRUE(sum_is_right(comms.back(), i)) << i;
            }
            for (int i = 0; i < 300; i += 37) {
                EXPECT_TRUE(sum_is_right(comms[static_cast<std::size_t>(i)], i));
            }
            EXPECT_EQ(trefoil_barrier(comm), ok);
            if (rank == 0) {  // who counts opens a folder
                EXPECT_EQ(entries_of("/proc/self/fd"), descriptors);
                EXPECT_EQ(entries_of("/proc/self/task"), threads);
            }
            EXPECT_EQ(trefoil_barrier(comm), ok);
        },
        1);
}

// Those that were destroyed make room for others.
TEST(Communicators, ComeAndGo) {
    run_on("3", [](int, trefoil_comm_t comm) {
        for (int i = 0; i < 500; ++i) {
            const Made dup = dup_of(comm);
            ASSERT_TRUE(sum_is_right(dup, i)) << i;
        }
        EXPECT_EQ(trefoil_barrier(comm), ok);
    });
}

}  // namespace
}  // namespace trefoil::test::communicators_test
