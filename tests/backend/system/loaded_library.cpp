// SPDX-License-Identifier: BSD-3-Clause
// Libraries that are loaded when they are needed: what is said when they are missing, and that
// nobody pays for libfabric who does not use it.
#include "backend/system/loaded_library.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <thread>

#include "tests/backend/registry/transports_to_test.hpp"
#include "tests/denied_calls.hpp"

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

TEST(LoadedLibrary, IsNotLoadedWhereItWouldWaitForEver) {
    EXPECT_NO_THROW(require_affinity_to_be_told("Example", "do without"));
    bool denied = false;
    std::string said;
    std::thread sandbox([&] {  // the filter is this thread's alone
        denied = test::forbid_system_calls({{SYS_sched_getaffinity}});
        try {
            require_affinity_to_be_told("Example", "do without");
        } catch (const Error& error) {
            said = error.what();
        }
    });
    sandbox.join();
    if (!denied) {
        GTEST_SKIP() << "no seccomp filter here";
    }
    EXPECT_EQ(said.find("Example: this process may not ask which cores it has"), 0U) << said;
    EXPECT_NE(said.find("or do without"), std::string::npos) << said;
}

void handler_of_the_program(int) {}

/// Those that libraries below replace when they are loaded, or look for devices.
constexpr int handled[] = {SIGTERM, SIGINT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

bool has_its_handlers() {
    return std::all_of(std::begin(handled), std::end(handled), [](int number) {
        struct sigaction now {};
        return sigaction(number, nullptr, &now) == 0 && now.sa_handler == handler_of_the_program;
    });
}

TEST(LoadedLibrary, LeavesTheProgramItsHandlers) {
    for (const std::string& backend : test::backends_to_test()) {
        const Transport& transport = *registered_transport(backend);
        if (transport.library == nullptr) {
            continue;
        }
        const pid_t child = fork();
        if (child == 0) {
            alarm(30);
            for (const int number : handled) {
                signal(number, handler_of_the_program);
            }
            transport.library();
            const bool loaded = has_its_handlers();
            transport.providers();
            const bool asked = has_its_handlers();
            BackendConfig config;
            config.groups = {{Port{0}, Port{1}}};
            open_backend(backend, config);
            _exit(!loaded ? 1 : !asked ? 2 : !has_its_handlers() ? 3 : 0);
        }
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << backend << ": " << status;
    }
}

/// Before and after it is asked for its version.
TEST(LoadedLibrary, IsThereOnceItIsUsed) {
    struct Known {
        const char *backend, *name, *file;
    };
    for (const Known& one :
         {Known{"ofi", "libfabric", "libfabric.so.1"}, Known{"ucx", "UCX", "libucp.so.0"}}) {
        if (!test::is_built(one.backend)) {
            continue;
        }
        EXPECT_FALSE(is_loaded(one.file));
        const LibraryInfo told = registered_transport(one.backend)->library();
        EXPECT_EQ(told.name, one.name);
        EXPECT_FALSE(told.version.empty()) << told.note;
        EXPECT_TRUE(is_loaded(one.file));
    }
}

}  // namespace
}  // namespace trefoil::loaded_library
