// SPDX-License-Identifier: BSD-3-Clause
// Real allreduces over the memory backend: every algorithm, many shapes, counts and types, checked
// element by element on every rank.
#include <array>
#include <cmath>

#include "algorithms/registry/registry.hpp"
#include "algorithms/schedule/algorithm.hpp"
#include "tests/sanitizers.hpp"
#include "thread_job.hpp"
#include "threads/kernels/reduce.hpp"
#include "topo/torus.hpp"

namespace trefoil::test::allreduce_test {
namespace {

constexpr std::size_t period = 5;

/// Small integers, so that sums over all ranks are exact in every type that is tested.
int value(int rank, std::size_t i) {
    return static_cast<int>((i * 7 + rank * 3) % period) - 2;
}

std::array<int, period> sums(int ranks) {
    std::array<int, period> result{};
    for (std::size_t i = 0; i < period; ++i) {
        for (int r = 0; r < ranks; ++r) {
            result[i] += value(r, i);
        }
    }
    return result;
}

template <typename T>
struct Element {
    static T make(int v) { return static_cast<T>(v); }
};
struct BFloat16 {
    std::uint16_t bits;
    bool operator==(const BFloat16&) const = default;
};
template <>
struct Element<BFloat16> {
    static BFloat16 make(int v) { return {to_bfloat16(static_cast<float>(v))}; }
};

template <typename T>
void check_sum(trefoil_comm_t comm, int rank, int ranks, trefoil_datatype_t type, std::size_t count,
               bool in_place, const std::string& what) {
    constexpr std::size_t guard = 8;
    const T poison = Element<T>::make(99);
    std::vector<T> send(count + 1, poison), recv(count + 2 * guard, poison);
    for (std::size_t i = 0; i < count; ++i) {
        send[i] = Element<T>::make(value(rank, i));
        if (in_place) {
            recv[guard + i] = send[i];
        }
    }
    const std::vector<T> before = send;
    const void* from = in_place ? TREFOIL_IN_PLACE : send.data();
    ASSERT_EQ(trefoil_allreduce(from, recv.data() + guard, count, type, TREFOIL_SUM, comm),
              TREFOIL_SUCCESS)
        << what << ": " << trefoil_last_error(nullptr);
    const std::array<int, period> expected = sums(ranks);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
        wrong += recv[guard + i] == Element<T>::make(expected[i % period]) ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0U) << what << " count " << count << " rank " << rank;
    for (std::size_t i = 0; i < guard; ++i) {
        EXPECT_TRUE(recv[i] == poison && recv[guard + count + i] == poison) << what;
    }
    EXPECT_TRUE(send == before) << what << ": the send buffer changed";
}

// Sanitizers look at every element: they get fewer of them.
const std::vector<std::size_t> counts{0, 1, 7, 1000, sanitized ? 9001U : 70001U};

/// One of the types in turn: an algorithm does not know the type, so it meets each with some count.
void check_next_type(trefoil_comm_t comm, int rank, int ranks, std::size_t count,
                     const std::string& what, int turn) {
    switch (turn % 4) {
        case 0:
            return check_sum<float>(comm, rank, ranks, TREFOIL_FLOAT, count, false, what);
        case 1:
            return check_sum<double>(comm, rank, ranks, TREFOIL_DOUBLE, count, true, what);
        case 2:
            return check_sum<std::int32_t>(comm, rank, ranks, TREFOIL_INT32, count, true, what);
        default:
            return check_sum<BFloat16>(comm, rank, ranks, TREFOIL_BFLOAT16, count, false, what);
    }
}

void check_algorithms(const std::string& shape, const JobOptions& base) {
    const Torus torus = Torus::parse(shape);
    std::vector<std::string> names{"auto"};
    for (const Algorithm& a : algorithms()) {
        if (a.collective == Collective::allreduce && a.refusal(torus).empty()) {
            names.emplace_back(a.name);
        }
    }
    JobOptions options = base;
    options.torus = shape;
    run_ranks(torus.ranks(), options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        int turn = torus.ranks();  // so that the tori differ
        for (const std::string& name : names) {
            ASSERT_EQ(trefoil_comm_set_algorithm(comm, "allreduce", name.c_str()), TREFOIL_SUCCESS);
            for (const std::size_t count : counts) {
                check_next_type(comm, rank, torus.ranks(), count, name + " on " + shape, turn++);
                if (testing::Test::HasFatalFailure()) {
                    return;
                }
            }
            ASSERT_EQ(trefoil_barrier(comm), TREFOIL_SUCCESS);
        }
    });
}

