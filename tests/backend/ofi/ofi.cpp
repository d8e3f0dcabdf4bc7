// SPDX-License-Identifier: BSD-3-Clause
// Backend ofi without traffic: discovery, choice and refusal of providers and NICs, blobs, and the
// sweep of shared memory.
#include "backend/ofi/ofi.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <set>

#include "backend/ofi/address.hpp"
#include "backend/ofi/blob.hpp"
#include "backend/ofi/completion.hpp"
#include "backend/ofi/discovery.hpp"
#include "backend/ofi/environment.hpp"
#include "tests/backend/ports/keys.hpp"

namespace trefoil {
namespace {

BackendConfig config_for(const std::string& provider, std::vector<std::string> nics = {}) {
    BackendConfig config;
    config.provider = provider;
    config.groups = {{Port{0}, Port{1}}};
    config.nics = std::move(nics);
    return config;
}

// What the refusal says; the test fails if it is none, or of another status.
std::string refusal(Status expected, const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), expected) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "was not refused";
    return {};
}

bool contains(const std::string& text, const std::string& piece) {
    return text.find(piece) != std::string::npos;
}

ofi::Info qualifying_info() {
    ofi::Info info = ofi::copy_of(nullptr);
    info->caps = FI_MSG | FI_RMA;
    info->ep_attr->type = FI_EP_RDM;
    info->domain_attr->cq_data_size = 4;
    return info;
}

TEST(OfiKeys, CannotBeGuessedFromOthers) {
    test::expect_keys_that_must_be_guessed(ofi_transport(), config_for("net", {"lo"}));
}

TEST(OfiDiscovery, LackingNamesWhatIsMissing) {
    EXPECT_EQ(ofi::lacking(*qualifying_info()), "");
    const ofi::Info connected = qualifying_info();
    connected->ep_attr->type = FI_EP_MSG;
    EXPECT_TRUE(contains(ofi::lacking(*connected), "FI_EP_RDM"));
    const ofi::Info messages_only = qualifying_info();
    messages_only->caps = FI_MSG;
    EXPECT_TRUE(contains(ofi::lacking(*messages_only), "FI_RMA"));
    const ofi::Info narrow = qualifying_info();
    narrow->domain_attr->cq_data_size = 2;
    EXPECT_TRUE(contains(ofi::lacking(*narrow), "2 bytes of remote completion data"));
}

TEST(OfiDiscovery, NothingIsListedTwice) {
    std::set<std::string> seen;
    for (const ProviderInfo& info : ofi_transport().providers()) {
        EXPECT_TRUE(seen.insert(info.provider + " " + info.nic + " " + info.address).second)
            << info.provider << " " << info.nic << " " << info.address;
    }
}

TEST(OfiDiscovery, EveryListedProviderOpens) {
    std::vector<std::string> names;
    for (const ProviderInfo& info : ofi_transport().providers()) {
        if (std::find(names.begin(), names.end(), info.provider) == names.end()) {
            names.push_back(info.provider);
        }
    }
    ASSERT_FALSE(names.empty());
    for (const std::string& name : names) {
        const auto groups = ofi_transport().open(config_for(name));
        ASSERT_EQ(groups.size(), 1U);
        EXPECT_TRUE(groups[0]->port_text(Port{0}).starts_with(name + " "))
            << groups[0]->port_text(Port{0});
    }
}

TEST(OfiDiscovery, TheDefaultIsTheFirstOfTheList) {
    const auto groups = ofi_transport().open(config_for(""));
    EXPECT_TRUE(groups[0]->port_text(Port{0}).starts_with(
        ofi_transport().providers().front().provider + " "));
}

TEST(OfiDiscovery, TheLowestLayersNameWillDo) {
    const std::vector<ofi::Info> all = ofi::offers();
    for (const ofi::Info& info : all) {
        const std::string name = ofi::names(*info).provider;
        EXPECT_EQ(ofi::choose_provider(all, name), name);
        const std::string lowest = name.substr(0, name.find(';'));
        const std::string chosen = ofi::choose_provider(all, lowest);
        EXPECT_TRUE(chosen == lowest || chosen.starts_with(lowest + ";")) << chosen;
    }
}

