// SPDX-License-Identifier: BSD-3-Clause
// Alltoall by every algorithm of the table with blocks from a byte to a mebibyte, alltoallv with
// random matrices, tiny landing slots and many ranks, and what comes of counts that differ.
#include <algorithm>
#include <cstdlib>
#include <random>

#include "algorithms/registry/registry.hpp"
#include "algorithms/schedule/algorithm.hpp"
#include "tests/sanitizers.hpp"
#include "thread_job.hpp"
#include "topo/torus.hpp"

namespace trefoil::test::alltoall_test {
namespace {

using Bytes = std::vector<unsigned char>;

// Sanitizers look at every byte that is made and compared here: they get fewer of them.
constexpr std::size_t lighter = sanitized ? 16 : 1;
constexpr const char* many = sanitized ? "4x4" : "8x8";
constexpr unsigned calls_in_a_row = sanitized ? 250 : 1000;

/// What blocks are made of: bytes of period 251, so that nothing aligns with it.
constexpr std::size_t period = 251, longest_block = std::size_t{1} << 20;
const Bytes ramp = [] {
    Bytes bytes(longest_block + period);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<unsigned char>(i % period);
    }
    return bytes;
}();

/// The bytes that a rank sends another in a call, at most longest_block of them: they begin at
/// a place of the ramp that tells these three apart.
const unsigned char* block_of(int from, int to, unsigned call) {
    return ramp.data() +
           (static_cast<std::size_t>(from) * 31 + static_cast<std::size_t>(to) * 57 + call * 101) %
               period;
}

/// counts[from][to] of one call, and where each rank has its blocks: gaps between them.
struct Matrix {
    std::vector<std::vector<std::size_t>> counts;

    std::size_t of(int from, int to) const {
        return counts[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
    }
    int ranks() const { return static_cast<int>(counts.size()); }
};

struct Side {
    std::vector<std::size_t> counts, displacements;
    Bytes bytes;

