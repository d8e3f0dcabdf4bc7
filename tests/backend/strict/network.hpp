// SPDX-License-Identifier: BSD-3-Clause
// What all strict groups of a process share: memory by key, groups by number, puts under way.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/ports/port_group.hpp"
#include "tests/backend/strict/strict.hpp"

namespace trefoil::strict {

/// Registered memory. It goes with its group, but not while a put is on its way to it. What a test
/// has registered stays the test's, and is not touched when its puts are dropped.
struct Region {
    Region(std::size_t bytes, std::uint64_t key, std::uint64_t group);
    Region(std::byte* of_test, std::size_t bytes, std::uint64_t key, std::uint64_t group);
    bool contains(const void* place, std::size_t size) const;

    struct Free {
        bool own;
        void operator()(std::byte* data) const;
    };
    std::unique_ptr<std::byte, Free> data;
    std::size_t bytes;
    std::uint64_t key;
    std::uint64_t group;  ///< the owner's number
    bool registered = false;
};

/// A put under way. First its sender drives it, then, once the source is read, both ends.
struct Flight {
    const std::byte* source = nullptr;
    std::uint64_t checksum = 0;  ///< of the source when it was put
    std::shared_ptr<Region> target;
    std::uint64_t offset = 0;
    std::size_t bytes = 0;
    std::uint64_t notification = 0;
    std::uint64_t cookie = 0;
    std::pair<std::uint64_t, int> way;  ///< its sender, and the port
    std::uint64_t number = 0;           ///< in the order of the sender's puts
    bool done = false;                  ///< put() has returned `done`: nothing to report
    bool sent = false;                  ///< reported
    bool read = false;
    bool arrived = false;  ///< reported
    bool dropped = false;  ///< its target, or its target's group, is gone
    /// Polls until the next thing happens, and until the sender is told.
    unsigned delay = 0, delay_of_sent = 0;

    std::vector<std::byte> content;  ///< as read
    struct Piece {
        std::size_t begin, end;
    };
    std::vector<Piece> pieces;  ///< still to land
};

/// One end, as the network knows it. All under the network's mutex.
struct End {
    std::uint64_t number = 0;
    std::minstd_rand random;
    std::list<std::shared_ptr<Flight>> outgoing;  ///< not yet reported as sent and read
    std::list<std::shared_ptr<Flight>> incoming;  ///< read, and not yet reported as arrived
    std::vector<std::shared_ptr<Region>> memory;
    std::uint64_t puts = 0;
    std::map<std::pair<std::uint64_t, int>, std::uint64_t> newest_arrival;  ///< by way
    bool woken = false;
    std::condition_variable changed;

    bool chance(unsigned one_of) { return random() / 7 % one_of == 0; }
    unsigned up_to(unsigned most) { return static_cast<unsigned>(random() / 7 % (most + 1)); }
};

/// The one network of this process.
struct Network {
    std::mutex mutex;
    std::map<std::uint64_t, End*> ends;
    std::map<std::uint64_t, std::weak_ptr<Region>> regions;  ///< by key
    std::uint64_t next_number = 1;
    std::mt19937_64 keys;
    unsigned seed = 0;
    Encounters encounters;

    static Network& instance();

    /// Nothing but what the target's owner may see: key, offset and bytes.
    std::shared_ptr<Region> region(std::uint64_t key) const;
    bool overlaps(const Flight& flight) const;
    /// Takes the end's puts a step further, and what comes to it; writes what it may tell.
    std::size_t progress(End& end, std::span<Event> events);

    /// Drops all that is on its way to the region; then nothing is written there any more.
    void close(const std::shared_ptr<Region>& region);
    /// Whether a put that is not yet sent reads memory of the region.
    bool is_source(const End& end, const Region& region) const;

    /// Where put() does not: the source is read, and the put is the target's as well.
    void hand_over(End& from, const std::shared_ptr<Flight>& flight);
    bool has_room(const Flight& flight) const;

  private:
    Network();
    void land(End& driver, Flight& flight);
    bool report_sent(Flight& flight, Event& event);
    bool report_arrival(End& to, const std::shared_ptr<Flight>& flight, Event& event);
};

void complain(const std::string& what);
std::uint64_t checksum_of(const std::byte* data, std::size_t bytes);

}  // namespace trefoil::strict
