// SPDX-License-Identifier: BSD-3-Clause
// TREFOIL_AVG: by every algorithm the bits of its own sum, divided once, on every rank that takes
// the result.
#include <cstdint>
#include <string>
#include <vector>

#include "algorithms/registry/registry.hpp"
#include "algorithms/schedule/algorithm.hpp"
#include "tests/sanitizers.hpp"
#include "thread_job.hpp"
#include "topo/torus.hpp"

namespace trefoil::test::average_test {
namespace {

template <typename T>
std::vector<T> inputs(int rank, std::size_t count) {
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto number = static_cast<double>((i * 7919 + 31) % 1009) - 504;
        values[i] = static_cast<T>(number / 3 * (rank + 1));
    }
    return values;
}

/// What a rank takes of one call; in place where asked.
template <typename T>
std::vector<T> taken(trefoil_comm_t comm, Collective collective, trefoil_op_t op,
                     trefoil_datatype_t type, int rank, int ranks, std::size_t count,
                     bool in_place) {
    const int root = ranks - 1;
    const bool blocks = collective == Collective::reduce_scatter;
    const auto parts = static_cast<std::size_t>(blocks ? ranks : 1);
    std::vector<T> send = inputs<T>(rank, count * parts), recv = send;
    const bool here = collective != Collective::reduce || rank == root;
    const void* const from = in_place && here ? TREFOIL_IN_PLACE : send.data();
    const trefoil_status_t status =
        blocks ? trefoil_reduce_scatter_block(from, recv.data(), count, type, op, comm)
        : collective == Collective::reduce
            ? trefoil_reduce(from, recv.data(), count, type, op, root, comm)
            : trefoil_allreduce(from, recv.data(), count, type, op, comm);
    EXPECT_EQ(status, TREFOIL_SUCCESS) << trefoil_last_error(nullptr);
    recv.resize(here ? count : 0);
    return recv;
}

template <typename T>
void check_type(trefoil_comm_t comm, Collective collective, trefoil_datatype_t type, int rank,
                int ranks) {
    constexpr std::size_t many = sanitized ? 4'000 : 40'000;
    for (const std::size_t count : {std::size_t{1}, std::size_t{37}, many}) {
        for (const bool in_place : {false, true}) {
            std::vector<T> sum =
                taken<T>(comm, collective, TREFOIL_SUM, type, rank, ranks, count, in_place);
            const std::vector<T> average =
                taken<T>(comm, collective, TREFOIL_AVG, type, rank, ranks, count, in_place);
            for (T& value : sum) {
                value = static_cast<T>(value / static_cast<T>(ranks));
            }
            ASSERT_EQ(sum.size(), average.size());
            ASSERT_TRUE(sum.empty() ||
                        std::memcmp(sum.data(), average.data(), sum.size() * sizeof(T)) == 0)
                << "type " << type << ", count " << count << (in_place ? ", in place" : "");
        }
    }
}

class Average : public testing::TestWithParam<const char*> {};

TEST_P(Average, IsTheSumDividedByEveryAlgorithm) {
    const Torus torus = Torus::parse(GetParam());
    JobOptions options;
    options.torus = GetParam();
    run_ranks(torus.ranks(), options, [&](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr) << trefoil_last_error(nullptr);
        int turn = 0;
        for (const Algorithm& a : algorithms()) {
            const bool known = a.collective == Collective::allreduce ||
                               a.collective == Collective::reduce ||
                               a.collective == Collective::reduce_scatter;
            if (!known || !a.refusal(torus).empty()) {
                continue;
            }
            SCOPED_TRACE(std::string(to_string(a.collective)) + " by " + std::string(a.name));
            ASSERT_EQ(trefoil_comm_set_algorithm(comm, std::string(to_string(a.collective)).c_str(),
                                                 std::string(a.name).c_str()),
                      TREFOIL_SUCCESS);
            if (++turn % 2 == 0) {
                check_type<float>(comm, a.collective, TREFOIL_FLOAT, rank, torus.ranks());
            } else {
                check_type<std::int32_t>(comm, a.collective, TREFOIL_INT32, rank, torus.ranks());
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Shapes, Average, testing::Values("1", "2", "5", "2x3", "3x3", "2x2x2"),
                         name_of_shape);

TEST(AverageOfAPair, IsRefused) {
    JobOptions options;
    options.torus = "3";
    run_ranks(3, options, [&](int, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        std::vector<char> send(16), recv(16, 7);
        EXPECT_EQ(
            trefoil_allreduce(send.data(), recv.data(), 2, TREFOIL_FLOAT_INT, TREFOIL_AVG, comm),
            TREFOIL_ERROR_UNSUPPORTED);
        EXPECT_NE(std::string(trefoil_last_error(nullptr)).find("avg makes no sense"),
                  std::string::npos);
        EXPECT_EQ(recv, std::vector<char>(16, 7));
    });
}

}  // namespace
}  // namespace trefoil::test::average_test
