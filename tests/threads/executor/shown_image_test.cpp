// SPDX-License-Identifier: BSD-3-Clause
// An image that grows: each is given back once, and never two are held.
#include "threads/executor/shown_image.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/backend/ports/silent_group.hpp"
#include "topo/error.hpp"

namespace trefoil::shown_image_test {
namespace {

class Shower final : public test::SilentGroup, public Images {
  public:
    Shower() { powers_.images = this; }
    std::byte* take_image(std::size_t bytes) override {
        if (bytes > most) {
            throw Error(Status::out_of_memory, "the images are full");
        }
        std::byte* const image = allocate(bytes).data;
        held.insert(image);
        return image;
    }
    void give_back_image(std::byte* image) noexcept override { EXPECT_EQ(1U, held.erase(image)); }
    std::byte* image_of(Peer, std::uint64_t) noexcept override { return nullptr; }

    std::size_t most = 1000;
    std::set<std::byte*> held;
};

TEST(ShownImage, GivesBackWhatItOutgrowsAndTheLastOne) {
    const auto group = std::make_shared<Shower>();
    {
        ShownImage image;
        image.reserve(group, 100);
        std::byte* const first = image.data();
        EXPECT_EQ(std::set{first}, group->held);
        image.reserve(group, 50);
        EXPECT_EQ(first, image.data()) << "there is room";
        image.reserve(group, 200);
        EXPECT_EQ(std::set{image.data()}, group->held) << "one only";
    }
    EXPECT_TRUE(group->held.empty());
    EXPECT_EQ(1, group.use_count()) << "it holds the group no longer than the image";
}

TEST(ShownImage, HoldsNothingWhereThereIsNoRoom) {
    const auto group = std::make_shared<Shower>();
    ShownImage image;
    image.reserve(group, 100);
    EXPECT_THROW(image.reserve(group, 2000), Error);
    EXPECT_EQ(nullptr, image.data());
    EXPECT_TRUE(group->held.empty());
    image.reserve(group, 50);
    EXPECT_EQ(std::set{image.data()}, group->held) << "what was there before does not count";
}

}  // namespace
}  // namespace trefoil::shown_image_test
