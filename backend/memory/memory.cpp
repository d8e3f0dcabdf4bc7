// SPDX-License-Identifier: BSD-3-Clause
// Backend "memory": port groups that copy into each other's regions and queue notifications.
#include "backend/memory/memory.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "backend/memory/memory_region.hpp"
#include "backend/memory/process_memory.hpp"
#include "backend/ports/notification_queue.hpp"
#include "backend/ports/read_guard.hpp"

namespace trefoil {

namespace {

using memory::NotificationQueue;
using memory::QueueReader;
using memory::QueueWriter;
using memory::Region;
using memory::SmallPut;
using memory::Use;

/// What peers see of a group. All zeros is an empty queue and a closed guard, so a fresh or a
/// peer's region is one as it is.
struct Front {
    NotificationQueue queue;
    ReadGuard guard;
};
Front& front_in(const Region& region) {
    return *reinterpret_cast<Front*>(region.data());
}
NotificationQueue& queue_in(const Region& region) {
    return front_in(region).queue;
}

/// The kernel may forbid access to processes whose files it lets us open, so try.
Reach reach_of(const Region& region) {
    if (region.maker() == getpid()) {
        return Reach::addresses;
    }
    std::uint64_t word = 0;
    const bool copied =
        memory::copy_from_process(region.maker(), &word, region.home(), sizeof word);
    return copied && word == region.first_word() ? Reach::copies : Reach::none;
}

/// A peer group as seen from one of ours; all ports that lead to it share it.
struct Target {
    explicit Target(std::shared_ptr<Region> target)
        : region(std::move(target)), writer(queue_in(*region)), reach(reach_of(*region)) {}
    std::shared_ptr<Region> region;
    QueueWriter writer;
    Reach reach;
    std::uint32_t refusals = 0;  ///< since the last put that was accepted
};

class MemoryGroup final : public PortGroup {
  public:
    explicit MemoryGroup(const std::vector<Port>& ports)
        : queue_(Region::make(Use::queue, sizeof(Front))), reader_(queue_in(*queue_)) {
        ports_ = ports;
    }
    ~MemoryGroup() override { reader_.close(); }

    LocalMemory allocate(std::size_t bytes) override;
    std::string describe(const LocalMemory& memory) const override;
    std::string address(Port port) const override;
    RemoteMemory import_memory(std::string_view description) override;
    Peer connect(Port port, std::string_view address) override;

    PutResult put(Port port, Peer peer, const void* source, void* descriptor,
                  const RemoteMemory& target, std::uint64_t offset, std::size_t bytes,
                  std::uint64_t notification, std::uint64_t cookie) override;
    std::byte* landing(Peer, const RemoteMemory& target, std::uint64_t offset,
                       std::size_t bytes) const override {
        return memory::mapped_landing(target, offset, bytes);
    }
    std::size_t poll(std::span<Event> events) override;
    void wait(std::chrono::microseconds longest) override { reader_.wait(longest); }
    void wake() override { reader_.wake(); }

    Reach reach(Peer peer) const override { return target_of(peer).reach; }
    bool copy_from(Peer peer, void* target, std::uint64_t address,
                   std::size_t bytes) const override {
        return memory::copy_from_process(target_of(peer).region->maker(), target, address, bytes);
    }
    ReadGuard* own_guard() override { return &front_in(*queue_).guard; }
    const ReadGuard* guard_of(Peer peer) const override {
        return &front_in(*target_of(peer).region).guard;
    }

    std::size_t inject_bytes() const override { return std::numeric_limits<std::size_t>::max(); }
    std::string error_text() const override;
    std::string port_text(Port) const override { return "shared memory"; }

  private:
    enum class Failure : std::uint8_t { none, left, ended, outside, stray };

    static const Target& target_of(Peer peer) {
        return *reinterpret_cast<const Target*>(peer.handle);
    }
    void check_port(Port port) const;
    PutResult refuse(Target& target);
    PutResult fail(Failure failure, const Target& target);
    void deliver(const SmallPut& put);

