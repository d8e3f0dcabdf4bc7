// SPDX-License-Identifier: BSD-3-Clause
// Every wrong argument of every collective: refused with a message that names
// it, on every rank, before anything has moved, and the communicator goes on.
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "argument_mistakes.hpp"
#include "tests/comm/communicator/thread_job.hpp"

namespace trefoil::test {
namespace {

/// A call that is right: all elements are 1, so results are 1, or a number of ranks.
void check_right_call(const Kind& kind, int rank, int ranks, trefoil_comm_t comm,
                      const std::string& after) {
    Caller right(kind, rank, ranks, comm);
    if (is_bcast(right)) {
        right.recv.assign(right.recv.size(), rank == right.a.root ? 1 : untouched);
    }
    ASSERT_EQ(kind.call(right.a), TREFOIL_SUCCESS)
        << kind.name << " after " << after << ": " << trefoil_last_error(nullptr);
    if (right.receives()) {
        const std::string name = kind.name;
        const int sum = name == "scan" ? rank + 1 : name == "exscan" ? rank : ranks;
        EXPECT_EQ(right.recv[0], kind.reduces ? sum : 1) << kind.name << " after " << after;
    }
}

void check_mistake(const Kind& kind, const Mistake& mistake, int rank, int ranks,
                   trefoil_comm_t comm) {
    const std::string where = std::string(kind.name) + ", " + mistake.name;
    Caller wrong(kind, rank, ranks, comm);
    ASSERT_TRUE(mistake.make(wrong));
    EXPECT_EQ(kind.call(wrong.a), mistake.status) << where;
    const std::string text = trefoil_last_error(nullptr);
    // The root, which tells its counts first, may have told that, too.
    const bool told = kind.rooted && kind.displaced && rank != wrong.a.root &&
                      text.find("the root, has refused") != std::string::npos;
    for (const std::string& word : mistake.says) {
        EXPECT_TRUE(told || text.find(word) != std::string::npos) << where << ": " << text;
    }
    EXPECT_EQ(wrong.recv, std::vector<std::int32_t>(count * ranks, untouched)) << where;
    EXPECT_EQ(reason_of_failure(comm), "") << where;
}

/// Whether all ranks make the mistake, so that nobody waits for one that does
/// not.
bool all_make(const Kind& kind, const Mistake& mistake, int ranks) {
    for (int r = 0; r < ranks; ++r) {
        Caller each(kind, r, ranks, nullptr);
        if (!mistake.make(each)) {
            return false;
        }
    }
    return true;
}

void check_all_mistakes(int ranks, const std::string& torus, std::size_t least) {
    std::vector<std::pair<const Kind*, Mistake>> table;
    for (const Kind& kind : kinds()) {
        for (const Mistake& mistake : mistakes()) {
            if (all_make(kind, mistake, ranks)) {
                table.emplace_back(&kind, mistake);
            }
        }
    }
    EXPECT_GE(table.size(), least);
    JobOptions options;
    options.torus = torus;
    run_ranks(ranks, options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        for (const auto& [kind, mistake] : table) {
            check_mistake(*kind, mistake, rank, ranks, comm);
            check_right_call(*kind, rank, ranks, comm, mistake.name);
        }
    });
}

TEST(Arguments, MistakesThatAllRanksMakeAreRefusedByAll) {
    check_all_mistakes(3, "3", 110);
}

// One rank is the root, so that it makes the mistakes of roots.
TEST(Arguments, MistakesOfRootsAreRefused) {
    check_all_mistakes(1, "1", 130);
}

// The root tells its counts first; when it cannot, it tells that.
TEST(Arguments, ListsThatOnlyTheRootHasAreRefusedByAll) {
    JobOptions options;
    options.torus = "3";
    run_ranks(3, options, [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        for (const Kind& kind : kinds()) {
            for (const Mistake& mistake : mistakes()) {
                const std::string name = mistake.name;
                const bool listed = name == "no counts" || name == "counts whose sum overflows" ||
                                    name == "a displacement that overflows" ||
                                    name == "a negative displacement" ||
                                    name == "an own count that the list denies" ||
                                    (name == "blocks that overlap" && kind.sends == By::all);
                if (!listed || !kind.rooted || !kind.displaced) {
                    continue;
                }
                if (rank == default_root) {
                    check_mistake(kind, mistake, rank, 3, comm);
                } else {
                    Caller right(kind, rank, 3, comm);
                    EXPECT_EQ(kind.call(right.a), TREFOIL_ERROR_INVALID_ARGUMENT) << name;
                    const std::string text = trefoil_last_error(nullptr);
                    EXPECT_NE(text.find("rank 1, the root"), std::string::npos) << text;
                }
                check_right_call(kind, rank, 3, comm, name);
            }
        }
    });
}

TEST(Arguments, ABarrierNeedsACommunicator) {
    EXPECT_EQ(trefoil_barrier(nullptr), TREFOIL_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("communicator"), std::string::npos);
}

TEST(Arguments, NothingToMoveNeedsNoBuffers) {
    JobOptions options;
    options.torus = "3";
    run_ranks(3, options, [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        for (const Kind& kind : kinds()) {
            Caller empty(kind, rank, 3, comm);
            empty.counts.assign(3, 0);
            empty.send_counts.assign(3, 0);
            empty.a.count = empty.a.own_count = 0;
            empty.a.send = empty.a.recv = nullptr;
            EXPECT_EQ(kind.call(empty.a), TREFOIL_SUCCESS)
                << kind.name << ": " << trefoil_last_error(nullptr);
        }
    });
}

struct BadOperation {
    trefoil_reduce_fn function;
    std::size_t element_bytes;
    const char* says;
};

TEST(Arguments, OperationsAreCheckedWhenTheyAreMade) {
    const trefoil_reduce_fn nothing = [](const void*, void*, size_t, void*) {};
    trefoil_op_t op = TREFOIL_SUM;
    for (const BadOperation& bad :
         {BadOperation{nullptr, 8, "function is NULL"}, {nothing, 0, "element of 0 bytes"}}) {
        EXPECT_EQ(trefoil_op_create(bad.function, nullptr, bad.element_bytes, 1, &op),
                  TREFOIL_ERROR_INVALID_ARGUMENT);
        EXPECT_NE(std::string(trefoil_last_error(nullptr)).find(bad.says), std::string::npos);
    }
    EXPECT_EQ(trefoil_op_create(nothing, nullptr, 8, 1, nullptr), TREFOIL_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(trefoil_op_free(TREFOIL_SUM), TREFOIL_ERROR_INVALID_ARGUMENT);
    EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("op 0"), std::string::npos);
}

TEST(Arguments, ADatatypeOfAnotherSizeThanTheOperationsIsRefused) {
    trefoil_op_t op = TREFOIL_SUM;
    ASSERT_EQ(trefoil_op_create([](const void*, void*, size_t, void*) {}, nullptr, 8, 1, &op),
              TREFOIL_SUCCESS);
    JobOptions options;
    options.torus = "1";
    run_ranks(1, options, [&](int, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        float mine = 1, sum = 0;
        EXPECT_EQ(trefoil_allreduce(&mine, &sum, 1, TREFOIL_FLOAT, op, comm),
                  TREFOIL_ERROR_INVALID_ARGUMENT);
        EXPECT_NE(std::string(trefoil_last_error(nullptr))
                      .find("has 4 bytes, one of the operation has 8 bytes"),
                  std::string::npos)
            << trefoil_last_error(nullptr);
    });
    EXPECT_EQ(trefoil_op_free(op), TREFOIL_SUCCESS);
}

// What only shows between ranks ends the communicator, and says so on each.
struct Difference {
    const char* name;
    std::function<void(Caller&)> make;
    bool (*applies)(const Kind&);
};

std::vector<Difference> differences() {
    return {
        {"count", [](Caller& r) { r.a.count = count - 1; },
         [](const Kind& k) { return !k.counted; }},
        {"type", [](Caller& r) { r.a.type = TREFOIL_UINT32; }, [](const Kind&) { return true; }},
        {"op", [](Caller& r) { r.a.op = TREFOIL_MAX; }, [](const Kind& k) { return k.reduces; }},
        {"root", [](Caller& r) { r.a.root = 2; }, [](const Kind& k) { return k.rooted; }},
        {"counts", [](Caller& r) { r.counts[2] = count - 1; },
         [](const Kind& k) { return k.counted && !k.rooted && !is_alltoallv(k); }},
        {"own count", [](Caller& r) { r.a.own_count = count - 1; },
         [](const Kind& k) { return k.displaced && k.rooted; }}};
}

void check_difference(const Kind& kind, const Difference& difference) {
    JobOptions options;
    options.torus = "3";
    options.timeout_seconds = 5;
    std::atomic<int> found{0};
    run_ranks(3, options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        Caller mine(kind, rank, 3, comm);
        if (rank == 0) {
            difference.make(mine);
        }
        const std::string where = std::string(kind.name) + ", another " + difference.name;
        // Some ranks may have had their part before others find it.
        const trefoil_status_t status = kind.call(mine.a);
        found += status == TREFOIL_ERROR_MISMATCH;
        EXPECT_TRUE(status == TREFOIL_SUCCESS || status == TREFOIL_ERROR_MISMATCH)
            << where << ": " << trefoil_last_error(nullptr);
        EXPECT_EQ(trefoil_barrier(comm), TREFOIL_ERROR_MISMATCH)
            << where << ": " << trefoil_last_error(comm);
        EXPECT_NE(std::string(trefoil_last_error(comm)), "") << where;
    });
    EXPECT_GT(found, 0) << kind.name << ", another " << difference.name;
}

// Some jobs run at the same time: each takes a second to hear what the others say.
TEST(Arguments, RanksThatDifferAreToldApart) {
    constexpr std::size_t at_a_time = 16;
    const std::vector<Difference> all = differences();
    std::vector<std::jthread> jobs;
    for (const Kind& kind : kinds()) {
        for (const Difference& difference : all) {
            if (difference.applies(kind)) {
                if (jobs.size() == at_a_time) {
                    jobs.clear();  // waits for them
                }
                jobs.emplace_back([&] { check_difference(kind, difference); });
            }
        }
    }
}

}  // namespace
}  // namespace trefoil::test
