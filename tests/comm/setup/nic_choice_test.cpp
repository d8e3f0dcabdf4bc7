// SPDX-License-Identifier: BSD-3-Clause
// The choice of NICs on made-up machines: the language, the default, the division, the refusals.
#include "comm/setup/nic_choice.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "comm/setup/nic_errors.hpp"
#include "topo/error.hpp"

namespace trefoil::nic_choice_test {
namespace {

using Names = std::vector<std::string>;

std::vector<Port> all_ports(int count) {
    std::vector<Port> ports;
    for (int p = 0; p < count; ++p) {
        ports.push_back(Port{p});
    }
    return ports;
}

NicCandidate interface(const std::string& name, const std::string& address,
                       const std::string& virtual_kind = "") {
    NicCandidate c;
    c.nic.name = name;
    c.nic.addresses = {address};
    c.nic.virtual_kind = virtual_kind;
    return c;
}

NicCandidate device(const std::string& name, std::vector<int> cores) {
    NicCandidate c;
    c.nic.name = name;
    c.nic.cores = std::move(cores);
    return c;
}

/// What a small server with containers and a VPN shows.
std::vector<NicCandidate> server() {
    std::vector<NicCandidate> all{
        interface("lo", "127.0.0.1"), interface("eth0", "10.0.0.7"), interface("eth1", "10.0.1.7"),
        interface("docker0", "172.17.0.1", "bridge"), interface("wg0", "10.9.0.2", "tunnel")};
    all[0].nic.loopback = true;
    all.push_back(interface("eth2", "10.0.2.7"));
    all.back().obstacle = "is down";
    all.back().nic.up = false;
    all.push_back(interface("eth3", "fe80::7"));
    return all;
}

/// Two sockets of four cores with two devices each.
std::vector<NicCandidate> two_sockets() {
    return {device("mlx5_0", {0, 1, 2, 3}), device("mlx5_1", {0, 1, 2, 3}),
            device("mlx5_2", {4, 5, 6, 7}), device("mlx5_3", {4, 5, 6, 7})};
}

const std::vector<int> everywhere{0, 1, 2, 3, 4, 5, 6, 7};
const std::vector<int> first_socket{0, 1, 2, 3};
const std::vector<int> second_socket{4, 5, 6, 7};

NicSharing sharing(std::vector<std::vector<int>> ranks, int self) {
    NicSharing s;
    s.most = static_cast<int>(ranks.size());
    s.ranks = std::move(ranks);
    s.self = self;
    return s;
}

NicChoice choose(const std::string& text, const std::vector<NicCandidate>& candidates, int ports,
                 const NicSharing& by = {}) {
    return choose_nics(parse_nic_request(text, ports), candidates, all_ports(ports), by);
}

Names names(const NicChoice& choice) {
    Names list;
    for (const PortNic& port : choice) {
        list.push_back(port.name);
    }
    return list;
}

Names selectors(const NicChoice& choice) {
    Names list;
    for (const PortNic& port : choice) {
        list.push_back(port.selector);
    }
    return list;
}

void expect_error(Status status, const std::function<void()>& action, const Names& words) {
    try {
        action();
        ADD_FAILURE() << "expected an error that says: " << words.front();
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), status) << error.what();
        for (const std::string& word : words) {
            EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
                << word << "\n in: " << error.what();
        }
    }
}

TEST(Patterns, StarsAndQuestionMarks) {
    EXPECT_TRUE(matches("eth0", "eth0"));
    EXPECT_TRUE(matches("mlx5_*", "mlx5_12"));
    EXPECT_TRUE(matches("mlx5_?", "mlx5_1"));
    EXPECT_TRUE(matches("*", ""));
    EXPECT_TRUE(matches("*_*:1", "mlx5_0:1"));
    EXPECT_TRUE(matches("a*b*c", "a_b_bxc"));
    EXPECT_TRUE(matches("10.0.*.7", "10.0.1.7"));
    EXPECT_FALSE(matches("mlx5_?", "mlx5_12"));
    EXPECT_FALSE(matches("MLX5_*", "mlx5_0"));
    EXPECT_FALSE(matches("eth", "eth0"));
    EXPECT_FALSE(matches("?", ""));
    EXPECT_FALSE(matches("", "eth0"));
    EXPECT_FALSE(matches("a*b*c", "a_b_x"));
}

TEST(Language, NamesPortsAndExclusions) {
    const NicRequest r = parse_nic_request("mlx5_*,+0=eth1,-1=10.0.0.7,^docker0,lo", 4);
    EXPECT_EQ(r.in_turn, (Names{"mlx5_*", "lo"}));
    EXPECT_EQ(r.by_port, (Names{"eth1", "", "", "10.0.0.7"}));
    EXPECT_EQ(r.never, (Names{"docker0"}));
    EXPECT_EQ(parse_nic_request("", 2).by_port, Names(2));
}

