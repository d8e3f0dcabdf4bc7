// SPDX-License-Identifier: BSD-3-Clause
// The job: who shares what with whom, and who has died.
#include "comm/setup/job.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "topo/error.hpp"

namespace trefoil {
namespace {

RankProcess on(const std::string& host, const std::string& network = "n",
               std::vector<int> cores = {0, 1}) {
    return {host, network, "space", 1, std::move(cores), {}};
}

TEST(Job, ProcessesArriveAsTheyWereTold) {
    RankProcess process = this_process();
    EXPECT_EQ(process.pid, getpid());
    EXPECT_FALSE(process.host.empty());
    EXPECT_FALSE(process.cores.empty());
    EXPECT_FALSE(process.boot.empty());
    process.coordinates = {3, 0};
    process.quotas = {{1, 2, 1.5}, {1, 3, 4}};
    const RankProcess told = decode_process(encode(process));
    EXPECT_EQ(told.host, process.host);
    EXPECT_EQ(told.network, process.network);
    EXPECT_EQ(told.process_space, process.process_space);
    EXPECT_EQ(told.boot, process.boot);
    ASSERT_EQ(told.quotas.size(), 2U);
    EXPECT_TRUE(told.quotas[1].is_same_group(process.quotas[1]));
    EXPECT_DOUBLE_EQ(told.quotas[1].cores, 4);
    EXPECT_EQ(told.pid, process.pid);
    EXPECT_GT(process.started, 0U);
    EXPECT_EQ(told.started, process.started);
    EXPECT_EQ(told.cores, process.cores);
    EXPECT_EQ(told.coordinates, process.coordinates);
    const std::string bytes = encode(process);
    EXPECT_THROW(decode_process(bytes.substr(0, bytes.size() - 2)), Error);
}

TEST(Job, KnowsTheRanksOfItsHost) {
    const Job job(2, {on("a"), on("b"), on("a"), on("b"), on("a")});
    EXPECT_EQ(job.rank(), 2);
    EXPECT_EQ(job.ranks(), 5);
    EXPECT_EQ(job.local_ranks(), (std::vector<Rank>{0, 2, 4}));
    EXPECT_EQ(job.local_rank(), 1);
    EXPECT_TRUE(job.is_local(4));
    EXPECT_FALSE(job.is_local(3));
    EXPECT_FALSE(job.on_one_host());
    EXPECT_FALSE(job.in_one_network());
}

TEST(Job, OneHostMayBeSeveralNetworks) {
    EXPECT_TRUE(Job(0, {on("a"), on("a")}).in_one_network());
    const Job divided(0, {on("a", "n"), on("a", "m")});
    EXPECT_TRUE(divided.on_one_host());
    EXPECT_FALSE(divided.in_one_network());
    EXPECT_FALSE(Job(0, {on("a", "n"), on("b", "n")}).in_one_network());
}

TEST(Job, HostsOfOneNameAreToldApartByTheirKernels) {
    std::vector<RankProcess> processes{on("a"), on("a"), on("a"), on("b")};
    EXPECT_EQ(Job(0, processes).namesakes_text(), "");
    processes[1].boot = "another";
    const Job job(0, processes);
    EXPECT_EQ(job.hosts(), (std::vector<Rank>{0, 1, 0, 2}));
    EXPECT_EQ(job.local_ranks(), (std::vector<Rank>{0, 2}));
    EXPECT_EQ(job.nic_sharing().ranks.size(), 2U);
    EXPECT_DOUBLE_EQ(job.most_ranks_per_core(), 1);
    EXPECT_NE(job.namesakes_text().find("ranks 0 and 1"), std::string::npos)
        << job.namesakes_text();
    processes[3] = processes[0];
    processes[3].host = "b";  // a container of the same kernel with a name of its own
    EXPECT_FALSE(Job(0, processes).is_local(3));
}

TEST(Job, SharesMemoryUnlessTryingHasShownThatItDoesNot) {
    EXPECT_TRUE(Job(0, {on("a"), on("a")}).shares_memory());
    EXPECT_FALSE(Job(0, {on("a"), on("b")}).shares_memory());
    const Job containers(0, {on("a"), on("a")}, "rank 0 cannot map memory of rank 1");
    EXPECT_TRUE(containers.on_one_host());
    EXPECT_FALSE(containers.shares_memory());
}

TEST(Job, CountsRanksPerCoreByTheTimeThatTheyHave) {
    std::vector<RankProcess> processes{on("a"), on("a"), on("b")};
    processes[0].quotas = processes[1].quotas = {{1, 7, 0.5}};
    processes[2].quotas = {{1, 7, 2}};  // the same numbers on another host are another group
    EXPECT_DOUBLE_EQ(Job(0, processes).most_ranks_per_core(), 4);
    EXPECT_DOUBLE_EQ(Job(0, processes).cores_in_time(), 0.25);
    EXPECT_DOUBLE_EQ(Job(2, processes).cores_in_time(), 2);
}

TEST(Job, CountsRanksPerCoreWhereTheyAreMost) {
    EXPECT_DOUBLE_EQ(Job(0, {on("a"), on("b"), on("b"), on("b")}).most_ranks_per_core(), 1.5);
    EXPECT_DOUBLE_EQ(Job(0, {on("a", "n", {0}), on("a", "n", {1})}).most_ranks_per_core(), 1.0);
    EXPECT_DOUBLE_EQ(Job(0, {on("a", "n", {}), on("a", "n", {})}).most_ranks_per_core(), 2.0);
}

TEST(Job, SharesNicsWithThoseWhoSeeTheSame) {
    const Job job(3, {on("a"), on("a", "m"), on("b"), on("a", "n", {5})});
    const NicSharing sharing = job.nic_sharing();
    EXPECT_EQ(sharing.ranks, (std::vector<std::vector<int>>{{0, 1}, {5}}));
    EXPECT_EQ(sharing.self, 1);
    EXPECT_EQ(sharing.most, 2);
    EXPECT_FALSE(sharing.all_here);
    EXPECT_TRUE(Job(0, {on("a"), on("a")}).nic_sharing().all_here);
}

TEST(Job, FindsTheDeadAmongThoseItSees) {
    const RankProcess self = this_process();
    const pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    ASSERT_GT(child, 0);
    RankProcess other = self;
    other.pid = child;
    other.started = 0;              // not known
    RankProcess elsewhere = other;  // the same number in another space is another process
    elsewhere.process_space = "of another host";
    const Job job(0, {self, other, elsewhere, self, other});
    EXPECT_EQ(job.look_at_processes().size(), 0U);
    kill(child, SIGSTOP);
    ASSERT_EQ(waitpid(child, nullptr, WUNTRACED), child);
    ASSERT_EQ(job.look_at_processes().size(), 2U);
    EXPECT_EQ(job.look_at_processes()[0].rank, 1);
    EXPECT_EQ(job.look_at_processes()[0].state, ProcessNews::State::stopped);
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    ASSERT_EQ(job.look_at_processes().size(), 2U);
    EXPECT_EQ(job.look_at_processes()[0].state, ProcessNews::State::ended);
    EXPECT_EQ(job.look_at_processes()[1].rank, 4);
    EXPECT_EQ(job.process_text(4), "process " + std::to_string(child) + " on host " + self.host);
}

TEST(Job, ANumberThatWasGivenAgainIsAnotherProcess) {
    RankProcess other = this_process();
    other.pid = getppid();
    other.started = this_process().started + 1000;
    const Job job(0, {this_process(), other});
    ASSERT_EQ(job.look_at_processes().size(), 1U);
    EXPECT_EQ(job.look_at_processes()[0].state, ProcessNews::State::ended);
}

// One that ends brings others with it: the first is the reason.
TEST(Job, TheFirstThatEndedStaysFirst) {
    pid_t children[2];
    std::vector<RankProcess> processes{this_process()};
    for (pid_t& child : children) {
        child = fork();
        if (child == 0) {
            pause();
            _exit(0);
        }
        processes.push_back(this_process());
        processes.back().pid = child;
        processes.back().started = 0;
    }
    const Job job(0, processes);
    for (const int i : {1, 0}) {
        kill(children[i], SIGKILL);
        ASSERT_EQ(waitpid(children[i], nullptr, 0), children[i]);
        EXPECT_EQ(job.look_at_processes()[0].rank, 2);
    }
    EXPECT_EQ(job.look_at_processes().size(), 2U);
}

}  // namespace
}  // namespace trefoil
