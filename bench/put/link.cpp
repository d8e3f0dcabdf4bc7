// SPDX-License-Identifier: BSD-3-Clause
// Opens the link of `trefoil perf put`, and keeps its waits bounded.
#include "bench/put/link.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "backend/ports/powers.hpp"
#include "backend/registry/transports.hpp"
#include "comm/setup/nics.hpp"
#include "topo/error.hpp"
#include "topo/host.hpp"

namespace trefoil::tool {

namespace {

using Clock = std::chrono::steady_clock;
constexpr Rank pair = 2;
constexpr int ports_of_pair = 2;

/// The calling thread; false where the system refuses, which costs accuracy only.
bool pin_to(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (core >= CPU_SETSIZE) {
        return false;
    }
    CPU_SET(core, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace

PutLink::PutLink(Bootstrap& bootstrap, const PutTransport& transport, std::size_t bytes)
    : rank_(bootstrap.rank()),
      port_(rank_ == 0 ? Port::plus(0) : Port::minus(0)),
      bytes_(bytes),
      timeout_(transport.timeout),
      backend_(transport.backend) {
    if (bootstrap.ranks() != pair) {
        throw Error(Status::invalid_argument,
                    fmt::format("perf put needs two ranks, but the job has {}; start two",
                                bootstrap.ranks()));
    }
    arrived_.reserve(1 << 16);
    meet(bootstrap, transport);
    open(bootstrap, transport);
    exchange(0);  // connects
}

/// Finds out whether the ranks share a host, and gives each a core.
void PutLink::meet(Bootstrap& bootstrap, const PutTransport& transport) {
    const std::vector<int> cores = allowed_cores();
    const int wanted = cores[static_cast<std::size_t>(rank_) % cores.size()];
    const int mine = transport.pin && pin_to(wanted) ? wanted : -1;
    const auto all = bootstrap.allgather(fmt::format("{} {}", mine, host_name()));
    const auto split = [](const std::string& text) {
        const std::size_t space = text.find(' ');
        return std::pair(std::stoi(text.substr(0, space)), text.substr(space + 1));
    };
    const auto [my_core, my_host] = split(all.at(rank_));
    const auto [peer_core, peer_host] = split(all.at(1 - rank_));
    cores_ = {my_core, peer_core};
    one_host_ = my_host == peer_host;
    spins_ = !one_host_ || (mine >= 0 ? my_core != peer_core : cores.size() >= pair);
    backend_ = transport_for(backend_, one_host_).name;
}

void PutLink::open(Bootstrap& bootstrap, const PutTransport& transport) {
    BackendConfig config;
    config.provider = transport.provider;
    config.groups = {{port_}};
    NicSharing sharing;
    sharing.ranks.assign(one_host_ ? pair : 1, allowed_cores());
    sharing.self = one_host_ ? rank_ : 0;
    sharing.most = one_host_ ? pair : 1;
    sharing.all_here = one_host_;
    config.nics = selectors(choose_nics_here({backend_,
                                              transport.provider,
                                              parse_nic_request(transport.nics, ports_of_pair),
                                              {port_},
                                              {},
                                              pair},
                                             sharing));
    config.rank = rank_;
    config.one_host = one_host_;
    group_ = std::move(open_backend(backend_, config).at(0));
    const std::size_t all_bytes = bytes_ + 2 * control_bytes;
    outbox_ = group_->allocate(all_bytes);
    inbox_ = group_->allocate(all_bytes);
    const auto memories = bootstrap.allgather(group_->describe(inbox_));
    const auto addresses = bootstrap.allgather(group_->address(port_));
    target_ = group_->import_memory(memories.at(1 - rank_));
    peer_ = group_->connect(port_, addresses.at(1 - rank_));
    if (transport.plain) {
        open_plain(bootstrap);
    }
}

void PutLink::open_plain(Bootstrap& bootstrap) {
    if (group_->registering() == nullptr) {
        throw Error(Status::unsupported,
                    "this transport puts into its own memory only; leave out "
                    "--direct");
    }
    plain_ = std::make_unique<std::byte[]>(std::max<std::size_t>(bytes_, 1));
    const LocalMemory plain =
        group_->registering()->register_memory(plain_.get(), std::max<std::size_t>(bytes_, 1));
    const auto all = bootstrap.allgather(group_->describe(plain));
    plain_target_ = group_->import_memory(all.at(1 - rank_));
}

void PutLink::put_to(const RemoteMemory& target, std::size_t at, std::size_t bytes,
                     std::uint64_t notification) {
    while (true) {
        switch (group_->put({.port = port_,
                             .peer = peer_,
                             .source = outbox_.data + at,
                             .descriptor = outbox_.descriptor,
                             .target = target,
                             .offset = at,
                             .bytes = bytes,
                             .notification = notification})) {
            case PutResult::done:
            case PutResult::queued:
                return;
            case PutResult::again:
                absorb();
                idle();
                break;
            case PutResult::failed:
                fail();
        }
    }
}

/// Progresses the port and keeps the notifications. That a put has left needs no note: its bytes
/// are not touched before the peer has answered.
void PutLink::absorb() {
    const std::size_t count = group_->poll(events_);
    for (std::size_t i = 0; i < count; ++i) {
        if (events_[i].kind == Event::Kind::failed) {
            fail();
        }
        if (events_[i].kind == Event::Kind::arrived) {
            if (events_[i].notification == control_notification) {
                ++exchanges_arrived_;
            } else {
                arrived_.push_back(events_[i].notification);
            }
        }
    }
}

// Two places take turns: the peer sends its next but one value only when it has ours of the next
// one, which we send after having read the one before.
std::uint64_t PutLink::exchange(std::uint64_t value) {
    const std::size_t place = bytes_ + exchanges_ % 2 * control_bytes;
    std::memcpy(outbox_.data + place, &value, sizeof value);
    put_to(target_, place, sizeof value, control_notification);
    ++exchanges_;
    while (exchanges_arrived_ < exchanges_) {
        absorb();
        idle();
    }
    idle_polls_ = 0;
    std::uint64_t theirs = 0;
    std::memcpy(&theirs, inbox_.data + place, sizeof theirs);
    return theirs;
}

void PutLink::look_at_clock() {
    const auto now = Clock::now();
    if (idle_polls_ <= polls_per_look) {
        idle_since_ = now;
    } else if (now - idle_since_ > timeout_) {
        throw Error(Status::timeout,
                    fmt::format("rank {} has heard nothing from rank {} for {} s through {}; is it "
                                "still running, and can it be reached?",
                                rank_, 1 - rank_, std::chrono::duration<double>(timeout_).count(),
                                port_text()));
    }
    if (!spins_) {
        std::this_thread::yield();
    }
}

void PutLink::fail() const {
    throw Error(Status::peer_lost, fmt::format("rank {}, port {} ({}): {}", rank_, to_string(port_),
                                               group_->port_text(port_), group_->error_text()));
}

}  // namespace trefoil::tool