TEST(Language, RefusesWhatIsNotPartOfIt) {
    const auto refused = [](const char* text, const char* word) {
        expect_error(Status::invalid_argument, [&] { parse_nic_request(text, 4); },
                     {"TREFOIL_NICS=", word});
    };
    refused("eth0,,eth1", "an entry is empty");
    refused(",", "an entry is empty");
    refused("eth0,", "an entry is empty");
    refused("^", "an entry is empty");
    refused("+2=eth0", "\"+2\" names no port of this torus");
    refused("0=eth0", "names no port");
    refused("+0=", "+0 is given no NIC");
    refused("+0=eth0,+0=eth1", "+0 is named twice");
}

TEST(Choice, NamesAndAddressesAreTakenInTurn) {
    EXPECT_EQ(names(choose("eth0", server(), 4)), (Names{"eth0", "eth0", "eth0", "eth0"}));
    EXPECT_EQ(names(choose("eth1,eth0", server(), 4)), (Names{"eth1", "eth0", "eth1", "eth0"}));
    const NicChoice by_address = choose("10.0.1.7", server(), 2);
    EXPECT_EQ(names(by_address), (Names{"eth1", "eth1"}));
    EXPECT_EQ(selectors(by_address), (Names{"10.0.1.7", "10.0.1.7"}));
    EXPECT_EQ(by_address[0].why, "asked for by TREFOIL_NICS");
    EXPECT_EQ(by_address[0].sharing, 2);
}

TEST(Choice, OneNicPerDirection) {
    const NicChoice choice = choose("+0=eth1,-0=eth0,+1=eth0,-1=eth1", server(), 4);
    EXPECT_EQ(names(choice), (Names{"eth1", "eth0", "eth0", "eth1"}));
    EXPECT_EQ(count_nics(choice), 2);
    EXPECT_EQ(choice[2].sharing, 2);
}

TEST(Choice, DirectionsThatAreNotNamedTakeTheDefault) {
    const NicChoice choice = choose("-0=docker0", server(), 4);
    EXPECT_EQ(names(choice), (Names{"eth0", "docker0", "eth1", "eth0"}));
    EXPECT_EQ(choice[1].why, "asked for by TREFOIL_NICS");
    EXPECT_EQ(choice[0].why, "default: nearest, in turn");
    EXPECT_EQ(names(choose("-0=docker0,eth1", server(), 4)),
              (Names{"eth1", "docker0", "eth1", "eth1"}));
}

TEST(Choice, AliasesAreNamesToo) {
    std::vector<NicCandidate> all = two_sockets();
    all[2].nic.name = "mlx5_2:1";
    all[2].aliases = {"mlx5_2", "ib2"};
    const NicChoice choice = choose("ib2", all, 2);
    EXPECT_EQ(names(choice), (Names{"mlx5_2:1", "mlx5_2:1"}));
    EXPECT_EQ(selectors(choice), (Names{"ib2", "ib2"}));
}

TEST(Default, LeavesOutLoopbackVirtualAndUselessInterfaces) {
    EXPECT_EQ(names(choose("", server(), 4)), (Names{"eth0", "eth1", "eth0", "eth1"}));
    EXPECT_EQ(names(choose("^eth0", server(), 2)), (Names{"eth1", "eth1"}));
    EXPECT_EQ(names(choose("^10.0.1.*", server(), 2)), (Names{"eth0", "eth0"}));
    EXPECT_EQ(names(choose("^nothing_of_this_name", server(), 2)), (Names{"eth0", "eth1"}));
}

TEST(Default, OnOneHostNothingLeavesIt) {
    NicSharing here;
    here.all_here = true;
    const NicChoice choice = choose("", server(), 4, here);
    EXPECT_EQ(names(choice), (Names{"lo", "lo", "lo", "lo"}));
    EXPECT_EQ(choice[0].why, "default: all ranks are on this host");
    EXPECT_EQ(names(choose("^lo", server(), 2, here)), (Names{"eth0", "eth1"}));
    EXPECT_EQ(names(choose("", two_sockets(), 2, here)), (Names{"mlx5_0", "mlx5_1"}));
}

TEST(Default, WhatIsSlowerIsOnlyForThoseWhoAsk) {
    std::vector<NicCandidate> all = two_sockets();
    all.push_back(interface("eth0", "10.0.0.7"));
    all.back().reserve = true;
    EXPECT_EQ(count_nics(choose("", all, 8)), 4);
    EXPECT_EQ(names(choose("eth0", all, 2)), (Names{"eth0", "eth0"}));
}

