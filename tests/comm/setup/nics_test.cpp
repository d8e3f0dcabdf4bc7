// SPDX-License-Identifier: BSD-3-Clause
// The join of what transports offer with what the host knows; and this machine's own choice.
#include "comm/setup/nics.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/backend/registry/transports_to_test.hpp"
#include "topo/error.hpp"

namespace trefoil::nics_test {
namespace {

const NicCandidate* find(const std::vector<NicCandidate>& all, const std::string& name) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const NicCandidate& c) { return c.nic.name == name; });
    return found == all.end() ? nullptr : &*found;
}

Nic interface(const std::string& name, std::vector<std::string> addresses) {
    Nic nic;
    nic.name = name;
    nic.addresses = std::move(addresses);
    return nic;
}

Nic device(const std::string& name, const std::string& pci, std::vector<int> cores) {
    Nic nic;
    nic.name = name;
    nic.pci = pci;
    nic.cores = std::move(cores);
    return nic;
}

TEST(Join, AnInterfaceIsOneCandidateWithItsOfferedAddresses) {
    Nic bridge = interface("docker0", {"172.17.0.1"});
    bridge.virtual_kind = "bridge";
    Nic down = interface("eth1", {"10.0.1.7"});
    down.up = false;
    const std::vector<Nic> host{interface("eth0", {"10.0.0.7", "fd00::7"}), bridge, down};
    NicOffers offers;
    offers.source = "libfabric provider net";
    offers.nics = {{"net", "eth0", "10.0.0.7"}, {"net", "eth0", "fd00::7"}};
    const auto all = nic_candidates(offers, host);
    ASSERT_EQ(all.size(), 3U);
    const NicCandidate* eth0 = find(all, "eth0");
    EXPECT_EQ(eth0->nic.addresses, (std::vector<std::string>{"10.0.0.7", "fd00::7"}));
    EXPECT_EQ(eth0->obstacle, "");
    EXPECT_TRUE(eth0->aliases.empty());
    EXPECT_FALSE(eth0->reserve);
    EXPECT_EQ(find(all, "docker0")->obstacle, "is not offered by libfabric provider net");
    EXPECT_EQ(find(all, "docker0")->nic.virtual_kind, "bridge");
    EXPECT_EQ(find(all, "eth1")->obstacle, "is down");
}

TEST(Join, DevicesAreFoundByNameAndHaveTheirInterfacesAsAliases) {
    const std::vector<Nic> host{interface("eth0", {"10.0.0.7"}), interface("ib0", {"10.1.0.7"}),
                                device("mlx5_0", "0000:1a:00.0", {0, 1}),
                                device("mlx5_10", "0000:1b:00.0", {2, 3})};
    NicOffers ucx;
    ucx.nics = {{"rc_mlx5", "mlx5_10:1", ""},
                {"rc_mlx5", "mlx5_0:1", ""},
                {"ud_mlx5", "mlx5_0:1", ""},
                {"tcp", "eth0", "10.0.0.7"}};
    const auto all = nic_candidates(ucx, host);
    ASSERT_EQ(all.size(), 4U);
    EXPECT_EQ(all[0].nic.name, "eth0");
    EXPECT_TRUE(all[0].reserve) << "devices go before interfaces";
    EXPECT_EQ(all[2].nic.name, "mlx5_0:1");
    EXPECT_EQ(all[3].nic.name, "mlx5_10:1") << "by number, not by letter";
    EXPECT_EQ(all[2].aliases, std::vector<std::string>{"mlx5_0"});
    EXPECT_EQ(all[2].nic.cores, (std::vector<int>{0, 1}));
    EXPECT_FALSE(all[2].reserve);

    NicOffers verbs;
    verbs.nics = {{"verbs;ofi_rxm", "mlx5_0", "10.1.0.7"}};
    const auto by_address = nic_candidates(verbs, host);
    EXPECT_EQ(find(by_address, "mlx5_0")->aliases, std::vector<std::string>{"ib0"});
    EXPECT_EQ(find(by_address, "ib0"), nullptr) << "it is the same NIC";
}

