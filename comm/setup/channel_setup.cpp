// SPDX-License-Identifier: BSD-3-Clause
// Each rank offers, to everybody, where its new incoming channels land; each sender picks its own.
#include "comm/setup/channel_setup.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "comm/setup/agreement.hpp"
#include "threads/executor/notification.hpp"
#include "topo/blob.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

/// Transports wait in silence where a connection lacks a descriptor, and then tell something else.
void require_descriptors(std::size_t connections) {
    constexpr std::size_t most = 16;  // some transports need one for each, some none
    std::vector<int> opened;
    int error = 0;
    while (error == 0 && opened.size() < std::min(connections, most)) {
        const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
        error = file < 0 ? errno : 0;
        if (file >= 0) {
            opened.push_back(file);
        }
    }
    std::for_each(opened.begin(), opened.end(), close);
    if (error == EMFILE || error == ENFILE) {
        throw Error(Status::system_error,
                    std::string("no room for connections: ") + std::strerror(error) +
                        "; raise the limit of open files (ulimit -n), or close some");
    }
}

/// One incoming channel as offered to its sender.
struct Offer {
    Rank sender = 0;
    std::int32_t port = 0;  // the receiver's
    std::uint32_t id = 0;
    std::uint64_t offset = 0;
};
}  // namespace

int ChannelSetup::group_of(Port port) const {
    for (std::size_t g = 0; g < channels_.groups.size(); ++g) {
        const auto& ports = channels_.groups[g]->ports();
        if (std::find(ports.begin(), ports.end(), port) != ports.end()) {
            return static_cast<int>(g);
        }
    }
    throw Error(Status::internal, "port " + to_string(port) + " was not opened");
}

std::string ChannelSetup::offer(const Schedule& schedule, bool acknowledged,
                                const std::string& agreement) {
    added_ = {channels_.out.size(), channels_.in.size()};
    new_ports_.clear();
    std::set<Key> outgoing, incoming;
    for (const Send& send : schedule.sends) {
        outgoing.insert({send.peer, send.port.index});
    }
    for (const Receive& receive : schedule.receives) {
        incoming.insert({receive.peer, receive.port.index});
    }
    if (acknowledged) {  // the way back has the same key: own port and peer
        outgoing.insert(incoming.begin(), incoming.end());
        incoming = outgoing;
    }
    for (const auto& [peer, port] : outgoing) {
        if (!out_.contains({peer, port})) {
            new_ports_[peer].push_back(port);
        }
    }
    std::vector<Key> new_in;
    for (const Key& key : incoming) {
        if (!in_.contains(key)) {
            new_in.push_back(key);
            new_ports_[key.first];  // perhaps nothing to connect, but messages tell where it is
        }
    }
    require_descriptors(new_ports_.size());
    return offer_of(new_in, agreement);
}

void ChannelSetup::take(std::vector<std::string> offers) {
    offers_ = std::move(offers);
    std::vector<std::string> texts;
    for (const std::string& blob : offers_) {
        texts.push_back(BlobReader(blob).text());
    }
    require_agreement(texts, "the call");
}

NewChannels ChannelSetup::connect() {
    Status status = Status::success;
    std::string failures;
    for (const auto& [peer, ports] : new_ports_) {
        try {
            accept(peer, ports);
        } catch (const Error& error) {  // a cable in the wrong place shows at two peers
            failures += (failures.empty() ? "" : "; ") + std::string(error.what());
            status = status == Status::success ? error.status() : status;
        }
    }
    offers_.clear();
    if (status != Status::success) {
        throw Error(status, failures);
    }
    for (const auto& [key, in] : in_) {
        const auto out = out_.find(key);
        if (out != out_.end()) {
            channels_.in[in].opposite = static_cast<std::uint32_t>(out->second);
        }
    }
    return added_;
}

