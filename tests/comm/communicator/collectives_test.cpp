// SPDX-License-Identifier: BSD-3-Clause
// Every collective by every algorithm on real ports, with every kind of arguments.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "algorithms/registry/registry.hpp"
#include "collective_check.hpp"
#include "comm/setup/configuration.hpp"
#include "thread_job.hpp"
#include "topo/torus.hpp"

namespace trefoil::test::collectives_test {
namespace {

std::vector<std::string> names_of(Collective collective, const Torus& torus) {
    std::vector<std::string> names{"auto"};
    Settings settings;
    settings.backend = backend_under_test();
    for (const Algorithm& a : algorithms()) {
        const bool reachable = !a.traits.reads_peers || offers_single_copy(settings);
        if (a.collective == collective && reachable && a.refusal(torus).empty()) {
            names.emplace_back(a.name);
        }
    }
    return names;
}

bool has_algorithms(Collective collective, const Torus& torus) {
    return names_of(collective, torus).size() > 1;
}

/// Alltoall, where only some algorithms do; what auto takes does.
bool takes_any_sizes(Collective collective, const std::string& name) {
    return collective == Collective::alltoall &&
           (name == "auto" || find_algorithm(collective, name).traits.vector_variant);
}

std::vector<CollectiveCase> cases_of(Collective collective, const Torus& torus) {
    std::vector<CollectiveCase> cases;
    std::vector<int> roots{0};
    if (traits_of(collective).rooted()) {
        roots = {0, torus.ranks() / 2, torus.ranks() - 1};
    }
    std::size_t turn = 0;  // each algorithm meets each root, in place or not, with some counts
    std::vector<std::size_t> counts;
    for (int r = 0; r < torus.ranks(); ++r) {
        counts.push_back(static_cast<std::size_t>(r * 37 % 100) * (r % 3 == 1 ? 0 : 1));
    }
    for (const std::string& name : names_of(collective, torus)) {
        const bool varies =
            traits_of(collective).blocks_have_owners() || takes_any_sizes(collective, name);
        for (const bool in_place : {false, true}) {
            const auto next_root = [&] { return roots[turn++ % roots.size()]; };
            for (const std::size_t count : {0UL, 1UL, 7UL, 1000UL}) {
                cases.push_back({collective, name, next_root(), count, in_place});
            }
            if (varies) {
                cases.push_back({collective, name, next_root(), 0, in_place, counts});
                if (collective != Collective::reduce_scatter) {
                    cases.push_back({collective, name, next_root(), 0, in_place, counts, 2});
                }
            }
        }
    }
    return cases;
}

void run_all(const std::string& shape, int port_threads = -1) {
    const Torus torus = Torus::parse(shape);
    JobOptions options;
    options.torus = shape;
    options.port_threads = port_threads;
    run_ranks(torus.ranks(), options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        std::int64_t salt = 0;
        for (const Collective collective : collectives()) {
            if (!has_algorithms(collective, torus) || collective == Collective::alltoall) {
                continue;
            }
            for (CollectiveCase what : cases_of(collective, torus)) {
                what.salt = ++salt;
                const std::string wrong = check_collective(comm, what);
                ASSERT_EQ(wrong, "") << describe(what) << " on " << shape << ", rank " << rank;
            }
        }
    });
}

TEST(Collectives, OneRank) {
    run_all("1");
}
TEST(Collectives, TwoRanks) {
    run_all("2");
}
TEST(Collectives, EvenRing) {
    run_all("4");
}
TEST(Collectives, OddRing) {
    run_all("5");
}
TEST(Collectives, SquareTorus) {
    run_all("3x3");
}
TEST(Collectives, RectangularTorus) {
    run_all("2x3");
}
TEST(Collectives, ThreeDimensions) {
    run_all("2x2x2");
}
TEST(Collectives, AThreadPerPort) {
    run_all("2x2", 4);
}

class SmallPieces : public testing::Test {
  protected:
    void SetUp() override {
        setenv("TREFOIL_LANDING_BYTES", "64K", 1);
        setenv("TREFOIL_SEGMENT_BYTES", "4K", 1);
    }
    void TearDown() override {
        unsetenv("TREFOIL_LANDING_BYTES");
        unsetenv("TREFOIL_SEGMENT_BYTES");
    }
};

TEST_F(SmallPieces, ManySegments) {
    run_all("2x3");
}

// Programs leave anything in the entry of a rank that has nothing.
TEST(Collectives, WhereAnEmptyBlockLiesDoesNotMatter) {
    for (const int ranks : {1, 3}) {
        JobOptions options;
        options.torus = std::to_string(ranks);
        run_ranks(ranks, options, [ranks](int rank, trefoil_comm_t comm) {
            ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
            const auto r = static_cast<std::size_t>(rank);
            const std::vector<std::size_t> counts =
                ranks == 1 ? std::vector<std::size_t>{0} : std::vector<std::size_t>{0, 2, 1};
            const std::vector<std::size_t> places{SIZE_MAX, 1, 0};
            const std::vector<std::int64_t> all{30, 20, 21};
            std::vector<std::int64_t> mine(3, -1), room(3, -1);
            const std::vector<std::int64_t> block = rank == 1   ? std::vector<std::int64_t>{20, 21}
                                                    : rank == 2 ? std::vector<std::int64_t>{30}
                                                                : std::vector<std::int64_t>{};
            const auto place_own = [&] {
                room.assign(3, -1);
                std::copy(
                    block.begin(), block.end(),
                    room.begin() + static_cast<std::ptrdiff_t>(counts[r] > 0 ? places[r] : 0));
            };
            const auto expect_all = [&](trefoil_status_t status) {
                ASSERT_EQ(status, TREFOIL_SUCCESS) << trefoil_last_error(comm);
                if (ranks > 1) {
                    EXPECT_EQ(room, all);
                }
            };
            place_own();
            expect_all(trefoil_allgatherv(TREFOIL_IN_PLACE, 0, room.data(), counts.data(),
                                          places.data(), TREFOIL_INT64, comm));
            trefoil_request_t request = TREFOIL_REQUEST_NULL;
            ASSERT_EQ(trefoil_allgatherv_init(TREFOIL_IN_PLACE, 0, room.data(), counts.data(),
                                              places.data(), TREFOIL_INT64, comm, &request),
                      TREFOIL_SUCCESS)
                << trefoil_last_error(comm);
            place_own();
            ASSERT_EQ(trefoil_start(&request), TREFOIL_SUCCESS) << trefoil_last_error(comm);
            expect_all(trefoil_wait(&request));
            EXPECT_EQ(trefoil_request_free(&request), TREFOIL_SUCCESS);
            place_own();
            const trefoil_status_t gathered =
                trefoil_gatherv(rank == 0 ? TREFOIL_IN_PLACE : block.data(), block.size(),
                                room.data(), counts.data(), places.data(), TREFOIL_INT64, 0, comm);
            if (rank == 0) {
                expect_all(gathered);
            }
            EXPECT_EQ(trefoil_scatterv(all.data(), counts.data(), places.data(),
                                       rank == 0 ? TREFOIL_IN_PLACE : mine.data(), counts[r],
                                       TREFOIL_INT64, 0, comm),
                      TREFOIL_SUCCESS)
                << trefoil_last_error(comm);
            if (rank != 0) {
                EXPECT_TRUE(std::equal(block.begin(), block.end(), mine.begin()));
            }
        });
    }
}

using Matrix = std::array<std::int64_t, 4>;

/// inout = in x inout, for 2x2 matrices: does not commute.
void multiply(const void* in, void* inout, size_t count, void* context) {
    ++*static_cast<std::atomic<int>*>(context);
    for (std::size_t k = 0; k < count; ++k) {
        Matrix a, b;
        std::memcpy(&a, static_cast<const char*>(in) + k * sizeof a, sizeof a);
        std::memcpy(&b, static_cast<char*>(inout) + k * sizeof b, sizeof b);
        const Matrix product{(a[0] * b[0] + a[1] * b[2]) % 9973, (a[0] * b[1] + a[1] * b[3]) % 9973,
                             (a[2] * b[0] + a[3] * b[2]) % 9973,
                             (a[2] * b[1] + a[3] * b[3]) % 9973};
        std::memcpy(static_cast<char*>(inout) + k * sizeof b, &product, sizeof product);
    }
}

Matrix matrix_of(int rank, std::size_t k) {
    const auto n = static_cast<std::int64_t>(k);
    return {rank + 1, n % 7 + 2, 3, rank * 5 + n % 11};
}

/// So many integers, as compilers lay them out for instructions that want their alignment.
template <std::size_t bytes>
struct alignas(bytes) Wide {
    std::array<std::int32_t, bytes / sizeof(std::int32_t)> values;
};

template <typename Element>
void add_aligned(const void* in, void* inout, std::size_t count, void* context) {
    const auto is_aligned = [](const void* place) {
        return reinterpret_cast<std::uintptr_t>(place) % alignof(Element) == 0;
    };
    if (!is_aligned(in) || !is_aligned(inout)) {
        ++*static_cast<std::atomic<int>*>(context);
    }
    const auto* const left = static_cast<const std::byte*>(in);
    auto* const right = static_cast<std::byte*>(inout);
    for (std::size_t i = 0; i < count * sizeof(Element); i += sizeof(std::int32_t)) {
        std::int32_t l = 0, r = 0;
        std::memcpy(&l, left + i, sizeof l);
        std::memcpy(&r, right + i, sizeof r);
        r += l;
        std::memcpy(right + i, &r, sizeof r);
    }
}

template <typename Element>
void expect_aligned(bool commutes) {
    std::atomic<int> misaligned{0};
    trefoil_op_t op{};
    ASSERT_EQ(trefoil_op_create(add_aligned<Element>, &misaligned, sizeof(Element),
                                commutes ? 1 : 0, &op),
              TREFOIL_SUCCESS);
    JobOptions options;
    options.torus = "4";
    run_ranks(4, options, [&](int, trefoil_comm_t comm) {
        for (const std::size_t bytes : {64U, 320U, 1024U, 9600U, 32'000U, 96'000U, 600'000U}) {
            const std::size_t count = bytes / sizeof(Element);
            Element ones, fours;
            ones.values.fill(1);
            fours.values.fill(4);
            std::vector<Element> vector(count, ones);
            ASSERT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, vector.data(), count, TREFOIL_ELEMENT, op,
                                        comm),
                      TREFOIL_SUCCESS)
                << trefoil_last_error(nullptr);
            for (const Element& element : vector) {
                ASSERT_EQ(element.values, fours.values) << bytes;
            }
            EXPECT_EQ(misaligned.exchange(0), 0) << bytes;
        }
    });
    EXPECT_EQ(trefoil_op_free(op), TREFOIL_SUCCESS);
}

