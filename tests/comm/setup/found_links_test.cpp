// SPDX-License-Identifier: BSD-3-Clause
// What NICs and times say of links becomes a description of the network.
#include "comm/setup/found_links.hpp"

#include <gtest/gtest.h>

namespace trefoil::found_links_test {
namespace {

std::vector<std::vector<PortLink>> all_alike(const Fabric& fabric, std::int64_t megabits) {
    return std::vector(
        static_cast<std::size_t>(fabric.ranks()),
        std::vector<PortLink>(static_cast<std::size_t>(fabric.torus().ports()), {true, megabits}));
}

TEST(FoundLinks, ACableIsDownWhereEitherEndHasNoLink) {
    const Fabric whole = Fabric::parse("3x3");
    auto told = all_alike(whole, 0);
    EXPECT_EQ(with_port_links(whole, told).name(), "3x3");
    told[4][0].works = false;
    EXPECT_EQ(with_port_links(whole, told).name(), "3x3:cable=+0@4");
    told[4][0].works = true;
    told[7][1].works = false;  // the other end
    EXPECT_EQ(with_port_links(whole, told).name(), "3x3:cable=+0@4");
}

TEST(FoundLinks, ACableIsAsFastAsItsSlowerEnd) {
    const Fabric whole = Fabric::parse("4");
    auto told = all_alike(whole, 100000);
    told[2][0].megabits = 25000;
    told[0][1].megabits = 0;  // does not know
    EXPECT_EQ(with_port_links(whole, told).name(), "4:cable=+0@2=0.25");
    EXPECT_EQ(with_port_links(Fabric::parse("4:cable=+0@2=0.1:node=0"),
                              all_alike(Fabric::parse("4:node=0"), 40))
                  .name(),
              "4:node=0:cable=+0@2=0.1");
}

TEST(FoundLinks, SurviveTheirWayToTheOthers) {
    const std::vector<PortLink> links =
        decode_links(encode(std::vector<PortLink>{{true, 100}, {false, 0}}));
    ASSERT_EQ(links.size(), 2U);
    EXPECT_TRUE(links[0].works && links[0].megabits == 100 && !links[1].works);
}

TEST(FoundLinks, TimesAreComparedWithTheMedian) {
    const Fabric whole = Fabric::parse("3x3");
    std::vector<std::vector<std::uint64_t>> times(9, std::vector<std::uint64_t>(4, 1000));
    EXPECT_EQ(with_times(whole, times).name(), "3x3");
    times[4][0] = 1150;  // noise
    EXPECT_EQ(with_times(whole, times).name(), "3x3");
    times[4][0] = 2000;
    EXPECT_EQ(with_times(whole, times).name(), "3x3:link=+0@4=0.5");
    times[7][1] = 2300;  // the way back: 0.43
    EXPECT_EQ(with_times(whole, times).name(), "3x3:cable=+0@4=0.45");
    times[0][2] = 1000000;
    EXPECT_EQ(with_times(whole, times).name(), "3x3:link=+1@0=0.001:cable=+0@4=0.45");
    EXPECT_EQ(with_times(whole, std::vector(9, std::vector<std::uint64_t>(4))).name(), "3x3");
}

}  // namespace
}  // namespace trefoil::found_links_test
