// SPDX-License-Identifier: BSD-3-Clause
// The strict port group: what its caller does is checked here, what happens to puts is the
// network's.
#include "tests/backend/strict/strict.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "backend/ports/powers.hpp"
#include "backend/system/writable_memory.hpp"
#include "tests/backend/strict/network.hpp"
#include "topo/error.hpp"
#include "topo/patience.hpp"

namespace trefoil::strict {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t window = 8;                        ///< puts of a group that may be under way
constexpr std::size_t most_done = 64;                    ///< longest put that may be `done` at once
constexpr std::byte junk{0xeb};                          ///< at the target until the bytes land
constexpr std::uint64_t blob_mark = 0x3154434952545354;  // "TSTRICT1"

/// Memory (number: the key) or an address (number: the group's, and its port).
struct Blob {
    std::uint64_t mark = blob_mark;
    std::uint64_t number = 0;
    std::uint64_t extent = 0;  ///< bytes; or the port
    std::uint64_t check = 0;   ///< of the fields before

    std::uint64_t sum(std::uint64_t kind) const {
        return (mark ^ number * 0x9e3779b97f4a7c15 ^ extent * 0xc2b2ae3d27d4eb4f) + kind;
    }
};
constexpr std::uint64_t of_memory = 1;
constexpr std::uint64_t of_port = 2;

std::string encode(std::uint64_t kind, std::uint64_t number, std::uint64_t extent) {
    Blob blob{blob_mark, number, extent, 0};
    blob.check = blob.sum(kind);
    return {reinterpret_cast<const char*>(&blob), sizeof blob};
}

Blob decode(std::uint64_t kind, std::string_view bytes) {
    Blob blob;
    if (bytes.size() == sizeof blob) {
        std::memcpy(&blob, bytes.data(), sizeof blob);
    }
    if (bytes.size() != sizeof blob || blob.mark != blob_mark || blob.check != blob.sum(kind)) {
        throw Error(Status::invalid_argument, "backend strict: this blob is not one of its own");
    }
    return blob;
}

class StrictGroup final : public PortGroup, public Waking, public Registering {
  public:
    StrictGroup(const std::vector<Port>& ports, Rank rank) {
        ports_ = ports;
        traits_.needs_registered_source = true;
        powers_ = {.waking = this, .registering = this};
        const std::scoped_lock lock(network_.mutex);
        end_.number = network_.next_number++;
        end_.random.seed(network_.seed + 1000U * static_cast<unsigned>(rank) +
                         static_cast<unsigned>(ports.empty() ? 0 : ports.front().index));
        network_.ends[end_.number] = &end_;
    }
    ~StrictGroup() override;

    LocalMemory allocate(std::size_t bytes) override;
    std::string describe(const LocalMemory& memory) const override;
    std::string address(Port port) const override;
    RemoteMemory import_memory(std::string_view description) override;
    Peer connect(Port port, std::string_view address) override;

    LocalMemory register_memory(void* data, std::size_t bytes) override;
    void deregister(const LocalMemory& memory) noexcept override;
    void release(const RemoteMemory& memory) noexcept override;

    PutResult put(const Put& put) override;
    std::size_t poll(std::span<Event> events) override;
    void wait(std::chrono::microseconds longest) override;
    void wake() override;
    void abandon(std::chrono::milliseconds longest) noexcept override;

    std::string error_text() const override { return error_; }
    std::string port_text(Port port) const override { return "strict port " + to_string(port); }

  private:
    /// One thread at a time: whoever comes while another is inside is found.
    class Inside {
      public:
        explicit Inside(const StrictGroup& group) : group_(group) {
            if (group_.inside_.exchange(true)) {
                complain("two threads use a group at the same time");
            }
        }
        ~Inside() { group_.inside_.store(false); }
        Inside(const Inside&) = delete;
        Inside& operator=(const Inside&) = delete;

      private:
        const StrictGroup& group_;
    };

    PutResult refuse(const std::string& why);
    void drain(std::chrono::milliseconds longest);
    std::string mistake(const Put& put) const;
    std::size_t take(std::span<Event> events);

