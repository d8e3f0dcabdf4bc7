// SPDX-License-Identifier: BSD-3-Clause
// Backend "utofu" where there is no libtofucom, or one that is not uTofu's: TREFOIL_TEST_LACKS says
// what it must say.
#include <gtest/gtest.h>

#include <cstdlib>

#include "backend/registry/libraries.hpp"
#include "backend/registry/transports.hpp"

namespace trefoil {
namespace {

TEST(UtofuAbsent, SaysWhyAndIsNeverTakenByItself) {
    const char* const lacks = std::getenv("TREFOIL_TEST_LACKS");
    if (lacks == nullptr) {
        GTEST_SKIP() << "TREFOIL_TEST_LACKS says what is missing";
    }
    BackendConfig config;
    config.groups = {{Port{0}}};
    try {
        open_backend("utofu", config);
        FAIL() << "it opened";
    } catch (const Error& error) {
        const std::string text = error.what();
        EXPECT_EQ(error.status(), Status::not_found);
        EXPECT_NE(text.find(lacks), std::string::npos) << text;
        EXPECT_NE(text.find("libtofucom.so"), std::string::npos) << text;
    }
    EXPECT_FALSE(registered_transport("utofu")->usable());
    EXPECT_NE(default_transport(false).name, "utofu");
    bool told = false;
    for (const LibraryInfo& library : libraries()) {
        told |= library.name == "uTofu" && library.version.empty() &&
                library.note.find(lacks) != std::string::npos;
    }
    EXPECT_TRUE(told);
}

}  // namespace
}  // namespace trefoil
