// SPDX-License-Identifier: BSD-3-Clause
// Set-up of a communicator: agreement, ports, threads; and its end.
#include "comm/communicator.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "comm/blob.hpp"
#include "comm/lower.hpp"
#include "topo/host.hpp"

namespace trefoil {

namespace {

/// State letter of a process of this host; 0 when there is none.
char process_state(int pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t after_name = text.rfind(')');
    return after_name == std::string::npos || after_name + 2 >= text.size() ? '\0'
                                                                            : text[after_name + 2];
}

/// Names one of this process's namespaces ("net", "pid"); empty where there is no such thing.
std::string own_namespace(const std::string& kind) {
    char name[64] = {};
    const ssize_t length = readlink(("/proc/self/ns/" + kind).c_str(), name, sizeof name - 1);
    return {name, static_cast<std::size_t>(std::max<ssize_t>(0, length))};
}

/// Equal for processes that see each other's process numbers: hosts may share a name.
std::string process_space() {
    std::string boot;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
    return boot + own_namespace("pid");
}

}  // namespace

Communicator::Communicator(Settings settings, std::unique_ptr<Bootstrap> bootstrap)
    : settings_(std::move(settings)), bootstrap_(std::move(bootstrap)) {
    for_all("configuration", [this] {
        torus_ = std::make_unique<Torus>(settings_.torus.empty() ? Torus({ranks()})
                                                                 : Torus::parse(settings_.torus));
        if (torus_->ranks() != ranks()) {
            throw Error(Status::invalid_argument,
                        "torus " + torus_->name() + " has " + std::to_string(torus_->ranks()) +
                            " ranks, but the job has " + std::to_string(ranks()) +
                            "; give sizes whose product is " + std::to_string(ranks()));
        }
        if (settings_.port_threads > torus_->ports()) {
            throw Error(Status::invalid_argument,
                        "TREFOIL_PORT_THREADS is " + std::to_string(settings_.port_threads) +
                            ", but torus " + torus_->name() + " has " +
                            std::to_string(torus_->ports()) + " ports per rank; give 0 to " +
                            std::to_string(torus_->ports()));
        }
        parse_nics(settings_.nics, torus_->ports());
        set_algorithm(Collective::allreduce, settings_.algorithm);
    });
    agree_on_settings();
    for_all("ports", [this] { open(); });
}

Communicator::~Communicator() {
    if (executor_) {
        executor_->leave();
    }
}

/// Runs `work` and tells all ranks how it went, so that nobody waits for a rank that cannot go on.
void Communicator::for_all(const std::string& stage, const std::function<void()>& work) {
    BlobWriter mine;
    try {
        work();
        mine.number(Status::success);
        mine.text("");
    } catch (const Error& error) {
        mine.number(error.status());
        mine.text(error.what());
    }
    const std::vector<std::string> all = bootstrap_->allgather(mine.bytes());
    const auto check = [&](Rank r, const std::string& prefix) {
        BlobReader blob(all[r]);
        const auto status = blob.number<Status>();
        if (status != Status::success) {
            throw Error(status, prefix + blob.text());
        }
    };
    check(rank(), "");
    for (Rank r = 0; r < ranks(); ++r) {
        check(r, "rank " + std::to_string(r) + " cannot set up its " + stage + ": ");
    }
}

void Communicator::agree_on_settings() {
    const std::string host = host_name();
    BlobWriter mine;
    mine.text("torus " + torus_->name() + ", backend " +
              (settings_.backend.empty() ? "automatic" : settings_.backend) + ", provider " +
              (settings_.provider.empty() ? "automatic" : settings_.provider) + ", algorithm " +
              settings_.algorithm + ", landing " + std::to_string(settings_.landing_bytes) +
              " bytes, segments " + std::to_string(settings_.segment_bytes) + " bytes");
    mine.text(host);
    mine.text(own_namespace("net"));
    mine.text(process_space());
    mine.number(static_cast<std::int32_t>(getpid()));
    std::vector<std::string> texts;
    for (const std::string& bytes : bootstrap_->allgather(mine.bytes())) {
        BlobReader blob(bytes);
        texts.push_back(blob.text());
        PeerProcess peer;
        peer.host = blob.text();
        peer.network = blob.text();
        peer.process_space = blob.text();
        peer.pid = blob.number<std::int32_t>();
        processes_.push_back(peer);
    }
    require_agreement(texts, "the configuration");
    const auto is_local = [&](const PeerProcess& p) { return p.host == host; };
    local_ranks_ = static_cast<Rank>(std::count_if(processes_.begin(), processes_.end(), is_local));
    local_rank_ =
        static_cast<Rank>(std::count_if(processes_.begin(), processes_.begin() + rank(), is_local));
    const bool one_host = local_ranks_ == ranks();
    one_network_ =
        one_host && std::all_of(processes_.begin(), processes_.end(), [&](const PeerProcess& p) {
            return p.network == processes_[0].network;
        });
    if (settings_.backend.empty()) {
        settings_.backend = one_host ? "memory" : "ofi";
    }
}

void Communicator::open() {
    if (rank() == 0) {
        for (const std::string& message : unknown_variables()) {
            std::fprintf(stderr, "trefoil: %s\n", message.c_str());
        }
    }
    placement_ = place_ports(*torus_, settings_, allowed_cores(), local_ranks_, local_rank_);
    BackendConfig config;
    config.provider = settings_.provider;
    config.groups = placement_.groups;
    config.nics = parse_nics(settings_.nics, torus_->ports());
    config.rank = rank();
    config.one_host = one_network_;
    if (ranks() > 1) {
        wire_.groups = open_backend(settings_.backend, config);
        provider_ = wire_.groups[0]->provider();
    }
    wire_.slots = Executor::landing_slots;
    wire_.slot_bytes =
        settings_.landing_bytes / wire_.slots / landing_alignment * landing_alignment;
    team_ = std::make_unique<Team>(placement_.threads, placement_.cores);
    wiring_ = std::make_unique<Wiring>(wire_, *bootstrap_);
    ExecutorOptions options;
    options.may_spin = placement_.may_spin;
    options.timeout = settings_.timeout;
    options.stall_warning = settings_.stall_warning;
    options.check_peers = [this] { return dead_peers(); };
    executor_ = std::make_unique<Executor>(wire_, *team_, options);
}

/// All that are found dead: one death brings others with it, and the first cause is among them.
std::string Communicator::dead_peers() const {
    std::string found;
    for (Rank r = 0; r < ranks(); ++r) {
        const PeerProcess& peer = processes_[r];
        if (peer.process_space != processes_[rank()].process_space || peer.pid == getpid()) {
            continue;
        }
        const char state = process_state(peer.pid);
        if (state == '\0' || state == 'Z' || state == 'X') {
            found += (found.empty() ? "" : ", ") + std::string("rank ") + std::to_string(r) +
                     " (process " + std::to_string(peer.pid) + " on " + peer.host + ")";
        }
    }
    return found.empty() ? found : "has died: " + found;
}

}  // namespace trefoil
