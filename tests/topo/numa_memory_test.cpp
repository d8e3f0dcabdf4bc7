// SPDX-License-Identifier: BSD-3-Clause
// Which NUMA node cores are on, on a made-up machine; and where the kernel is asked to take pages.
#include "topo/numa_memory.hpp"

#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace trefoil {
namespace {

namespace fs = std::filesystem;

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
