// SPDX-License-Identifier: BSD-3-Clause
// Ranks that reduce by different instruction sets give the same bits as ranks that all have the
// baseline: a job may run on processors of several kinds.
#include <gtest/gtest.h>
#include <unistd.h>

#include <random>
#include <vector>

#include "process_job.hpp"
#include "threads/kernels/checksum.hpp"
#include "threads/kernels/reduce.hpp"

namespace trefoil::test::mixed_instructions_test {
namespace {

constexpr std::size_t count = 3001;
constexpr int ranks = 4;

/// Numbers between 1/4 and 4 of either sign: no NaN comes out, of which any may.
template <typename Value, typename Convert>
std::vector<Value> numbers(int rank, std::size_t size, Convert convert) {
    std::mt19937 random(static_cast<unsigned>(rank) + 7);
    std::vector<Value> values(size);
    for (Value& value : values) {
        const float number = 0.25F + static_cast<float>(random() % 3750) / 1000;
        value = convert(random() % 2 == 0 ? number : -number);
    }
    return values;
}

/// Adds the result's checksum to `sum`; false: the call has failed.
template <typename Value>
bool reduce(std::vector<Value> data, std::size_t elements, trefoil_datatype_t type,
            trefoil_op_t operation, trefoil_comm_t comm, std::uint32_t& sum) {
    const bool ok = trefoil_allreduce(TREFOIL_IN_PLACE, data.data(), elements, type, operation,
                                      comm) == TREFOIL_SUCCESS;
    sum = crc32c(data.data(), data.size() * sizeof(Value), sum);
    return ok;
}

bool reduce_all(int rank, trefoil_comm_t comm, std::uint32_t& sum) {
    const auto same = [](float number) { return number; };
    const auto twice = [](float number) { return static_cast<double>(number); };
    const auto floats = numbers<float>(rank, 2 * count, same);
    const auto doubles = numbers<double>(rank, 2 * count, twice);
    const auto halves = numbers<std::uint16_t>(rank, count, to_float16);
    const auto brains = numbers<std::uint16_t>(rank, count, to_bfloat16);
    bool ok = true;
    for (const trefoil_op_t op : {TREFOIL_SUM, TREFOIL_PROD, TREFOIL_MIN, TREFOIL_MAX}) {
        ok = ok && reduce(floats, 2 * count, TREFOIL_FLOAT, op, comm, sum) &&
             reduce(doubles, 2 * count, TREFOIL_DOUBLE, op, comm, sum) &&
             reduce(halves, count, TREFOIL_FLOAT16, op, comm, sum) &&
             reduce(brains, count, TREFOIL_BFLOAT16, op, comm, sum);
    }
    for (const trefoil_op_t op : {TREFOIL_SUM, TREFOIL_PROD}) {
        ok = ok && reduce(floats, count, TREFOIL_COMPLEX_FLOAT, op, comm, sum) &&
             reduce(doubles, count, TREFOIL_COMPLEX_DOUBLE, op, comm, sum);
    }
    return ok;
}

/// The checksums of all ranks' results, rank r reducing by sets[r % ...].
std::vector<std::uint32_t> results(const std::vector<std::string>& sets) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(pipe(ends), 0);
    const auto body = [&](int rank, trefoil_comm_t comm) {
        std::uint32_t sum = 0;
        if (!reduce_all(rank, comm, sum)) {
            fprintf(stderr, "rank %d: %s\n", rank, trefoil_last_error(comm));
            return 1;
        }
        return write(ends[1], &sum, sizeof sum) == static_cast<ssize_t>(sizeof sum) ? 0 : 2;
    };
    const auto set_own = [&](int rank) {
        const std::string& own = sets[static_cast<std::size_t>(rank) % sets.size()];
        return setenv("TREFOIL_INSTRUCTIONS", own.c_str(), 1) == 0 &&
               to_string(best_instructions()) == own;
    };
    // Without single copy every rank reduces what arrives.
    const Job job = start(ranks, "2x2", "memory", body, {{"TREFOIL_SINGLE_COPY", "0"}}, set_own);
    close(ends[1]);
    const StoreServer store;
    job.meet_at(store.port());
    const auto deadline = Clock::now() + std::chrono::seconds(60);
    for (const pid_t pid : job.pids) {
        EXPECT_EQ(finish(pid, deadline), 0);
    }
    std::vector<std::uint32_t> sums;
    std::uint32_t sum = 0;
    while (read(ends[0], &sum, sizeof sum) == static_cast<ssize_t>(sizeof sum)) {
        sums.push_back(sum);
    }
    close(ends[0]);
    return sums;
}

TEST(MixedInstructions, GiveTheBitsOfOneSet) {
    std::vector<std::string> sets;
    for (int i = 0; i < instructions_count; ++i) {
        const std::string name(to_string(static_cast<Instructions>(i)));
        if (instructions_named(name)) {
            sets.push_back(name);
        }
    }
    if (sets.size() == 1) {
        GTEST_SKIP() << "this processor has one instruction set only";
    }
    const std::vector<std::uint32_t> expected = results({"baseline"});
    ASSERT_EQ(expected.size(), static_cast<std::size_t>(ranks));
    EXPECT_EQ(expected, std::vector<std::uint32_t>(ranks, expected[0]));
    EXPECT_EQ(results(sets), expected);
    EXPECT_EQ(results({sets.back(), sets.front()}), expected);
}

}  // namespace
}  // namespace trefoil::test::mixed_instructions_test