TEST(Default, WithoutAnyCandidateTheTransportChooses) {
    const NicChoice choice = choose("", {}, 2);
    EXPECT_EQ(names(choice), (Names{"", ""}));
    EXPECT_EQ(selectors(choice), (Names{"", ""}));
    EXPECT_EQ(choice[0].why, "default: the transport chooses");
    EXPECT_EQ(choice[0].sharing, 0);
    EXPECT_EQ(count_nics(choice), 0);
}

TEST(Default, EachPortTakesTheNearestThatIsLeft) {
    EXPECT_EQ(names(choose("", two_sockets(), 4, sharing({everywhere}, 0))),
              (Names{"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"}));
    EXPECT_EQ(names(choose("", two_sockets(), 4, sharing({second_socket}, 0))),
              (Names{"mlx5_2", "mlx5_3", "mlx5_0", "mlx5_1"}));
    EXPECT_EQ(names(choose("", two_sockets(), 2, sharing({second_socket}, 0))),
              (Names{"mlx5_2", "mlx5_3"}));
    const NicChoice choice = choose("", two_sockets(), 2, sharing({second_socket}, 0));
    EXPECT_EQ(choice[0].cores, second_socket);
}

TEST(Default, RanksOfAHostDivideTheNicsByLocality) {
    const std::vector<std::vector<int>> bound{second_socket, first_socket};
    EXPECT_EQ(names(choose("", two_sockets(), 2, sharing(bound, 0))), (Names{"mlx5_2", "mlx5_3"}));
    EXPECT_EQ(names(choose("", two_sockets(), 2, sharing(bound, 1))), (Names{"mlx5_0", "mlx5_1"}));
    for (int self = 0; self < 4; ++self) {
        const std::vector<std::vector<int>> free(4, everywhere);
        EXPECT_EQ(names(choose("", two_sockets(), 4, sharing(free, self))),
                  Names(4, "mlx5_" + std::to_string(self)));
    }
}

TEST(Default, MoreRanksThanNicsShareThemEvenly) {
    std::multiset<std::string> used;
    for (int self = 0; self < 6; ++self) {
        const std::vector<std::vector<int>> free(6, everywhere);
        const NicChoice choice = choose("", two_sockets(), 4, sharing(free, self));
        EXPECT_EQ(count_nics(choice), 1);
        EXPECT_EQ(choice[0].sharing, 4);
        used.insert(choice[0].name);
    }
    for (const NicCandidate& c : two_sockets()) {
        EXPECT_GE(used.count(c.nic.name), 1U);
        EXPECT_LE(used.count(c.nic.name), 2U);
    }
}

TEST(Default, AHostWithFewerRanksGivesThemNoMoreNics) {
    NicSharing alone = sharing({everywhere}, 0);
    alone.most = 2;  // another host has two ranks
    EXPECT_EQ(count_nics(choose("", two_sockets(), 4, alone)), 2);
}

TEST(Default, PortsThatAreTogetherTakeOneNic) {
    NicSharing one_thread{{everywhere}};
    one_thread.together = {all_ports(4)};
    const NicChoice choice = choose("", two_sockets(), 4, one_thread);
    EXPECT_EQ(names(choice), (Names{"mlx5_0", "mlx5_0", "mlx5_0", "mlx5_0"}));
    EXPECT_EQ(choice[3].sharing, 4);
    EXPECT_EQ(names(choose("mlx5_*", two_sockets(), 4, one_thread)), names(choice));
    EXPECT_EQ(names(choose("mlx5_2,mlx5_3", two_sockets(), 4, one_thread)),
              (Names{"mlx5_2", "mlx5_3", "mlx5_2", "mlx5_3"}));
    NicSharing two_threads = one_thread;
    two_threads.together = {{Port{0}, Port{2}}, {Port{1}, Port{3}}};
    EXPECT_EQ(names(choose("", two_sockets(), 4, two_threads)),
              (Names{"mlx5_0", "mlx5_1", "mlx5_0", "mlx5_1"}));
}

TEST(Wildcards, AreDividedAsTheDefaultIs) {
    EXPECT_EQ(names(choose("mlx5_*", two_sockets(), 4)),
              (Names{"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"}));
    EXPECT_EQ(names(choose("mlx5_*,^mlx5_3", two_sockets(), 4)),
              (Names{"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_0"}));
    const std::vector<std::vector<int>> bound{second_socket, first_socket};
    EXPECT_EQ(names(choose("mlx5_?", two_sockets(), 2, sharing(bound, 0))),
              (Names{"mlx5_2", "mlx5_3"}));
    EXPECT_EQ(names(choose("+0=mlx5_*,-0=mlx5_*", two_sockets(), 2)), (Names{"mlx5_0", "mlx5_1"}));
}