TEST(Join, ADeviceIsMeantByItsNameWithoutThePortAndByItsInterfaces) {
    Nic rxe0 = device("rxe0", "", {});
    rxe0.interfaces = {"eth0"};
    const std::vector<Nic> host{interface("eth0", {"10.0.0.7"}), interface("eth1", {"10.0.1.7"}),
                                rxe0};
    NicOffers ucx;
    ucx.nics = {{"rc_verbs", "rxe0:1", ""}, {"rc_verbs", "rxe1:1", ""}};
    const auto all = nic_candidates(ucx, host);
    const NicCandidate* found = find(all, "rxe0:1");
    for (const char* name : {"rxe0", "rxe0:1", "eth0", "10.0.0.7"}) {
        EXPECT_NE(matched_name(*found, name), "") << name;
    }
    EXPECT_EQ(matched_name(*found, "eth0"), "rxe0:1") << "a name that UCX knows";
    EXPECT_EQ(matched_name(*found, "10.0.1.7"), "");
    EXPECT_EQ(find(all, "eth0"), nullptr) << "it is the same NIC";
    EXPECT_EQ(matched_name(*find(all, "rxe1:1"), "rxe1"), "rxe1") << "hwloc need not know it";

    ucx.nics.push_back({"tcp", "eth0", "10.0.0.7"});
    const auto with_tcp = nic_candidates(ucx, host);
    EXPECT_EQ(matched_name(*find(with_tcp, "rxe0:1"), "eth0"), "") << "it is offered itself";
    EXPECT_EQ(matched_name(*find(with_tcp, "eth0"), "eth0"), "eth0");
}

TEST(Join, ADeviceOfAnotherNameIsFoundByItsPlaceOnTheBus) {
    const std::vector<Nic> host{device("hfi1_0", "0000:5e:00.0", {4, 5})};
    NicOffers offers;
    offers.nics = {{"opx", "opx0", "", "0000:5e:00.0"}, {"opx", "unknown", ""}};
    const auto all = nic_candidates(offers, host);
    EXPECT_EQ(find(all, "opx0")->nic.cores, (std::vector<int>{4, 5}));
    EXPECT_EQ(find(all, "opx0")->aliases, std::vector<std::string>{"hfi1_0"});
    EXPECT_TRUE(find(all, "unknown")->nic.cores.empty());
}

TEST(Here, TheMemoryBackendNeedsNoNicAndHasNone) {
    const auto wish = [](const char* nics) {
        return NicWish{"memory", "", parse_nic_request(nics, 2), {{0}, {1}}};
    };
    NicSharing here;
    here.all_here = true;
    const NicChoice choice = choose_nics_here(wish(""), here);
    EXPECT_EQ(selectors(choice), (std::vector<std::string>{"", ""}));
    EXPECT_EQ(choice[0].why, "default: shared memory, all ranks are on this host");
    EXPECT_EQ(nic_text(choice[0]), choice[0].why);
    EXPECT_EQ(count_nics(choose_nics_here(wish("^docker*"), here)), 0);
    try {
        choose_nics_here(wish("lo"), here);
        ADD_FAILURE() << "it has no NIC";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::not_found);
        EXPECT_NE(std::string(error.what()).find("backend memory, which uses none"),
                  std::string::npos)
            << error.what();
    }
}

TEST(Here, LibfabricStaysOnTheHostWhenAllRanksAreThere) {
    if (!test::is_built("ofi")) {
        GTEST_SKIP() << "this build has no backend ofi";
    }
    const auto choose = [](const char* nics) {
        NicSharing here;
        here.all_here = true;
        return choose_nics_here({"ofi", "net", parse_nic_request(nics, 2), {{0}, {1}}}, here);
    };
    const NicChoice choice = choose("");
    EXPECT_EQ(selectors(choice), (std::vector<std::string>{"lo", "lo"}));
    EXPECT_EQ(nic_text(choice[0]), "lo (default: all ranks are on this host, shared by 2 ports)");
    EXPECT_EQ(selectors(choose("127.0.0.1")), (std::vector<std::string>{"127.0.0.1", "127.0.0.1"}));
    EXPECT_EQ(selectors(choose("+0=l?,-0=127.0.*")), (std::vector<std::string>{"lo", "127.0.0.1"}));
    EXPECT_THROW(choose("no_such_nic"), Error);
    EXPECT_THROW(choose("no_such_*"), Error);
}

TEST(Here, UcxSettingsKeepTheirMeaning) {
    if (!test::is_built("ucx")) {
        GTEST_SKIP() << "this build has no backend ucx";
    }
    const auto choose = [](const char* transports, const char* nics, bool all_here) {
        NicSharing sharing;
        sharing.all_here = all_here;
        return choose_nics_here({"ucx", transports, parse_nic_request(nics, 2), {{0}, {1}}},
                                sharing);
    };
    EXPECT_EQ(choose("", "", true)[0].why, "default: shared memory, all ranks are on this host");
    EXPECT_EQ(choose("tcp", "", true)[0].name, "lo");
    EXPECT_EQ(choose("tcp", "lo", false)[1].name, "lo");
    EXPECT_EQ(choose("posix", "", false)[0].why, "default: the transport chooses");
    EXPECT_THROW(choose("posix", "lo", false), Error);
    setenv("UCX_NET_DEVICES", "lo", 1);
    EXPECT_EQ(choose("tcp", "", false)[0].why, "left to UCX_NET_DEVICES");
    EXPECT_EQ(choose("tcp", "", false)[0].selector, "");
    unsetenv("UCX_NET_DEVICES");
}

}  // namespace
}  // namespace trefoil::nics_test