    Side(const Matrix& matrix, int rank, bool sends, std::size_t gap) {
        std::size_t at = 0;
        for (int r = 0; r < matrix.ranks(); ++r) {
            counts.push_back(sends ? matrix.of(rank, r) : matrix.of(r, rank));
            displacements.push_back(at);
            at += counts.back() + gap;
        }
        bytes.assign(at, 255);
    }
    void fill(int rank, unsigned call) {
        for (std::size_t r = 0; r < counts.size(); ++r) {
            std::copy_n(block_of(rank, static_cast<int>(r), call), counts[r],
                        &bytes[displacements[r]]);
        }
    }
    /// What came from each rank, with nothing written between.
    std::string wrong(int rank, unsigned call) const {
        Bytes expected(bytes.size(), 255);
        for (std::size_t r = 0; r < counts.size(); ++r) {
            std::copy_n(block_of(static_cast<int>(r), rank, call), counts[r],
                        &expected[displacements[r]]);
        }
        const auto [is, should_be] = std::mismatch(bytes.begin(), bytes.end(), expected.begin());
        return is == bytes.end() ? ""
                                 : "byte " + std::to_string(is - bytes.begin()) + " is " +
                                       std::to_string(*is) + ", not " + std::to_string(*should_be);
    }
};

/// Makes the call on this rank, in place or not, and checks it; "" or what is wrong.
std::string alltoallv(trefoil_comm_t comm, int rank, const Matrix& matrix, bool in_place,
                      unsigned call) {
    Side sent(matrix, rank, true, 3), received(matrix, rank, false, 5);
    sent.fill(rank, call);
    const Bytes before = sent.bytes;
    if (in_place) {  // of matrices that are equal to their transpose
        received.fill(rank, call);
    }
    const trefoil_status_t status =
        in_place
            ? trefoil_alltoallv(TREFOIL_IN_PLACE, nullptr, nullptr, received.bytes.data(),
                                received.counts.data(), received.displacements.data(),
                                TREFOIL_UINT8, comm)
            : trefoil_alltoallv(sent.bytes.data(), sent.counts.data(), sent.displacements.data(),
                                received.bytes.data(), received.counts.data(),
                                received.displacements.data(), TREFOIL_UINT8, comm);
    if (status != TREFOIL_SUCCESS) {
        return trefoil_last_error(nullptr);
    }
    return sent.bytes != before ? "the input has changed" : received.wrong(rank, call);
}

std::string alltoall(trefoil_comm_t comm, int rank, int ranks, std::size_t block, bool in_place,
                     unsigned call) {
    const auto p = static_cast<std::size_t>(ranks);
    const Matrix matrix{std::vector(p, std::vector<std::size_t>(p, block))};
    Side sent(matrix, rank, true, 0), received(matrix, rank, false, 0);
    (in_place ? received : sent).fill(rank, call);
    const void* const from = in_place ? TREFOIL_IN_PLACE : sent.bytes.data();
    if (trefoil_alltoall(from, received.bytes.data(), block, TREFOIL_UINT8, comm) !=
        TREFOIL_SUCCESS) {
        return trefoil_last_error(nullptr);
    }
    return received.wrong(rank, call);
}

/// A third is zero, some ranks send or receive nothing, and one block in ten is huge.
Matrix random_matrix(int ranks, unsigned seed, bool symmetric, std::size_t huge) {
    std::mt19937 random(seed);
    const auto p = static_cast<std::size_t>(ranks);
    Matrix matrix{std::vector(p, std::vector<std::size_t>(p, 0))};
    const std::size_t silent = random() % (2 * p), deaf = random() % (2 * p);
    for (std::size_t from = 0; from < p; ++from) {
        for (std::size_t to = 0; to < p; ++to) {
            const std::size_t small = random() % 100, large = random() % huge, kind = random() % 10;
            const bool nothing = kind < 3 || from == silent || to == deaf;
            matrix.counts[from][to] = nothing ? 0 : kind == 9 ? large : small;
            if (symmetric && to < from) {
                matrix.counts[from][to] = matrix.counts[to][from];
            }
        }
    }
    return matrix;
}

/// Which the transport under test can run: only ranks of memory read each other's.
std::vector<std::string> names_on(const Torus& torus, bool uneven) {
    std::vector<std::string> names{"auto"};
    for (const Algorithm& a : algorithms()) {
        if (a.collective == Collective::alltoall && a.refusal(torus).empty() &&
            (!uneven || a.traits.vector_variant) &&
            (!a.traits.reads_peers || backend_under_test() == "memory")) {
            names.emplace_back(a.name);
        }
    }
    return names;
}

void on_torus(const std::string& shape,
              const std::function<void(const Torus&, int, trefoil_comm_t)>& body) {
    const Torus torus = Torus::parse(shape);
    JobOptions options;
    options.torus = shape;
    run_ranks(torus.ranks(), options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        body(torus, rank, comm);
    });
}

class Alltoall : public testing::TestWithParam<const char*> {};

TEST_P(Alltoall, EveryAlgorithmMovesBlocksOfAnySize) {
    on_torus(GetParam(), [](const Torus& torus, int rank, trefoil_comm_t comm) {
        const std::size_t largest = (std::size_t{1} << 20) / (torus.ranks() > 2 ? 16 : 1) / lighter;
        unsigned call = 0;
        for (const std::string& name : names_on(torus, false)) {
            ASSERT_EQ(trefoil_comm_set_algorithm(comm, "alltoall", name.c_str()), TREFOIL_SUCCESS);
            for (const std::size_t block : {std::size_t{1}, std::size_t{3}, std::size_t{64},
                                            std::size_t{1000}, std::size_t{4096}, largest}) {
                for (const bool in_place : {false, true}) {
                    ASSERT_EQ(alltoall(comm, rank, torus.ranks(), block, in_place, ++call), "")
                        << name << ", blocks of " << block << (in_place ? ", in place" : "");
                }
            }
        }
    });
}

TEST_P(Alltoall, RandomMatrices) {
    on_torus(GetParam(), [](const Torus& torus, int rank, trefoil_comm_t comm) {
        for (const std::string& name : names_on(torus, true)) {
            ASSERT_EQ(trefoil_comm_set_algorithm(comm, "alltoall", name.c_str()), TREFOIL_SUCCESS);
            for (unsigned seed = 0; seed < 12; ++seed) {
                const bool in_place = seed % 3 == 2;
                const Matrix matrix =
                    random_matrix(torus.ranks(), seed, in_place, 300'000 / lighter);
                ASSERT_EQ(alltoallv(comm, rank, matrix, in_place, seed), "")
                    << name << ", seed " << seed;
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Shapes, Alltoall,
                         testing::Values("1", "2", "5", "8", "9", "3x3", "4x4", "2x3", "3x5",
                                         "2x2x2"),
                         name_of_shape);

class TinySlots : public testing::Test {
  protected:
    void SetUp() override { setenv("TREFOIL_LANDING_BYTES", "16K", 1); }
    void TearDown() override { unsetenv("TREFOIL_LANDING_BYTES"); }
};

TEST_F(TinySlots, CarryLongBlocksInManySegments) {
    on_torus("2x3", [](const Torus& torus, int rank, trefoil_comm_t comm) {
        for (const std::string& name : names_on(torus, false)) {
            ASSERT_EQ(trefoil_comm_set_algorithm(comm, "alltoall", name.c_str()), TREFOIL_SUCCESS);
            for (const bool in_place : {false, true}) {
                ASSERT_EQ(alltoall(comm, rank, torus.ranks(), 50'000, in_place, 1), "") << name;
            }
        }
        for (const std::string& name : names_on(torus, true)) {
            ASSERT_EQ(trefoil_comm_set_algorithm(comm, "alltoall", name.c_str()), TREFOIL_SUCCESS);
            for (unsigned seed = 0; seed < 8; ++seed) {
                const Matrix matrix = random_matrix(6, seed, seed % 2 == 1, 100'000);
                ASSERT_EQ(alltoallv(comm, rank, matrix, seed % 2 == 1, seed), "")
                    << name << ", seed " << seed;
            }
        }
    });
}

void many_ranks() {
    on_torus(many, [](const Torus& torus, int rank, trefoil_comm_t comm) {
        for (const char* name : {"auto", "linear", "bruck"}) {
            ASSERT_EQ(trefoil_comm_set_algorithm(comm, "alltoall", name), TREFOIL_SUCCESS);
            ASSERT_EQ(alltoall(comm, rank, torus.ranks(), 2000, false, 1), "") << name;
        }
        ASSERT_EQ(trefoil_comm_set_algorithm(comm, "alltoall", "auto"), TREFOIL_SUCCESS);
        ASSERT_EQ(alltoallv(comm, rank, random_matrix(torus.ranks(), 5, false, 20'000), false, 2),
                  "");
    });
}

TEST(ManyRanks, AlltoallWithDefaultSlots) {
    many_ranks();
}
TEST_F(TinySlots, DoForManyRanks) {
    many_ranks();
}

// Lists that differ in every call: plans are made and forgotten, on each rank in its own time.
TEST(Alltoallv, TakesOtherCountsInEveryCall) {
    on_torus("4x4", [](const Torus&, int rank, trefoil_comm_t comm) {
        for (unsigned call = 0; call < calls_in_a_row; ++call) {
            Matrix matrix{std::vector(16, std::vector<std::size_t>(16, call % 50))};
            matrix.counts[call % 16][call / 16 % 16] = call;
            ASSERT_EQ(alltoallv(comm, rank, matrix, false, call), "") << call;
        }
    });
}

TEST(Alltoallv, TakesNoAlgorithmThatForwards) {
    on_torus("5", [](const Torus&, int rank, trefoil_comm_t comm) {
        const Matrix matrix = random_matrix(5, 1, false, 100);
        ASSERT_EQ(trefoil_comm_set_algorithm(comm, "alltoall", "bruck"), TREFOIL_SUCCESS);
        const std::string refused = alltoallv(comm, rank, matrix, false, 1);
        EXPECT_NE(refused.find("bruck forwards blocks"), std::string::npos) << refused;
        ASSERT_EQ(trefoil_comm_set_algorithm(comm, "alltoall", "linear"), TREFOIL_SUCCESS);
        EXPECT_EQ(alltoallv(comm, rank, matrix, false, 2), "");
    });
}

class PhaseSyncSetting : public testing::TestWithParam<const char*> {
  protected:
    PhaseSyncSetting() { setenv("TREFOIL_PHASE_SYNC", GetParam(), 1); }
    ~PhaseSyncSetting() override { unsetenv("TREFOIL_PHASE_SYNC"); }
};

TEST_P(PhaseSyncSetting, HoldsWhereAnAlgorithmHasIt) {
    const std::string setting = GetParam();
    on_torus("4x4", [&](const Torus& torus, int rank, trefoil_comm_t comm) {
        unsigned call = 0;
        for (const std::string& name : names_on(torus, false)) {
            ASSERT_EQ(trefoil_comm_set_algorithm(comm, "alltoall", name.c_str()), TREFOIL_SUCCESS);
            EXPECT_EQ(alltoall(comm, rank, torus.ranks(), 100, false, ++call), "") << name;
            const char* runs = nullptr;
            ASSERT_EQ(trefoil_comm_algorithm(comm, "alltoall", 100, TREFOIL_UINT8, &runs),
                      TREFOIL_SUCCESS);
            if (name == "gather-scatter-tree") {
                EXPECT_EQ(runs, name + ":" + setting);
            } else if (name == "direct") {
                EXPECT_EQ(runs, name + ":barrier");
            } else if (name == "orbit") {
                EXPECT_EQ(runs, name);
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Settings, PhaseSyncSetting, testing::Values("signals", "barrier"));

/// Rank 0 means to send rank 1 other counts than that one means to receive. What ranks that are
/// not concerned see of it is open: their part may be complete before.
void check_difference(std::size_t sent, std::size_t received, std::size_t usual) {
    JobOptions options;
    options.torus = "3";
    options.timeout_seconds = 3;
    run_ranks(3, options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        Matrix matrix{std::vector(3, std::vector<std::size_t>(3, usual))};
        ASSERT_EQ(alltoallv(comm, rank, matrix, false, 1), "");
        matrix.counts[0][1] = rank == 0 ? sent : received;
        std::string wrong;
        for (unsigned call = 2; call < 4 && wrong.empty(); ++call) {
            wrong = alltoallv(comm, rank, matrix, false, call);
            matrix.counts[0][1] = usual;
        }
        if (rank == 1) {
            EXPECT_NE(wrong.find("rank 0"), std::string::npos) << wrong;
            EXPECT_NE(wrong.find("alltoallv of uint8"), std::string::npos) << wrong;
            EXPECT_NE(wrong.find("as many elements"), std::string::npos) << wrong;
        }
    });
}

TEST(Alltoallv, CountsThatDifferAreFound) {
    check_difference(7, 8, 8);
    check_difference(8, 7, 8);
    check_difference(400'000, 8, 8);  // in more segments than are awaited
    check_difference(8, 0, 8);        // found by the next call
    check_difference(0, 8, 8);        // by the next call, which comes in its place
}

}  // namespace
}  // namespace trefoil::test::alltoall_test
