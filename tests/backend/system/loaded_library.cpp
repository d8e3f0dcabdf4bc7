// SPDX-License-Identifier: BSD-3-Clause
// Libraries that are loaded when they are needed: what is said when they are missing, and that
// nobody pays for libfabric who does not use it.
#include "backend/system/loaded_library.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "backend/registry/libraries.hpp"
#include "tests/backend/registry/transports_to_test.hpp"

namespace trefoil::loaded_library {
namespace {

std::string refusal(const char* file, const char* symbol) {
    try {
        const LoadedLibrary library("Example", file, "libexample1", "do without");
        double (*function)(double) = nullptr;
        library.find(symbol, function);
        return function(0) == 1 ? "" : "another function";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::not_found);
        return error.what();
    }
}

bool is_loaded(const char* file) {
    void* const handle = dlopen(file, RTLD_NOW | RTLD_NOLOAD);
    if (handle != nullptr) {
        dlclose(handle);
    }
    return handle != nullptr;
}

TEST(LoadedLibrary, GivesFunctions) {
    EXPECT_EQ(refusal("libm.so.6", "cos"), "");
}

TEST(LoadedLibrary, SaysWhatIsMissing) {
    const std::string no_file = refusal("libexample.so.1", "cos");
    EXPECT_EQ(no_file.find("Example: cannot load the library: libexample.so.1"), 0U) << no_file;
    EXPECT_NE(no_file.find("install it (Debian: libexample1)"), std::string::npos) << no_file;
    EXPECT_NE(no_file.find("or do without"), std::string::npos) << no_file;
    const std::string no_symbol = refusal("libm.so.6", "no_such_function");
    EXPECT_EQ(no_symbol.find("Example: libm.so.6 has no no_such_function: "), 0U) << no_symbol;
}

TEST(LoadedLibrary, IsThereOnceItIsUsed) {
    if (!test::is_built("ofi")) {
        GTEST_SKIP() << "nothing else is loaded at run time";
    }
    EXPECT_FALSE(is_loaded("libfabric.so.1"));
    const auto known = libraries();
    const auto libfabric = std::find_if(known.begin(), known.end(), [](const LibraryInfo& library) {
        return library.name == "libfabric";
    });
    ASSERT_NE(libfabric, known.end());
    EXPECT_FALSE(libfabric->version.empty()) << libfabric->note;
    EXPECT_TRUE(is_loaded("libfabric.so.1"));
}

}  // namespace
}  // namespace trefoil::loaded_library
