// SPDX-License-Identifier: BSD-3-Clause
// The program's locale is out of sight for a while, in one thread.
#include "backend/system/plain_locale.hpp"

#include <gtest/gtest.h>
#include <langinfo.h>

#include <string>
#include <thread>

namespace trefoil {
namespace {

std::string letters() {
    return nl_langinfo(CODESET);
}

TEST(PlainLocale, IsThatOfOneThreadUntilTheEndOfTheScope) {
    if (setlocale(LC_ALL, "C.UTF-8") == nullptr) {
        GTEST_SKIP() << "this system has no C.UTF-8";
    }
    EXPECT_EQ(letters(), "UTF-8");
    {
        const PlainLocale plain;
        EXPECT_NE(letters(), "UTF-8");
        std::string others;
        std::thread([&] { others = letters(); }).join();
        EXPECT_EQ(others, "UTF-8");
    }
    EXPECT_EQ(letters(), "UTF-8");
    setlocale(LC_ALL, "C");
}

}  // namespace
}  // namespace trefoil
