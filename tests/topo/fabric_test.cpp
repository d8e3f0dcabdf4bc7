// SPDX-License-Identifier: BSD-3-Clause
// Fabrics: what text says, which links are left, and what is refused.
#include "topo/fabric.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "topo/error.hpp"

namespace trefoil {
namespace {

std::size_t links(const std::string& text) {
    return Fabric::parse(text).links().size();
}

TEST(Fabric, SaysWhatItReads) {
    for (const char* text :
         {"9", "3x3", "4mx4", "4x4:node=5", "4x4:node=5=0.5", "3x3:cable=+0@4", "3x3:link=-1@4",
          "3x3:cable=+0@4=0.125", "4x4x8:twist=0=2+4:twist=1=2+4", "2x2:cable=+0@0:cable=+0@2",
          "4x4:node=0:node=5=0.5:link=+0@9=0.25:cable=+1@9"}) {
        EXPECT_EQ(Fabric::parse(text).name(), text);
        EXPECT_EQ(Fabric::parse(text), Fabric::parse(Fabric::parse(text).name()));
    }
    EXPECT_EQ(Fabric::parse("3x3:link=+0@0:link=-0@3").name(), "3x3:cable=+0@0");
    EXPECT_EQ(Fabric::parse("3x3:cable=-0@3=0.50").name(), "3x3:cable=+0@0=0.5");
    EXPECT_EQ(Fabric::parse("3x3:node=4=1:cable=+0@0=1").name(), "3x3");
    EXPECT_TRUE(Fabric::parse("3x3").is_whole());
    EXPECT_FALSE(Fabric::parse("3x3:link=+0@0").is_whole());
}

TEST(Fabric, HasTheLinksThatWork) {
    EXPECT_EQ(links("3x3"), 36U);
    EXPECT_EQ(links("3x3:cable=+0@4"), 34U);
    EXPECT_EQ(links("3x3:link=+0@4"), 35U);
    EXPECT_EQ(links("3x3:cable=+0@4=0.5"), 36U);
    EXPECT_EQ(links("4x4:node=5"), 56U);
    EXPECT_EQ(links("4mx4m"), 48U);
    EXPECT_EQ(links("2x1"), 4U);
    EXPECT_EQ(links("2mx1"), 2U);
    EXPECT_EQ(links("4x4:node=0:node=1:node=4:node=5"), 40U);
}

TEST(Fabric, NumbersThoseThatAreThere) {
    const Fabric fabric = Fabric::parse("4x4:node=5");
    EXPECT_EQ(fabric.ranks(), 15);
    EXPECT_EQ(fabric.rank_of(5), -1);
    EXPECT_EQ(fabric.rank_of(6), 5);
    EXPECT_EQ(fabric.place_of(5), 6);
    EXPECT_TRUE(fabric.is_connected());
    EXPECT_FALSE(Fabric::parse("3m:node=1").is_connected());
    EXPECT_FALSE(Fabric::parse("3m:link=+0@0").is_connected());
    EXPECT_TRUE(Fabric::parse("3:node=1").is_connected());
}

TEST(Fabric, TakesTheLowestOfALinksRates) {
    const Fabric fabric = Fabric::parse("3x3:node=4=0.5:cable=+0@4=0.25:link=+0@0=0.75");
    EXPECT_EQ(fabric.rate({4, Port::plus(0)}), 250);
    EXPECT_EQ(fabric.rate({7, Port::minus(0)}), 250);
    EXPECT_EQ(fabric.rate({4, Port::plus(1)}), 500);
    EXPECT_EQ(fabric.rate({3, Port::plus(1)}), 500);
    EXPECT_EQ(fabric.rate({0, Port::plus(0)}), 750);
    EXPECT_EQ(fabric.rate({3, Port::minus(0)}), 1000);
}

TEST(Fabric, ClosesTwistedRowsElsewhereAndBack) {
    const Fabric fabric = Fabric::parse("4x4x8:twist=0=2+4:twist=1=2+4");
    const Torus& torus = fabric.torus();
    EXPECT_EQ(fabric.neighbour({torus.rank({3, 1, 2}), Port::plus(0)}), torus.rank({0, 1, 6}));
    EXPECT_EQ(fabric.neighbour({torus.rank({2, 1, 2}), Port::plus(0)}), torus.rank({3, 1, 2}));
    EXPECT_EQ(fabric.neighbour({torus.rank({1, 0, 7}), Port::minus(1)}), torus.rank({1, 3, 3}));
    for (Rank place = 0; place < torus.ranks(); ++place) {
        for (int p = 0; p < torus.ports(); ++p) {
            const Rank there = fabric.neighbour({place, Port{p}});
            EXPECT_EQ(fabric.neighbour({there, Port{p}.opposite()}), place);
        }
    }
}

TEST(Fabric, QuotesWhatIsWrong) {
    for (const auto& [text, quoted] : std::vector<std::pair<std::string, std::string>>{
             {"4y4:node=5", "4y4"},
             {"4x4:nose=5", "nose=5"},
             {"4x4:node", "\"node\""},
             {"4x4:node=16", "places are 0 to 15"},
             {"4x4:node=5=1.5", "node=5=1.5"},
             {"4x4:node=5=0.0001", "0.0001"},
             {"4x4:node=5=", "node=5="},
             {"4x4:cable=+2@4", "+2@4"},
             {"4x4:cable=+0@16", "not a link"},
             {"4mx4:cable=-0@0", "not a link"},
             {"4x4:link=+0", "link=+0"},
             {"4x4:", "\"\""},
             {"4x4:twist=0=1", "twist=0=1"},
             {"4x4:twist=0=0+1", "twist"},
             {"4x4:twist=0=1+4", "twist"},
             {"4x4:cable=+0@0:twist=0=1+2", "before cables"},
             {"1:node=0", "no node"},
         }) {
        try {
            Fabric::parse(text);
            ADD_FAILURE() << text << " was taken";
        } catch (const Error& error) {
            EXPECT_EQ(error.status(), Status::invalid_argument);
            EXPECT_NE(std::string(error.what()).find(quoted), std::string::npos) << error.what();
        }
    }
    EXPECT_THROW(Fabric::parse("3x3x2h"), Error);
}

std::size_t hops(const std::string& text, Rank from, Rank to) {
    return Fabric::parse(text).route(from, to, std::nullopt).size();
}

TEST(Fabric, RoutesRoundWhatIsMissing) {
    EXPECT_EQ(hops("8", 3, 4), 1U);
    EXPECT_EQ(hops("8:cable=+0@3", 3, 4), 7U);
    EXPECT_EQ(hops("8:link=+0@3", 4, 3), 1U);
    EXPECT_EQ(hops("3x3:cable=+0@4", 4, 7), 2U);
    EXPECT_EQ(hops("4x4", 0, 5), 2U);
    EXPECT_EQ(hops("4x4:node=4", 0, 4), 2U);                          // over place 1
    EXPECT_EQ(hops("3mx3m:cable=+0@1:cable=+0@0:node=8", 0, 3), 5U);  // rows give no way
    EXPECT_EQ(hops("4x4x8:twist=0=2+4:twist=1=2+4", 0, 3 * 32 + 4), 1U);
    EXPECT_EQ(hops("3x3", 4, 4), 0U);
    EXPECT_THROW(hops("4m:cable=+0@1", 0, 3), Error);
    const Fabric ring = Fabric::parse("4:link=+0@0=0.5");
    EXPECT_EQ(ring.route(0, 2, Port::minus(0))[0].port, Port::minus(0));
    EXPECT_EQ(ring.route(0, 2, Port::plus(0))[0].port, Port::plus(0));
    const Fabric pair = Fabric::parse("2x3:node=5");  // two links between places 0 and 3
    EXPECT_EQ(pair.first_port(0, 3, Port::minus(0)), Port::minus(0));
    EXPECT_EQ(pair.first_port(0, 3, Port::plus(1)), Port::plus(0)) << "which leads elsewhere";
    for (const char* text : {"3x3:cable=+0@4", "4x4:node=5", "2x4:twist=0=1+2"}) {
        const Fabric fabric = Fabric::parse(text);
        for (Rank from = 0; from < fabric.ranks(); ++from) {
            for (Rank to = 0; to < fabric.ranks(); ++to) {
                Rank here = fabric.place_of(from);
                for (const Link& link : fabric.route(from, to, std::nullopt)) {
                    EXPECT_EQ(link.from, here);
                    EXPECT_GT(fabric.rate(link), 0);
                    here = fabric.neighbour(link);
                }
                EXPECT_EQ(here, fabric.place_of(to)) << text;
            }
        }
    }
}

TEST(Fabric, IsWhatATorusSays) {
    const Torus torus = Torus::parse("3x3:cable=+0@4");
    EXPECT_EQ(torus.name(), "3x3:cable=+0@4");
    EXPECT_EQ(torus.sizes(), Torus::parse("3x3").sizes());
    EXPECT_FALSE(torus == Torus::parse("3x3"));
    EXPECT_TRUE(torus == Torus::parse("3x3:cable=-0@7"));
    EXPECT_FALSE(torus == Torus::parse("3x3:cable=+0@5"));
    EXPECT_FALSE(torus.is_whole());
    EXPECT_FALSE(Torus::parse("3mx3").is_whole());
    EXPECT_TRUE(Torus::parse("3x3:node=4=1").is_whole());
    EXPECT_EQ(torus.route_length(4, 7), 2);
    EXPECT_EQ(Fabric(torus).links().size(), 34U);
    EXPECT_EQ(Torus::parse("4x4:node=5").ranks(), 15);
    EXPECT_EQ(Torus::parse("4x4:node=5").dimensions(), 2);
    EXPECT_THROW(Torus::of_nodes(torus, 2), Error);
}

}  // namespace
}  // namespace trefoil
