// SPDX-License-Identifier: BSD-3-Clause
// The pool of programs: equal ones are one, others are not, and what nobody uses is forgotten.
#include "comm/plan/program_pool.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace trefoil {
namespace {

Program program_of(std::size_t bytes, std::uint32_t channel = 0) {
    Program program;
    program.puts.resize(1);
    program.puts.front().channel = channel;
    program.puts.front().bytes = bytes;
    program.steps.resize(1);
    program.steps.front().puts = {0, 1};
    program.parts.push_back({0, 1});
    return program;
}

TEST(ProgramPool, KeepsEqualProgramsOnce) {
    ProgramPool pool;
    const auto first = pool.share(program_of(8));
    EXPECT_EQ(pool.share(program_of(8)), first);
    EXPECT_NE(pool.share(program_of(16)), first);
    EXPECT_NE(pool.share(program_of(8, 1)), first);
    EXPECT_EQ(*first, program_of(8));
}

/// The hash does not look at all that a program is.
TEST(ProgramPool, TellsApartWhatHasOneHash) {
    ProgramPool pool;
    const auto first = pool.share(program_of(8));
    Program other = program_of(8);
    other.puts.front().landing_offset = 64;
    const auto second = pool.share(other);
    EXPECT_NE(second, first);
    EXPECT_EQ(second->puts.front().landing_offset, 64U);
    EXPECT_EQ(pool.share(program_of(8)), first);
    EXPECT_EQ(pool.share(other), second);
}

TEST(ProgramPool, ForgetsWhatNobodyUses) {
    ProgramPool pool;
    const auto kept = pool.share(program_of(1));
    for (std::size_t i = 2; i < 1000; ++i) {
        (void)pool.share(program_of(i));
    }
    EXPECT_EQ(pool.size(), 1U);
    EXPECT_EQ(pool.share(program_of(1)), kept);
    std::vector<std::shared_ptr<const Program>> all;
    for (std::size_t i = 1; i <= 300; ++i) {
        all.push_back(pool.share(program_of(i)));
    }
    EXPECT_EQ(pool.size(), 300U);
    EXPECT_EQ(all.front(), kept);
}

}  // namespace
}  // namespace trefoil
