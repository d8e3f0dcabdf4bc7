// SPDX-License-Identifier: BSD-3-Clause
// Persistent calls whose messages land in receive buffers: right results, no copies, and nobody's
// buffer is written before it has started the call or after it has failed.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <thread>

#include "sum_in_flight.hpp"
#include "tests/variable.hpp"

namespace trefoil::test {
namespace {

constexpr std::size_t block = 1500;  ///< elements: vectors do not go in the lane of small calls

std::size_t copied_by(trefoil_comm_t comm, std::size_t* received = nullptr) {
    trefoil_resources_t held{};
    held.size = sizeof held;
    EXPECT_EQ(trefoil_comm_resources(comm, &held), ok);
    if (received != nullptr) {
        *received = held.received_bytes;
    }
    return held.copied_bytes;
}

/// Buffers of one rank, and what is in them.
struct Work {
    int rank, ranks, salt = 0;
    std::vector<std::int32_t> send, recv;

    Work(int own, int all) : rank(own), ranks(all), send(block * n()), recv(block * n()) {}
    std::size_t n() const { return static_cast<std::size_t>(ranks); }
    /// Element i of what rank `from` has for block `to`.
    std::int32_t value(int from, int to, std::size_t i) const {
        return salt * 1'000'000 + from * 10'000 + to * 1000 + static_cast<std::int32_t>(i % 997);
    }
    void fill(std::vector<std::int32_t>& vector) const {
        for (std::size_t i = 0; i < vector.size(); ++i) {
            vector[i] = value(rank, static_cast<int>(i / block), i % block);
        }
    }
    void next() {
        ++salt;
        fill(send);
        std::fill(recv.begin(), recv.end(), -1);
    }
    std::int32_t sum(std::size_t i) const {
        std::int32_t all = 0;
        for (int r = 0; r < ranks; ++r) {
            all += value(r, static_cast<int>(i / block), i % block);
        }
        return all;
    }
    template <typename Expected>
    void expect(const char* what, std::size_t elements, Expected&& expected) const {
        for (std::size_t i = 0; i < elements; ++i) {
            ASSERT_EQ(recv[i], expected(i)) << what << ", element " << i << ", rank " << rank;
        }
    }
};

struct KeptCall {
    const char* name;
    std::function<trefoil_status_t(Work&, trefoil_comm_t, trefoil_request_t*)> init;
    std::function<void(Work&)> before, after;
    bool lands = true;  ///< nothing of it is copied
};

std::vector<KeptCall> collectives() {
    const auto nothing = [](Work&) {};
    const auto received = [](Work& w, std::size_t i) {
        return w.value(static_cast<int>(i / block), w.rank, i % block);
    };
    const auto gathered = [](Work& w, std::size_t i) {
        return w.value(static_cast<int>(i / block), 0, i % block);
    };
    return {
        {"allreduce",
         [](Work& w, trefoil_comm_t comm, trefoil_request_t* q) {
             return trefoil_allreduce_init(w.send.data(), w.recv.data(), w.send.size(),
                                           TREFOIL_INT32, TREFOIL_SUM, comm, q);
         },
         nothing,
         [](Work& w) { w.expect("allreduce", w.recv.size(), [&](auto i) { return w.sum(i); }); },
         false},
        {"allreduce in place",
         [](Work& w, trefoil_comm_t comm, trefoil_request_t* q) {
             return trefoil_allreduce_init(TREFOIL_IN_PLACE, w.recv.data(), w.recv.size(),
                                           TREFOIL_INT32, TREFOIL_SUM, comm, q);
         },
         [](Work& w) { w.recv = w.send; },
         [](Work& w) { w.expect("in place", w.recv.size(), [&](auto i) { return w.sum(i); }); },
         false},
        {"allgather",
         [](Work& w, trefoil_comm_t comm, trefoil_request_t* q) {
             return trefoil_allgather_init(w.send.data(), w.recv.data(), block, TREFOIL_INT32, comm,
                                           q);
         },
         nothing,
         [=](Work& w) {
             w.expect("allgather", w.recv.size(), [&](auto i) { return gathered(w, i); });
         }},
        {"allgather in place",
         [](Work& w, trefoil_comm_t comm, trefoil_request_t* q) {
             return trefoil_allgather_init(TREFOIL_IN_PLACE, w.recv.data(), block, TREFOIL_INT32,
                                           comm, q);
         },
         [](Work& w) {
             std::copy_n(w.send.begin(), block,
                         w.recv.begin() +
                             static_cast<std::ptrdiff_t>(static_cast<std::size_t>(w.rank) * block));
         },
         [=](Work& w) {
             w.expect("in place", w.recv.size(), [&](auto i) { return gathered(w, i); });
         }},
        {"alltoall",
         [](Work& w, trefoil_comm_t comm, trefoil_request_t* q) {
             return trefoil_alltoall_init(w.send.data(), w.recv.data(), block, TREFOIL_INT32, comm,
                                          q);
         },
         nothing,
         [=](Work& w) {
             w.expect("alltoall", w.recv.size(), [&](auto i) { return received(w, i); });
         }},
        {"alltoall in place",
         [](Work& w, trefoil_comm_t comm, trefoil_request_t* q) {
             return trefoil_alltoall_init(TREFOIL_IN_PLACE, w.recv.data(), block, TREFOIL_INT32,
                                          comm, q);
         },
         [](Work& w) { w.recv = w.send; },
         [=](Work& w) {
             w.expect("in place", w.recv.size(), [&](auto i) { return received(w, i); });
         },
         false},
        {"bcast",
         [](Work& w, trefoil_comm_t comm, trefoil_request_t* q) {
             return trefoil_bcast_init(w.recv.data(), w.recv.size(), TREFOIL_INT32, 1, comm, q);
         },
         [](Work& w) { w.recv = w.rank == 1 ? w.send : w.recv; },
         [](Work& w) {
             w.expect("bcast", w.recv.size(),
                      [&](auto i) { return w.value(1, static_cast<int>(i / block), i % block); });
         }},
        {"gather",
         [](Work& w, trefoil_comm_t comm, trefoil_request_t* q) {
             return trefoil_gather_init(w.send.data(), w.recv.data(), block, TREFOIL_INT32, 1, comm,
                                        q);
         },
         nothing,
         [=](Work& w) {
             w.expect("gather", w.rank == 1 ? w.recv.size() : 0,
                      [&](auto i) { return gathered(w, i); });
         }},
        {"scatter",
         [](Work& w, trefoil_comm_t comm, trefoil_request_t* q) {
             return trefoil_scatter_init(w.send.data(), w.recv.data(), block, TREFOIL_INT32, 1,
                                         comm, q);
         },
         nothing,
         [](Work& w) { w.expect("scatter", block, [&](auto i) { return w.value(1, w.rank, i); }); },
         false},
        {"reduce_scatter",
         [](Work& w, trefoil_comm_t comm, trefoil_request_t* q) {
             return trefoil_reduce_scatter_block_init(w.send.data(), w.recv.data(), block,
                                                      TREFOIL_INT32, TREFOIL_SUM, comm, q);
         },
         nothing,
         [](Work& w) {
             w.expect("reduce_scatter", block,
                      [&](auto i) { return w.sum(static_cast<std::size_t>(w.rank) * block + i); });
         }},
    };
}

/// Each alone, and then all in flight together.
void all_collectives(const JobOptions& options, int ranks, bool expects_no_copies) {
    // What is sent from memory that is not registered is gathered there.
    expects_no_copies = expects_no_copies && backend_under_test() != "strict";
    const Variable from("TREFOIL_DIRECT_FROM", "0"), copies("TREFOIL_SINGLE_COPY", "0");
    run_ranks(ranks, options, [&](int rank, trefoil_comm_t first) {
        ASSERT_NE(first, nullptr) << trefoil_last_error(nullptr);
        trefoil_comm_t dup = nullptr;
        ASSERT_EQ(trefoil_comm_dup(first, &dup), ok);
        for (trefoil_comm_t comm : {first, dup}) {
            const std::vector<KeptCall> all = collectives();
            std::vector<Work> work(all.size(), Work(rank, ranks));
            std::vector<trefoil_request_t> requests(all.size());
            for (std::size_t c = 0; c < all.size(); ++c) {
                ASSERT_EQ(all[c].init(work[c], comm, &requests[c]), ok)
                    << all[c].name << ": " << trefoil_last_error(nullptr);
                for (int round = 0; round < 5; ++round) {
                    work[c].next();
                    all[c].before(work[c]);
                    std::size_t received_before = 0, received = 0;
                    const std::size_t copied = copied_by(comm, &received_before);
                    ASSERT_EQ(trefoil_start(&requests[c]), ok);
                    ASSERT_EQ(trefoil_wait(&requests[c]), ok)
                        << all[c].name << ": " << trefoil_last_error(nullptr);
                    all[c].after(work[c]);
                    const std::size_t more = copied_by(comm, &received) - copied;
                    if (round == 4 && expects_no_copies && all[c].lands) {
                        EXPECT_EQ(more, 0U) << all[c].name << ", of " << received - received_before;
                    }
                }
            }
            for (int round = 0; round < 10; ++round) {
                for (std::size_t c = 0; c < all.size(); ++c) {
                    work[c].next();
                    all[c].before(work[c]);
                }
                const auto count = static_cast<int>(all.size());
                ASSERT_EQ(trefoil_startall(count, requests.data()), ok);
                ASSERT_EQ(trefoil_waitall(count, requests.data()), ok)
                    << trefoil_last_error(nullptr);
                for (std::size_t c = 0; c < all.size(); ++c) {
                    all[c].after(work[c]);
                }
            }
            for (trefoil_request_t& request : requests) {
                EXPECT_EQ(trefoil_request_free(&request), ok);
            }
        }
        EXPECT_EQ(trefoil_barrier(dup), ok);
        EXPECT_EQ(trefoil_comm_destroy(dup), ok);
    });
}

TEST(DirectLanding, EachCollectiveOnARingCopiesNothing) {
    all_collectives(on("3"), 3, true);
}
TEST(DirectLanding, EachCollectiveWithPortThreads) {
    all_collectives(on("4", 2), 4, true);
}
TEST(DirectLanding, EachCollectiveOnTori) {
    all_collectives(on("3x3"), 9, true);
    all_collectives(on("2x2x2"), 8, true);
}
TEST(DirectLanding, EachCollectiveOnToriWithChecksums) {
    const Variable checksums("TREFOIL_CHECKSUM", "1");
    all_collectives(on("3x3", 2), 9, true);
}
TEST(DirectLanding, EachCollectiveInShortSegments) {
    const Variable segments("TREFOIL_SEGMENT_BYTES", "4K"), landing("TREFOIL_LANDING_BYTES", "64K");
    all_collectives(on("3"), 3, true);
}
TEST(DirectLanding, EachCollectiveWithChecksums) {
    const Variable checksums("TREFOIL_CHECKSUM", "1");
    all_collectives(on("3"), 3, true);
}
TEST(DirectLanding, EachCollectiveWithLatePuts) {
    const Variable faults("TREFOIL_FAULTS", "7:delay=1000,again=3");
    all_collectives(on("3"), 3, true);
    all_collectives(on("2x2", 2), 4, false);
    all_collectives(on("3x3"), 9, false);
}

/// Also in place: a place is ready when the first half has done with it.
TEST(DirectLanding, TheSecondHalfOfAnAllreduceCopiesNothing) {
    const Variable from("TREFOIL_DIRECT_FROM", "0"), copies("TREFOIL_SINGLE_COPY", "0");
    for (const char* algorithm : {"ring", "trivance-b"}) {
        const std::vector<std::pair<const char*, int>> shapes{
            {"3", 3}, {"5", 5}, {"3x3", 9}, {"2x3x2", 12}};
        for (const auto& [torus, ranks] : shapes) {
            JobOptions options = on(torus, ranks == 5 ? 2 : -1);
            options.algorithm = algorithm;
            run_ranks(ranks, options, [&, ranks = ranks](int rank, trefoil_comm_t comm) {
                ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
                Sum sum;
                sum.fill(rank, 20'000, 1);
                trefoil_request_t apart = TREFOIL_REQUEST_NULL, in_place = TREFOIL_REQUEST_NULL;
                std::vector<std::int64_t> both(sum.send);
                ASSERT_EQ(trefoil_allreduce_init(sum.send.data(), sum.recv.data(), both.size(),
                                                 TREFOIL_INT64, TREFOIL_SUM, comm, &apart),
                          ok);
                ASSERT_EQ(trefoil_allreduce_init(TREFOIL_IN_PLACE, both.data(), both.size(),
                                                 TREFOIL_INT64, TREFOIL_SUM, comm, &in_place),
                          ok);
                std::size_t copied = 0;
                for (int round = 0; round < 20; ++round) {
                    sum.fill(rank, both.size(), round);
                    both = sum.send;
                    copied = round < 3 ? copied_by(comm) : copied;
                    ASSERT_EQ(trefoil_start(&apart), ok);
                    ASSERT_EQ(trefoil_start(&in_place), ok);
                    ASSERT_EQ(trefoil_wait(&apart), ok) << trefoil_last_error(nullptr);
                    ASSERT_EQ(trefoil_wait(&in_place), ok) << trefoil_last_error(nullptr);
                    ASSERT_TRUE(sum.right(ranks, round)) << algorithm << ", round " << round;
                    ASSERT_EQ(both, sum.recv);
                }
                // Over strict groups what its first half sends from several places is gathered.
                if (backend_under_test() != "strict" || ranks != 12) {
                    EXPECT_EQ(copied_by(comm), copied) << algorithm << " of " << ranks;
                }
                EXPECT_EQ(trefoil_request_free(&apart), ok);
                EXPECT_EQ(trefoil_request_free(&in_place), ok);
            });
        }
    }
}

/// Its owner may still read and write it, as if no peer were ahead.
TEST(DirectLanding, NobodyWritesBeforeTheCallHasStarted) {
    const Variable from("TREFOIL_DIRECT_FROM", "0"), copies("TREFOIL_SINGLE_COPY", "0");
    constexpr int ranks = 3;
    run_ranks(ranks, on("3", 1), [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        std::vector<int> gathered(ranks * block), own(block);
        trefoil_request_t request = TREFOIL_REQUEST_NULL;
        ASSERT_EQ(trefoil_allgather_init(own.data(), gathered.data(), block, TREFOIL_INT32, comm,
                                         &request),
                  ok);
        for (int round = 0; round < 12; ++round) {
            std::fill(own.begin(), own.end(), 100 * round + rank);
            std::fill(gathered.begin(), gathered.end(), -7);
            if (rank == round % ranks) {  // the others are there already
                std::this_thread::sleep_for(std::chrono::milliseconds(15));
                ASSERT_EQ(std::count(gathered.begin(), gathered.end(), -7), ranks * block)
                    << "written too early in round " << round;
            }
            ASSERT_EQ(trefoil_start(&request), ok);
            ASSERT_EQ(trefoil_wait(&request), ok) << trefoil_last_error(nullptr);
            for (int r = 0; r < ranks; ++r) {
                ASSERT_EQ(gathered[static_cast<std::size_t>(r) * block], 100 * round + r);
            }
        }
        EXPECT_EQ(trefoil_request_free(&request), ok);
    });
}

/// A rank may make a blocking call where the others start a persistent one.
TEST(DirectLanding, ARankThatOffersNothingIsServedAsEver) {
    const Variable from("TREFOIL_DIRECT_FROM", "0"), copies("TREFOIL_SINGLE_COPY", "0");
    run_ranks(3, on("3"), [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        Sum sum;
        sum.fill(rank, block, 1);
        trefoil_request_t request = TREFOIL_REQUEST_NULL;
        if (rank != 1) {
            ASSERT_EQ(trefoil_allreduce_init(sum.send.data(), sum.recv.data(), block, TREFOIL_INT64,
                                             TREFOIL_SUM, comm, &request),
                      ok);
        }
        for (int round = 1; round < 8; ++round) {
            sum.fill(rank, block, round);
            if (rank == 1) {
                ASSERT_EQ(trefoil_allreduce(sum.send.data(), sum.recv.data(), block, TREFOIL_INT64,
                                            TREFOIL_SUM, comm),
                          ok)
                    << trefoil_last_error(nullptr);
            } else {
                ASSERT_EQ(trefoil_start(&request), ok);
                ASSERT_EQ(trefoil_wait(&request), ok) << trefoil_last_error(nullptr);
            }
            EXPECT_TRUE(sum.right(3, round));
        }
        EXPECT_EQ(trefoil_request_free(&request), ok);
    });
}

TEST(DirectLanding, RequestsComeAndGo) {
    const Variable from("TREFOIL_DIRECT_FROM", "0"), copies("TREFOIL_SINGLE_COPY", "0");
    run_ranks(4, on("2x2"), [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        for (int i = 0; i < 40; ++i) {
            Sum sum;
            sum.fill(rank, block, i);
            trefoil_request_t request = TREFOIL_REQUEST_NULL;
            ASSERT_EQ(trefoil_allreduce_init(sum.send.data(), sum.recv.data(), block, TREFOIL_INT64,
                                             TREFOIL_SUM, comm, &request),
                      ok);
            for (int round = 0; round < i % 4; ++round) {
                ASSERT_EQ(trefoil_start(&request), ok);
                ASSERT_EQ(trefoil_wait(&request), ok) << trefoil_last_error(nullptr);
                EXPECT_TRUE(sum.right(4, i));
            }
            EXPECT_EQ(trefoil_request_free(&request), ok);
        }
    });
}

/// Rank 1 makes another call, which rank 2 finds at once; what rank 0 has put is late.
TEST(DirectLanding, NobodyWritesAfterTheCallHasFailed) {
    const Variable from("TREFOIL_DIRECT_FROM", "0"), copies("TREFOIL_SINGLE_COPY", "0"),
        faults("TREFOIL_FAULTS", "3:delay=20000,rank=0");
    for (int attempt = 0; attempt < 3; ++attempt) {
        run_ranks(3, on("3", 1), [&](int rank, trefoil_comm_t comm) {
            ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
            std::vector<int> own(100'000, rank), all(3 * own.size());
            trefoil_request_t request = TREFOIL_REQUEST_NULL;
            ASSERT_EQ(trefoil_allgather_init(own.data(), all.data(), own.size(), TREFOIL_INT32,
                                             comm, &request),
                      ok);
            for (int round = 0; round < 3; ++round) {
                ASSERT_EQ(trefoil_start(&request), ok);
                ASSERT_EQ(trefoil_wait(&request), ok) << trefoil_last_error(nullptr);
            }
            trefoil_status_t status = ok;
            if (rank == 1) {
                status =
                    trefoil_allgather(own.data(), all.data(), own.size() - 1, TREFOIL_INT32, comm);
            } else {
                status = trefoil_start(&request);
                status = status == ok ? trefoil_wait(&request) : status;
            }
            EXPECT_NE(status, ok);
            std::fill(all.begin(), all.end(), -5);
            std::this_thread::sleep_for(std::chrono::milliseconds(60));
            EXPECT_EQ(std::count(all.begin(), all.end(), -5),
                      static_cast<std::ptrdiff_t>(all.size()))
                << "written after the call of rank " << rank << " had failed";
            (void)trefoil_request_free(&request);
        });
    }
}

}  // namespace
}  // namespace trefoil::test
