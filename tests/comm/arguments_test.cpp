// SPDX-License-Identifier: BSD-3-Clause
// Every wrong argument of every collective: refused with a message that names
// it, on every rank, before anything has moved, and the communicator goes on.
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>

#include "thread_job.hpp"

namespace trefoil::test {
namespace {

constexpr std::size_t count = 4;  ///< of a vector or a block
constexpr int default_root = 1;
constexpr std::int32_t untouched = 77;

/// All that a collective can be given; those that it does not have are ignored.
struct Arguments {
    const void* send = nullptr;
    void* recv = nullptr;
    std::size_t count = test::count, own_count = test::count;
    const std::size_t* counts = nullptr;
    const std::size_t* displacements = nullptr;
    trefoil_datatype_t type = TREFOIL_INT32;
    trefoil_op_t op = TREFOIL_SUM;
    int root = 0;
    trefoil_comm_t comm = nullptr;
};

/// Who reads `send` and who writes `recv`.
enum class By { nobody, all, the_root };

struct Kind {
    const char* name;
    By sends, receives;
    bool reduces, rooted, counted, displaced;
    std::function<trefoil_status_t(const Arguments&)> call;
};

const std::vector<Kind>& kinds() {
    using A = const Arguments&;
    static const std::vector<Kind> all{
        {"allreduce", By::all, By::all, true, false, false, false,
         [](A a) { return trefoil_allreduce(a.send, a.recv, a.count, a.type, a.op, a.comm); }},
        {"reduce", By::all, By::the_root, true, true, false, false,
         [](A a) { return trefoil_reduce(a.send, a.recv, a.count, a.type, a.op, a.root, a.comm); }},
        {"reduce_scatter_block", By::all, By::all, true, false, false, false,
         [](A a) {
             return trefoil_reduce_scatter_block(a.send, a.recv, a.count, a.type, a.op, a.comm);
         }},
        {"reduce_scatter", By::all, By::all, true, false, true, false,
         [](A a) {
             return trefoil_reduce_scatter(a.send, a.recv, a.counts, a.type, a.op, a.comm);
         }},
        {"allgather", By::all, By::all, false, false, false, false,
         [](A a) { return trefoil_allgather(a.send, a.recv, a.count, a.type, a.comm); }},
        {"allgatherv", By::all, By::all, false, false, true, true,
         [](A a) {
             return trefoil_allgatherv(a.send, a.own_count, a.recv, a.counts, a.displacements,
                                       a.type, a.comm);
         }},
        {"bcast", By::nobody, By::all, false, true, false, false,
         [](A a) { return trefoil_bcast(a.recv, a.count, a.type, a.root, a.comm); }},
        {"gather", By::all, By::the_root, false, true, false, false,
         [](A a) { return trefoil_gather(a.send, a.recv, a.count, a.type, a.root, a.comm); }},
        {"gatherv", By::all, By::the_root, false, true, true, true,
         [](A a) {
             return trefoil_gatherv(a.send, a.own_count, a.recv, a.counts, a.displacements, a.type,
                                    a.root, a.comm);
         }},
        {"scatter", By::the_root, By::all, false, true, false, false,
         [](A a) { return trefoil_scatter(a.send, a.recv, a.count, a.type, a.root, a.comm); }},
        {"scatterv", By::the_root, By::all, false, true, true, true,
         [](A a) {
             return trefoil_scatterv(a.send, a.counts, a.displacements, a.recv, a.own_count, a.type,
                                     a.root, a.comm);
         }},
    };
    return all;
}

constexpr std::size_t most = std::numeric_limits<std::size_t>::max();

/// Of an element of 8 bytes.
trefoil_op_t made_operation(bool freed) {
    trefoil_op_t op = TREFOIL_SUM;
    const auto nothing = [](void*, const void*, size_t, void*) {};
    EXPECT_EQ(trefoil_op_create(nothing, nullptr, 8, 1, &op), TREFOIL_SUCCESS);
    if (freed) {
        EXPECT_EQ(trefoil_op_free(op), TREFOIL_SUCCESS);
    }
    return op;
}

/// The arguments of one rank, right at first, with the memory behind them.
struct Rank {
    Rank(const Kind& its_kind, int number, int of, trefoil_comm_t comm)
        : kind(its_kind),
          rank(number),
          ranks(of),
          send(count * of, 1),
          recv(count * of, untouched),
          counts(of, count),
          displacements(of) {
        for (int r = 0; r < of; ++r) {
            displacements[r] = r * count;
        }
        a = {send.data(),   recv.data(),   count,
             count,         counts.data(), displacements.data(),
             TREFOIL_INT32, TREFOIL_SUM,   default_root % of,
             comm};
    }
    bool uses(By who) const { return who == By::all || (who == By::the_root && rank == a.root); }
    bool sends() const { return uses(kind.sends); }
    bool receives() const { return uses(kind.receives); }