    Network& network_ = Network::instance();
    End end_;
    struct Imported {
        std::uint64_t bytes = 0;
        std::size_t times = 0;
    };
    std::map<std::uint64_t, Imported> imported_;            ///< by key
    std::vector<std::pair<std::uint64_t, int>> connected_;  ///< a Peer is 1 + its place here
    std::vector<Event> kept_;                               ///< what wait() came across
    std::string error_ = "no error";
    bool abandoned_ = false;
    mutable std::atomic<bool> inside_{false};
};

/// Sees off what was accepted, as long as a transport has to; then drops the rest.
void StrictGroup::drain(std::chrono::milliseconds longest) {
    const auto deadline = Clock::now() + longest;
    std::array<Event, 8> events;
    std::unique_lock lock(network_.mutex);
    while (!end_.outgoing.empty() && Clock::now() < deadline) {
        (void)network_.progress(end_, events);
        lock.unlock();
        std::this_thread::yield();
        lock.lock();
    }
    for (const auto& flight : end_.outgoing) {
        flight->dropped |= !flight->read;
    }
    end_.outgoing.clear();
}

void StrictGroup::abandon(std::chrono::milliseconds longest) noexcept {
    const Inside inside(*this);
    if (!abandoned_) {
        abandoned_ = true;
        drain(longest);
    }
}

StrictGroup::~StrictGroup() {
    if (!abandoned_) {
        drain(patience().longest_drain);
    }
    const std::scoped_lock lock(network_.mutex);
    for (const auto& flight : end_.incoming) {
        flight->dropped = true;
    }
    network_.ends.erase(end_.number);
}

LocalMemory StrictGroup::allocate(std::size_t bytes) {
    const Inside inside(*this);
    const std::scoped_lock lock(network_.mutex);
    const std::uint64_t key = network_.keys();
    end_.memory.push_back(std::make_shared<Region>(bytes, key, end_.number));
    network_.regions[key] = end_.memory.back();
    return {end_.memory.back()->data.get(), bytes, end_.memory.back().get()};
}

LocalMemory StrictGroup::register_memory(void* data, std::size_t bytes) {
    const Inside inside(*this);
    require_writable_memory(data, bytes);
    const std::scoped_lock lock(network_.mutex);
    const std::uint64_t key = network_.keys() | 1;  // 0 is none
    auto* const begin = static_cast<std::byte*>(data);
    end_.memory.push_back(std::make_shared<Region>(begin, bytes, key, end_.number));
    network_.regions[key] = end_.memory.back();
    return {begin, bytes, end_.memory.back().get(), key};
}

void StrictGroup::deregister(const LocalMemory& memory) noexcept {
    const Inside inside(*this);
    const std::scoped_lock lock(network_.mutex);
    const auto found =
        std::find_if(end_.memory.begin(), end_.memory.end(), [&](const auto& region) {
            return region->registered && region->key == memory.registration;
        });
    if (found == end_.memory.end()) {
        return;
    }
    if (network_.is_source(end_, **found)) {
        complain("memory was deregistered while a put of its own reads it");
    }
    network_.close(*found);
    end_.memory.erase(found);
}

void StrictGroup::release(const RemoteMemory& memory) noexcept {
    const Inside inside(*this);
    const auto found = imported_.find(memory.key);
    if (found == imported_.end()) {
        complain("memory was released that was not imported");
    } else if (--found->second.times == 0) {
        imported_.erase(found);
    }
}

std::string StrictGroup::describe(const LocalMemory& memory) const {
    const Inside inside(*this);
    for (const auto& region : end_.memory) {
        if (memory.registration != 0 ? region->key == memory.registration
                                     : region->data.get() == memory.data && !region->registered) {
            return encode(of_memory, region->key, region->bytes);
        }
    }
    throw Error(Status::invalid_argument, "backend strict: this memory is not the group's");
}

std::string StrictGroup::address(Port port) const {
    return encode(of_port, end_.number, static_cast<std::uint64_t>(port.index));
}

/// The base is no address: nobody but the network gets at a peer's memory.
RemoteMemory StrictGroup::import_memory(std::string_view description) {
    const Inside inside(*this);
    const Blob blob = decode(of_memory, description);
    Imported& imported = imported_[blob.number];
    imported.bytes = blob.extent;
    ++imported.times;
    return {0, blob.number, blob.extent};
}

Peer StrictGroup::connect(Port port, std::string_view address) {
    const Inside inside(*this);
    const Blob blob = decode(of_port, address);
    if (std::find(ports_.begin(), ports_.end(), port) == ports_.end()) {
        throw Error(Status::invalid_argument, "backend strict: the port is not of this group");
    }
    connected_.emplace_back(blob.number, port.index);
    return {connected_.size()};
}

/// What the caller does that the contract forbids; empty: nothing.
std::string StrictGroup::mistake(const Put& put) const {
    if (put.peer.handle == 0 || put.peer.handle > connected_.size()) {
        return "put to a peer that is not connected";
    }
    if (connected_[put.peer.handle - 1].second != put.port.index) {
        return "put through another port than the peer was connected to";
    }
    const auto known = imported_.find(put.target.key);
    if (known == imported_.end()) {
        return "put to memory that was not imported";
    }
    if (put.bytes > known->second.bytes || put.offset > known->second.bytes - put.bytes) {
        return "put outside the target's memory";
    }
    if (put.bytes == 0) {
        return {};
    }
    const auto registered = [&](const std::shared_ptr<Region>& region) {
        return region.get() == put.descriptor && region->contains(put.source, put.bytes);
    };
    if (std::none_of(end_.memory.begin(), end_.memory.end(), registered)) {
        return put.descriptor == nullptr ? "put from memory without a descriptor"
                                         : "put from memory that its descriptor does not hold";
    }
    return {};
}

PutResult StrictGroup::refuse(const std::string& why) {
    complain(why);
    error_ = why;
    return PutResult::failed;
}

PutResult StrictGroup::put(const Put& put) {
    const Inside inside(*this);
    const std::scoped_lock lock(network_.mutex);
    const std::string wrong = mistake(put);
    if (!wrong.empty()) {
        return refuse(wrong);
    }
    if (end_.outgoing.size() >= window || end_.chance(4)) {
        ++network_.encounters.refused;
        return PutResult::again;
    }
    auto flight = std::make_shared<Flight>();
    flight->target = network_.region(put.target.key);
    const std::uint64_t notified = connected_[put.peer.handle - 1].first;
    if (flight->target == nullptr) {  // it has gone; nobody says so
        return PutResult::done;
    }
    if (flight->target->group != notified) {
        return refuse("put to memory of another group than is notified");
    }
    flight->source = static_cast<const std::byte*>(put.source);
    flight->checksum = checksum_of(flight->source, put.bytes);
    flight->offset = put.offset;
    flight->bytes = put.bytes;
    flight->notification = put.notification;
    flight->cookie = put.cookie;
    flight->way = {end_.number, put.port.index};
    flight->number = ++end_.puts;
    flight->delay = end_.up_to(end_.chance(16) ? 40 : 2);
    if (network_.overlaps(*flight)) {
        return refuse("put to a place where another put may still land");
    }
    ++network_.encounters.puts;
    if (end_.chance(2)) {
        std::memset(flight->target->data.get() + put.offset, static_cast<int>(junk), put.bytes);
    }
    if (put.bytes <= most_done && end_.chance(2) && network_.has_room(*flight)) {
        network_.hand_over(end_, flight);
        return PutResult::done;
    }
    end_.outgoing.push_back(std::move(flight));
    return PutResult::queued;
}

std::size_t StrictGroup::take(std::span<Event> events) {
    const std::size_t count = std::min(events.size(), kept_.size());
    std::copy_n(kept_.begin(), count, events.begin());
    kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
}

std::size_t StrictGroup::poll(std::span<Event> events) {
    const Inside inside(*this);
    const std::scoped_lock lock(network_.mutex);
    const std::size_t count = take(events);
    return count > 0 ? count : network_.progress(end_, events);
}

void StrictGroup::wait(std::chrono::microseconds longest) {
    const Inside inside(*this);
    constexpr std::chrono::microseconds slice{200};
    const auto deadline = Clock::now() + longest;
    std::array<Event, 8> events;
    std::unique_lock lock(network_.mutex);
    while (kept_.empty() && !end_.woken) {
        const std::size_t count = network_.progress(end_, events);
        kept_.assign(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(count));
        if (count > 0 || Clock::now() >= deadline) {
            break;
        }
        const bool busy = !end_.outgoing.empty() || !end_.incoming.empty();
        end_.changed.wait_until(lock, busy ? std::min(deadline, Clock::now() + slice) : deadline);
    }
    end_.woken = false;
}

void StrictGroup::wake() {
    const std::scoped_lock lock(network_.mutex);
    end_.woken = true;
    end_.changed.notify_one();
}

std::vector<std::unique_ptr<PortGroup>> open(const BackendConfig& config) {
    if (!config.provider.empty()) {
        throw Error(Status::not_found,
                    "backend strict has no provider \"" + config.provider + "\"");
    }
    std::vector<std::unique_ptr<PortGroup>> groups;
    for (const std::vector<Port>& ports : config.groups) {
        groups.push_back(std::make_unique<StrictGroup>(ports, config.rank));
    }
    return groups;
}

NicOffers nics(const std::string&) {
    NicOffers none;
    none.source = "backend strict, which uses none";
    none.uses_shared_memory = true;
    return none;
}

std::vector<ProviderInfo> providers() {
    return {{"", "threads of a test", ""}};
}

}  // namespace

Transport strict_transport() {
    Transport transport;
    transport.name = "strict";
    transport.summary = "for tests: threads, and all that RDMA hardware may do";
    transport.one_host_only = true;
    transport.open = open;
    transport.providers = providers;
    transport.nics = nics;
    return transport;
}

}  // namespace trefoil::strict
