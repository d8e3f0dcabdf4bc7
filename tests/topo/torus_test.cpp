// SPDX-License-Identifier: BSD-3-Clause
// Torus geometry: parsing, coordinates, neighbours, displacements, ties, routes, factorisation.
#include "topo/torus.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>

#include "topo/error.hpp"

namespace trefoil {
namespace {

void expect_invalid(const std::function<void()>& action, const std::string& text) {
    try {
        action();
        ADD_FAILURE() << "expected an error that says: " << text;
    } catch (const Error& e) {
        EXPECT_EQ(e.status(), Status::invalid_argument);
        EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    }
}

TEST(Torus, ParsesSizes) {
    EXPECT_EQ(Torus::parse("9").sizes(), (std::vector<Rank>{9}));
    EXPECT_EQ(Torus::parse("3x3").sizes(), (std::vector<Rank>{3, 3}));
    EXPECT_EQ(Torus::parse("2x3x4").sizes(), (std::vector<Rank>{2, 3, 4}));
    EXPECT_EQ(Torus::parse("1x1x1x1x7").ranks(), 7);
    EXPECT_EQ(Torus::parse("2147483647").ranks(), 2147483647);
    EXPECT_EQ(Torus::parse("2x3x4").name(), "2x3x4");
}

TEST(Torus, RefusesWhatIsNotATorus) {
    for (const char* text : {"", "x", "3x", "x3", "3xx3", "0", "3x0", "-3", "3x-3", "3 x 3", "3X3",
                             "3*3", "3.0", "+3", "a", "3x3 ", " 3", "99999999999", "3x3xb"}) {
        expect_invalid([&] { Torus::parse(text); }, "\"" + std::string(text) + "\" is not a torus");
    }
}

TEST(Torus, RefusesTooManyRanks) {
    expect_invalid([] { Torus::parse("65536x32768"); }, "more than 2147483647 ranks");
    expect_invalid([] { Torus::parse("2147483647x2147483647x2147483647"); }, "2147483647 ranks");
    EXPECT_EQ(Torus::parse("65536x32767").ranks(), 65536 * 32767);
}

TEST(Torus, RefusesBadSizes) {
    expect_invalid([] { Torus(std::vector<Rank>{}); }, "at least one dimension");
    expect_invalid([] { Torus({3, 0}); }, "dimension 1 of the torus has size 0");
    expect_invalid([] { Torus({-1}); }, "at least 1");
}

TEST(Torus, NumbersRanksWithTheLastDimensionFastest) {
    const Torus torus({2, 3, 4});
    EXPECT_EQ(torus.rank({0, 0, 1}), 1);
    EXPECT_EQ(torus.rank({0, 1, 0}), 4);
    EXPECT_EQ(torus.rank({1, 0, 0}), 12);
    for (Rank r = 0; r < torus.ranks(); ++r) {
        EXPECT_EQ(torus.rank(torus.coordinates(r)), r);
        for (int j = 0; j < 3; ++j) {
            EXPECT_EQ(torus.coordinate(r, j), torus.coordinates(r)[j]);
        }
    }
    EXPECT_EQ(torus.with_coordinate(torus.rank({1, 2, 3}), 1, 0), torus.rank({1, 0, 3}));
}

TEST(Torus, NeighboursWrapAroundAndLeadBack) {
    const Torus torus({3, 4});
    EXPECT_EQ(torus.neighbour(torus.rank({0, 0}), Port::minus(0)), torus.rank({2, 0}));
    EXPECT_EQ(torus.neighbour(torus.rank({2, 3}), Port::plus(0)), torus.rank({0, 3}));
    EXPECT_EQ(torus.neighbour(torus.rank({1, 3}), Port::plus(1)), torus.rank({1, 0}));
    for (Rank r = 0; r < torus.ranks(); ++r) {
        for (int i = 0; i < torus.ports(); ++i) {
            EXPECT_EQ(torus.neighbour(torus.neighbour(r, {i}), Port{i}.opposite()), r);
        }
    }
}

TEST(Torus, ShiftsByAnyOffset) {
    const Torus torus({2, 5});
    EXPECT_EQ(torus.shifted(6, 1, 0), 6);
    EXPECT_EQ(torus.shifted(6, 1, 4), 5);
    EXPECT_EQ(torus.shifted(6, 1, -2), 9);
    EXPECT_EQ(torus.shifted(6, 1, 5000000000001), 7);
    EXPECT_EQ(torus.shifted(6, 1, -5000000000001), 5);
}

TEST(Torus, TranslatesByTheDisplacementOfARank) {
    const Torus torus = Torus::parse("3x4");
    EXPECT_EQ(torus.translated(6, 0, 1), 6);
    EXPECT_EQ(torus.translated(6, 11, 1), 1);  // (1,2) + (2,3) = (0,1)
    EXPECT_EQ(torus.translated(1, 11, -1), 6);
    for (Rank offset = 0; offset < torus.ranks(); ++offset) {
        EXPECT_EQ(torus.translated(0, offset, 1), offset);
        EXPECT_EQ(torus.translated(offset, offset, -1), 0);
    }
}

TEST(Torus, DisplacementIsTheShortWayAndPositiveOnTies) {
    const Torus even({6});
    EXPECT_EQ(even.displacement(0, 2, 0), 2);
    EXPECT_EQ(even.displacement(0, 3, 0), 3);
    EXPECT_EQ(even.displacement(3, 0, 0), 3);
    EXPECT_EQ(even.displacement(0, 4, 0), -2);
    EXPECT_EQ(even.displacement(5, 0, 0), 1);
    EXPECT_TRUE(even.is_tie(1, 4, 0));
    EXPECT_FALSE(even.is_tie(1, 3, 0));
    EXPECT_FALSE(even.is_tie(1, 1, 0));
    const Torus odd({5});
    EXPECT_EQ(odd.displacement(0, 2, 0), 2);
    EXPECT_EQ(odd.displacement(0, 3, 0), -2);
    for (Rank r = 1; r < 5; ++r) {
        EXPECT_FALSE(odd.is_tie(0, r, 0));
    }
    EXPECT_TRUE(Torus({2}).is_tie(0, 1, 0));
    EXPECT_EQ(Torus({1}).displacement(0, 0, 0), 0);
}

TEST(Torus, FirstPortIsThatOfTheFirstDifferingDimension) {
    const Torus torus({3, 4});
    EXPECT_EQ(torus.first_port(torus.rank({0, 0}), torus.rank({1, 3})), Port::plus(0));
    EXPECT_EQ(torus.first_port(torus.rank({0, 0}), torus.rank({2, 1})), Port::minus(0));
    EXPECT_EQ(torus.first_port(torus.rank({1, 0}), torus.rank({1, 3})), Port::minus(1));
    EXPECT_EQ(torus.first_port(torus.rank({1, 0}), torus.rank({1, 2})), Port::plus(1));  // tie
}

// From first principles: every rank's distance by breadth-first search over neighbours.
TEST(Torus, HopsAreShortestPaths) {
    for (const char* shape : {"7", "2x3", "4x5", "2x2x3", "1x6", "3x1x4"}) {
        const Torus torus = Torus::parse(shape);
        std::map<Rank, std::int64_t> distance{{0, 0}};
        std::vector<Rank> frontier{0};
        for (std::size_t i = 0; i < frontier.size(); ++i) {
            for (int p = 0; p < torus.ports(); ++p) {
                const Rank next = torus.neighbour(frontier[i], {p});
                if (distance.emplace(next, distance[frontier[i]] + 1).second) {
                    frontier.push_back(next);
                }
            }
        }
        ASSERT_EQ(distance.size(), static_cast<std::size_t>(torus.ranks())) << shape;
        for (const auto& [rank, hops] : distance) {
            EXPECT_EQ(torus.hops(0, rank), hops) << shape << " rank " << rank;
        }
    }
}

TEST(Torus, RoutesLeadThroughDimensionsInOrder) {
    const Torus torus({3, 5});
    const std::vector<LinkShare> route = torus.route(torus.rank({0, 0}), torus.rank({2, 2}));
    ASSERT_EQ(route.size(), 3u);
    EXPECT_EQ(route[0].link, (Link{torus.rank({0, 0}), Port::minus(0)}));
    EXPECT_EQ(route[1].link, (Link{torus.rank({2, 0}), Port::plus(1)}));
    EXPECT_EQ(route[2].link, (Link{torus.rank({2, 1}), Port::plus(1)}));
    for (const LinkShare& l : route) {
        EXPECT_EQ(l.share, 1.0);
    }
}

TEST(Torus, TiesAreSplitInHalves) {
    const std::vector<LinkShare> pair = Torus({2}).route(0, 1);
    ASSERT_EQ(pair.size(), 2u);
    EXPECT_EQ(pair[0].link, (Link{0, Port::plus(0)}));
    EXPECT_EQ(pair[1].link, (Link{0, Port::minus(0)}));
    EXPECT_EQ(pair[0].share, 0.5);
    EXPECT_EQ(pair[1].share, 0.5);
    double total = 0;
    for (const LinkShare& l : Torus({6}).route(0, 3)) {
        EXPECT_EQ(l.share, 0.5);
        total += l.share;
    }
    EXPECT_EQ(total, 3.0);
}

// Summed shares: one message crosses as many links as it makes hops; and what enters a rank on the
// way leaves it again.
TEST(Torus, RoutesConserveWhatTheyCarry) {
    for (const char* shape : {"6", "4x3", "2x4x3"}) {
        const Torus torus = Torus::parse(shape);
        for (Rank to = 1; to < torus.ranks(); ++to) {
            std::map<Rank, double> balance;
            double total = 0;
            for (const LinkShare& l : torus.route(0, to)) {
                balance[l.link.from] -= l.share;
                balance[torus.neighbour(l.link.from, l.link.port)] += l.share;
                total += l.share;
            }
            EXPECT_EQ(total, static_cast<double>(torus.hops(0, to)));
            for (const auto& [rank, rest] : balance) {
                EXPECT_EQ(rest, rank == 0 ? -1.0 : rank == to ? 1.0 : 0.0) << shape << " " << to;
            }
        }
    }
}

TEST(Torus, NothingIsRoutedToOneself) {
    EXPECT_TRUE(Torus({3, 3}).route(4, 4).empty());
}

TEST(Torus, BalancedIsAsCubicAsTheFactorsAllow) {
    EXPECT_EQ(Torus::balanced(9, 2).name(), "3x3");
    EXPECT_EQ(Torus::balanced(12, 2).name(), "4x3");
    EXPECT_EQ(Torus::balanced(72, 2).name(), "9x8");
    EXPECT_EQ(Torus::balanced(223092870, 5).ranks(), 223092870);
    EXPECT_EQ(Torus::balanced(2147483647, 40).size(0), 2147483647);
    EXPECT_EQ(Torus::balanced(7, 2).name(), "7x1");
    EXPECT_EQ(Torus::balanced(64, 3).name(), "4x4x4");
    EXPECT_EQ(Torus::balanced(1, 3).name(), "1x1x1");
    EXPECT_EQ(Torus::balanced(30, 1).name(), "30");
    expect_invalid([] { Torus::balanced(0, 2); }, "at least one rank");
    expect_invalid([] { Torus::balanced(4, 0); }, "one dimension");
}

/// The smallest possible largest size, by trying everything.
Rank smallest_maximum(Rank ranks, int dimensions) {
    if (dimensions == 1) {
        return ranks;
    }
    Rank best = ranks;
    for (Rank f = 1; f <= ranks; ++f) {
        if (ranks % f == 0) {
            best = std::min(best, std::max(f, smallest_maximum(ranks / f, dimensions - 1)));
        }
    }
    return best;
}

TEST(Torus, BalancedHasTheSmallestPossibleLargestSize) {
    for (Rank ranks = 1; ranks <= 150; ++ranks) {
        for (int dimensions = 1; dimensions <= 3; ++dimensions) {
            const Torus torus = Torus::balanced(ranks, dimensions);
            EXPECT_EQ(torus.ranks(), ranks);
            EXPECT_EQ(torus.dimensions(), dimensions);
            EXPECT_TRUE(std::is_sorted(torus.sizes().rbegin(), torus.sizes().rend()));
            EXPECT_EQ(torus.size(0), smallest_maximum(ranks, dimensions))
                << ranks << " in " << dimensions << ": " << torus.name();
        }
    }
}

TEST(Port, HasANameAndAnOpposite) {
    EXPECT_EQ(to_string(Port::plus(0)), "+0");
    EXPECT_EQ(to_string(Port::minus(2)), "-2");
    EXPECT_EQ(Port::minus(2).index, 5);
    EXPECT_EQ(Port::plus(1).opposite(), Port::minus(1));
    EXPECT_EQ(Port::towards(1, -3), Port::minus(1));
    EXPECT_EQ(Port{5}.dimension(), 2);
    EXPECT_EQ(Port{5}.sign(), -1);
}

TEST(Lines, AreCrossedOneWayOnly) {
    const Torus mesh = Torus::parse("4mx3");
    EXPECT_EQ(mesh.name(), "4mx3");
    EXPECT_TRUE(mesh.is_line(0));
    EXPECT_FALSE(mesh.is_line(1));
    EXPECT_NE(mesh, Torus::parse("4x3"));
    const Rank from = mesh.rank({3, 0}), to = mesh.rank({0, 2});
    EXPECT_EQ(mesh.hops(from, to), 2);
    EXPECT_EQ(mesh.route_length(from, to), 4);
    EXPECT_EQ(mesh.route(from, to).size(), 4U);
    for (const LinkShare& each : mesh.route(from, to)) {
        EXPECT_EQ(each.share, 1.0);
        EXPECT_EQ(each.link.port,
                  each.link.port.dimension() == 0 ? Port::minus(0) : Port::minus(1));
    }
    const Torus pair = Torus::parse("2m");
    ASSERT_EQ(pair.route(0, 1).size(), 1U);
    EXPECT_EQ(pair.route(0, 1)[0].link, (Link{0, Port::plus(0)}));
    EXPECT_EQ(Torus::parse("2").route(0, 1).size(), 2U);
    for (const char* wrong : {"m", "4mm", "4xm", "4m3", "4mx"}) {
        EXPECT_THROW(Torus::parse(wrong), Error) << wrong;
    }
}

}  // namespace
}  // namespace trefoil