ofi::Info offer_of(const char* provider) {
    ofi::Info info = qualifying_info();
    info->fabric_attr->prov_name = strdup(provider);
    return info;
}

TEST(OfiDiscovery, NetIsTheTcpOfLaterReleases) {
    std::vector<ofi::Info> later;
    later.push_back(offer_of("tcp;ofi_rxm"));
    later.push_back(offer_of("tcp"));
    EXPECT_EQ(ofi::choose_provider(later, "net"), "tcp");
    EXPECT_EQ(ofi::choose_provider(later, "tcp"), "tcp");
    std::vector<ofi::Info> both;  // as in 1.17, whose "tcp" alone has no such endpoints
    both.push_back(offer_of("tcp;ofi_rxm"));
    both.push_back(offer_of("net"));
    EXPECT_EQ(ofi::choose_provider(both, "net"), "net");
    EXPECT_EQ(ofi::choose_provider(both, "tcp"), "tcp;ofi_rxm");
}

TEST(OfiCompletion, AnArrivalIsToldFromALeave) {
    EXPECT_TRUE(ofi::is_arrival(FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA));
    EXPECT_TRUE(ofi::is_arrival(FI_REMOTE_CQ_DATA)) << "shm of libfabric 2.1 says no more";
    EXPECT_FALSE(ofi::is_arrival(FI_RMA | FI_WRITE));
    EXPECT_FALSE(ofi::is_arrival(FI_RMA | FI_WRITE | FI_REMOTE_CQ_DATA));
}

TEST(OfiDiscovery, AnUnknownProviderIsRefusedWithTheOthersNames) {
    const std::string text =
        refusal(Status::not_found, [] { ofi_transport().open(config_for("no-such-provider")); });
    EXPECT_TRUE(contains(text, "\"no-such-provider\"")) << text;
    for (const ProviderInfo& info : ofi_transport().providers()) {
        EXPECT_TRUE(contains(text, "\"" + info.provider + "\"")) << text;
    }
}

TEST(OfiDiscovery, AProviderThatCannotPutIsRefusedWithTheReason) {
    // No offer qualifies: then every provider that libfabric knows is one that cannot.
    const std::string name = ofi_transport().providers().front().provider;
    const std::string text = refusal(Status::unsupported, [&name] {
        const std::vector<ofi::Info> none;
        ofi::choose_provider(none, name);
    });
    EXPECT_TRUE(contains(text, "cannot put with notification")) << text;
    refusal(Status::not_found, [] {
        const std::vector<ofi::Info> none;
        ofi::choose_provider(none, "");
    });
}

TEST(OfiDiscovery, AnUnknownNicIsRefusedWithTheOthersNames) {
    const ProviderInfo first = ofi_transport().providers().front();
    const std::string text = refusal(Status::not_found, [&first] {
        ofi_transport().open(config_for(first.provider, {"", "no-such-nic"}));
    });
    EXPECT_TRUE(contains(text, "\"no-such-nic\"")) << text;
    EXPECT_TRUE(contains(text, first.nic)) << text;
    EXPECT_TRUE(contains(text, first.address)) << text;
}

TEST(OfiDiscovery, ANicGoesByNameOrAddressPerPort) {
    for (const ProviderInfo& info : ofi_transport().providers()) {
        const auto by_address =
            ofi_transport().open(config_for(info.provider, {info.address, info.nic}));
        EXPECT_TRUE(contains(by_address[0]->port_text(Port{0}), info.address));
        EXPECT_TRUE(contains(by_address[0]->port_text(Port{1}), info.nic));
    }
}

