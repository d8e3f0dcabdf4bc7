// SPDX-License-Identifier: BSD-3-Clause
// Takes strict puts from their source to their target, as late and disorderly as is allowed.
#include "tests/backend/strict/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace trefoil::strict {

namespace {

constexpr std::align_val_t page{4096};
/// Puts that wait for a target whose owner does not poll; more have to wait at their source.
constexpr std::size_t longest_queue = 64;

/// Polls by which `sent` is late at most; it comes earlier when the put has arrived.
constexpr unsigned longest_delay_of_sent = 500;

std::mutex complaint_mutex;
Complaint& complaint() {
    static Complaint current = [](const std::string& what) {
        ADD_FAILURE() << "strict port group: " << what;
    };
    return current;
}

}  // namespace

Complaint complain_to(Complaint next) {
    const std::scoped_lock lock(complaint_mutex);
    return std::exchange(complaint(), std::move(next));
}

void complain(const std::string& what) {
    const std::scoped_lock lock(complaint_mutex);
    complaint()(what);
}

Encounters encounters() {
    Network& network = Network::instance();
    const std::scoped_lock lock(network.mutex);
    return network.encounters;
}

std::uint64_t checksum_of(const std::byte* data, std::size_t bytes) {
    std::uint64_t sum = 0xcbf29ce484222325;
    for (std::size_t i = 0; i < bytes; ++i) {
        sum = (sum ^ static_cast<std::uint64_t>(data[i])) * 0x100000001b3;
    }
    return sum;
}

Region::Region(std::size_t size, std::uint64_t its_key, std::uint64_t owner)
    : data(new (page) std::byte[std::max<std::size_t>(size, 1)]{}, Free{true}),
      bytes(size),
      key(its_key),
      group(owner) {}

Region::Region(std::byte* of_test, std::size_t size, std::uint64_t its_key, std::uint64_t owner)
    : data(of_test, Free{false}), bytes(size), key(its_key), group(owner), registered(true) {}

void Region::Free::operator()(std::byte* bytes_of_it) const {
    if (own) {
        operator delete[](bytes_of_it, page);
    }
}

bool Region::contains(const void* place, std::size_t size) const {
    const auto* first = static_cast<const std::byte*>(place);
    return first >= data.get() && first <= data.get() + bytes &&
           size <= static_cast<std::size_t>(data.get() + bytes - first);
}

Network::Network() {
    const char* asked = std::getenv("STRICT_SEED");
    seed = asked != nullptr ? static_cast<unsigned>(std::strtoul(asked, nullptr, 10))
                            : std::random_device{}();
    keys.seed(seed);
    std::printf("strict port groups: STRICT_SEED=%u\n", seed);
    std::fflush(stdout);
}

Network& Network::instance() {
    static auto* const network = new Network;  // outlives every group
    return *network;
}

std::shared_ptr<Region> Network::region(std::uint64_t key) const {
    const auto found = regions.find(key);
    return found == regions.end() ? nullptr : found->second.lock();
}

bool Network::overlaps(const Flight& flight) const {
    const std::byte* const begin = flight.target->data.get() + flight.offset;
    const auto meets = [&](const std::shared_ptr<Flight>& other) {
        // By addresses: the same memory may be registered twice.
        return !other->arrived && !other->dropped &&
               begin < other->target->data.get() + other->offset + other->bytes &&
               other->target->data.get() + other->offset < begin + flight.bytes;
    };
    return flight.bytes > 0 && std::any_of(ends.begin(), ends.end(), [&](const auto& entry) {
               const End& end = *entry.second;
               return std::any_of(end.outgoing.begin(), end.outgoing.end(), meets) ||
                      std::any_of(end.incoming.begin(), end.incoming.end(), meets);
           });
}

void Network::close(const std::shared_ptr<Region>& region) {
    const auto drop = [&](const std::shared_ptr<Flight>& flight) {
        const bool concerned = flight->target == region && !flight->arrived && !flight->dropped;
        flight->dropped |= concerned;
        encounters.cut += concerned ? 1 : 0;
        return concerned;
    };
    for (const auto& entry : ends) {
        std::for_each(entry.second->outgoing.begin(), entry.second->outgoing.end(), drop);
        entry.second->incoming.remove_if(
            [&](const auto& flight) { return drop(flight) || flight->target == region; });
    }
    regions.erase(region->key);
}