class AllreduceShapes : public testing::TestWithParam<const char*> {};

TEST_P(AllreduceShapes, EveryAlgorithmIsRightOnTheCallingThread) {
    check_algorithms(GetParam(), {});
}

INSTANTIATE_TEST_SUITE_P(Tori, AllreduceShapes,
                         testing::Values("1", "2", "3", "5", "8", "9", "2x2", "3x3", "2x3", "3x5",
                                         "4x4", "2x2x2", "1x3"),
                         name_of_shape);

TEST(Allreduce, EveryAlgorithmIsRightWithAThreadPerPort) {
    JobOptions options;
    options.port_threads = 4;
    check_algorithms("2x3", options);
}

TEST(Allreduce, EveryAlgorithmIsRightWithTwoPortThreads) {
    JobOptions options;
    options.port_threads = 2;
    check_algorithms("3x3", options);
}

TEST(Allreduce, ManySegmentsAreRight) {
    const std::size_t count = 3'000'001;  // 12 MB: a dozen segments, the last one shorter
    JobOptions options;
    options.torus = "2x2";
    options.algorithm = "bucket";
    run_ranks(4, options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        check_sum<float>(comm, rank, 4, TREFOIL_FLOAT, count, false, "bucket");
        check_sum<float>(comm, rank, 4, TREFOIL_FLOAT, count, true, "bucket");
    });
}

TEST(Allreduce, ResultsAreBitwiseIdenticalWhereClaimed) {
    constexpr std::size_t count = 4099;
    for (const std::string shape : {"7", "9", "3x3", "2x3"}) {
        const Torus torus = Torus::parse(shape);
        for (const Algorithm& algorithm : algorithms()) {
            if (algorithm.collective != Collective::allreduce ||
                !algorithm.traits.identical_results || !algorithm.refusal(torus).empty()) {
                continue;
            }
            std::vector<std::vector<float>> results(torus.ranks());
            JobOptions options;
            options.torus = shape;
            options.algorithm = algorithm.name;
            run_ranks(torus.ranks(), options, [&](int rank, trefoil_comm_t comm) {
                ASSERT_NE(comm, nullptr);
                std::vector<float> data(count);
                for (std::size_t i = 0; i < count; ++i) {
                    const int exponent = static_cast<int>((i * 31 + rank * 17) % 40) - 20;
                    data[i] = std::ldexp(1.0F + static_cast<float>(rank) * 0.1F, exponent);
                }
                ASSERT_EQ(trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), count, TREFOIL_FLOAT,
                                            TREFOIL_SUM, comm),
                          TREFOIL_SUCCESS);
                results[rank] = data;
            });
            for (const auto& result : results) {
                ASSERT_EQ(result.size(), count);
                EXPECT_EQ(0, std::memcmp(result.data(), results[0].data(), count * sizeof(float)))
                    << algorithm.name << " on " << shape;
            }
        }
    }
}

TEST(Allreduce, AutoChoosesOnlyAlgorithmsWithIdenticalResults) {
    for (const std::string shape : {"2", "3", "7", "9", "3x3", "4x4", "2x3", "2x2x2"}) {
        const Torus torus = Torus::parse(shape);
        JobOptions options;
        options.torus = shape;
        run_ranks(torus.ranks(), options, [&](int, trefoil_comm_t comm) {
            ASSERT_NE(comm, nullptr);
            for (std::size_t count = 1; count <= std::size_t{1} << 28; count *= 4) {
                const char* name = nullptr;
                ASSERT_EQ(trefoil_comm_algorithm(comm, "allreduce", count, TREFOIL_FLOAT, &name),
                          TREFOIL_SUCCESS);
                EXPECT_TRUE(
                    find_algorithm(Collective::allreduce, name, &torus).traits.identical_results);
            }
        });
    }
}

}  // namespace
}  // namespace trefoil::test::allreduce_test