TEST(OfiDiscovery, APortOfAnotherGroupIsRefused) {
    const auto groups = ofi_transport().open(config_for(""));
    refusal(Status::invalid_argument, [&groups] { groups[0]->address(Port{7}); });
    const LocalMemory foreign;
    refusal(Status::invalid_argument, [&] { groups[0]->describe(foreign); });
    EXPECT_EQ(groups[0]->put({.port = Port{7}}), PutResult::failed);
    EXPECT_TRUE(contains(groups[0]->error_text(), "another group"));
}

TEST(OfiAddress, LoopbackIsTheLastResortUnlessAllAreHereAndIpv4GoesFirst) {
    const auto reach = [](const char* text, bool one_host = false) {
        if (contains(text, ":")) {
            sockaddr_in6 v6{};
            v6.sin6_family = AF_INET6;
            EXPECT_EQ(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
            EXPECT_EQ(ofi::address_text(FI_SOCKADDR_IN6, &v6, sizeof v6), text);
            return ofi::reach_of(FI_SOCKADDR_IN6, &v6, sizeof v6, one_host);
        }
        sockaddr_in v4{};
        v4.sin_family = AF_INET;
        EXPECT_EQ(inet_pton(AF_INET, text, &v4.sin_addr), 1);
        EXPECT_EQ(ofi::address_text(FI_SOCKADDR_IN, &v4, sizeof v4), text);
        return ofi::reach_of(FI_SOCKADDR_IN, &v4, sizeof v4, one_host);
    };
    EXPECT_GT(reach("192.0.2.77"), reach("2001:db8::77"));
    EXPECT_GT(reach("2001:db8::77"), reach("fe80::77"));
    EXPECT_GT(reach("fe80::77"), reach("127.0.0.1"));
    EXPECT_GT(reach("169.254.1.1"), reach("127.0.0.1"));
    EXPECT_GT(reach("127.0.0.1"), reach("::1"));
    EXPECT_GT(reach("127.0.0.1", true), reach("192.0.2.77", true));
}

TEST(OfiAddress, LoopbackHasAnInterfaceAndAForeignAddressHasNone) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_FALSE(ofi::interface_of(FI_SOCKADDR_IN, &address, sizeof address).empty());
    address.sin_addr.s_addr = htonl(0xC6336401);  // 198.51.100.1, kept for documents
    EXPECT_EQ(ofi::interface_of(FI_SOCKADDR_IN, &address, sizeof address), "");
    EXPECT_EQ(ofi::interface_of(FI_ADDR_STR, "fi_shm://1", 11), "");
    EXPECT_EQ(ofi::address_text(FI_ADDR_STR, "fi_shm://1", 11), "fi_shm://1");
}

TEST(OfiBlob, RoundTripsAndRefusesEveryOtherLength) {
    const std::string memory = ofi::encode(ofi::MemoryBlob{1, 0xffffffffffffffffULL, 3});
    EXPECT_EQ(ofi::decode_memory(memory).base, 1U);
    EXPECT_EQ(ofi::decode_memory(memory).key, 0xffffffffffffffffULL);
    EXPECT_EQ(ofi::decode_memory(memory).bytes, 3U);
    const std::string raw("\0\1:\0x", 5);
    const std::string address = ofi::encode(ofi::AddressBlob{"tcp;ofi_rxm", "1.17", 7, raw});
    EXPECT_EQ(ofi::decode_address(address).provider, "tcp;ofi_rxm");
    EXPECT_EQ(ofi::decode_address(address).library, "1.17");
    EXPECT_EQ(ofi::decode_address(address).format, 7U);
    EXPECT_EQ(ofi::decode_address(address).raw, raw);
    for (std::size_t bytes = 0; bytes < memory.size(); ++bytes) {
        refusal(Status::invalid_argument, [&] { ofi::decode_memory(memory.substr(0, bytes)); });
    }
    for (std::size_t bytes = 0; bytes < address.size(); ++bytes) {
        refusal(Status::invalid_argument, [&] { ofi::decode_address(address.substr(0, bytes)); });
    }
    refusal(Status::invalid_argument, [&] { ofi::decode_address(address + "y"); });
    refusal(Status::invalid_argument, [&] { ofi::decode_memory(address); });
    refusal(Status::invalid_argument, [&] { ofi::decode_address(memory); });
}

