// SPDX-License-Identifier: BSD-3-Clause
// Hosts with several ranks as nodes of the torus: where they are found, and what contradicts.
#include "comm/setup/nodes.hpp"

#include <gtest/gtest.h>

#include "comm/setup/placement.hpp"
#include "topo/error.hpp"

namespace trefoil {
namespace {

Job job_on(const std::vector<std::string>& hosts, Rank rank = 0) {
    std::vector<RankProcess> processes;
    for (const std::string& host : hosts) {
        processes.push_back({host, "network of " + host, "space", 1, {0}, {}});
    }
    return {rank, processes};
}

TorusMap map_of(const std::string& torus, const Job& job) {
    return make_torus_map(with_nodes({"TREFOIL_TORUS", torus, {}}, job), job.ranks());
}

TEST(NodeLayout, HostsAreNodesInTheOrderOfTheirRanks) {
    const TorusMap blocks = map_of("", job_on({"a", "a", "b", "b", "c", "c"}));
    EXPECT_EQ("3x2h", blocks.torus.name());
    EXPECT_EQ((std::vector<Rank>{0, 1, 2, 3, 4, 5}), blocks.position_of);
    EXPECT_NE(std::string::npos, blocks.source.find("launcher"));
    const TorusMap in_turns = map_of("", job_on({"a", "b", "c", "a", "b", "c"}));
    EXPECT_EQ("3x2h", in_turns.torus.name());
    EXPECT_EQ((std::vector<Rank>{0, 2, 4, 1, 3, 5}), in_turns.position_of);
}

TEST(NodeLayout, ATorusOfTheHostsGetsNodes) {
    const Job job = job_on({"a", "a", "b", "b", "c", "c", "d", "d"});
    EXPECT_EQ("2x2x2h", map_of("2x2", job).torus.name());
    EXPECT_EQ("4mx2h", map_of("4m", job).torus.name());
    EXPECT_EQ("2x2x2h", map_of("2x2x2h", job).torus.name());
    EXPECT_EQ("2x2x2h", map_of("2d", job).torus.name());
}

TEST(NodeLayout, ATorusOfAllRanksHasThemWhereItsLastDimensionIsAHost) {
    const auto name = [](const std::string& torus, const Job& job) {
        TorusRequest request{"the Cartesian communicator", torus, {}, {}, true};
        return make_torus_map(with_nodes(std::move(request), job), job.ranks()).torus.name();
    };
    const Job job = job_on({"a", "a", "b", "b", "c", "c", "d", "d"});
    EXPECT_EQ("4x2h", name("4x2", job));
    EXPECT_EQ("2x2x2h", name("2x2x2", job));
    EXPECT_EQ("2x4", name("2x4", job));
    EXPECT_EQ("8", name("8", job));
    EXPECT_EQ("4x2", name("4x2", job_on({"a", "b", "a", "b", "c", "c", "d", "d"})));
    EXPECT_EQ("4x2", name("4x2", job_on({"a", "a", "a", "a", "b", "b", "b", "b"})));
    EXPECT_EQ("2x2", name("2x2", job_on({"a", "a", "a", "a"})));
    EXPECT_EQ("4x2", map_of("4x2", job).torus.name());
}

TEST(NodeLayout, HostsWithoutSharedMemoryAreNoNodes) {
    const std::string why = "rank 1 cannot map memory of rank 0";
    const Job job(0, job_on({"a", "a", "b", "b"}).processes(), why);
    EXPECT_FALSE(map_of("", job).torus.has_nodes());
    EXPECT_NE(why_no_nodes(map_of("", job), job).find(why), std::string::npos);
    try {
        require_nodes(make_torus_map({"TREFOIL_TORUS", "2x2h", {}}, 4), job);
        ADD_FAILURE() << "it has nodes";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
    }
}

TEST(NodeLayout, OthersStayAsTheyAre) {
    EXPECT_EQ("4x2", map_of("4x2", job_on({"a", "a", "b", "b", "c", "c", "d", "d"})).torus.name());
    EXPECT_EQ("2x2", map_of("", job_on({"a", "a", "a", "a"})).torus.name());
    EXPECT_EQ("2x2", map_of("", job_on({"a", "b", "c", "d"})).torus.name());
    EXPECT_EQ("2x2x2h", map_of("2x2x2h", job_on(std::vector<std::string>(8, "a"))).torus.name());
}

TEST(NodeLayout, UnequalHostsAreNoNodesAndTheLogSaysSo) {
    const Job job = job_on({"a", "a", "b", "b", "b", "c"});
    const TorusMap map = map_of("", job);
    EXPECT_FALSE(map.torus.has_nodes());
    EXPECT_NE(std::string::npos, why_no_nodes(map, job).find("1 to 3")) << why_no_nodes(map, job);
    const Job equal = job_on({"a", "a", "b", "b"});
    EXPECT_EQ("", why_no_nodes(map_of("", equal), equal));
    EXPECT_NE("", why_no_nodes(map_of("4", equal), equal));
    EXPECT_EQ("", why_no_nodes(map_of("", job_on({"a", "a"})), job_on({"a", "a"})));
}

TEST(NodeLayout, ANodeOfSeveralHostsIsRefused) {
    const Job job = job_on({"a", "a", "a", "b"});
    const TorusMap map = map_of("2x2h", job);
    try {
        require_nodes(map, job);
        FAIL() << "it was accepted";
    } catch (const Error& error) {
        EXPECT_EQ(Status::invalid_argument, error.status());
        EXPECT_NE(std::string::npos, std::string(error.what()).find("ranks 2 and 3"))
            << error.what();
    }
    const Job fitting = job_on({"a", "b", "a", "b"});
    EXPECT_NO_THROW(require_nodes(map_of("2x2h", fitting), fitting));
}

TEST(NodeLayout, PortsInsideANodeAreAGroupOfMemory) {
    Settings settings;
    settings.backend = "ofi";
    const std::vector<std::vector<int>> cores{{0, 1, 2, 3, 4, 5, 6, 7}};
    const PortGroups groups = group_ports(Torus::parse("3x3x2h"), settings, cores, 0);
    ASSERT_TRUE(groups.has_inside);
    EXPECT_EQ((std::vector{Port::plus(2), Port::minus(2)}), groups.groups.back());
    EXPECT_EQ(static_cast<std::size_t>(groups.threads) + 1, groups.groups.size());
    EXPECT_EQ(4, groups.threads);
    EXPECT_FALSE(group_ports(Torus::parse("3x3x2"), settings, cores, 0).has_inside);
    EXPECT_FALSE(group_ports(Torus::parse("3x3x1h"), settings, cores, 0).has_inside);
    EXPECT_FALSE(group_ports(Torus::parse("4h"), settings, cores, 0).has_inside);
    settings.backend = "memory";
    EXPECT_FALSE(group_ports(Torus::parse("3x3x2h"), settings, cores, 0).has_inside);
}

TEST(NodeLayout, RanksOfANodeShareAllItsNics) {
    const Job job = job_on({"a", "a", "b", "b"}, 1);
    EXPECT_EQ(2, job.nic_sharing().most);
    EXPECT_EQ(1, job.nic_sharing().self);
    EXPECT_EQ(1, job.nic_sharing(2).most);
    EXPECT_EQ(0, job.nic_sharing(2).self);
    EXPECT_EQ(1U, job.nic_sharing(2).ranks.size());
}

}  // namespace
}  // namespace trefoil
