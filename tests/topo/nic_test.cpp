// SPDX-License-Identifier: BSD-3-Clause
// Where NICs sit, on a made-up machine; and which interfaces lead nowhere, on made-up directories.
#include "topo/nic.hpp"

#include <gtest/gtest.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "topo/rdma_device.hpp"
#include "topo/virtual_interface.hpp"

namespace trefoil {
namespace {

namespace fs = std::filesystem;

#ifdef TREFOIL_TEST_HWLOC
// two_sockets.xml is made up: two sockets with four cores and two fabric devices each, and an
// Ethernet card and a disk at the first.
const DeviceLocality* find(const Locality& locality, const std::string& name) {
    const auto found = std::find_if(locality.devices.begin(), locality.devices.end(),
                                    [&](const DeviceLocality& d) { return d.name == name; });
    return found == locality.devices.end() ? nullptr : &*found;
}

TEST(Locality, IsThatOfTheSocketToWhichADeviceIsAttached) {
    const Locality locality = locality_of_xml(TREFOIL_TEST_XML);
    ASSERT_EQ(locality.absence, "");
    const DeviceLocality* near = find(locality, "mlx5_1");
    ASSERT_NE(near, nullptr);
    EXPECT_EQ(near->pci, "0000:1a:01.0");
    EXPECT_EQ(near->numa_node, 0);
    EXPECT_EQ(near->cores, (std::vector<int>{0, 1, 2, 3}));
    const DeviceLocality* far = find(locality, "ib2");
    ASSERT_NE(far, nullptr);
    EXPECT_EQ(far->pci, "0000:b1:00.0");
    EXPECT_EQ(far->numa_node, 1);
    EXPECT_EQ(far->cores, (std::vector<int>{4, 5, 6, 7}));
    EXPECT_EQ(find(locality, "nvme0n1"), nullptr) << "a disk is no NIC";
    EXPECT_EQ(locality.devices.size(), 9U);
    ASSERT_EQ(locality.numa_nodes.size(), 2U);
    EXPECT_EQ(locality.numa_nodes[1].number, 1);
    EXPECT_EQ(locality.numa_nodes[1].cores, (std::vector<int>{4, 5, 6, 7}));
}

TEST(Locality, OfABrokenFileIsAbsentAndSaysSo) {
    const Locality locality = locality_of_xml("/nonexistent/machine.xml");
    EXPECT_NE(locality.absence, "");
    EXPECT_TRUE(locality.devices.empty());
}
#else
TEST(Locality, WithoutHwlocIsAbsentAndSaysSo) {
    EXPECT_NE(machine_locality().absence, "");
}
#endif

TEST(Nics, AreTheInterfacesOfThisNamespaceEachOnce) {
    const std::vector<Nic> nics = host_nics(machine_locality());
    std::set<std::string> names;
    for (const Nic& nic : nics) {
        EXPECT_TRUE(names.insert(nic.name).second) << nic.name;
    }
    struct if_nameindex* all = if_nameindex();
    ASSERT_NE(all, nullptr);
    for (const struct if_nameindex* each = all; each->if_name != nullptr; ++each) {
        EXPECT_TRUE(names.contains(each->if_name)) << each->if_name;
    }
    if_freenameindex(all);
    const auto lo =
        std::find_if(nics.begin(), nics.end(), [](const Nic& n) { return n.name == "lo"; });
    ASSERT_NE(lo, nics.end());
    EXPECT_TRUE(lo->loopback);
    EXPECT_EQ(state_text(*lo), "up, loopback");
}

TEST(Nics, TakeTheirPlaceFromTheLocality) {
    const Locality locality{"", {{"lo", "", 3, {7}}, {"mlx5_9", "0000:3b:00.0", 1, {4, 5}}}};
    const std::vector<Nic> nics = host_nics(locality);
    const auto lo =
        std::find_if(nics.begin(), nics.end(), [](const Nic& n) { return n.name == "lo"; });
    EXPECT_EQ(lo->numa_node, 3);
    EXPECT_EQ(lo->cores, std::vector<int>{7});
    EXPECT_EQ(nics.back().name, "mlx5_9");
    EXPECT_EQ(nics.back().pci, "0000:3b:00.0");
    EXPECT_TRUE(nics.back().addresses.empty());
}

TEST(RdmaDevices, HaveTheInterfacesOfTheirGids) {
    const fs::path classes =
        fs::temp_directory_path() / ("trefoil_rdma_test_" + std::to_string(getpid()));
    const auto write = [&](const fs::path& path, const std::string& line) {
        fs::create_directories((classes / path).parent_path());
        std::ofstream(classes / path) << line << "\n";
    };
    write("mlx5_1/ports/1/state", "1: DOWN");
    write("mlx5_0/ports/1/state", "4: ACTIVE");
    write("mlx5_0/ports/1/gid_attrs/ndevs/0", "eth0");
    write("mlx5_0/ports/1/gid_attrs/ndevs/1", "eth0");
    write("mlx5_0/ports/1/gid_attrs/ndevs/2", "eth0.7");
    const std::vector<RdmaDevice> devices = rdma_devices(classes);
    fs::remove_all(classes);
    ASSERT_EQ(devices.size(), 2U);
    EXPECT_EQ(devices[0].name, "mlx5_0");
    EXPECT_EQ(devices[0].interfaces, (std::vector<std::string>{"eth0", "eth0.7"}));
    EXPECT_TRUE(devices[0].up);
    EXPECT_TRUE(devices[1].interfaces.empty());
    EXPECT_FALSE(devices[1].up);
    EXPECT_TRUE(rdma_devices(classes).empty()) << "a machine without any";
}

/// A directory of interfaces as the kernel keeps it.
class Classes {
  public:
    Classes()
        : root_(fs::temp_directory_path() / ("trefoil_nic_test_" + std::to_string(getpid()))) {
        fs::create_directories(root_);
    }
    ~Classes() { fs::remove_all(root_); }
    Classes(const Classes&) = delete;
    Classes& operator=(const Classes&) = delete;

