// SPDX-License-Identifier: BSD-3-Clause
// Set-up of a communicator: which NIC and which thread each port takes, agreed among all ranks.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <set>

#include "comm/communicator/communicator.hpp"
#include "comm/setup/blob.hpp"
#include "comm/setup/nic_errors.hpp"
#include "comm/setup/nics.hpp"
#include "topo/core_list.hpp"

namespace trefoil {

namespace {

std::vector<std::string> distinct_names(const NicChoice& choice) {
    std::vector<std::string> names;
    for (const PortNic& port : choice) {
        if (!port.name.empty() && std::find(names.begin(), names.end(), port.name) == names.end()) {
            names.push_back(port.name);
        }
    }
    return names;
}

void write_lists(BlobWriter& blob, const std::vector<std::string>& texts) {
    blob.number(static_cast<std::uint64_t>(texts.size()));
    for (const std::string& text : texts) {
        blob.text(text);
    }
}

std::vector<std::string> read_lists(BlobReader& blob) {
    std::vector<std::string> texts(blob.number<std::uint64_t>());
    for (std::string& text : texts) {
        text = blob.text();
    }
    return texts;
}

/// Any order; an empty text is an empty list.
std::vector<int> cores_of(const std::string& text) {
    return parse_core_list(text).value_or(std::vector<int>{});
}

}  // namespace

NicSharing Communicator::nic_sharing() const {
    const auto sees = [](const PeerProcess& p) { return std::pair(p.host, p.network); };
    std::map<std::pair<std::string, std::string>, int> counts;
    NicSharing sharing;
    sharing.ranks.clear();
    for (Rank r = 0; r < ranks(); ++r) {
        const PeerProcess& peer = processes_[r];
        sharing.most = std::max(sharing.most, ++counts[sees(peer)]);
        if (sees(peer) == sees(processes_[rank()])) {
            sharing.self = r == rank() ? static_cast<int>(sharing.ranks.size()) : sharing.self;
            sharing.ranks.push_back(peer.cores);
        }
    }
    sharing.all_here = one_network_;
    return sharing;
}

/// Checks this rank's settings, chooses its NICs and groups its ports; returns what others need to
/// know of it.
std::string Communicator::propose_ports() {
    settle_port_threads(torus(), settings_);
    for (const auto& [collective, text] : split_choices(settings_.algorithm)) {
        set_algorithm(collective, text);
    }
    NicWish wish{settings_.backend,
                 settings_.provider,
                 parse_nic_request(settings_.nics, torus().ports()),
                 {}};
    std::vector<std::vector<int>> masks;
    for (const PeerProcess& peer : processes_) {
        if (peer.host == processes_[rank()].host) {
            masks.push_back(peer.cores);
        }
    }
    port_groups_ = group_ports(torus(), settings_, masks, local_rank_);
    wish.ports = used_ports(torus());
    nics_.resize(torus().ports());
    if (ranks() > 1) {
        nics_ = choose_nics_here(wish, nic_sharing());
    }
    std::vector<std::string> near;
    for (int i = 0; i < port_groups_.threads; ++i) {
        near.push_back(core_list_text(cores_near(port_groups_.groups[i], nics_)));
    }
    begin_trace();
    BlobWriter mine;
    write_lists(mine, distinct_names(nics_));
    write_lists(mine, near);
    mine.number(settings_.pin);
    mine.text(core_list_text(settings_.pin_cores));
    return mine.bytes();
}

/// Throws alike on all ranks.
void Communicator::settle_ports(const std::vector<std::string>& proposals) {
    std::vector<NicReport> reports;
    for (Rank r = 0; r < ranks(); ++r) {
        const PeerProcess& peer = processes_[r];
        BlobReader blob(proposals[r]);
        reports.push_back({peer.host, read_lists(blob)});
        LocalRank local;
        local.mask = peer.cores;
        for (const std::string& text : read_lists(blob)) {
            local.near.push_back(cores_of(text));
        }
        local.pin = blob.number<bool>();
        local.list = cores_of(blob.text());
        if (peer.host == processes_[rank()].host) {
            local_ports_.push_back(std::move(local));
        }
    }
    require_equal_counts(reports);
}

/// Only those who asked for threads can mend it, and one line per process is enough.
void Communicator::warn_of_oversubscription() const {
    static std::atomic_flag said;
    if (rank() == 0 && settings_.port_threads > 0 && !placement_.oversubscription.empty() &&
        !said.test_and_set()) {
        std::fprintf(stderr,
                     "trefoil: %s; TREFOIL_PORT_THREADS asked for them: threads that wait for a "
                     "core slow the others down\n",
                     placement_.oversubscription.c_str());
    }
}

}  // namespace trefoil
