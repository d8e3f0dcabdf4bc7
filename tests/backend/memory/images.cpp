// SPDX-License-Identifier: BSD-3-Clause
// Images: pieces that do not meet, that are used again, and that peers find, in other processes,
// too.
#include "backend/memory/images.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <memory>

#include "backend/memory/group.hpp"

namespace trefoil::memory {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

std::uint64_t address_of(const std::byte* image) {
    return reinterpret_cast<std::uintptr_t>(image);
}

struct Images : testing::Test {
    Images() { pool.add_table(*table); }
    std::unique_ptr<ImageTable> table = std::make_unique<ImageTable>();
    ImagePool pool;
    ImageView view;
};

TEST_F(Images, DoNotMeetAndAreUsedAgain) {
    std::byte* const first = pool.take(100);
    std::byte* const second = pool.take(5000);
    EXPECT_GE(second - first, 100);
    EXPECT_EQ(address_of(first) % 4096, 0U);
    EXPECT_EQ(address_of(second) % 4096, 0U);
    pool.give_back(first);
    EXPECT_EQ(pool.take(4096), first) << "where it fits";
    EXPECT_NE(pool.take(4097), first);
    EXPECT_EQ(table->count.load(), 1U);
}

TEST_F(Images, WhatIsGivenBackIsOnePieceAgain) {
    std::byte* const first = pool.take(mib / 4);
    std::byte* const second = pool.take(mib / 4);
    std::byte* const third = pool.take(mib / 2);
    pool.give_back(first);
    pool.give_back(third);
    pool.give_back(second);
    EXPECT_EQ(pool.take(mib), first);
    EXPECT_EQ(table->count.load(), 1U) << "no more memory was needed";
}

TEST_F(Images, RegionsGrowSoThatFewAreEnough) {
    for (int i = 0; i < 64; ++i) {
        std::memset(pool.take(mib), i, mib);
    }
    EXPECT_LE(table->count.load(), 8U);
}

TEST_F(Images, AreFoundByAnyAddressInThem) {
    std::byte* const small = pool.take(100);
    std::byte* const large = pool.take(3 * mib);  // of another region
    EXPECT_EQ(view.find(*table, address_of(small) + 99), small + 99);
    EXPECT_EQ(view.find(*table, address_of(large) + 3 * mib - 1), large + 3 * mib - 1);
    int elsewhere = 0;
    EXPECT_EQ(view.find(*table, reinterpret_cast<std::uintptr_t>(&elsewhere)), nullptr);
}

TEST_F(Images, AreListedByTablesThatComeLater) {
    std::byte* const before = pool.take(100);
    const auto later = std::make_unique<ImageTable>();
    pool.add_table(*later);
    std::byte* const after = pool.take(3 * mib);
    EXPECT_EQ(view.find(*later, address_of(before)), before);
    EXPECT_EQ(view.find(*later, address_of(after)), after);
    pool.remove_table(*later);
    pool.take(8 * mib);
    EXPECT_EQ(later->count.load(), 2U);
}

TEST_F(Images, WhoseRegionIsGoneAreNotMapped) {
    std::byte* image = nullptr;
    {
        ImagePool gone;
        gone.add_table(*table);
        image = gone.take(100);
    }
    EXPECT_EQ(view.find(*table, address_of(image)), nullptr);
}

TEST(ImagesOfGroups, AreReadByOtherProcesses) {
    const std::vector<Port> ports{Port{0}};
    MemoryGroup owner(ports);
    ASSERT_TRUE(owner.images() != nullptr);
    std::byte* const image = owner.take_image(2 * mib);
    std::memset(image, 7, 2 * mib);
    const std::string address = owner.address(Port{0});
    const pid_t reader = fork();
    ASSERT_GE(reader, 0);
    if (reader == 0) {
        MemoryGroup group(ports);
        const Peer peer = group.connect(Port{0}, address);
        const std::byte* const found = group.image_of(peer, address_of(image) + mib);
        const bool equal = found != nullptr && *found == std::byte{7} &&
                           group.image_of(peer, address_of(image) + mib) == found &&
                           group.image_of(peer, 4096) == nullptr;
        _exit(equal ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(reader, &status, 0), reader);
    EXPECT_EQ(status, 0);
    owner.give_back_image(image);
    EXPECT_EQ(owner.take_image(mib), image);
}

}  // namespace
}  // namespace trefoil::memory
