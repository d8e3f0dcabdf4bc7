// SPDX-License-Identifier: BSD-3-Clause
// The job: which process each rank is, who shares a host with whom, and whose process does not run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/setup/nic_choice.hpp"
#include "threads/executor/executor_options.hpp"
#include "topo/cpu_quota.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// The process that is a rank, as it tells the others.
struct RankProcess {
    std::string host;           ///< its name: others may have the same
    std::string network;        ///< the network namespace: equal names reach each other's loopback
    std::string process_space;  ///< equal for processes that see each other's process numbers
    int pid = 0;
    std::vector<int> cores;         ///< that it may use
    std::vector<Rank> coordinates;  ///< by the caller's configuration
    std::uint64_t started = 0;      ///< in the kernel's ticks: a number may be given again
    std::vector<Rank> place{};      ///< in the machine, where the job asked for it
    std::string boot{};             ///< boot_space()
    std::vector<CpuQuota> quotas{};

    /// Equal for processes of one host: its name, and its kernel.
    std::string host_identity() const { return host + " " + boot; }
    /// Threads of one process are ranks of the same one.
    bool is_same_process(const RankProcess& other) const {
        return pid == other.pid && process_space == other.process_space;
    }
};
/// This process; it has no coordinates.
RankProcess this_process();
/// All but its place.
std::string encode(const RankProcess& process);
/// Throws Error(mismatch) when the bytes are not what encode() gives.
RankProcess decode_process(const std::string& bytes);

/// Invariant: made once of what all ranks have told, and equal on all of them but for rank().
class Job {
  public:
    /// `processes`: by rank. `why_no_memory`: as found by trying.
    Job(Rank rank, std::vector<RankProcess> processes, std::string why_no_memory = {});

    Rank rank() const { return rank_; }
    Rank ranks() const { return static_cast<Rank>(processes_.size()); }
    const RankProcess& process(Rank rank) const { return processes_[rank]; }
    const std::vector<RankProcess>& processes() const { return processes_; }

    /// The ranks of this host, ascending, and which of them this rank is.
    const std::vector<Rank>& local_ranks() const { return local_ranks_; }
    int local_rank() const { return local_rank_; }
    bool is_local(Rank rank) const { return hosts_[rank] == hosts_[rank_]; }
    bool on_one_host() const { return local_ranks_.size() == processes_.size(); }
    /// By rank: its host, counted in the order of first ranks.
    const std::vector<Rank>& hosts() const { return hosts_; }
    /// Why the ranks of a host do not all map each other's memory; empty: they do, or nobody has
    /// tried.
    const std::string& why_no_memory() const { return why_no_memory_; }
    bool shares_memory() const { return on_one_host() && why_no_memory_.empty(); }
    /// Hosts that share a name, in words; empty: there are none.
    std::string namesakes_text() const;
    /// On one host and in one network namespace.
    bool in_one_network() const;
    /// The same, of this rank and another one.
    bool in_one_network_with(Rank rank) const {
        return is_local(rank) && processes_[rank].network == processes_[rank_].network;
    }
    /// Of any host, by the cores that its ranks may use, or have time for.
    double most_ranks_per_core() const;
    /// For how many cores this rank has time when all ranks of its host work.
    double cores_in_time() const;
    /// Whom this rank shares its NICs with. The ranks of a node, `per_node` of a host that follow
    /// each other, count as one: each uses all of the node's.
    NicSharing nic_sharing(Rank per_node = 1) const;
    /// Processes of this host that have ended or are stopped: in the order in which they were found
    /// by repeated looks, since one that ends brings others with it. Not thread-safe.
    std::vector<ProcessNews> look_at_processes() const;
    /// "process 4711 on host a".
    std::string process_text(Rank rank) const;

  private:
    Rank rank_;
    std::vector<RankProcess> processes_;
    std::string why_no_memory_;
    std::vector<Rank> hosts_;
    std::vector<Rank> local_ranks_;
    int local_rank_ = 0;
    mutable std::vector<Rank> ended_;  ///< as found
};

}  // namespace trefoil