TEST(OfiBlob, APeerOfAnotherKindIsAMismatch) {
    const auto groups = ofi_transport().open(config_for(""));
    const ofi::AddressBlob mine = ofi::decode_address(groups[0]->address(Port{0}));
    ofi::AddressBlob foreign = mine;
    foreign.provider = "another";
    const std::string text =
        refusal(Status::mismatch, [&] { groups[0]->connect(Port{0}, ofi::encode(foreign)); });
    EXPECT_TRUE(contains(text, "\"another\"")) << text;
    foreign = mine;
    ++foreign.format;
    refusal(Status::mismatch, [&] { groups[0]->connect(Port{0}, ofi::encode(foreign)); });
    groups[0]->connect(Port{0}, ofi::encode(mine));
}

TEST(OfiBlob, APeerWithAnotherLibfabricMayUseTheSameProtocol) {
    const auto groups = ofi_transport().open(config_for(""));
    ofi::AddressBlob later = ofi::decode_address(groups[0]->address(Port{0}));
    ASSERT_TRUE(later.provider == "net" || later.provider == "tcp") << later.provider;
    later.library = "9.9";
    groups[0]->connect(Port{0}, ofi::encode(later));
    later.provider = later.provider == "net" ? "tcp" : "net";  // 1.17's name, and the later one
    groups[0]->connect(Port{0}, ofi::encode(later));
    later.provider = "another";
    const std::string text =
        refusal(Status::mismatch, [&] { groups[0]->connect(Port{0}, ofi::encode(later)); });
    EXPECT_TRUE(contains(text, "(libfabric 9.9 and ")) << text;
    EXPECT_TRUE(contains(text, "TREFOIL_PROVIDER=net")) << text;
}

TEST(OfiBlob, SharedMemoryOfAnotherLibfabricIsAMismatch) {
    const auto offered = ofi_transport().providers();
    if (std::ranges::none_of(offered, [](const auto& one) { return one.provider == "shm"; })) {
        GTEST_SKIP() << "libfabric does not offer shm here";
    }
    const auto groups = ofi_transport().open(config_for("shm"));
    ofi::AddressBlob peer = ofi::decode_address(groups[0]->address(Port{0}));
    peer.library = "9.9";
    const std::string text =
        refusal(Status::mismatch, [&] { groups[0]->connect(Port{0}, ofi::encode(peer)); });
    EXPECT_TRUE(contains(text, "libfabric 9.9, and this rank has ")) << text;
}

TEST(OfiEnvironment, WhatTheUserSetStays) {
    ofi::prepare_environment();
    const char* size = getenv("FI_OFI_RXM_BUFFER_SIZE");
    ASSERT_NE(size, nullptr);
    const std::string before = size;
    setenv("FI_OFI_RXM_BUFFER_SIZE", "4096", 1);
    ofi::prepare_environment();
    EXPECT_STREQ(getenv("FI_OFI_RXM_BUFFER_SIZE"), "4096");
    setenv("FI_OFI_RXM_BUFFER_SIZE", before.c_str(), 1);
}

