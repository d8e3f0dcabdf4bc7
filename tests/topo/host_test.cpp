// SPDX-License-Identifier: BSD-3-Clause
// What the process learns about its machine, compared with what the kernel says elsewhere.
#include "topo/host.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/denied_calls.hpp"
#include "topo/cpu_quota.hpp"
#include "topo/random_bytes.hpp"

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

// Not to see is not to know: the process goes on with what there is.
TEST(Host, a_sandbox_without_affinity_and_getrandom_has_cores_and_random_bytes) {
    bool denied = false;
    std::vector<int> cores;
    std::array<char, 16> bytes{}, others{};
    std::string wrong;
    std::thread sandbox([&] {  // the filter is this thread's alone
        denied = trefoil::test::forbid_system_calls({{SYS_sched_getaffinity}, {SYS_getrandom}});
        try {
            cores = trefoil::allowed_cores();
            trefoil::fill_randomly(bytes);
            trefoil::fill_randomly(others);
        } catch (const std::exception& e) {
            wrong = e.what();
        }
    });
    sandbox.join();
    if (!denied) {
        GTEST_SKIP() << "no seccomp filter here";
    }
    EXPECT_EQ(wrong, "");
    ASSERT_FALSE(cores.empty());
    EXPECT_EQ(cores.front(), 0);
    EXPECT_EQ(cores.size(), static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN)));
    EXPECT_NE(bytes, (std::array<char, 16>{}));
    EXPECT_NE(bytes, others);
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

TEST(Host, quotas_are_those_of_all_control_groups_around) {
    namespace fs = std::filesystem;
    const fs::path root = fs::path(testing::TempDir()) / ("cgroups" + std::to_string(getpid()));
    const auto write = [&](const std::string& name, const std::string& text) {
        fs::create_directories((root / name).parent_path());
        std::ofstream(root / name) << text;
    };
    const auto quotas = [&] { return trefoil::cpu_quotas(root.string() + "/"); };
    EXPECT_TRUE(quotas().empty());
    write("proc/self/cgroup", "0::/job/rank\n");
    write("sys/fs/cgroup/job/rank/cpu.max", "max 100000\n");
    write("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
    ASSERT_EQ(quotas().size(), 1U);
    EXPECT_DOUBLE_EQ(quotas()[0].cores, 1.5);
    const auto job = quotas();
    write("sys/fs/cgroup/job/rank/cpu.max", "50000 100000\n");
    ASSERT_EQ(quotas().size(), 2U);
    EXPECT_DOUBLE_EQ(quotas()[0].cores, 0.5);
    EXPECT_TRUE(quotas()[1].is_same_group(job[0]));
    EXPECT_DOUBLE_EQ(trefoil::cores_for_each({job, quotas(), {}, job}, 0), 0.5) << "three share it";
    EXPECT_GT(trefoil::cores_for_each({job, {}}, 1), 1e9);
    // Version 1, as a container sees its own group: at the root.
    write("proc/self/cgroup", "5:memory:/job/rank\n4:cpu,cpuacct:/elsewhere/rank\n0::/\n");
    write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
    write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    ASSERT_EQ(quotas().size(), 1U);
    EXPECT_DOUBLE_EQ(quotas()[0].cores, 2);
    write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    EXPECT_TRUE(quotas().empty());
    EXPECT_EQ(trefoil::core_time_text(1.5), "1.5 cores");
    EXPECT_EQ(trefoil::core_time_text(1), "1 core");
    fs::remove_all(root);
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