TEST(Wildcards, MeanWhatIsFilteredOnlyIfNothingElseMatches) {
    EXPECT_EQ(names(choose("*", server(), 2)), (Names{"eth0", "eth1"}));
    EXPECT_EQ(names(choose("dock*", server(), 2)), (Names{"docker0", "docker0"}));
    EXPECT_EQ(names(choose("127.*", server(), 2)), (Names{"lo", "lo"}));
    EXPECT_EQ(selectors(choose("127.*", server(), 2)), (Names{"127.0.0.1", "127.0.0.1"}));
}

TEST(Refusals, AnUnknownNameOffersTheNearestAndListsAll) {
    expect_error(Status::not_found, [] { choose("eht0", server(), 2); },
                 {"there is no NIC \"eht0\"", "but there is eth0",
                  "There are: lo (127.0.0.1; up, loopback), eth0 (10.0.0.7)",
                  "docker0 (172.17.0.1; up, bridge)", "eth2 (10.0.2.7; is down)"});
    expect_error(Status::not_found, [] { choose("+0=ETH0", server(), 2); }, {"\"ETH0\""});
    expect_error(Status::not_found, [] { choose("eth0", {}, 2); }, {"There are: none"});
}

TEST(Refusals, APatternThatMatchesNothingListsAll) {
    expect_error(Status::not_found, [] { choose("mlx5_*", server(), 2); },
                 {"no NIC matches the pattern \"mlx5_*\"", "There are: lo"});
}

TEST(Refusals, WhatCannotBeUsedSaysWhy) {
    expect_error(Status::not_found, [] { choose("eth2", server(), 2); }, {"eth2 is down"});
    expect_error(Status::not_found, [] { choose("eth0,^eth*", server(), 2); },
                 {"eth0 is excluded by ^eth*"});
    expect_error(Status::not_found, [] { choose("^eth*", server(), 2); },
                 {"no NIC leads to other hosts", "docker0", "TREFOIL_NICS"});
}

TEST(Counts, ThatDifferNameRanksHostsAndNics) {
    const NicReport four{"node1", {"eth0", "eth1", "eth2", "eth3"}};
    const NicReport renamed{"node3", {"ib0", "ib1", "ib2", "ib3"}};
    const NicReport three{"node2", {"eth0", "eth1", "eth3"}};
    require_equal_counts({});
    require_equal_counts({four, renamed, four});
    expect_error(
        Status::mismatch,
        [&] {
            require_equal_counts({four, three, renamed, three});
        },
        {"ranks 1, 3 (node2) 3: eth0, eth1, eth3", "ranks 0, 2 (node1) 4: eth0", "TREFOIL_NICS"});
}

TEST(NicChoice, APortWhoseCableIsDownTakesAnothersNic) {
    const NicRequest request = parse_nic_request("+0=eth0,-0=eth2,+1=eth1,-1=eth0", 4);
    const NicChoice choice = choose_nics(request, server(), all_ports(4), {}, all_ports(4));
    EXPECT_EQ(names(choice), (Names{"eth0", "eth1", "eth1", "eth0"}));
    EXPECT_EQ(choice[1].lacking, "eth2");
    EXPECT_EQ(choice[1].why, "eth2 is down, so that of +1");
    EXPECT_TRUE(choice[0].lacking.empty());
    EXPECT_EQ(choice[2].sharing, 2);
    expect_error(Status::not_found,
                 [&] {
                     choose_nics(request, server(), all_ports(4), {}, {Port{0}, Port{2}});
                 },
                 {"eth2 is down"});
    EXPECT_TRUE(choose_nics(parse_nic_request("+0=eth*,-0=eth1", 2), server(), all_ports(2), {},
                            all_ports(2))[0]
                    .lacking.empty())
        << "one of them is up";
    auto deaf = server();
    deaf[2].nic.carrier = false;
    EXPECT_EQ(choose_nics(request, deaf, all_ports(4), {}, all_ports(4))[2].lacking, "eth1");
    expect_error(Status::not_found,
                 [&] {
                     choose_nics(parse_nic_request("+0=eth2,-0=eth2", 2), server(), all_ports(2),
                                 {}, all_ports(2));
                 },
                 {"eth2 is down"});
    expect_error(Status::not_found,
                 [&] {
                     choose_nics(parse_nic_request("+0=eht0,-0=eth0", 2), server(), all_ports(2),
                                 {}, all_ports(2));
                 },
                 {"there is no NIC \"eht0\""});
}

}  // namespace
}  // namespace trefoil::nic_choice_test
