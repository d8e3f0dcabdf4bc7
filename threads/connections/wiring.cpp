// SPDX-License-Identifier: BSD-3-Clause
// The beginning and the end of channels.
#include "threads/connections/wiring.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "topo/blob.hpp"

namespace trefoil {

namespace {

/// Keys of one communicator stand together.
ChannelKey first_of(std::uint64_t communicator) {
    return {communicator, std::numeric_limits<Rank>::min(), Port{0}};
}

}  // namespace

Wiring::Wiring(PostOffice& post, LandingArena& arena, std::uint32_t channel_limit,
               Listeners listeners)
    : post_(post), arena_(arena), channel_limit_(channel_limit), listeners_(std::move(listeners)) {
    post_.listen([this](Connection& from, const StreamEntry& entry) { hear(from, entry); });
}

void Wiring::begin(std::uint64_t communicator) {
    communicators_.insert(communicator);
    for (auto wire = place_of_wire(first_of(communicator));
         wire != wires_.end() && (*wire)->key.communicator == communicator; ++wire) {
        if (listeners_.wired) {
            listeners_.wired(**wire);
        }
    }
}

std::vector<std::unique_ptr<Wire>>::iterator Wiring::place_of_wire(const ChannelKey& key) {
    return std::ranges::lower_bound(wires_, key, {}, [](const auto& wire) { return wire->key; });
}

std::vector<std::uint32_t>::iterator Wiring::place_of_id(const ChannelKey& key) {
    return std::ranges::lower_bound(ids_, key, {},
                                    [this](std::uint32_t id) { return landings_[id]->key; });
}

void Wiring::end(std::uint64_t communicator) {
    communicators_.erase(communicator);
    const auto first_wire = place_of_wire(first_of(communicator));
    auto last_wire = first_wire;
    for (; last_wire != wires_.end() && (*last_wire)->key.communicator == communicator;
         ++last_wire) {
        say_farewell(**last_wire);
    }
    wires_.erase(first_wire, last_wire);
    const auto first_id = place_of_id(first_of(communicator));
    auto last_id = first_id;
    for (; last_id != ids_.end() && landings_[*last_id]->key.communicator == communicator;
         ++last_id) {
        Landing& landing = *landings_[*last_id];
        landing.ended = true;
        waiting_.insert(landing.id);
        look_again_ |= may_be_given_back(landing);
        if (!landing.puts) {
            BlobWriter gone;
            gone.number(communicator);
            gone.number(landing.key.ring);
            gone.number(landing.id);
            post_.say(post_.connection(landing.key.peer, landing.key.port),
                      static_cast<std::uint8_t>(Kind::gone), gone.bytes());
        }
    }
    ids_.erase(first_id, last_id);
}

std::uint32_t Wiring::next_id() {
    if (free_ids_.empty()) {
        if (landings_.size() >= channel_limit_) {
            throw Error(Status::unsupported,
                        "more than " + std::to_string(channel_limit_) +
                            " channels end at one port group of this rank; use fewer "
                            "communicators, more port threads or another algorithm");
        }
        landings_.emplace_back();
        free_ids_.push_back(static_cast<std::uint32_t>(landings_.size() - 1));
    }
    return free_ids_.front();
}

Landing& Wiring::want(const ChannelKey& key, std::size_t slot_bytes, std::uint32_t slots) {
    const auto known = place_of_id(key);
    if (known != ids_.end() && landings_[*known]->key == key) {
        return *landings_[*known];
    }
    Connection& to = post_.connection(key.peer, key.port);
    if (to.closed || to.deaf) {
        const bool broken = to.broken_as != Status::success;
        throw CannotConnect(post_.broken(key.peer, key.port,
                                         broken ? to.broken_as : Status::peer_lost,
                                         broken ? to.broken_why : "the connection has ended"));
    }
    auto landing = std::make_unique<Landing>();
    landing->key = key;
    landing->slot_bytes = slot_bytes;
    landing->slots = slots;
    landing->id = next_id();
    BlobWriter name;
    name.text("channel");
    name.number(key.communicator);
    name.number(key.peer);
    name.number(post_.rank());
    name.number(static_cast<std::int32_t>(key.port.index));
    name.number(landing->id);
    landing->proof = static_cast<std::uint32_t>(post_.prove(name.bytes()));
    landing->memory = arena_.take(slot_bytes * slots);
    landing->data = landing->memory.data;
    try {
        if (ids_.size() == ids_.capacity()) {
            ids_.reserve(2 * ids_.size() + 1);
        }
        say_hello(to, *landing);
    } catch (...) {
        arena_.give_back(landing->memory);
        throw;
    }
    free_ids_.pop_front();
    ids_.insert(place_of_id(key), landing->id);
    std::unique_ptr<Landing>& place = landings_[landing->id];
    place = std::move(landing);
    return *place;
}

void Wiring::say_hello(Connection& to, const Landing& landing) {
    const std::uint32_t chunk = landing.memory.chunk;
    std::vector<bool>& described = memories_[to.number].described;
    if (described.size() <= chunk) {
        described.resize(chunk + 1);
    }
    if (!described[chunk]) {
        BlobWriter memory;
        memory.number(chunk);
        memory.text(post_.group().describe(arena_.chunk(chunk)));
        post_.say(to, static_cast<std::uint8_t>(Kind::memory), memory.bytes());
        described[chunk] = true;
    }
    BlobWriter hello;
    hello.number(landing.key.communicator);
    hello.number(landing.key.ring);
    hello.number(landing.id);
    hello.number(landing.proof);
    hello.number(chunk);
    hello.number(landing.memory.offset);
    hello.number(landing.slot_bytes);
    hello.number(landing.slots);
    post_.say(to, static_cast<std::uint8_t>(Kind::hello), hello.bytes());
}

void Wiring::say_farewell(const Wire& wire) {
    BlobWriter farewell;
    farewell.number(wire.key.communicator);
    farewell.number(wire.id);
    farewell.number(wire.puts);
    post_.say(post_.connection(wire.key.peer, wire.key.port),
              static_cast<std::uint8_t>(Kind::farewell), farewell.bytes());
}

Wire* Wiring::wire_of(const ChannelKey& key) {
    const auto found = place_of_wire(key);
    return found == wires_.end() || (*found)->key != key ? nullptr : found->get();
}

void Wiring::greet(Rank to, Port own) {
    post_.say(post_.connection(to, own), static_cast<std::uint8_t>(Kind::greeting), {});
}

void Wiring::letter(Rank to, Port own, std::uint64_t tag, std::string_view text, bool urgent) {
    BlobWriter letter;
    letter.number(tag);
    letter.text(text);
    Connection& connection = post_.connection(to, own);
    constexpr auto kind = static_cast<std::uint8_t>(Kind::letter);
    if (!urgent || !post_.say_urgently(connection, kind, letter.bytes())) {
        post_.say(connection, kind, letter.bytes());
    }
}

void Wiring::lose(Rank peer) {
    post_.lose(peer);
    for (const auto& wire : wires_) {
        if (wire->key.peer == peer) {
            wire->peer_left = true;
            tell_left(wire->key);
        }
    }
    std::erase_if(wires_, [&](const auto& wire) {
        return wire->key.peer == peer && !communicators_.contains(wire->key.communicator);
    });
    for (const auto& landing : landings_) {
        if (landing && landing->key.peer == peer) {
            landing->peer_left = true;
            tell_left(landing->key);
        }
    }
}

void Wiring::leave() {
    constexpr auto leaving = static_cast<std::uint8_t>(Kind::leaving);
    for (std::uint32_t number = 0; number < post_.connections(); ++number) {
        Connection& to = post_.connection(number);
        // A peer that answers nothing any more, as it is at the end of its own, is not waited for.
        const bool all_said = to.record_unanswered && to.outgoing.empty();
        if (!all_said || !post_.say_urgently(to, leaving, {})) {
            post_.say(to, leaving, {});
        }
    }
}

void Wiring::give_back() {
    look_again_ = false;
    for (auto id = waiting_.begin(); id != waiting_.end();) {
        const Landing& landing = *landings_[*id];
        if (!may_be_given_back(landing)) {
            ++id;
            continue;
        }
        arena_.give_back(landing.memory);
        free_ids_.push_back(landing.id);
        landings_[*id].reset();
        id = waiting_.erase(id);
    }
}

Wiring::Numbers Wiring::numbers() const {
    Numbers numbers{ids_.size(), waiting_.size(), wires_.size(), 0};
    for (const auto& wire : wires_) {
        numbers.early += communicators_.contains(wire->key.communicator) ? 0 : 1;
    }
    return numbers;
}

}  // namespace trefoil
