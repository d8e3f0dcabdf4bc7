// SPDX-License-Identifier: BSD-3-Clause
// Boxes of a torus: which torus or mesh their members get, checked link by link.
#include "comm/derived/geometry.hpp"

#include <functional>
#include <numeric>
#include <random>

#include "comm/plan/chooser.hpp"
#include "tests/comm/derived/geometries.hpp"
#include "topo/error.hpp"

namespace trefoil::test {
namespace {

/// Neighbours of a box differ along one dimension of the first torus, by the stride.
void expect_links(const Geometry& first, const Geometry& child) {
    const Torus& own = child.map.torus;
    for (Rank position = 0; position < own.ranks(); ++position) {
        for (int i = 0; i < own.dimensions(); ++i) {
            const bool closing = own.coordinate(position, i) == own.size(i) - 1;
            if (own.size(i) == 1 || (closing && !child.wraps[i])) {
                continue;
            }
            const Rank from = first_position(first, child, position);
            const Rank to = first_position(first, child, own.neighbour(position, Port::plus(i)));
            const Torus& torus = first.map.torus;
            const int j = child.port_dimension[i];
            for (int other = 0; other < torus.dimensions(); ++other) {
                ASSERT_TRUE(other == j ||
                            torus.coordinate(from, other) == torus.coordinate(to, other));
            }
            const Rank steps =
                (torus.coordinate(to, j) - torus.coordinate(from, j) + torus.size(j)) %
                torus.size(j);
            if (closing) {
                ASSERT_LE(steps, child.stride[i]);
            } else {
                ASSERT_EQ(steps, child.stride[i]);
            }
        }
    }
}

/// Sets of places along a ring of `size`, as bits.
template <typename Visit>
void for_each_grid(const Torus& torus, Visit&& visit) {
    std::vector<unsigned> sets(static_cast<std::size_t>(torus.dimensions()), 1);
    while (true) {
        visit(sets);
        std::size_t j = 0;
        while (j < sets.size() && ++sets[j] == 1U << torus.size(static_cast<int>(j))) {
            sets[j++] = 1;
        }
        if (j == sets.size()) {
            return;
        }
    }
}

TEST(DerivedGeometry, EveryGridOfSmallToriKeepsItsDimensions) {
    std::minstd_rand random(1);
    std::size_t grids = 0, boxes = 0;
    for (const char* name : {"3x3", "2x2x2", "2x3x4", "5x2", "8"}) {
        const Geometry first = shuffled(name, random);
        const Torus& torus = first.map.torus;
        for_each_grid(torus, [&](const std::vector<unsigned>& sets) {
            std::vector<Rank> members;
            for (Rank p = 0; p < torus.ranks(); ++p) {
                bool inside = true;
                for (int j = 0; j < torus.dimensions(); ++j) {
                    inside = inside && (sets[j] >> torus.coordinate(p, j) & 1U) != 0;
                }
                if (inside) {
                    members.push_back(first.map.rank_at[p]);
                }
            }
            std::shuffle(members.begin(), members.end(), random);
            const Geometry child = geometry_of(first, members);
            ASSERT_NO_FATAL_FAILURE(expect_sound(first, child, members));
            std::vector<Rank> sizes;
            for (int j = 0; j < torus.dimensions(); ++j) {
                const int places = __builtin_popcount(sets[j]);
                if (places > 1 && members != first.first_rank) {
                    sizes.push_back(places);
                }
            }
            if (members.size() == 1) {
                sizes = {1};
            }
            if (members != first.first_rank) {
                ASSERT_EQ(child.map.torus.sizes(), sizes) << child.map.source;
            }
            ++grids;
            if (child.box) {
                ++boxes;
                ASSERT_NO_FATAL_FAILURE(expect_links(first, child)) << child.map.source;
            }
        });
    }
    EXPECT_EQ(grids, 49U + 27U + 3U * 7U * 15U + 31U * 3U + 255U);
    EXPECT_GT(boxes, grids / 2);
}

TEST(DerivedGeometry, TheWholeIsTheSame) {
    const Geometry first = row_by_row("7x1");
    const Geometry same = geometry_of(first, first.first_rank);
    EXPECT_EQ(same.map.torus.name(), "7x1");
    EXPECT_EQ(same.map.source, "test");
    std::vector<Rank> turned = first.first_rank;
    std::reverse(turned.begin(), turned.end());
    EXPECT_EQ(geometry_of(first, turned).map.torus.name(), "7");
}

TEST(DerivedGeometry, AllOfADamagedTorusInAnotherOrderAreItStill) {
    const Geometry first = row_by_row("3x3:cable=+0@4");
    std::vector<Rank> members = first.first_rank;
    std::mt19937 random(3);
    std::shuffle(members.begin(), members.end(), random);
    const Geometry child = geometry_of(first, members);
    EXPECT_EQ(child.map.torus, first.map.torus);
    for (Rank r = 0; r < 9; ++r) {
        const Rank position = child.map.position_of[r];
        EXPECT_EQ(child.map.rank_at[position], r);
        EXPECT_EQ(first.map.rank_at[position], members[r]);
    }
}

struct Row {
    std::vector<Rank> members;
    std::string torus;
    std::vector<int> ports;
    std::vector<bool> wraps;
    std::vector<Rank> stride;
    std::string text;
};

TEST(DerivedGeometry, TellsRingsLinesAndStrides) {
    const Geometry first = row_by_row("3x8");
    const Row rows[] = {
        {{8, 9, 10, 11, 12, 13, 14, 15},
         "8",
         {1},
         {true},
         {1},
         "of the 3x8 torus: dimension 0 at 1; dimension 1 whole"},
        {{3, 11, 19}, "3", {0}, {true}, {1}, "dimension 0 whole; dimension 1 at 3"},
        {{1, 2, 9, 10}, "2mx2m", {0, 1}, {false, false}, {1, 1}, "dimension 0 from 0 to 1, a line"},
        {{0, 2, 4, 6}, "4", {1}, {true}, {2}, "dimension 1 one in 2 from 0 to 6"},
        {{1, 3, 5}, "3m", {1}, {false}, {2}, "dimension 1 one in 2 from 1 to 5, a line"},
        {{0, 1, 7}, "3m", {1}, {false}, {1}, "dimension 1 from 7 to 1, a line"},
        {{0, 4}, "2", {1}, {true}, {4}, "dimension 1 one in 4 from 0 to 4"},
        {{5}, "1", {0}, {true}, {1}, "dimension 0 at 0; dimension 1 at 5"},
    };
    for (const Row& row : rows) {
        const Geometry child = geometry_of(first, row.members);
        EXPECT_TRUE(child.box);
        EXPECT_EQ(child.map.torus.name(), row.torus) << row.text;
        EXPECT_EQ(child.port_dimension, row.ports) << row.text;
        EXPECT_EQ(child.wraps, row.wraps) << row.text;
        EXPECT_EQ(child.stride, row.stride) << row.text;
        EXPECT_NE(child.map.source.find(row.text), std::string::npos) << child.map.source;
    }
    const Geometry around_five = geometry_of(row_by_row("5"), {0, 2, 4});
    EXPECT_TRUE(around_five.box && around_five.wraps[0] && around_five.stride[0] == 2)
        << "once around, the last step is shorter";
}

TEST(DerivedGeometry, UnevenPlacesKeepTheDimensionsButAreNoBox) {
    const Geometry first = row_by_row("2x8");
    const Geometry child = geometry_of(first, {0, 1, 3, 4, 8, 9, 11, 12});
    EXPECT_FALSE(child.box);
    EXPECT_EQ(child.map.torus.name(), "2x4m");
    EXPECT_EQ(child.stride, (std::vector<Rank>{1, 0}));
    EXPECT_NE(child.map.source.find("dimension 1 4 places from 0 to 4, not evenly spaced, a line"),
              std::string::npos)
        << child.map.source;
    EXPECT_EQ(child.map.source.find("logical: "), 0U);
}

TEST(DerivedGeometry, OfAMeshNothingWraps) {
    const Geometry first = row_by_row("3mx4");
    EXPECT_EQ(first.wraps, (std::vector<bool>{false, true}));
    const Geometry child = geometry_of(first, {11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
    EXPECT_EQ(child.wraps, (std::vector<bool>{false, true}));
    const Geometry ends = geometry_of(first, {0, 8});
    EXPECT_EQ(ends.stride, (std::vector<Rank>{2})) << "not one across the end";
    EXPECT_EQ(neighbour_hops(first, ends), 4);
}

// Four in a row of a ring of eight, and a ring of four.
TEST(DerivedGeometry, TheAutomaticChoiceKnowsALineFromARing) {
    const Geometry first = row_by_row("4x8");
    const Geometry line = geometry_of(first, {0, 1, 2, 3}),
                   ring = geometry_of(first, {0, 8, 16, 24}), mesh = row_by_row("4m");
    const Chooser for_line(line.map, {}), for_ring(ring.map, {}), for_mesh(mesh.map, {});
    int different = 0;
    for (const Collective collective : {Collective::reduce_scatter, Collective::allgather,
                                        Collective::bcast, Collective::reduce}) {
        for (const std::size_t bytes : {256U, 8192U, 65536U}) {
            const Request request{
                .collective = collective, .type = DataType::uint8, .count = bytes};
            const Choice chosen = for_line.choose(request, {});
            EXPECT_EQ(chosen, for_mesh.choose(request, {})) << to_string(chosen);
            different += chosen == for_ring.choose(request, {}) ? 0 : 1;
        }
    }
    EXPECT_GT(different, 0) << "a line costs what a ring costs";
}

TEST(DerivedGeometry, RowsAndPlanesOfEverything) {
    std::minstd_rand random(2);
    for (const char* name : {"3x3", "2x2x2", "2x3x4", "4x1x3"}) {
        const Geometry first = shuffled(name, random);
        const int dimensions = first.map.torus.dimensions();
        for (unsigned flags = 1; flags < 1U << dimensions; ++flags) {
            std::vector<bool> keep;
            Rank size = 1;
            for (int j = 0; j < dimensions; ++j) {
                keep.push_back((flags >> j & 1U) != 0);
                size *= keep[j] ? first.map.torus.size(j) : 1;
            }
            std::vector<int> seen(first.first_rank.size());
            for (Rank me = 0; me < first.map.torus.ranks(); ++me) {
                const Geometry child = sub_geometry(first, first, keep, me);
                ASSERT_NO_FATAL_FAILURE(expect_sound(first, child, child.first_rank));
                ASSERT_TRUE(child.box);
                ASSERT_EQ(child.map.torus.ranks(), size);
                ASSERT_EQ(std::count(child.first_rank.begin(), child.first_rank.end(), me), 1);
                ASSERT_NO_FATAL_FAILURE(expect_links(first, child));
                for (const Rank r : child.first_rank) {
                    ++seen[r];
                }
                if (size < first.map.torus.ranks()) {
                    std::vector<Rank> in_order(child.first_rank.size());
                    std::iota(in_order.begin(), in_order.end(), 0);
                    ASSERT_EQ(child.map.rank_at, in_order) << "row by row";
                }
            }
            EXPECT_EQ(seen, std::vector<int>(seen.size(), size)) << "each rank is in one row";
        }
    }
}

TEST(DerivedGeometry, ARowOfAPlaneIsARowOfTheWhole) {
    const Geometry first = row_by_row("2x3x4");
    const Geometry plane = sub_geometry(first, first, {false, true, true}, 17);
    EXPECT_EQ(plane.map.torus.name(), "3x4");
    EXPECT_EQ(plane.port_dimension, (std::vector<int>{1, 2}));
    EXPECT_EQ(plane.first_rank.front(), 12);
    const Geometry row = sub_geometry(first, plane, {true, false}, 5);
    EXPECT_EQ(row.port_dimension, (std::vector<int>{1}));
    EXPECT_EQ(row.first_rank, (std::vector<Rank>{13, 17, 21}));
}

TEST(DerivedGeometry, ARowOfALogicalShapeIsOne) {
    const Geometry first = row_by_row("3x3");
    const Geometry parent = geometry_of(first, {0, 1, 2, 4, 5, 6});
    ASSERT_FALSE(parent.box);
    ASSERT_EQ(parent.map.torus.ranks(), 6);
    const int longer = parent.map.torus.size(0) == 3 ? 0 : 1;
    const Geometry row = sub_geometry(first, parent, {longer == 0, longer == 1}, 0);
    EXPECT_EQ(row.map.torus.name(), "3");
    EXPECT_FALSE(row.box);
    EXPECT_EQ(row.port_dimension[0], parent.port_dimension[longer]);
    EXPECT_EQ(row.map.source,
              "dimension " + std::to_string(longer) + " of a logical " + parent.map.torus.name());
}

void expect_refused(const std::function<void()>& what, const std::string& words) {
    try {
        what();
        ADD_FAILURE() << "accepted; expected: " << words;
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::invalid_argument);
        EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
}

TEST(DerivedGeometry, RefusalsSayWhatIsWrong) {
    const Geometry first = row_by_row("3x3");
    const auto of = [&](std::vector<Rank> members) {
        return [&first, members] { geometry_of(first, members); };
    };
    expect_refused(of({}), "at least one rank");
    expect_refused(of({0, 9}),
                   "member 1 of the list is rank 9, but the communicator has the ranks");
    expect_refused(of({-1}), "is rank -1");
    expect_refused(of({4, 2, 3, 2}), "rank 2 stands twice in the list of members, as 1 and 3");
    const auto sub = [&](std::vector<bool> keep) {
        return [&first, keep] { sub_geometry(first, first, keep, 0); };
    };
    expect_refused(sub({true}), "there are 1 flags of dimensions to keep, but");
    expect_refused(sub({false, false}), "no dimension of the torus 3x3 is kept");
}

}  // namespace
}  // namespace trefoil::test
