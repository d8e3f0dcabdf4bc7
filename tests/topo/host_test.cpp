// SPDX-License-Identifier: BSD-3-Clause
// What the process learns about its machine, compared with what the kernel says elsewhere.
#include "topo/host.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace {

TEST(Host, cores_are_those_of_the_mask) {
    const std::vector<int> cores = trefoil::allowed_cores();
    ASSERT_FALSE(cores.empty());
    EXPECT_TRUE(std::is_sorted(cores.begin(), cores.end()));
    cpu_set_t set;
    CPU_ZERO(&set);
    ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
    EXPECT_EQ(cores.size(), static_cast<std::size_t>(CPU_COUNT(&set)));
    for (const int core : cores) {
        EXPECT_TRUE(CPU_ISSET(core, &set)) << core;
    }
}

TEST(Host, a_narrower_mask_gives_fewer_cores) {
    const int last = trefoil::allowed_cores().back();
    std::vector<int> seen;
    std::thread narrow([&] {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(last, &set);
        if (sched_setaffinity(0, sizeof(set), &set) == 0) {
            seen = trefoil::allowed_cores();
        }
    });
    narrow.join();
    EXPECT_EQ(seen, std::vector<int>{last});
}

TEST(Host, lists_the_loopback_interface_with_an_address) {
    const auto interfaces = trefoil::network_interfaces();
    const auto loopback = std::find_if(interfaces.begin(), interfaces.end(),
                                       [](const auto& i) { return i.address == "127.0.0.1"; });
    ASSERT_NE(loopback, interfaces.end());
    EXPECT_TRUE(loopback->loopback);
    EXPECT_TRUE(loopback->up);
    EXPECT_EQ(loopback->numa_node, -1);
    for (const auto& interface : interfaces) {
        EXPECT_FALSE(interface.name.empty());
        EXPECT_FALSE(interface.address.empty());
    }
}

TEST(Host, a_label_of_an_address_names_no_interface) {
    EXPECT_EQ(trefoil::interface_of_label("eth0:1"), "eth0");
    EXPECT_EQ(trefoil::interface_of_label("eth0"), "eth0");
}

TEST(Host, an_address_with_a_label_is_of_its_interface) {
    const pid_t child = fork();
    if (child == 0) {
        if (unshare(CLONE_NEWNET) != 0 ||
            std::system("ip link set lo up && ip address add 127.0.0.2/8 dev lo label lo:1") != 0) {
            _exit(77);
        }
        const auto all = trefoil::network_interfaces();
        const auto labelled =
            std::ranges::find(all, "127.0.0.2", &trefoil::NetworkInterface::address);
        _exit(labelled != all.end() && labelled->name == "lo" ? 0 : 1);
    }
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WEXITSTATUS(status) == 77) {
        GTEST_SKIP() << "needs root, and the command ip";
    }
    EXPECT_EQ(status, 0);
}

TEST(Host, name_is_that_of_the_system) {
    char name[256] = {};
    ASSERT_EQ(gethostname(name, sizeof(name) - 1), 0);
    EXPECT_EQ(trefoil::host_name(), name);
}

TEST(Host, machine_is_one_line_with_cores_and_memory) {
    const std::string text = trefoil::machine_text();
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_EQ(text.find(std::to_string(trefoil::allowed_cores().size()) + " core"), 0U) << text;
    EXPECT_NE(text.find(" GiB, "), std::string::npos) << text;
    EXPECT_LT(text.find(" GiB, ") + 6, text.size()) << text;
}

}  // namespace
