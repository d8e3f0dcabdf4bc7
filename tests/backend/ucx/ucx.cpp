// SPDX-License-Identifier: BSD-3-Clause
// Backend ucx without traffic: discovery, choice and refusal of transports and NICs, blobs.
#include "backend/ucx/ucx.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <utility>

#include "backend/ucx/blob.hpp"
#include "backend/ucx/discovery.hpp"
#include "backend/ucx/leftovers.hpp"
#include "tests/backend/ports/keys.hpp"

namespace trefoil {
namespace {

BackendConfig config_for(const std::string& transports, std::vector<std::string> nics = {}) {
    BackendConfig config;
    config.provider = transports;
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

// The name of a socket interface and its address; every machine has loopback.
ProviderInfo interface() {
    for (const ProviderInfo& info : ucx_transport().providers()) {
        if (info.provider == "tcp" && !info.address.empty()) {
            return info;
        }
    }
    ADD_FAILURE() << "UCX finds no interface for tcp";
    return {};
}

TEST(UcxKeys, CannotBeGuessedFromOthers) {
    test::expect_keys_that_must_be_guessed(ucx_transport(), config_for("tcp", {"lo"}));
}

TEST(UcxDiscovery, FindsSocketsAndSharedMemory) {
    const std::vector<ProviderInfo> all = ucx_transport().providers();
    for (const char* transport : {"tcp", "posix", "sysv"}) {
        EXPECT_TRUE(std::any_of(all.begin(), all.end(), [transport](const ProviderInfo& info) {
            return info.provider == transport && !info.nic.empty();
        })) << transport;
    }
}

TEST(UcxDiscovery, TheProviderOverridesTheEnvironmentWhichOverridesTheDefault) {
    ASSERT_EQ(setenv("UCX_TLS", "sysv", 1), 0);
    EXPECT_EQ(ucx_transport().open(config_for("posix"))[0]->traits().provider, "posix");
    EXPECT_EQ(ucx_transport().open(config_for(""))[0]->traits().provider, "sysv");
    ASSERT_EQ(unsetenv("UCX_TLS"), 0);
    EXPECT_EQ(ucx_transport().open(config_for(""))[0]->traits().provider, "all");
}

TEST(UcxDiscovery, OurThresholdReplacesTheAutomaticOneOnly) {
    EXPECT_TRUE(ucx::is_automatic("auto"));
    EXPECT_TRUE(ucx::is_automatic("intra:auto,inter:auto")) << "as UCX 1.18 says it";
    for (const char* chosen : {"", "8k", "inf", "intra:auto,inter:8k", "intra:8k,inter:auto"}) {
        EXPECT_FALSE(ucx::is_automatic(chosen)) << chosen;
    }
    const std::string ours = ucx::threshold_of(*ucx::read_config("tcp", ""));
    EXPECT_TRUE(contains(ours, "256")) << ours;
    ASSERT_EQ(setenv("UCX_RNDV_THRESH", "12345", 1), 0);
    const std::string users = ucx::threshold_of(*ucx::read_config("tcp", ""));
    EXPECT_TRUE(contains(users, "12345")) << users;
    ASSERT_EQ(unsetenv("UCX_RNDV_THRESH"), 0);
}

TEST(UcxDiscovery, AnUnknownTransportIsRefusedWithTheOthersNames) {
    const std::string text =
        refusal(Status::not_found, [] { ucx_transport().open(config_for("no-such-transport")); });
    EXPECT_TRUE(contains(text, "\"no-such-transport\"")) << text;
    EXPECT_TRUE(contains(text, "tcp")) << text;
    EXPECT_TRUE(contains(text, "posix")) << text;
}

TEST(UcxDiscovery, ANicGoesByNameOrAddressPerPort) {
    const ProviderInfo info = interface();
    const auto groups = ucx_transport().open(config_for("tcp", {info.address, info.nic}));
    for (const Port port : {Port{0}, Port{1}}) {
        EXPECT_TRUE(contains(groups[0]->port_text(port), info.nic)) << groups[0]->port_text(port);
    }
    // The same device: one worker for both ports.
    EXPECT_EQ(groups[0]->address(Port{0}), groups[0]->address(Port{1}));
}

TEST(UcxDiscovery, ANicGoesByAnyOfItsAddresses) {
    const pid_t child = fork();
    if (child == 0) {
        if (unshare(CLONE_NEWNET) != 0 ||
            std::system("ip link set lo up && ip address add 127.0.0.2/8 dev lo label lo:1") != 0) {
            _exit(77);
        }
        const auto all = ucx::resources();
        bool found = true;
        for (const char* const address : {"127.0.0.1", "127.0.0.2", "lo"}) {
            try {
                found = found && ucx::choose_device(all, address) == "lo";
            } catch (const Error& error) {
                std::fprintf(stderr, "%s\n", error.what());
                found = false;
            }
        }
        _exit(found ? 0 : 1);
    }
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WEXITSTATUS(status) == 77) {
        GTEST_SKIP() << "needs root, and the command ip";
    }
    EXPECT_EQ(status, 0);
}

TEST(UcxDiscovery, PortsOfOneGroupMayUseDifferentNics) {
    const auto groups = ucx_transport().open(config_for("tcp", {interface().nic, ""}));
    EXPECT_NE(groups[0]->address(Port{0}), groups[0]->address(Port{1}));
    EXPECT_NE(groups[0]->port_text(Port{0}), groups[0]->port_text(Port{1}));
}

TEST(UcxDiscovery, ADeviceGoesByItsNameWithoutThePort) {
    const std::vector<ProviderInfo> all{{"rc_verbs", "mlx5_0:1", ""}, {"tcp", "eth7", "192.0.2.7"}};
    EXPECT_EQ(ucx::choose_device(all, "mlx5_0"), "mlx5_0:1");
    EXPECT_EQ(ucx::choose_device(all, "mlx5_0:1"), "mlx5_0:1");
    EXPECT_EQ(ucx::choose_device(all, "192.0.2.7"), "eth7");
    const std::string text =
        refusal(Status::not_found, [&all] { ucx::choose_device(all, "mlx5_1"); });
    EXPECT_TRUE(contains(text, "\"mlx5_1\"") && contains(text, "mlx5_0:1") &&
                contains(text, "eth7 (192.0.2.7)"))
        << text;
}

TEST(UcxDiscovery, AnUnknownNicIsRefused) {
    const std::string text = refusal(Status::not_found, [] {
        ucx_transport().open(config_for("tcp", {"", "no-such-nic"}));
    });
    EXPECT_TRUE(contains(text, "\"no-such-nic\"") && contains(text, interface().nic)) << text;
}

TEST(UcxDiscovery, APortOfAnotherGroupIsRefused) {
    const auto groups = ucx_transport().open(config_for(""));
    refusal(Status::invalid_argument, [&groups] { groups[0]->address(Port{7}); });
    const LocalMemory foreign;
    refusal(Status::invalid_argument, [&] { groups[0]->describe(foreign); });
}

// Ports of one thread with a NIC each: memory is mapped without help of the network, or not at all.
TEST(UcxGroup, PortsWithDevicesOfTheirOwnMapMemoryWhereTheTransportsCan) {
    for (const auto& [transports, mapped] :
         {std::pair("tcp,posix", true), std::pair("tcp", false)}) {
        const BackendConfig config = config_for(transports, {interface().nic, ""});
        const auto groups = ucx_transport().open(config);
        const auto peers = ucx_transport().open(config);
        const LocalMemory landing = peers[0]->allocate(4096);
        const std::string description = peers[0]->describe(landing);
        EXPECT_EQ(groups[0]->import_memory(description).base != 0, mapped) << transports;
    }
}

TEST(UcxBlob, RoundTripsAndRefusesEveryOtherLength) {
    const std::string raw("\0\1:\0x", 5);
    const ucx::SharedBlob shared{13,  "space", 4711, 0xfedcba9876543210ULL, 0xffffffffffffffffULL,
                                 raw, "worker"};
    const std::string memory = ucx::encode(ucx::MemoryBlob{3, 100, shared});
    EXPECT_EQ(ucx::decode_memory(memory).id, 3U);
    EXPECT_EQ(ucx::decode_memory(memory).bytes, 100U);
    EXPECT_EQ(ucx::decode_memory(memory).shared.minor, 13U);
    EXPECT_EQ(ucx::decode_memory(memory).shared.process_space, "space");
    EXPECT_EQ(ucx::decode_memory(memory).shared.process, 4711);
    EXPECT_EQ(ucx::decode_memory(memory).shared.started, shared.started);
    EXPECT_EQ(ucx::decode_memory(memory).shared.base, shared.base);
    EXPECT_EQ(ucx::decode_memory(memory).shared.key, raw);
    EXPECT_EQ(ucx::decode_memory(memory).shared.worker, "worker");
    for (const char* worker : {"worker", "another"}) {
        const std::string address = ucx::encode(ucx::AddressBlob{worker, shared});
        EXPECT_EQ(ucx::decode_address(address).queue.minor, 13U);
        EXPECT_EQ(ucx::decode_address(address).worker, worker);
        EXPECT_EQ(ucx::decode_address(address).queue.process, 4711);
        EXPECT_EQ(ucx::decode_address(address).queue.key, raw);
        EXPECT_EQ(ucx::decode_address(address).queue.worker, "worker");
        for (std::size_t bytes = 0; bytes < address.size(); ++bytes) {
            refusal(Status::invalid_argument,
                    [&] { ucx::decode_address(address.substr(0, bytes)); });
        }
        refusal(Status::invalid_argument, [&] { ucx::decode_address(address + "y"); });
        refusal(Status::invalid_argument, [&] { ucx::decode_memory(address); });
    }
    for (std::size_t bytes = 0; bytes < memory.size(); ++bytes) {
        refusal(Status::invalid_argument, [&] { ucx::decode_memory(memory.substr(0, bytes)); });
    }
    refusal(Status::invalid_argument, [&] { ucx::decode_address(memory); });
}

TEST(UcxVersions, AnotherIsRefusedBeforeUcxMeetsIt) {
    const auto groups = ucx_transport().open(config_for("tcp"));
    ucx::AddressBlob peer = ucx::decode_address(groups[0]->address(Port{0}));
    ++peer.queue.minor;
    const std::string text =
        refusal(Status::mismatch, [&] { groups[0]->connect(Port{0}, ucx::encode(peer)); });
    EXPECT_TRUE(contains(text, "a peer uses UCX 1.")) << text;
}

TEST(UcxLeftovers, OnlySegmentsThatNobodyUsesAreRemoved) {
    const std::string mark = std::to_string(getpid());
    const std::string left = "/dev/shm/ucx_shm_posix_" + mark + "a";
    const std::string used = "/dev/shm/ucx_shm_posix_" + mark + "b";
    const std::string other = "/dev/shm/another_" + mark;
    for (const std::string& name : {left, used, other}) {
        ASSERT_TRUE(std::ofstream(name) << "segment") << name;
    }
    const int file = open(used.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(file, 0);
    ucx::remove_unused_segments();
    EXPECT_NE(access(left.c_str(), F_OK), 0);
    EXPECT_EQ(access(used.c_str(), F_OK), 0);
    close(file);
    EXPECT_EQ(unlink(used.c_str()), 0);
    EXPECT_EQ(unlink(other.c_str()), 0) << "another's was removed";
}

}  // namespace
}  // namespace trefoil