std::string ChannelSetup::offer_of(const std::vector<Key>& incoming, const std::string& agreement) {
    BlobWriter blob;
    blob.text(agreement);
    blob.text(channels_.host);
    blob.number(static_cast<std::uint64_t>(channels_.groups.size()));
    channels_.in_by_id.resize(channels_.groups.size());
    const std::size_t channel_bytes = channels_.landing_bytes();
    for (std::size_t g = 0; g < channels_.groups.size(); ++g) {
        PortGroup& group = *channels_.groups[g];
        std::vector<Offer> mine;
        for (const auto& [peer, port] : incoming) {
            if (group_of(Port{port}) == static_cast<int>(g)) {
                const auto id =
                    static_cast<std::uint32_t>(channels_.in_by_id[g].size() + mine.size());
                mine.push_back({peer, port, id, channel_bytes * mine.size()});
            }
        }
        const std::uint32_t limit = Notification::channel_limit(group.notification_bits());
        if (channels_.in_by_id[g].size() + mine.size() > limit) {
            throw Error(
                Status::unsupported,
                "more than " + std::to_string(limit) +
                    " connections end at one port group of this rank; use another algorithm");
        }
        LocalMemory landing;
        if (!mine.empty()) {
            landing = group.allocate(channel_bytes * mine.size());
        }
        for (const Offer& o : mine) {
            in_[{o.sender, o.port}] = channels_.in.size();
            channels_.in_by_id[g].push_back(static_cast<std::uint32_t>(channels_.in.size()));
            InChannel& in = channels_.in.emplace_back();
            in.peer = o.sender;
            in.port = Port{o.port};
            in.group = static_cast<int>(g);
            in.landing = landing.data + o.offset;
            in.proof = session_.proof(o.sender, channels_.rank, g, o.id);
        }
        blob.text(mine.empty() ? std::string() : group.describe(landing));
        blob.number(static_cast<std::uint64_t>(group.ports().size()));
        for (const Port port : group.ports()) {
            blob.number(static_cast<std::int32_t>(port.index));
            blob.text(group.address(port));
            blob.text(group.port_text(port));
        }
        blob.number(static_cast<std::uint64_t>(mine.size()));
        for (const Offer& o : mine) {
            blob.number(o);
        }
    }
    return blob.bytes();
}

// Connects own ports to a peer, as it has offered.
void ChannelSetup::accept(Rank peer, const std::vector<int>& ports) {
    BlobReader blob(offers_[peer]);
    blob.text();
    const std::string host = blob.text();
    const auto groups = blob.number<std::uint64_t>();
    std::size_t accepted = 0;
    for (std::uint64_t g = 0; g < groups; ++g) {
        const std::string description = blob.text();
        std::map<int, std::string> addresses;
        const auto port_count = blob.number<std::uint64_t>();
        for (std::uint64_t i = 0; i < port_count; ++i) {
            const auto port = blob.number<std::int32_t>();
            addresses[port] = blob.text();
            channels_.peer_places[{peer, port}] = "host " + host + ", NIC " + blob.text();
        }
        std::map<int, RemoteMemory> imported;  // per own group
        const auto count = blob.number<std::uint64_t>();
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto o = blob.number<Offer>();
            const Port own = Port{o.port}.opposite();
            if (o.sender != channels_.rank ||
                std::find(ports.begin(), ports.end(), own.index) == ports.end()) {
                continue;
            }
            const int group = group_of(own);
            Peer endpoint;
            try {
                if (!imported.contains(group)) {
                    imported[group] = channels_.groups[group]->import_memory(description);
                }
                endpoint = channels_.groups[group]->connect(own, addresses[o.port]);
            } catch (const Error& error) {
                throw Error(error.status(), "cannot connect " + route_text(channels_, own, peer) +
                                                ": " + error.what());
            }
            out_[{peer, own.index}] = channels_.out.size();
            channels_.out.push_back({peer, own, group, endpoint, imported[group], o.offset, o.id,
                                     session_.proof(channels_.rank, peer, g, o.id)});
            ++accepted;
        }
    }
    if (accepted != ports.size()) {
        throw Error(Status::internal, "rank " + std::to_string(peer) +
                                          " does not expect this rank's messages; please report "
                                          "this");
    }
}

}  // namespace trefoil
