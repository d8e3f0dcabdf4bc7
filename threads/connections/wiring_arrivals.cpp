// SPDX-License-Identifier: BSD-3-Clause
// What peers say of channels. They are trusted to mean well, not to write well.
#include <string>

#include "threads/connections/wiring.hpp"
#include "topo/blob.hpp"

namespace trefoil {

namespace {

void require(bool holds, const char* what) {
    if (!holds) {
        throw Error(Status::mismatch, std::string("the peer says what cannot be: ") + what +
                                          "; do all ranks run the same version of Trefoil?");
    }
}

}  // namespace

void Wiring::hear(Connection& from, const StreamEntry& entry) {
    BlobReader body(entry.body);
    switch (static_cast<Kind>(entry.kind)) {
        case Kind::memory: {
            const auto chunk = body.number<std::uint32_t>();
            memories_[from.number].known[chunk] = post_.group().import_memory(body.view());
            break;
        }
        case Kind::hello:
            hear_hello(from, entry.body);
            break;
        case Kind::farewell:
            hear_farewell(from, entry.body);
            break;
        case Kind::gone:
            hear_gone(from, entry.body);
            break;
        case Kind::letter: {
            const auto tag = body.number<std::uint64_t>();
            if (listeners_.letter) {
                listeners_.letter(from.peer, from.port, tag, body.view());
            }
            break;
        }
        case Kind::leaving:
            lose(from.peer);
            break;
        case Kind::greeting:
            break;
        default:
            require(false, "an entry of no known kind");
    }
}

void Wiring::hear_hello(Connection& from, std::string_view body) {
    BlobReader hello(body);
    Wire wire;
    wire.key.communicator = hello.number<std::uint64_t>();
    wire.key.peer = from.peer;
    wire.key.port = from.port;
    wire.key.ring = hello.number<std::uint32_t>();
    wire.endpoint = from.endpoint;
    wire.id = hello.number<std::uint32_t>();
    wire.proof = hello.number<std::uint32_t>();
    const auto& known = memories_[from.number].known;
    const auto chunk = known.find(hello.number<std::uint32_t>());
    require(chunk != known.end(), "landing slots in memory that it has not described");
    wire.memory = chunk->second;
    wire.offset = hello.number<std::uint64_t>();
    wire.slot_bytes = hello.number<std::uint64_t>();
    wire.slots = hello.number<std::uint32_t>();
    require(wire.id < channel_limit_, "a channel with a number that is too large");
    require(wire.slots > 0 && wire.offset <= wire.memory.bytes &&
                wire.slot_bytes <= (wire.memory.bytes - wire.offset) / wire.slots,
            "landing slots outside its memory");
    const auto place = place_of_wire(wire.key);
    require(place == wires_.end() || (*place)->key != wire.key, "hello twice for one channel");
    Wire& added = **wires_.insert(place, std::make_unique<Wire>(wire));
    if (listeners_.wired && communicators_.contains(wire.key.communicator)) {
        listeners_.wired(added);
    }
}

void Wiring::hear_farewell(Connection& from, std::string_view body) {
    BlobReader farewell(body);
    const auto communicator = farewell.number<std::uint64_t>();
    const auto id = farewell.number<std::uint32_t>();
    Landing* const landing = id < landings_.size() ? landings_[id].get() : nullptr;
    require(landing != nullptr && landing->key.communicator == communicator &&
                landing->key.peer == from.peer && landing->key.port == from.port && !landing->puts,
            "farewell for a channel that is not its own");
    landing->puts = farewell.number<std::uint64_t>();
    landing->peer_left = true;
    tell_left(landing->key);
    look_again_ |= may_be_given_back(*landing);
}

void Wiring::hear_gone(Connection& from, std::string_view body) {
    BlobReader gone(body);
    const auto communicator = gone.number<std::uint64_t>();
    const auto ring = gone.number<std::uint32_t>();
    const ChannelKey key{communicator, from.peer, from.port, ring};
    Wire* const wire = wire_of(key);
    if (wire == nullptr || wire->id != gone.number<std::uint32_t>()) {
        return;  // farewell was said before
    }
    if (communicators_.contains(communicator)) {
        wire->peer_left = true;
        tell_left(wire->key);
        return;
    }
    say_farewell(*wire);
    wires_.erase(place_of_wire(key));
}

}  // namespace trefoil
