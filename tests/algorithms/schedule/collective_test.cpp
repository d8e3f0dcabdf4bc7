// SPDX-License-Identifier: BSD-3-Clause
// What follows from the rows of the collectives, and how users' names are read.
#include "algorithms/schedule/collective.hpp"

#include <gtest/gtest.h>

#include "topo/error.hpp"

namespace trefoil {
namespace {

template <typename Question>
std::string those_with(Question&& question) {
    std::string names;
    for (const Collective collective : collectives()) {
        if (question(traits_of(collective))) {
            names += (names.empty() ? "" : " ") + std::string(to_string(collective));
        }
    }
    return names;
}

TEST(CollectiveRows, SayWhatTheInterfaceSays) {
    using Row = const CollectiveTraits&;
    EXPECT_EQ(those_with([](Row r) { return r.rooted(); }), "bcast reduce gather scatter");
    EXPECT_EQ(those_with([](Row r) { return r.reduces; }),
              "allreduce reduce_scatter reduce scan exscan");
    EXPECT_EQ(those_with([](Row r) { return r.is_prefix(); }), "scan exscan");
    EXPECT_EQ(those_with([](Row r) { return r.blocks_have_owners(); }),
              "reduce_scatter allgather gather scatter");
    EXPECT_EQ(those_with([](Row r) { return r.blocks_both_ways(); }),
              "alltoall neighbor_allgather neighbor_alltoall");
    EXPECT_EQ(those_with([](Row r) { return r.with_neighbours(); }),
              "neighbor_allgather neighbor_alltoall");
    EXPECT_EQ(those_with([](Row r) { return r.synchronises; }),
              "allreduce reduce_scatter allgather alltoall barrier");
    EXPECT_EQ(those_with([](Row r) { return r.replicates_results(); }), "allreduce");
    EXPECT_EQ(those_with([](Row r) { return !r.has_data(); }), "barrier");
}

TEST(CollectiveRows, KeepTheirPromises) {
    for (const Collective collective : collectives()) {
        const CollectiveTraits& row = traits_of(collective);
        // Nobody hears from all ranks where only the root brings or takes something.
        EXPECT_FALSE(row.rooted() && row.synchronises) << row.name;
        EXPECT_EQ(row.vector_variant.empty(), !row.has_blocks()) << row.name;
        const Torus torus({2, 3});
        const std::uint32_t blocks = row.with_neighbours() ? 4 : row.has_blocks() ? 6 : 0;
        const std::uint32_t sent = row.in.data == Data::own_block ? 1 : blocks;
        const std::uint32_t all = blocks + (row.blocks_both_ways() ? sent : 0);
        EXPECT_EQ(row.vector_blocks(torus), all) << row.name;
        EXPECT_EQ(row.received_of(all), blocks) << row.name;
        EXPECT_EQ(find_collective(row.name), collective);
    }
}

TEST(CollectiveRows, HoldersAreAllRanksOrTheRoot) {
    const CollectiveTraits& scatter = traits_of(Collective::scatter);
    EXPECT_TRUE(scatter.in.held_by(2, 2));
    EXPECT_FALSE(scatter.in.held_by(1, 2));
    EXPECT_TRUE(scatter.out.held_by(1, 2));
    EXPECT_FALSE(traits_of(Collective::barrier).out.held_by(0, 0));
}

TEST(CollectiveRows, PrefixesTellWhoContributes) {
    const CollectiveTraits &scan = traits_of(Collective::scan),
                           &less = traits_of(Collective::exscan);
    EXPECT_EQ(scan.contributors(0, 9), 1);
    EXPECT_EQ(scan.contributors(8, 9), 9);
    EXPECT_EQ(less.contributors(8, 9), 8);
    EXPECT_EQ(traits_of(Collective::allreduce).contributors(0, 9), 9);
    EXPECT_TRUE(less.in.held_by(0, 0));
    EXPECT_FALSE(less.out.held_by(0, 0));
    EXPECT_TRUE(less.out.held_by(1, 0));
}

TEST(Neighbours, HaveSlotsInMpisOrder) {
    const Torus torus({3, 4});
    EXPECT_EQ(torus.neighbour(5, port_of_slot(0)), 1);  // (1, 1): row 0
    EXPECT_EQ(torus.neighbour(5, port_of_slot(1)), 9);
    EXPECT_EQ(torus.neighbour(5, port_of_slot(2)), 4);
    EXPECT_EQ(torus.neighbour(5, port_of_slot(3)), 6);
    for (int slot = 0; slot < 4; ++slot) {
        EXPECT_EQ(torus.neighbour(torus.neighbour(5, port_of_slot(slot)),
                                  port_of_slot(opposite_slot(slot))),
                  5);
    }
}

std::string message_for(std::string_view name) {
    try {
        find_collective(name);
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::not_found);
        return error.what();
    }
    return "";
}

TEST(CollectiveRows, AnUnknownNameIsAnsweredWithTheNearest) {
    EXPECT_EQ(message_for("alreduce"),
              "there is no collective \"alreduce\"; did you mean allreduce or reduce?");
    EXPECT_NE(message_for("xyz").find("there are allreduce, reduce_scatter"), std::string::npos);
}

}  // namespace
}  // namespace trefoil
