// SPDX-License-Identifier: BSD-3-Clause
// Ranks on NUMA nodes: who gets which cores, on made-up machines; and where the kernel puts pages.
#include "topo/rank_cores.hpp"

#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>

#include "topo/host.hpp"
#include "topo/numa_memory.hpp"

namespace trefoil {
namespace {

namespace fs = std::filesystem;
using Cores = std::vector<int>;
using Shares = std::vector<Cores>;

/// `nodes` NUMA nodes with `each` cores, numbered one after the other.
std::vector<NumaNode> machine(int nodes, int each) {
    std::vector<NumaNode> list;
    for (int i = 0; i < nodes; ++i) {
        Cores cores(static_cast<std::size_t>(each));
        std::iota(cores.begin(), cores.end(), i * each);
        list.push_back({i, cores});
    }
    return list;
}

Cores all(int cores) {
    Cores list(static_cast<std::size_t>(cores));
    std::iota(list.begin(), list.end(), 0);
    return list;
}

TEST(RankCores, ARankForEachNumaNodeHasItsCores) {
    EXPECT_EQ(cores_by_rank(machine(2, 2), all(4), 2), (Shares{{0, 1}, {2, 3}}));
    EXPECT_EQ(cores_by_rank(machine(2, 2), all(4), 4), (Shares{{0, 1}, {0, 1}, {2, 3}, {2, 3}}));
}

TEST(RankCores, FewerRanksThanNumaNodesHaveSeveral) {
    EXPECT_EQ(cores_by_rank(machine(4, 2), all(8), 2), (Shares{{0, 1, 2, 3}, {4, 5, 6, 7}}));
    EXPECT_EQ(cores_by_rank(machine(3, 2), all(6), 2), (Shares{{0, 1, 2, 3}, {2, 3, 4, 5}}));
}

TEST(RankCores, UnequalSharesOfCoresGetUnequalRanks) {
    // Three cores of the first NUMA node and one of the second: three ranks and one.
    EXPECT_EQ(cores_by_rank(machine(2, 4), {1, 2, 3, 4}, 4),
              (Shares{{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {4}}));
    EXPECT_EQ(cores_by_rank({{0, {0, 2}}, {1, {1, 3}}}, all(4), 2), (Shares{{0, 2}, {1, 3}}));
}

TEST(RankCores, NothingIsDecidedWhereThereIsNoChoice) {
    EXPECT_TRUE(cores_by_rank(machine(2, 2), all(4), 1).empty());
    EXPECT_TRUE(cores_by_rank(machine(1, 4), all(4), 4).empty());
    EXPECT_TRUE(cores_by_rank(machine(2, 2), {2, 3}, 4).empty()) << "bound by someone else";
    EXPECT_TRUE(cores_by_rank({}, all(4), 4).empty()) << "no hwloc";
}

TEST(RankCores, EveryRankHasCoresAndEveryNumaNodeRanks) {
    for (int nodes = 2; nodes <= 5; ++nodes) {
        for (int each = 1; each <= 4; ++each) {
            for (int ranks = 2; ranks <= 17; ++ranks) {
                const Shares shares = cores_by_rank(machine(nodes, each), all(nodes * each), ranks);
                ASSERT_EQ(shares.size(), static_cast<std::size_t>(ranks));
                Cores used;
                for (const Cores& share : shares) {
                    EXPECT_FALSE(share.empty());
                    EXPECT_TRUE(used.empty() || share.front() >= used.front()) << "in order";
                    used = share;
                }
                EXPECT_EQ(shares.front().front(), 0);
                EXPECT_EQ(shares.back().back(), nodes * each - 1);
            }
        }
    }
}

class NumaDirectory {
  public:
    NumaDirectory() : root_(fs::temp_directory_path() / ("numa_" + std::to_string(getpid()))) {
        for (const auto& [node, cores] :
             {std::pair{"node0", "0-3,8"}, std::pair{"node12", "4-7"}, std::pair{"node13", ""}}) {
            fs::create_directories(root_ / node);
            std::ofstream(root_ / node / "cpulist") << cores << "\n";
        }
        fs::create_directories(root_ / "power");
    }
    ~NumaDirectory() { fs::remove_all(root_); }
    NumaDirectory(const NumaDirectory&) = delete;
    NumaDirectory& operator=(const NumaDirectory&) = delete;
    std::string path() const { return root_.string(); }

  private:
    fs::path root_;
};

TEST(NumaMemory, TheNodeOfCoresIsTheOneThatHasThemAll) {
    const NumaDirectory directory;
    EXPECT_EQ(numa_node_of({0, 3, 8}, directory.path()), 0);
    EXPECT_EQ(numa_node_of({5}, directory.path()), 12);
    EXPECT_EQ(numa_node_of({3, 4}, directory.path()), -1);
    EXPECT_EQ(numa_node_of({64}, directory.path()), -1);
    EXPECT_EQ(numa_node_of({0}, "/nonexistent"), -1);
}

TEST(NumaMemory, WhatOneMappingAsksForIsSeenThroughAnother) {
    const int own = own_numa_node();
    if (own < 0) {
        GTEST_SKIP() << "this process may run on several NUMA nodes, or the kernel knows none";
    }
    const auto bytes = static_cast<std::size_t>(2 * sysconf(_SC_PAGESIZE));
    const int file = memfd_create("numa_memory", MFD_CLOEXEC);
    ASSERT_EQ(ftruncate(file, static_cast<off_t>(bytes)), 0);
    const auto map = [&] {
        return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    };
    void *const owner = map(), *const peer = map();
    if (!prefer_numa_node(owner, bytes, own)) {
        GTEST_SKIP() << "this system refuses mbind";
    }
    int policy = -1;
    unsigned long nodes[16] = {};
    ASSERT_EQ(syscall(SYS_get_mempolicy, &policy, nodes, 1024UL, peer, MPOL_F_ADDR), 0);
    EXPECT_EQ(policy, MPOL_PREFERRED);
    EXPECT_EQ(nodes[own / 64], 1UL << (own % 64));
    munmap(owner, bytes);
    munmap(peer, bytes);
    close(file);
}

TEST(NumaMemory, NodesThatCannotBeAreRefused) {
    EXPECT_FALSE(prefer_numa_node(nullptr, 4096, -1));
    EXPECT_FALSE(prefer_numa_node(nullptr, 4096, 1 << 20));
}

}  // namespace
}  // namespace trefoil
