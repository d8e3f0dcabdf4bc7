// SPDX-License-Identifier: BSD-3-Clause
// Keys of landing memory: who was not told one can only guess it.
#pragma once

#include <gtest/gtest.h>

#include <set>

#include "backend/ports/transport.hpp"

namespace trefoil::test {

/// Those of four pieces of memory, of two groups that are opened one after the other.
inline void expect_keys_that_must_be_guessed(const Transport& transport,
                                             const BackendConfig& config) {
    std::set<std::uint64_t> keys;
    for (int i = 0; i < 2; ++i) {
        const auto groups = transport.open(config);
        for (int j = 0; j < 2; ++j) {
            const LocalMemory memory = groups[0]->allocate(4096);
            keys.insert(groups[0]->import_memory(groups[0]->describe(memory)).key);
        }
    }
    ASSERT_EQ(keys.size(), 4U) << "equal ones in two groups";
    std::uint64_t before = 0;
    for (const std::uint64_t key : keys) {
        EXPECT_GT(key - before, 1000U) << "they are counted";
        before = key;
    }
}

}  // namespace trefoil::test