    const Kind& kind;
    int rank, ranks;
    std::vector<std::int32_t> send, recv;
    std::vector<std::size_t> counts, displacements;
    Arguments a;
};

struct Mistake {
    const char* name;
    /// Makes it; false: this rank of this collective cannot make it.
    std::function<bool(Rank&)> make;
    std::vector<std::string> says;
    trefoil_status_t status = TREFOIL_ERROR_INVALID_ARGUMENT;
};

/// Ranks that read lists.
bool lists(const Rank& r) {
    return r.kind.counted && (!r.kind.rooted || r.rank == r.a.root);
}

/// Where the wrong address is, as a collective with one buffer has it.
bool is_bcast(const Rank& r) {
    return r.kind.name == std::string("bcast");
}

std::vector<Mistake> mistakes() {
    return {
        {"no communicator", [](Rank& r) { return r.a.comm = nullptr, true; }, {"communicator"}},
        {"no send buffer",
         [](Rank& r) { return r.a.send = nullptr, r.sends(); },
         {"send buffer is NULL", " bytes"}},
        {"no receive buffer",
         [](Rank& r) { return r.a.recv = nullptr, r.receives() && !is_bcast(r); },
         {"receive buffer is NULL", " bytes"}},
        {"nothing to broadcast",
         [](Rank& r) { return r.a.recv = nullptr, is_bcast(r); },
         {"broadcast buffer is NULL", "16 bytes"}},
        {"receives in place",
         [](Rank& r) {
             r.a.recv = const_cast<void*>(TREFOIL_IN_PLACE);
             return r.receives() && !(r.kind.sends == By::the_root && r.rank == r.a.root);
         },
         {"buffer is TREFOIL_IN_PLACE", "cannot be"}},
        {"overlapping buffers",
         [](Rank& r) {
             r.a.send = r.recv.data() + 1;
             return r.sends() && r.receives();
         },
         {"overlap", "send", "receive", "16 bytes at 0x"}},
        {"a negative count",
         [](Rank& r) {
             r.a.count = static_cast<std::size_t>(-4);
             return !r.kind.counted;
         },
         {"count", "18446744073709551612", "address space"}},
        {"a count whose bytes overflow",
         [](Rank& r) {
             r.a.count = most / 4 + 2;
             return !r.kind.counted;
         },
         {"count", "4611686018427387905", "address space"}},
        {"blocks that are too large together",
         [](Rank& r) {
             r.a.count = (std::size_t{1} << 54) - 1;
             const std::string name = r.kind.name;
             return r.ranks > 1 && (name == "gather" || name == "scatter" || name == "allgather" ||
                                    name == "reduce_scatter_block");
         },
         {"18014398509481983", "rank 1", "address space"}},
        {"counts whose sum overflows",
         [](Rank& r) {
             r.a.displacements = nullptr;
             r.counts.assign(r.ranks, most / 2 + 1);
             r.a.own_count = most / 2 + 1;
             return lists(r);
         },
         {"9223372036854775808", "address space"}},
        {"no counts", [](Rank& r) { return r.a.counts = nullptr, lists(r); }, {"counts are NULL"}},
        {"a displacement that overflows",
         [](Rank& r) {
             r.displacements.back() = most - 1;
             return r.kind.displaced && lists(r);
         },
         {"displacement", "18446744073709551614", "address space"}},
        {"a negative displacement",
         [](Rank& r) {
             r.displacements.front() = static_cast<std::size_t>(-8);
             return r.kind.displaced && lists(r);
         },
         {"displacement", "rank 0", "18446744073709551608", "address space"}},
        {"blocks that overlap",
         [](Rank& r) {
             r.displacements[1 % r.ranks] = 2;
             const bool written = r.kind.sends == By::all;
             return r.kind.displaced && lists(r) && r.ranks > 1 && written;
         },
         {"blocks of rank 0 and rank 1 overlap"}},
        {"an own count that the list denies",
         [](Rank& r) {
             r.a.own_count = count + 1;
             return r.kind.displaced && lists(r);
         },
         {"count is 5", "list says 4"}},
        {"no such type",
         [](Rank& r) { return r.a.type = static_cast<trefoil_datatype_t>(99), true; },
         {"datatype 99"}},
        {"an element without its operation",
         [](Rank& r) { return r.a.type = TREFOIL_ELEMENT, true; },
         {"TREFOIL_ELEMENT", "trefoil_op_create"}},
        {"no such operation",
         [](Rank& r) { return r.a.op = static_cast<trefoil_op_t>(99), r.kind.reduces; },
         {"op 99"}},
        {"an operation that was never made",
         [](Rank& r) { return r.a.op = static_cast<trefoil_op_t>(900'000), r.kind.reduces; },
         {"op 900000", "trefoil_op_create"}},
        {"an operation that was freed",
         [](Rank& r) {
             if (r.kind.reduces) {
                 r.a.op = made_operation(true);
                 r.a.type = TREFOIL_ELEMENT;
             }
             return r.kind.reduces;
         },
         {"freed"}},
        {"an operation on other elements",
         [](Rank& r) { return r.kind.reduces && (r.a.op = made_operation(false), true); },
         {"int32", "4 bytes", "8 bytes"}},
        {"a type that the operation does not take",
         [](Rank& r) {
             r.a.type = TREFOIL_FLOAT;
             r.a.op = TREFOIL_BXOR;
             return r.kind.reduces;
         },
         {"bxor", "float"},
         TREFOIL_ERROR_UNSUPPORTED},
        {"a negative root",
         [](Rank& r) { return r.a.root = -1, r.kind.rooted; },
         {"root -1", "0 to"}},
        {"a root beyond the ranks",
         [](Rank& r) { return r.a.root = r.ranks, r.kind.rooted; },
         {"root ", "is no rank"}},
    };
}

/// A call that is right: all elements are 1, so results are 1, or the number of
/// ranks.
void check_right_call(const Kind& kind, int rank, int ranks, trefoil_comm_t comm,
                      const std::string& after) {
    Rank right(kind, rank, ranks, comm);
    if (is_bcast(right)) {
        right.recv.assign(right.recv.size(), rank == right.a.root ? 1 : untouched);
    }
    ASSERT_EQ(kind.call(right.a), TREFOIL_SUCCESS)
        << kind.name << " after " << after << ": " << trefoil_last_error(nullptr);
    if (right.receives()) {
        EXPECT_EQ(right.recv[0], kind.reduces ? ranks : 1) << kind.name << " after " << after;
    }
}

void check_mistake(const Kind& kind, const Mistake& mistake, int rank, int ranks,
                   trefoil_comm_t comm) {
    const std::string where = std::string(kind.name) + ", " + mistake.name;
    Rank wrong(kind, rank, ranks, comm);
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
    EXPECT_STREQ(trefoil_last_error(comm), "") << where;
}

/// Whether all ranks make the mistake, so that nobody waits for one that does
/// not.
bool all_make(const Kind& kind, const Mistake& mistake, int ranks) {
    for (int r = 0; r < ranks; ++r) {
        Rank each(kind, r, ranks, nullptr);
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
                    Rank right(kind, rank, 3, comm);
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
            Rank empty(kind, rank, 3, comm);
            empty.counts.assign(3, 0);
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
    const trefoil_reduce_fn nothing = [](void*, const void*, size_t, void*) {};
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

// What only shows between ranks ends the communicator, and says so on each.
TEST(Arguments, RanksThatDifferAreToldApart) {
    struct Difference {
        const char* name;
        std::function<void(Rank&)> make;
        bool (*applies)(const Kind&);
    };
    const std::vector<Difference> all{
        {"count", [](Rank& r) { r.a.count = count - 1; }, [](const Kind& k) { return !k.counted; }},
        {"type", [](Rank& r) { r.a.type = TREFOIL_UINT32; }, [](const Kind&) { return true; }},
        {"op", [](Rank& r) { r.a.op = TREFOIL_MAX; }, [](const Kind& k) { return k.reduces; }},
        {"root", [](Rank& r) { r.a.root = 2; }, [](const Kind& k) { return k.rooted; }},
        {"counts", [](Rank& r) { r.counts[2] = count - 1; },
         [](const Kind& k) { return k.counted && !k.rooted; }},
        {"own count", [](Rank& r) { r.a.own_count = count - 1; },
         [](const Kind& k) { return k.displaced && k.rooted; }}};
    for (const Kind& kind : kinds()) {
        for (const Difference& difference : all) {
            if (!difference.applies(kind)) {
                continue;
            }
            JobOptions options;
            options.torus = "3";
            options.timeout_seconds = 5;
            run_ranks(3, options, [&](int rank, trefoil_comm_t comm) {
                ASSERT_NE(comm, nullptr);
                Rank mine(kind, rank, 3, comm);
                if (rank == 0) {
                    difference.make(mine);
                }
                const std::string where = std::string(kind.name) + ", another " + difference.name;
                EXPECT_EQ(kind.call(mine.a), TREFOIL_ERROR_MISMATCH)
                    << where << ": " << trefoil_last_error(nullptr);
                EXPECT_NE(std::string(trefoil_last_error(comm)), "") << where;
                EXPECT_EQ(trefoil_barrier(comm), TREFOIL_ERROR_MISMATCH) << where;
            });
        }
    }
}

}  // namespace
}  // namespace trefoil::test
