// SPDX-License-Identifier: BSD-3-Clause
// What ranks tell of their processes, and what follows from it.
#include "comm/setup/job.hpp"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "topo/blob.hpp"
#include "topo/core_list.hpp"
#include "topo/host.hpp"
#include "topo/process_space.hpp"
#include "topo/process_state.hpp"

namespace trefoil {

RankProcess this_process() {
    const auto pid = static_cast<int>(getpid());
    return {host_name(),
            network_space(),
            process_space(),
            pid,
            allowed_cores(),
            {},
            process_state(pid).started,
            {},
            boot_space(),
            cpu_quotas()};
}

std::string encode(const RankProcess& process) {
    BlobWriter blob;
    blob.text(process.host);
    blob.text(process.network);
    blob.text(process.process_space);
    blob.text(process.boot);
    blob.number(static_cast<std::int32_t>(process.pid));
    blob.number(process.started);
    blob.text(core_list_text(process.cores));
    blob.number(static_cast<std::uint32_t>(process.quotas.size()));
    for (const CpuQuota& quota : process.quotas) {
        blob.number(quota);
    }
    for (const Rank coordinate : process.coordinates) {
        blob.number(coordinate);
    }
    return blob.bytes();
}

RankProcess decode_process(const std::string& bytes) {
    BlobReader blob(bytes);
    RankProcess process;
    process.host = blob.text();
    process.network = blob.text();
    process.process_space = blob.text();
    process.boot = blob.text();
    process.pid = blob.number<std::int32_t>();
    process.started = blob.number<std::uint64_t>();
    process.cores = parse_core_list(blob.text()).value_or(std::vector<int>{});
    for (auto left = blob.number<std::uint32_t>(); left > 0; --left) {
        process.quotas.push_back(blob.number<CpuQuota>());
    }
    while (!blob.empty()) {
        process.coordinates.push_back(blob.number<Rank>());
    }
    return process;
}

Job::Job(Rank rank, std::vector<RankProcess> processes, std::string why_no_memory)
    : rank_(rank), processes_(std::move(processes)), why_no_memory_(std::move(why_no_memory)) {
    std::map<std::string, Rank> known;
    for (const RankProcess& process : processes_) {
        hosts_.push_back(
            known.emplace(process.host_identity(), static_cast<Rank>(known.size())).first->second);
    }
    for (Rank r = 0; r < ranks(); ++r) {
        if (is_local(r)) {
            local_rank_ = r == rank ? static_cast<int>(local_ranks_.size()) : local_rank_;
            local_ranks_.push_back(r);
        }
    }
}

bool Job::in_one_network() const {
    return on_one_host() &&
           std::all_of(processes_.begin(), processes_.end(), [&](const RankProcess& p) {
               return p.network == processes_.front().network;
           });
}

double Job::most_ranks_per_core() const {
    struct Host {
        int ranks = 0;
        std::set<int> cores;
        std::vector<std::vector<CpuQuota>> quotas;
    };
    std::map<Rank, Host> hosts;
    double most = 0;
    for (Rank r = 0; r < ranks(); ++r) {
        const RankProcess& process = processes_[r];
        Host& host = hosts[hosts_[r]];
        ++host.ranks;
        host.cores.insert(process.cores.begin(), process.cores.end());
        host.quotas.push_back(process.quotas);
    }
    for (const auto& [number, host] : hosts) {
        const auto cores = std::max(1.0, static_cast<double>(host.cores.size()));
        most = std::max(most, host.ranks / cores);
        for (std::size_t i = 0; i < host.quotas.size(); ++i) {
            most = std::max(most, 1 / cores_for_each(host.quotas, i));
        }
    }
    return most;
}

double Job::cores_in_time() const {
    std::vector<std::vector<CpuQuota>> quotas;
    for (const Rank r : local_ranks_) {
        quotas.push_back(processes_[r].quotas);
    }
    return cores_for_each(quotas, static_cast<std::size_t>(local_rank_));
}

NicSharing Job::nic_sharing(Rank per_node) const {
    const auto sees = [&](Rank r) { return std::pair(hosts_[r], processes_[r].network); };
    std::map<std::pair<Rank, std::string>, int> counts;
    NicSharing sharing;
    sharing.ranks.clear();
    for (Rank r = 0; r < ranks(); ++r) {
        const RankProcess& process = processes_[r];
        sharing.most = std::max(sharing.most, ++counts[sees(r)]);
        if (sees(r) == sees(rank_)) {
            sharing.self = r == rank_ ? static_cast<int>(sharing.ranks.size()) : sharing.self;
            sharing.ranks.push_back(process.cores);
        }
    }
    if (per_node > 1) {
        const auto one = static_cast<std::size_t>(per_node);
        std::vector<std::vector<int>> nodes((sharing.ranks.size() + one - 1) / one);
        for (std::size_t r = 0; r < sharing.ranks.size(); ++r) {
            std::vector<int>& cores = nodes[r / one];
            cores.insert(cores.end(), sharing.ranks[r].begin(), sharing.ranks[r].end());
        }
        for (std::vector<int>& cores : nodes) {
            std::sort(cores.begin(), cores.end());
            cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
        }
        sharing.ranks = std::move(nodes);
        sharing.self /= per_node;
        sharing.most = (sharing.most + per_node - 1) / per_node;
    }
    sharing.all_here = in_one_network();
    return sharing;
}

std::vector<ProcessNews> Job::look_at_processes() const {
    std::vector<ProcessNews> stopped;
    for (Rank r = 0; r < ranks(); ++r) {
        const RankProcess& process = processes_[r];
        const RankProcess& own = processes_[rank_];
        const bool known = std::find(ended_.begin(), ended_.end(), r) != ended_.end();
        if (known || process.process_space != own.process_space || process.pid == own.pid) {
            continue;
        }
        const ProcessState now = process_state(process.pid, process.started);
        if (now.ended()) {
            ended_.push_back(r);
        } else if (now.stopped()) {
            stopped.push_back({r, ProcessNews::State::stopped});
        }
    }
    std::vector<ProcessNews> found;
    for (const Rank rank : ended_) {
        found.push_back({rank, ProcessNews::State::ended});
    }
    found.insert(found.end(), stopped.begin(), stopped.end());
    return found;
}

std::string Job::namesakes_text() const {
    std::map<std::string, Rank> first;
    for (Rank r = 0; r < ranks(); ++r) {
        const Rank other = first.emplace(processes_[r].host, r).first->second;
        if (hosts_[r] != hosts_[other]) {
            return "ranks " + std::to_string(other) + " and " + std::to_string(r) +
                   " count as ranks of two hosts of the name " + processes_[r].host +
                   ", because their kernels' boot ids differ or cannot be read";
        }
    }
    return "";
}

std::string Job::process_text(Rank rank) const {
    const RankProcess& process = processes_[rank];
    return "process " + std::to_string(process.pid) + " on host " + process.host;
}

}  // namespace trefoil
