// SPDX-License-Identifier: BSD-3-Clause
// Set-up of a communicator: agreement, ports, threads; and its end.
#include "comm/communicator/communicator.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>

#include "comm/plan/lower.hpp"
#include "comm/setup/blob.hpp"
#include "comm/setup/cost_settings.hpp"
#include "comm/setup/nics.hpp"
#include "topo/core_list.hpp"
#include "topo/host.hpp"

namespace trefoil {

namespace {

constexpr std::chrono::milliseconds longest_greeting{30'000};

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
    meet(exchange("configuration", [this] {
        if (!settings_.hostfile.empty()) {
            host_file_ = read_host_file(settings_.hostfile);
        }
        return introduction();
    }));
    torus_map_ = make_torus_map(torus_request(), ranks());  // throws alike on all ranks
    settle_ports(exchange("settings and NICs", [this] { return propose_ports(); }));
    for_all("ports", [this] { open(); });
}

Communicator::~Communicator() {
    if (executor_) {
        executor_->leave();
    }
    end_trace();
    for (const auto& group : channels_.groups) {
        if (failed_ != Status::success) {
            group->abandon();
        }
    }
}

/// Runs `work` and tells all ranks how it went, so that nobody waits for a rank that cannot go on.
/// Returns what `work` returned, by rank.
std::vector<std::string> Communicator::exchange(const std::string& stage,
                                                const std::function<std::string()>& work) {
    BlobWriter mine;
    try {
        const std::string result = work();
        mine.number(Status::success);
        mine.text(result);
    } catch (const Error& error) {
        mine.number(error.status());
        mine.text(error.what());
    }
    std::vector<std::string> all = bootstrap_->allgather(mine.bytes());
    const auto take = [&](Rank r, const std::string& prefix) {
        BlobReader blob(all[r]);
        const auto status = blob.number<Status>();
        std::string text = blob.text();
        if (status != Status::success) {
            throw Error(status, prefix + text);
        }
        return text;
    };
    take(rank(), "");
    for (Rank r = 0; r < ranks(); ++r) {
        all[r] = take(r, "rank " + std::to_string(r) + " cannot set up its " + stage + ": ");
    }
    return all;
}

void Communicator::for_all(const std::string& stage, const std::function<void()>& work) {
    exchange(stage, [&] {
        work();
        return std::string();
    });
}

/// What this rank tells all others first: settings that must be equal, and who it is.
std::string Communicator::introduction() const {
    std::string torus = settings_.torus.empty() ? std::string("automatic")
                                                : torus_named(settings_.torus, ranks()).name();
    if (host_file_) {
        torus = "of host file " + settings_.hostfile + " (" +
                std::to_string(host_file_->lines.size()) + " lines, checksum " +
                std::to_string(host_file_->checksum) + ")";
    }
    BlobWriter mine;
    mine.text("torus " + torus + ", " + std::to_string(settings_.coordinates.size()) +
              " coordinates, backend " +
              (settings_.backend.empty() ? "automatic" : settings_.backend) + ", provider " +
              (settings_.provider.empty() ? "automatic" : settings_.provider) + ", algorithm " +
              settings_.algorithm + ", landing " + std::to_string(settings_.landing_bytes) +
              " bytes, segments " + std::to_string(settings_.segment_bytes) + " bytes" +
              ", model " + (settings_.cost_model ? to_string(*settings_.cost_model) : "automatic") +
              (settings_.reproducible ? ", reproducible" : "") +
              (settings_.single_copy ? ", single copy" : "") + ", phase sync " +
              std::string(to_string(settings_.phase_sync)));
    mine.text(host_name());
    mine.text(own_namespace("net"));
    mine.text(process_space());
    mine.number(static_cast<std::int32_t>(getpid()));
    mine.text(core_list_text(allowed_cores()));
    for (const Rank coordinate : settings_.coordinates) {
        mine.number(coordinate);
    }
    return mine.bytes();
}

/// Reads what all have told: who is local, and who is not as this rank is.
void Communicator::meet(const std::vector<std::string>& introductions) {
    const std::string host = host_name();
    std::vector<std::string> texts;
    for (const std::string& bytes : introductions) {
        BlobReader blob(bytes);
        texts.push_back(blob.text());
        PeerProcess peer;
        peer.host = blob.text();
        peer.network = blob.text();
        peer.process_space = blob.text();
        peer.pid = blob.number<std::int32_t>();
        peer.cores = parse_core_list(blob.text()).value_or(std::vector<int>{});
        while (!blob.empty()) {
            peer.coordinates.push_back(blob.number<Rank>());
        }
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
    settings_.cost_model =
        model_of_job(settings_.cost_model, settings_.backend == "memory", most_ranks_per_core());
}

/// Of any host: the same on all ranks.
double Communicator::most_ranks_per_core() const {
    struct Host {
        int ranks = 0;
        std::set<int> cores;
    };
    std::map<std::string, Host> hosts;
    double most = 0;
    for (const PeerProcess& peer : processes_) {
        Host& host = hosts[peer.host];
        ++host.ranks;
        host.cores.insert(peer.cores.begin(), peer.cores.end());
    }
    for (const auto& [name, host] : hosts) {
        const auto cores = std::max(1.0, static_cast<double>(host.cores.size()));
        most = std::max(most, host.ranks / cores);
    }
    return most;
}

/// In the documented order: the caller, a host file, TREFOIL_TORUS, a balanced torus.
TorusRequest Communicator::torus_request() const {
    TorusRequest request{settings_.torus_source, settings_.torus, {}};
    if (!settings_.coordinates.empty()) {
        request.source = "the caller's coordinates";
        for (const PeerProcess& peer : processes_) {
            request.coordinates.push_back(peer.coordinates);
        }
    } else if (host_file_) {
        std::vector<std::string> hosts;
        for (const PeerProcess& peer : processes_) {
            hosts.push_back(peer.host);
        }
        request.source = "host file " + settings_.hostfile;
        request.torus = host_file_->sizes.empty() ? "" : Torus(host_file_->sizes).name();
        request.coordinates = coordinates_by_host(*host_file_, hosts);
    }
    return request;
}

void Communicator::open() {
    if (rank() == 0) {
        for (const std::string& message : unknown_variables()) {
            std::fprintf(stderr, "trefoil: %s\n", message.c_str());
        }
    }
    placement_ = place_threads(local_ports_, local_rank_);
    warn_of_oversubscription();
    BackendConfig config;
    config.provider = settings_.provider;
    config.groups = port_groups_.groups;
    config.nics = selectors(nics_);
    config.rank = rank();
    config.one_host = one_network_;
    if (ranks() > 1) {
        channels_.groups = open_backend(settings_.backend, config);
        provider_ = channels_.groups[0]->provider();
    }
    channels_.rank = rank();
    channels_.host = host_name();
    channels_.slots = Executor::landing_slots;
    channels_.slot_bytes =
        settings_.landing_bytes / channels_.slots / landing_alignment * landing_alignment;
    port_threads_ = settings_.port_threads_by == PortThreadsBy::openmp
                        ? PortThreads::openmp(port_groups_.threads)
                        : std::make_unique<PortThreads>(port_groups_.threads, placement_.cores);
    channel_setup_ = std::make_unique<ChannelSetup>(channels_, *bootstrap_);
    ExecutorOptions options;
    options.may_spin = placement_.may_spin;
    options.timeout = settings_.timeout;
    // Half: the verdict on the greetings is exchanged within the other half.
    options.greeting_timeout = std::min(settings_.timeout / 2, longest_greeting);
    options.stall_warning = settings_.stall_warning;
    options.progress = settings_.progress;
    options.trace = trace_.get();
    options.check_peers = [this] { return dead_peers(); };
    executor_ = std::make_unique<Executor>(channels_, *port_threads_, options);
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

Communicator::Resources Communicator::resources() const {
    std::set<Rank> peers;
    for (const OutChannel& channel : channels_.out) {
        peers.insert(channel.peer);
    }
    for (const InChannel& channel : channels_.in) {
        peers.insert(channel.peer);
    }
    return {static_cast<int>(peers.size()), static_cast<int>(channels_.in.size()),
            static_cast<int>(channels_.out.size()),
            channels_.in.size() * channels_.slot_bytes * channels_.slots,
            executor_ ? executor_->staging_bytes() : 0};
}

Communicator::PortUse Communicator::port_use(Port port) const {
    PortUse use;
    for (const OutChannel& channel : channels_.out) {
        if (channel.port == port) {
            use.puts += channel.puts;
            use.bytes += channel.bytes;
        }
    }
    use.nic = nics_.empty() ? "" : nics_[static_cast<std::size_t>(port.index)].name.c_str();
    return use;
}

}  // namespace trefoil