    std::shared_ptr<Region> queue_;
    QueueReader reader_;
    std::vector<std::shared_ptr<Region>> own_;
    std::vector<std::shared_ptr<Region>> imported_;
    std::vector<std::unique_ptr<Target>> targets_;
    Failure failure_ = Failure::none;
    pid_t failed_process_ = 0;
};

void MemoryGroup::check_port(Port port) const {
    if (std::find(ports_.begin(), ports_.end(), port) == ports_.end()) {
        throw Error(Status::invalid_argument,
                    "backend memory: port " + to_string(port) + " is not one of this group");
    }
}

LocalMemory MemoryGroup::allocate(std::size_t bytes) {
    own_.push_back(Region::make(Use::payload, std::max<std::size_t>(bytes, 1)));
    return {own_.back()->data(), bytes, nullptr};
}

std::string MemoryGroup::describe(const LocalMemory& memory) const {
    for (const auto& region : own_) {
        if (region->data() == memory.data) {
            return region->description();
        }
    }
    throw Error(Status::invalid_argument,
                "backend memory: only memory that this group has allocated can be described");
}

std::string MemoryGroup::address(Port port) const {
    check_port(port);
    return queue_->description();
}

RemoteMemory MemoryGroup::import_memory(std::string_view description) {
    auto region = Region::open(Use::payload, description);
    const RemoteMemory remote{reinterpret_cast<std::uintptr_t>(region->data()), region->token(),
                              region->bytes()};
    if (std::find(imported_.begin(), imported_.end(), region) == imported_.end()) {
        imported_.push_back(std::move(region));
    }
    return remote;
}

Peer MemoryGroup::connect(Port port, std::string_view address) {
    check_port(port);
    auto region = Region::open(Use::queue, address);
    for (const auto& target : targets_) {
        if (target->region->token() == region->token()) {
            return {reinterpret_cast<std::uintptr_t>(target.get())};
        }
    }
    targets_.push_back(std::make_unique<Target>(std::move(region)));
    return {reinterpret_cast<std::uintptr_t>(targets_.back().get())};
}

PutResult MemoryGroup::put(Port, Peer peer, const void* source, void*, const RemoteMemory& target,
                           std::uint64_t offset, std::size_t bytes, std::uint64_t notification,
                           std::uint64_t) {
    Target& reached = *reinterpret_cast<Target*>(peer.handle);
    if (bytes > target.bytes || offset > target.bytes - bytes) {
        return fail(Failure::outside, reached);
    }
    if (!reached.writer.has_room()) {
        return refuse(reached);
    }
    if (bytes <= SmallPut::most_bytes) {
        if (!reached.writer.push(notification, target.key, offset, source, bytes)) {
            return refuse(reached);
        }
    } else {
        std::byte* const place = reinterpret_cast<std::byte*>(target.base) + offset;
        if (place != source) {  // else the caller has gathered it there: landing()
            std::memcpy(place, source, bytes);
        }
        if (!reached.writer.push(notification)) {
            return refuse(reached);  // others took the room; copying once more does no harm
        }
    }
    reached.refusals = 0;
    return PutResult::done;
}

/// The queue is full: will its reader ever come? A look at the process costs a system call, so it
/// is taken now and then only.
PutResult MemoryGroup::refuse(Target& target) {
    if (target.writer.closed()) {
        return fail(Failure::left, target);
    }
    constexpr std::uint32_t patience = 1024;
    if (++target.refusals % patience == 0 && kill(target.region->maker(), 0) != 0 &&
        errno == ESRCH) {
        return fail(Failure::ended, target);
    }
    return PutResult::again;
}

PutResult MemoryGroup::fail(Failure failure, const Target& target) {
    failure_ = failure;
    failed_process_ = target.region->maker();
    return PutResult::failed;
}

std::size_t MemoryGroup::poll(std::span<Event> events) {
    std::size_t count = 0;
    std::uint64_t notification = 0;
    const auto land = [this](const SmallPut& put) { deliver(put); };
    while (count < events.size() && reader_.pop(notification, land)) {
        const bool stray = failure_ == Failure::stray;
        events[count] = {stray ? Event::Kind::failed : Event::Kind::arrived, notification, 0};
        ++count;
    }
    return count;
}

/// Bytes that came with their notification go where the put wanted them.
void MemoryGroup::deliver(const SmallPut& put) {
    for (const auto& region : own_) {
        if (region->token() == put.memory && put.bytes <= SmallPut::most_bytes &&
            put.bytes <= region->bytes() && put.offset <= region->bytes() - put.bytes) {
            std::memcpy(region->data() + put.offset, put.data, put.bytes);
            return;
        }
    }
    failure_ = Failure::stray;
}

std::string MemoryGroup::error_text() const {
    const std::string process = "process " + std::to_string(failed_process_);
    switch (failure_) {
        case Failure::none:
            break;
        case Failure::left:
            return "shared memory: the peer (" + process + ") has closed its ports";
        case Failure::ended:
            return "shared memory: " + process + " of the peer has ended";
        case Failure::outside:
            return "shared memory: a put to " + process + " would leave the target's memory";
        case Failure::stray:
            return "shared memory: a peer has put to memory that does not exist";
    }
    return "no error";
}

std::vector<std::unique_ptr<PortGroup>> open(const BackendConfig& config) {
    if (!config.provider.empty()) {
        throw Error(Status::not_found, "backend memory has no provider \"" + config.provider +
                                           "\": it has none to choose from; leave the provider "
                                           "empty, or choose backend ofi");
    }
    for (const std::string& nic : config.nics) {
        if (!nic.empty()) {
            throw Error(Status::not_found, "backend memory has no NIC \"" + nic +
                                               "\": it uses none; leave the NICs empty, or choose "
                                               "backend ofi");
        }
    }
    std::vector<std::unique_ptr<PortGroup>> groups;
    for (const std::vector<Port>& ports : config.groups) {
        groups.push_back(std::make_unique<MemoryGroup>(ports));
    }
    return groups;
}

std::vector<ProviderInfo> providers() {
    return {{"", "shared memory", ""}};
}

NicOffers nics(const std::string&) {
    NicOffers none;
    none.source = "backend memory, which uses none";
    none.uses_shared_memory = true;
    return none;
}

}  // namespace

Transport memory_transport() {
    Transport transport;
    transport.name = "memory";
    transport.summary = "threads of one process, or processes of one host, over shared memory";
    transport.one_host_only = true;
    transport.puts_by_stores = true;
    transport.single_copy = true;
    transport.open = open;
    transport.providers = providers;
    transport.nics = nics;
    return transport;
}

}  // namespace trefoil
