// SPDX-License-Identifier: BSD-3-Clause
// A variable is added to the environment beside threads that read it.
#include "backend/system/environment_entry.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>

namespace trefoil {
namespace {

std::size_t length_of(char* const* list) {
    std::size_t length = 0;
    while (list[length] != nullptr) {
        ++length;
    }
    return length;
}

TEST(EnvironmentEntry, IsSeenByAllAndTheOldListStays) {
    setenv("TREFOIL_TEST_BEFORE", "1", 1);  // the list is the C library's from now on
    char* const* const before = environ;
    const std::size_t length = length_of(before);
    add_to_environment("TREFOIL_TEST_ENTRY", "first");
    add_to_environment("TREFOIL_TEST_ENTRY", "second");
    EXPECT_STREQ(std::getenv("TREFOIL_TEST_ENTRY"), "first");
    EXPECT_STREQ(std::getenv("TREFOIL_TEST_BEFORE"), "1");
    EXPECT_NE(environ, before);
    EXPECT_EQ(length_of(before), length) << "another thread may be reading it";
    EXPECT_EQ(setenv("TREFOIL_TEST_AFTER", "2", 1), 0);
    EXPECT_STREQ(std::getenv("TREFOIL_TEST_ENTRY"), "first");
    EXPECT_EQ(unsetenv("TREFOIL_TEST_ENTRY"), 0);
    EXPECT_EQ(std::getenv("TREFOIL_TEST_ENTRY"), nullptr);
}

TEST(EnvironmentEntry, DisturbsNobodyWhoReads) {
    std::atomic<bool> over{false};
    std::thread reader([&] {
        while (!over) {
            EXPECT_EQ(std::getenv("TREFOIL_TEST_NEVER_SET"), nullptr);
        }
    });
    for (int i = 0; i < 500; ++i) {
        add_to_environment("TREFOIL_TEST_ENTRY_" + std::to_string(i), std::string(100, 'x'));
    }
    over = true;
    reader.join();
    EXPECT_NE(std::getenv("TREFOIL_TEST_ENTRY_499"), nullptr);
}

}  // namespace
}  // namespace trefoil
