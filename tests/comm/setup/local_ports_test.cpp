// SPDX-License-Identifier: BSD-3-Clause
// A rank's ports: what each chooses, what all compare, where threads go. Nothing is opened.
#include "comm/setup/local_ports.hpp"

#include <gtest/gtest.h>

#include <set>

#include "topo/blob.hpp"
#include "topo/error.hpp"

namespace trefoil::local_ports_test {
namespace {

/// Two ranks of one host with four cores; before them, one of another host with one core.
Job job_of(Rank rank) {
    const auto on = [](const char* host, std::vector<int> cores) {
        return RankProcess{host, "network", "space", 1, std::move(cores), {}};
    };
    return {rank, {on("b", {0}), on("a", {0, 1, 2, 3}), on("a", {0, 1, 2, 3})}};
}

Settings settings_with(int port_threads) {
    Settings settings;
    settings.backend = "memory";
    settings.port_threads = port_threads;
    return settings;
}

const TorusMap ring = make_torus_map({"test", "3", {}}, 3);

TEST(LocalPorts, ThreadsOfAHostTakeCoresOfTheirOwn) {
    const Settings settings = settings_with(2);
    std::vector<Job> jobs;
    for (Rank r = 0; r < 3; ++r) {
        jobs.push_back(job_of(r));
    }
    std::vector<LocalPorts> ports;
    std::vector<std::string> proposals;
    for (const Job& job : jobs) {
        proposals.push_back(ports.emplace_back(job, ring, settings).proposal());
    }
    std::set<int> cores_of_a;
    for (Rank r = 0; r < 3; ++r) {
        ports[r].compare(proposals);
        ports[r].place();
        EXPECT_EQ(ports[r].groups().threads, 2);
        EXPECT_EQ(ports[r].groups().groups.size(), 2U);
        ASSERT_EQ(ports[r].placement().cores.size(), 2U);
        EXPECT_EQ(ports[r].placement().may_spin, r != 0);
        if (r != 0) {
            cores_of_a.insert(ports[r].placement().cores.begin(), ports[r].placement().cores.end());
        }
    }
    EXPECT_EQ(cores_of_a, (std::set<int>{0, 1, 2, 3}));
}

TEST(LocalPorts, AreOpenedAsChosen) {
    Settings settings = settings_with(0);
    settings.provider = "some";
    const Job job = job_of(2);
    const LocalPorts ports(job, ring, settings);
    const BackendConfig config = ports.backend_config();
    EXPECT_EQ(config.rank, 2);
    EXPECT_EQ(config.provider, "some");
    EXPECT_EQ(config.groups, (std::vector<std::vector<Port>>{{Port{0}, Port{1}}}));
    EXPECT_FALSE(config.one_host) << "one rank is elsewhere";
    EXPECT_STREQ(ports.nic(Port{0}), "") << "memory has none";
}

TEST(LocalPorts, AListOfCoresIsCheckedAgainstTheMaskWhenPlaced) {
    Settings settings = settings_with(1);
    settings.pin_cores = {7};
    const Job job(0, {{"a", "network", "space", 1, {0, 1}, {}}});
    LocalPorts ports(job, ring, settings);
    ports.compare({ports.proposal()});
    EXPECT_THROW(ports.place(), Error);
}

TEST(LocalPorts, AnotherVersionsProposalIsAMismatch) {
    const Job job = job_of(0);
    BlobWriter endless;
    endless.number(std::uint64_t{1} << 60);
    for (const std::string& other : {std::string("?"), endless.bytes()}) {
        LocalPorts ports(job, ring, settings_with(0));
        try {
            ports.compare({ports.proposal(), other, ports.proposal()});
            ADD_FAILURE() << "accepted";
        } catch (const Error& error) {
            EXPECT_EQ(error.status(), Status::mismatch);
        }
    }
}

}  // namespace
}  // namespace trefoil::local_ports_test
