// SPDX-License-Identifier: BSD-3-Clause
// Which NIC and which thread each port takes, compared among all ranks.
#include "comm/setup/local_ports.hpp"

#include <algorithm>
#include <utility>

#include "comm/setup/nic_errors.hpp"
#include "comm/setup/nics.hpp"
#include "topo/blob.hpp"
#include "topo/core_list.hpp"
#include "topo/fabric.hpp"

namespace trefoil {

namespace {

std::vector<std::string> distinct_names(const NicChoice& choice) {
    std::vector<std::string> names;
    const auto add = [&](const std::string& name) {
        if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) {
            names.push_back(name);
        }
    };
    for (const PortNic& port : choice) {
        add(port.name);
        add(port.lacking);  // it has no link, but counts
    }
    return names;
}

void write_list(BlobWriter& blob, const std::vector<std::string>& texts) {
    blob.number(static_cast<std::uint64_t>(texts.size()));
    for (const std::string& text : texts) {
        blob.text(text);
    }
}

std::vector<std::string> read_list(BlobReader& blob) {
    std::vector<std::string> texts(blob.count<std::uint64_t>(sizeof(std::uint64_t)));
    for (std::string& text : texts) {
        text = blob.text();
    }
    return texts;
}

/// By its description the torus has nothing behind a rank's port.
bool is_down(const TorusMap& map, Rank rank, Port port) {
    const Torus& torus = map.torus;
    if (torus.is_whole() || torus.has_nodes()) {
        return false;
    }
    const Fabric fabric(torus);
    return fabric.rate({fabric.place_of(map.position_of[static_cast<std::size_t>(rank)]), port}) ==
           0;
}

/// Any order; an empty text is an empty list.
std::vector<int> cores_of(const std::string& text) {
    return parse_core_list(text).value_or(std::vector<int>{});
}

}  // namespace

LocalPorts::LocalPorts(const Job& job, const TorusMap& map, const Settings& settings)
    : job_(job),
      provider_(settings.provider),
      pin_(settings.pin),
      pin_cores_(settings.pin_cores),
      tells_links_(settings.links != LinksBy::given),
      nics_(map.torus.ports()) {
    const Torus& torus = map.torus;
    const Torus nodes = torus.nodes();
    NicWish wish{settings.backend, settings.provider,
                 parse_nic_request(settings.nics, nodes.ports()), used_ports(nodes)};
    for (const Port port : wish.ports) {
        if (tells_links_ || is_down(map, job.rank(), port)) {
            wish.may_lack.push_back(port);
        }
    }
    std::vector<std::vector<int>> masks;
    for (const Rank rank : job.local_ranks()) {
        masks.push_back(job.process(rank).cores);
    }
    groups_ = group_ports(torus, settings, masks, job.local_rank(), job.cores_in_time());
    if (job.ranks() > 1) {
        wish.groups = groups_.groups;
        wish.peers = job.ranks();
        nics_ = choose_nics_here(wish, job.nic_sharing(torus.per_node()));
        nics_.resize(torus.ports());
    }
}

std::string LocalPorts::proposal() const {
    std::vector<std::string> near;
    for (int i = 0; i < groups_.threads; ++i) {
        near.push_back(core_list_text(cores_near(groups_.groups[i], nics_)));
    }
    BlobWriter mine;
    write_list(mine, distinct_names(nics_));
    write_list(mine, near);
    mine.number(pin_);
    mine.text(core_list_text(pin_cores_));
    mine.text(tells_links_ ? encode(links_of(nics_)) : std::string());
    return mine.bytes();
}

void LocalPorts::compare(const std::vector<std::string>& proposals) {
    std::vector<NicReport> reports;
    for (Rank r = 0; r < job_.ranks(); ++r) {
        BlobReader blob(proposals[r]);
        reports.push_back({job_.process(r).host, read_list(blob)});
        LocalRank local;
        local.mask = job_.process(r).cores;
        local.quotas = job_.process(r).quotas;
        for (const std::string& text : read_list(blob)) {
            local.near.push_back(cores_of(text));
        }
        local.pin = blob.number<bool>();
        local.list = cores_of(blob.text());
        const std::string links = blob.text();
        if (tells_links_) {
            links_.push_back(decode_links(links));
        }
        if (job_.is_local(r)) {
            host_ranks_.push_back(std::move(local));
        }
    }
    require_equal_counts(reports);
}

void LocalPorts::place() {
    placement_ = place_threads(host_ranks_, job_.local_rank());
}

const char* LocalPorts::nic(Port port) const {
    return nics_[static_cast<std::size_t>(port.index)].name.c_str();
}

BackendConfig LocalPorts::backend_config() const {
    BackendConfig config = this->config();
    config.provider = provider_;
    config.groups = groups_.groups;
    if (groups_.has_inside) {
        config.groups.pop_back();
    }
    config.nics = selectors(nics_);
    return config;
}

BackendConfig LocalPorts::inside_config() const {
    BackendConfig config = this->config();
    config.groups = {groups_.groups.back()};
    return config;
}

BackendConfig LocalPorts::config() const {
    BackendConfig config;
    config.rank = job_.rank();
    config.one_host = job_.in_one_network();
    config.peers = job_.ranks();
    const RankProcess& mine = job_.process(job_.rank());
    const std::vector<Rank>& local = job_.local_ranks();
    config.alone_in_process = std::count_if(local.begin(), local.end(), [&](Rank rank) {
                                  return mine.is_same_process(job_.process(rank));
                              }) == 1;
    return config;
}

}  // namespace trefoil