TEST(OfiEnvironment, OnlyRegionsOfOurDeadProcessesAreRemoved) {
    const pid_t dead = fork();
    if (dead == 0) {
        _exit(0);
    }
    ASSERT_EQ(waitpid(dead, nullptr, 0), dead);
    const std::string me = std::to_string(getuid());
    const std::string gone = "/dev/shm/" + std::to_string(dead) + ":" + me;
    const std::string alive = "/dev/shm/" + std::to_string(getpid()) + ":" + me;
    const std::string other =
        "/dev/shm/" + std::to_string(dead) + ":" + std::to_string(getuid() + 1);
    const std::vector<std::string> ours = {gone + ":0", gone + ":17", gone + ":1_4"};
    const std::vector<std::string> others = {alive + ":999", other + ":0", gone + ":x",
                                             gone,           gone + ":0_", gone + ":0.bak"};
    for (const auto* names : {&ours, &others}) {
        for (const std::string& name : *names) {
            ASSERT_TRUE(std::ofstream(name) << "region") << name;
        }
    }
    ofi::remove_stale_regions();
    for (const std::string& name : ours) {
        EXPECT_NE(access(name.c_str(), F_OK), 0) << name << " was left";
        ASSERT_TRUE(std::ofstream(name) << "region") << name;
    }
    ofi::remove_regions_of(dead + 1);
    EXPECT_EQ(access(ours[0].c_str(), F_OK), 0) << "of another process";
    ofi::remove_region_at("fi_shm://" + std::to_string(dead) + ":" + me + ":1");
    EXPECT_NE(access(ours[2].c_str(), F_OK), 0) << "a mapping of that endpoint";
    EXPECT_EQ(access(ours[1].c_str(), F_OK), 0) << "of another endpoint, whose number begins alike";
    ofi::remove_region_at("fi_shm://" + std::to_string(getpid()) + ":" + me + ":999");
    EXPECT_EQ(access(others[0].c_str(), F_OK), 0) << "its process runs";
    ofi::remove_regions_of(dead);
    for (const std::string& name : ours) {
        EXPECT_NE(access(name.c_str(), F_OK), 0) << name << " was left";
    }
    for (const std::string& name : others) {
        EXPECT_EQ(unlink(name.c_str()), 0) << name << " was removed";
    }
}

/// As one of another container would be, whose processes this one cannot see.
TEST(OfiEnvironment, WhatSomebodyHasMappedStays) {
    const pid_t dead = fork();
    if (dead == 0) {
        _exit(0);
    }
    ASSERT_EQ(waitpid(dead, nullptr, 0), dead);
    const std::string name =
        "/dev/shm/" + std::to_string(dead) + ":" + std::to_string(getuid()) + ":0";
    const int file = open(name.c_str(), O_RDWR | O_CREAT, 0600);
    ASSERT_GE(file, 0);
    ASSERT_EQ(ftruncate(file, 4096), 0);
    for (const auto& remove : std::vector<std::function<void()>>{
             [] { ofi::remove_stale_regions(); }, [&] { ofi::remove_regions_of(dead); },
             [&] { ofi::remove_region_at("fi_shm://" + name.substr(name.rfind('/') + 1)); }}) {
        remove();
        EXPECT_EQ(access(name.c_str(), F_OK), 0) << "it was open";
    }
    void* const mapped = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    close(file);
    ofi::remove_stale_regions();
    EXPECT_EQ(access(name.c_str(), F_OK), 0) << "it was mapped";
    ASSERT_EQ(munmap(mapped, 4096), 0);
    ofi::remove_stale_regions();
    EXPECT_NE(access(name.c_str(), F_OK), 0) << "nobody had it any more";
}

TEST(OfiEnvironment, QueuesFitTheSmallestDevicesUntilTheyWouldHoldTooLittle) {
    EXPECT_EQ(ofi::rxm_sizes(4).peers, 127) << "a later communicator may have more ranks";
    for (const int peers : {127, 128, 255, 511, 1000, 1023}) {
        const ofi::RxmSizes sizes = ofi::rxm_sizes(peers);
        EXPECT_EQ(sizes.peers, peers);
        EXPECT_LE(sizes.entries(), ofi::RxmSizes::safe_entries) << peers;
        EXPECT_GT(2 * sizes.entries() + 256, ofi::RxmSizes::safe_entries * (peers > 127)) << peers;
    }
    EXPECT_EQ(ofi::rxm_sizes(127).messages, 128);
    EXPECT_EQ(ofi::rxm_sizes(1000).messages, 16);
    EXPECT_EQ(ofi::rxm_sizes(5000).messages, 16) << "more needs a device that has more entries";
}

}  // namespace
}  // namespace trefoil
