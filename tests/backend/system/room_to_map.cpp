// SPDX-License-Identifier: BSD-3-Clause
// A process without descriptors or address space says so before a library crashes.
#include "backend/system/room_to_map.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "topo/error.hpp"

namespace trefoil {
namespace {

constexpr std::size_t megabyte = std::size_t{1} << 20;

/// The error while a limit of this process is that low.
std::optional<Error> error_at(__rlimit_resource resource, rlim_t most, std::size_t bytes) {
    rlimit before{};
    EXPECT_EQ(getrlimit(resource, &before), 0);
    const rlimit low{most, before.rlim_max};
    EXPECT_EQ(setrlimit(resource, &low), 0);
    std::optional<Error> found;
    try {
        require_room_to_map(bytes);
    } catch (const Error& error) {
        found = error;
    }
    EXPECT_EQ(setrlimit(resource, &before), 0);
    return found;
}

TEST(RoomToMap, IsThereAsARule) {
    EXPECT_NO_THROW(require_room_to_map(megabyte));
}

TEST(RoomToMap, MayLackDescriptors) {
    const auto error = error_at(RLIMIT_NOFILE, 0, megabyte);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->status(), Status::system_error);
    EXPECT_NE(std::string(error->what()).find("ulimit -n"), std::string::npos);
}

TEST(RoomForFilesAndAThread, MayLackDescriptors) {
    EXPECT_NO_THROW(require_room_for_files_and_a_thread("a library", 4));
    const int free_one = open("/dev/null", O_RDONLY | O_CLOEXEC);  // the lowest that is free
    close(free_one);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit low{static_cast<rlim_t>(free_one) + 1, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
    std::string text;
    try {
        require_room_for_files_and_a_thread("a library", 1'000'000);
    } catch (const Error& error) {
        text = error.what();
    }
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(text.find("a library needs 1000000 descriptors, and this process can have "), 0U)
        << text;
    EXPECT_NE(text.find("ulimit -n"), std::string::npos) << text;
    EXPECT_NO_THROW(require_room_for_files_and_a_thread("a library", 4)) << "nothing was kept";
}

TEST(RoomToMap, MayLackAddressSpace) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers need all of the address space";
#endif
    const auto error = error_at(RLIMIT_AS, 16 * megabyte, std::size_t{1} << 40);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->status(), Status::out_of_memory);
    EXPECT_NE(std::string(error->what()).find("ulimit -v"), std::string::npos);
}

}  // namespace
}  // namespace trefoil