bool Network::is_source(const End& end, const Region& region) const {
    return std::any_of(end.outgoing.begin(), end.outgoing.end(), [&](const auto& flight) {
        return flight->bytes > 0 && !flight->sent && region.contains(flight->source, flight->bytes);
    });
}

/// A group that is gone takes everything.
bool Network::has_room(const Flight& flight) const {
    const auto target = ends.find(flight.target->group);
    return target == ends.end() || target->second->incoming.size() < longest_queue;
}

/// The whole source is read at once, late: what was changed meanwhile shows.
void Network::hand_over(End& from, const std::shared_ptr<Flight>& shared) {
    Flight& flight = *shared;
    if (checksum_of(flight.source, flight.bytes) != flight.checksum) {
        complain("the source of a put was changed before it was sent");
    }
    flight.content.assign(flight.source, flight.source + flight.bytes);
    flight.read = true;
    const auto target = ends.find(flight.target->group);
    if (flight.dropped || target == ends.end()) {
        flight.dropped = true;
        return;
    }
    End& to = *target->second;
    auto place = to.incoming.begin();
    std::advance(place, from.up_to(static_cast<unsigned>(to.incoming.size())));
    to.incoming.insert(place, shared);
    to.changed.notify_one();
    flight.delay = from.up_to(4);
    flight.delay_of_sent = from.chance(8) ? longest_delay_of_sent : from.up_to(3);
    std::size_t at = 0;
    while (at < flight.bytes) {
        const std::size_t left = flight.bytes - at;
        const std::size_t size = std::min(left, 1 + left / (1 + from.up_to(4)));
        flight.pieces.push_back({at, at + size});
        at += size;
    }
    std::shuffle(flight.pieces.begin(), flight.pieces.end(), from.random);
}

void Network::land(End& driver, Flight& flight) {
    if (flight.pieces.empty() || flight.dropped || driver.chance(3)) {
        return;
    }
    const Flight::Piece piece = flight.pieces.back();
    flight.pieces.pop_back();
    ++encounters.pieces;
    std::memcpy(flight.target->data.get() + flight.offset + piece.begin,
                flight.content.data() + piece.begin, piece.end - piece.begin);
}

bool Network::report_sent(Flight& flight, Event& event) {
    if (flight.delay_of_sent > 0 && !flight.arrived) {
        --flight.delay_of_sent;
        return false;
    }
    if (checksum_of(flight.source, flight.bytes) != flight.checksum) {
        complain("the source of a put was changed before it was told to be sent");
    }
    ++(flight.arrived ? encounters.late_sent : encounters.early_sent);
    flight.sent = true;
    event = {Event::Kind::sent, 0, flight.cookie};
    return true;
}

bool Network::report_arrival(End& to, const std::shared_ptr<Flight>& flight, Event& event) {
    if (!flight->pieces.empty() || flight->delay > 0 || to.chance(2)) {
        flight->delay -= flight->delay > 0 ? 1 : 0;
        return false;
    }
    if (flight->bytes > 0 && std::memcmp(flight->target->data.get() + flight->offset,
                                         flight->content.data(), flight->bytes) != 0) {
        complain("memory was written where a put was landing");
    }
    std::uint64_t& newest = to.newest_arrival[flight->way];
    encounters.overtaken += flight->number < newest ? 1 : 0;
    newest = std::max(newest, flight->number);
    flight->arrived = true;
    event = {Event::Kind::arrived, flight->notification, 0};
    return true;
}

std::size_t Network::progress(End& end, std::span<Event> events) {
    std::size_t written = 0;
    for (auto at = end.outgoing.begin(); at != end.outgoing.end();) {
        const auto flight = *at;  // by value: the list changes
        if (!flight->read && flight->delay > 0) {
            --flight->delay;
        } else if (!flight->read && has_room(*flight)) {
            hand_over(end, flight);
        } else if (flight->read) {
            land(end, *flight);
            if (written < events.size() && report_sent(*flight, events[written])) {
                ++written;
            }
        }
        at = flight->sent ? end.outgoing.erase(at) : std::next(at);
    }
    for (auto at = end.incoming.begin(); at != end.incoming.end();) {
        const auto flight = *at;
        land(end, *flight);
        if (written < events.size() && report_arrival(end, flight, events[written])) {
            ++written;
            at = end.incoming.erase(at);
        } else {
            ++at;
        }
    }
    std::shuffle(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(written), end.random);
    return written;
}

}  // namespace trefoil::strict