TEST(Collectives, OperationsGetElementsThatAreAligned) {
    for (const bool commutes : {false, true}) {
        expect_aligned<Wide<32>>(commutes);
        expect_aligned<Wide<64>>(commutes);
    }
}

TEST(Collectives, OperationsThatDoNotCommuteReduceInRankOrder) {
    const std::string shape = "2x3";
    const Torus torus = Torus::parse(shape);
    std::atomic<int> calls{0};
    trefoil_op_t op{};
    ASSERT_EQ(trefoil_op_create(multiply, &calls, sizeof(Matrix), 0, &op), TREFOIL_SUCCESS);
    JobOptions options;
    options.torus = shape;
    run_ranks(torus.ranks(), options, [&](int rank, trefoil_comm_t comm) {
        for (const std::size_t count : {1UL, 40UL, 3000UL}) {
            std::vector<Matrix> in(count), out(count), expected(count);
            for (std::size_t k = 0; k < count; ++k) {
                in[k] = matrix_of(rank, k);
                expected[k] = matrix_of(0, k);
                std::atomic<int> ignored{0};
                for (int r = 1; r < torus.ranks(); ++r) {
                    Matrix next = matrix_of(r, k);
                    multiply(&expected[k], &next, 1, &ignored);
                    expected[k] = next;
                }
            }
            ASSERT_EQ(trefoil_allreduce(in.data(), out.data(), count, TREFOIL_ELEMENT, op, comm),
                      TREFOIL_SUCCESS)
                << trefoil_last_error(nullptr);
            EXPECT_EQ(out, expected);
        }
        ASSERT_EQ(trefoil_comm_set_algorithm(comm, "allreduce", "swing-b"), TREFOIL_SUCCESS);
        Matrix in = matrix_of(rank, 0), out{};
        EXPECT_EQ(trefoil_allreduce(&in, &out, 1, TREFOIL_ELEMENT, op, comm),
                  TREFOIL_ERROR_UNSUPPORTED);
        EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("rank order"), std::string::npos);
    });
    EXPECT_GT(calls.load(), 0);
    EXPECT_EQ(trefoil_op_free(op), TREFOIL_SUCCESS);
    EXPECT_EQ(trefoil_op_free(op), TREFOIL_ERROR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace trefoil::test::collectives_test
