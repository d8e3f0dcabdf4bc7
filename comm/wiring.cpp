// SPDX-License-Identifier: BSD-3-Clause
// The exchange of landing regions. Each rank offers, to everybody, where its new incoming channels
// land; each sender picks its own.
#include "comm/wiring.hpp"

#include <algorithm>
#include <set>

#include "comm/blob.hpp"
#include "threads/notice.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {
/// One incoming channel as offered to its sender.
struct Offer {
    Rank sender = 0;
    std::int32_t port = 0;  // the receiver's
    std::uint32_t id = 0;
    std::uint64_t offset = 0;
};
}  // namespace

void require_agreement(const std::vector<std::string>& texts, const std::string& about) {
    std::map<std::string, std::vector<std::size_t>> voters;
    for (std::size_t r = 0; r < texts.size(); ++r) {
        voters[texts[r]].push_back(r);
    }
    if (voters.size() == 1) {
        return;
    }
    std::string message = "the ranks disagree about " + about + ":";
    int listed = 0;
    for (const auto& [text, ranks] : voters) {
        if (++listed > 4) {
            message += " ...";
            break;
        }
        message += (listed > 1 ? "; " : " ") + std::string(ranks.size() > 1 ? "ranks " : "rank ");
        for (std::size_t i = 0; i < std::min<std::size_t>(ranks.size(), 3); ++i) {
            message += (i > 0 ? ", " : "") + std::to_string(ranks[i]);
        }
        message += (ranks.size() > 3 ? ", ...: " : ": ") + text;
    }
    throw Error(Status::mismatch, message);
}

int Wiring::group_of(Port port) const {
    for (std::size_t g = 0; g < wire_.groups.size(); ++g) {
        const auto& ports = wire_.groups[g]->ports();
        if (std::find(ports.begin(), ports.end(), port) != ports.end()) {
            return static_cast<int>(g);
        }
    }
    throw Error(Status::internal, "port " + to_string(port) + " was not opened");
}

NewChannels Wiring::connect(const Schedule& schedule, const std::string& agreement) {
    const NewChannels added{wire_.out.size(), wire_.in.size()};
    std::set<Key> outgoing, incoming;
    for (const Send& send : schedule.sends) {
        outgoing.insert({send.peer, send.port.index});
    }
    for (const Receive& receive : schedule.receives) {
        incoming.insert({receive.peer, receive.port.index});
    }
    std::vector<Key> new_out, new_in;
    std::copy_if(outgoing.begin(), outgoing.end(), std::back_inserter(new_out),
                 [&](const Key& k) { return !out_.contains(k); });
    std::copy_if(incoming.begin(), incoming.end(), std::back_inserter(new_in),
                 [&](const Key& k) { return !in_.contains(k); });
    const std::vector<std::string> offers = bootstrap_.allgather(offer(new_in, agreement));
    std::vector<std::string> texts;
    for (const std::string& blob : offers) {
        texts.push_back(BlobReader(blob).text());
    }
    require_agreement(texts, "the call");
    accept(new_out, offers);
    return added;
}

std::string Wiring::offer(const std::vector<Key>& incoming, const std::string& agreement) {
    BlobWriter blob;
    blob.text(agreement);
    blob.number(static_cast<std::uint64_t>(wire_.groups.size()));
    wire_.in_by_id.resize(wire_.groups.size());
    const std::size_t channel_bytes = wire_.slot_bytes * wire_.slots;
    for (std::size_t g = 0; g < wire_.groups.size(); ++g) {
        PortGroup& group = *wire_.groups[g];
        std::vector<Offer> mine;
        for (const auto& [peer, port] : incoming) {
            if (group_of(Port{port}) == static_cast<int>(g)) {
                const auto id = static_cast<std::uint32_t>(wire_.in_by_id[g].size() + mine.size());
                mine.push_back({peer, port, id, channel_bytes * mine.size()});
            }
        }
        if (wire_.in_by_id[g].size() + mine.size() > Notice::channel_limit) {
            throw Error(
                Status::unsupported,
                "more than " + std::to_string(Notice::channel_limit) +
                    " connections end at one port group of this rank; use another algorithm");
        }
        LocalMemory landing;
        if (!mine.empty()) {
            landing = group.allocate(channel_bytes * mine.size());
        }
        for (const Offer& o : mine) {
            in_[{o.sender, o.port}] = wire_.in.size();
            wire_.in_by_id[g].push_back(static_cast<std::uint32_t>(wire_.in.size()));
            wire_.in.push_back({o.sender, Port{o.port}, static_cast<int>(g),
                                landing.data + o.offset, false, false});
        }
        blob.text(mine.empty() ? std::string() : group.describe(landing));
        blob.number(static_cast<std::uint64_t>(group.ports().size()));
        for (const Port port : group.ports()) {
            blob.number(static_cast<std::int32_t>(port.index));
            blob.text(group.address(port));
        }
        blob.number(static_cast<std::uint64_t>(mine.size()));
        for (const Offer& o : mine) {
            blob.number(o);
        }
    }
    return blob.bytes();
}

void Wiring::accept(const std::vector<Key>& outgoing, const std::vector<std::string>& offers) {
    std::map<Rank, std::vector<int>> ports_by_peer;
    for (const auto& [peer, port] : outgoing) {
        ports_by_peer[peer].push_back(port);
    }
    for (const auto& [peer, ports] : ports_by_peer) {
        BlobReader blob(offers[peer]);
        blob.text();
        const auto groups = blob.number<std::uint64_t>();
        std::size_t accepted = 0;
        for (std::uint64_t g = 0; g < groups; ++g) {
            const std::string description = blob.text();
            std::map<int, std::string> addresses;
            const auto port_count = blob.number<std::uint64_t>();
            for (std::uint64_t i = 0; i < port_count; ++i) {
                const auto port = blob.number<std::int32_t>();
                addresses[port] = blob.text();
            }
            std::map<int, RemoteMemory> imported;  // per own group
            const auto count = blob.number<std::uint64_t>();
            for (std::uint64_t i = 0; i < count; ++i) {
                const auto o = blob.number<Offer>();
                const Port own = Port{o.port}.opposite();
                if (o.sender != bootstrap_.rank() ||
                    std::find(ports.begin(), ports.end(), own.index) == ports.end()) {
                    continue;
                }
                const int group = group_of(own);
                if (!imported.contains(group)) {
                    imported[group] = wire_.groups[group]->import_memory(description);
                }
                const Peer endpoint = wire_.groups[group]->connect(own, addresses[o.port]);
                out_[{peer, own.index}] = wire_.out.size();
                wire_.out.push_back({peer, own, group, endpoint, imported[group], o.offset, o.id});
                ++accepted;
            }
        }
        if (accepted != ports.size()) {
            throw Error(Status::internal,
                        "rank " + std::to_string(peer) +
                            " does not expect this rank's messages; please report this");
        }
    }
}

}  // namespace trefoil