    void add(const std::string& interface, const std::vector<std::string>& entries,
             const std::string& device_type = "") {
        fs::create_directories(root_ / interface);
        std::ofstream uevent(root_ / interface / "uevent");
        uevent << (device_type.empty() ? "" : "DEVTYPE=" + device_type + "\n")
               << "INTERFACE=" << interface << "\n";
        for (const std::string& entry : entries) {
            fs::create_directories(root_ / interface / entry);
        }
    }
    std::string kind(const std::string& interface) const { return virtual_kind(interface, root_); }

  private:
    fs::path root_;
};

TEST(VirtualInterfaces, TheKernelsWordGoesBeforeTheName) {
    Classes classes;
    classes.add("eth0", {"device"});
    classes.add("tunnel0", {"device"});  // hardware with an unlucky name
    classes.add("mesh", {}, "wireguard");
    classes.add("office", {"tun_flags"});
    classes.add("lab", {"bridge", "brif"}, "bridge");
    classes.add("veth12", {"brport"});
    classes.add("p0", {});
    classes.add("vethab", {});
    classes.add("bond0", {}, "bond");
    classes.add("eth0.7", {}, "vlan");
    EXPECT_EQ(classes.kind("eth0"), "");
    EXPECT_EQ(classes.kind("tunnel0"), "");
    EXPECT_EQ(classes.kind("mesh"), "tunnel");
    EXPECT_EQ(classes.kind("office"), "tunnel");
    EXPECT_EQ(classes.kind("lab"), "bridge");
    EXPECT_EQ(classes.kind("veth12"), "port of a bridge");
    EXPECT_EQ(classes.kind("p0"), "");
    EXPECT_EQ(classes.kind("vethab"), "") << "namespaces have nothing else";
    EXPECT_EQ(classes.kind("bond0"), "");
    EXPECT_EQ(classes.kind("eth0.7"), "");
}

TEST(VirtualInterfaces, ABridgeOverHardwareIsReal) {
    Classes classes;
    classes.add("eno1", {"device", "brport"});
    classes.add("br0", {"bridge", "brif/eno1"}, "bridge");
    classes.add("docker0", {"bridge", "brif/veth1"}, "bridge");
    classes.add("veth1", {"brport"});
    EXPECT_EQ(classes.kind("br0"), "");
    EXPECT_EQ(classes.kind("docker0"), "bridge");
}

TEST(VirtualInterfaces, NamesTellWhatTheKernelDoesNot) {
    const Classes classes;
    for (const char* name : {"docker0", "br-1f2e3d", "virbr0", "cni0", "flannel.1", "cali12ab",
                             "tun0", "tap3", "wg0", "tailscale0", "ztabc", "vpn0", "dummy0"}) {
        EXPECT_NE(classes.kind(name), "") << name;
    }
    for (const char* name : {"eth0", "ens5", "enp3s0f1", "ib0", "hsn0", "bond0", "br0", "p0"}) {
        EXPECT_EQ(classes.kind(name), "") << name;
    }
}

}  // namespace
}  // namespace trefoil
