// SPDX-License-Identifier: BSD-3-Clause
// Set-up of a port group in shared memory: memory, peers, and its end.
#include "backend/memory/group.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "backend/memory/process_memory.hpp"
#include "backend/memory/target.hpp"
#include "backend/system/writable_memory.hpp"
#include "topo/patience.hpp"

namespace trefoil::memory {

MemoryGroup::MemoryGroup(const std::vector<Port>& ports)
    : front_(Region::make(Use::queue, sizeof(Front))),
      reader_(front_in(*front_).queue),
      images_(ImagePool::of_this_process()) {
    ports_ = ports;
    traits_.puts_by_stores = true;
    powers_ = {this, this, this, this, this, this};
    offered_.reserve(most_offered);
    images_->add_table(front_in(*front_).images);
}

MemoryGroup::~MemoryGroup() {
    images_->remove_table(front_in(*front_).images);
    reader_.close();
    if (!abandoned_) {
        drain(patience().longest_drain);
    }
    for (const auto& [token, registration] : registered_) {
        registration->close();
    }
}

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
    const auto registered = registered_.find(memory.registration);
    if (registered != registered_.end()) {
        return registered->second->description();
    }
    for (const auto& region : own_) {
        if (memory.registration == 0 && region->data() == memory.data) {
            return region->description();
        }
    }
    throw Error(Status::invalid_argument,
                "backend memory: only memory that this group has allocated or registered can be "
                "described, until it is deregistered");
}

std::string MemoryGroup::address(Port port) const {
    check_port(port);
    return front_->description();
}

RemoteMemory MemoryGroup::import_memory(std::string_view description) {
    if (describes_registration(description)) {
        PeerRegistration peer = open_registration(description);
        if (!peer.here) {
            return {0, peer.token, peer.bytes};
        }
        auto place = std::make_unique<std::shared_ptr<Registration>>(std::move(peer.here));
        const auto base = reinterpret_cast<std::uintptr_t>(place.get());
        here_.emplace(base, std::move(place));
        return {base, peer.token, peer.bytes};
    }
    auto region = Region::open(Use::payload, description);
    const RemoteMemory remote{reinterpret_cast<std::uintptr_t>(region->data()), region->token(),
                              region->bytes()};
    ImportedRegion& imported = imported_[region->token()];
    imported.region = std::move(region);
    ++imported.times;
    return remote;
}

void MemoryGroup::release(const RemoteMemory& memory) noexcept {
    if (is_registered(memory)) {
        here_.erase(memory.base);
        return;
    }
    const auto found = imported_.find(memory.key);
    if (found != imported_.end() && --found->second.times == 0) {
        imported_.erase(found);
    }
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

// Who cannot read a peer cannot be read by it either.
bool MemoryGroup::can_register() const {
    return std::all_of(targets_.begin(), targets_.end(),
                       [](const auto& target) { return target->reach != Reach::none; });
}

LocalMemory MemoryGroup::register_memory(void* data, std::size_t bytes) {
    require_writable_memory(data, bytes);
    for (const auto& target : targets_) {
        if (target->reach == Reach::none) {
            throw Error(Status::unsupported,
                        "backend memory: the kernel does not let this process and process " +
                            std::to_string(target->region->maker()) +
                            " copy each other's memory (kernel.yama.ptrace_scope, or the rules of "
                            "a container), so nothing can be put into memory of the program");
        }
    }
    auto registration = Registration::make(data, bytes);
    const std::uint64_t token = registration->token();
    registered_.emplace(token, std::move(registration));
    return {static_cast<std::byte*>(data), bytes, nullptr, token};
}

// Threads of this process are waited for; other processes write nothing: this group fetches what
// they offer, and does not do so any more.
void MemoryGroup::deregister(const LocalMemory& memory) noexcept {
    const auto found = registered_.find(memory.registration);
    if (found != registered_.end()) {
        found->second->close();
        registered_.erase(found);
    }
}

void MemoryGroup::ring(Peer peer) noexcept {
    target_of(peer).writer.ring();
}

std::byte* MemoryGroup::image_of(Peer peer, std::uint64_t address) noexcept {
    Target& target = target_of(peer);
    return target.images.find(front_in(*target.region).images, address);
}

Reach MemoryGroup::reach(Peer peer) const {
    return target_of(peer).reach;
}

bool MemoryGroup::copy_from(Peer peer, void* target, std::uint64_t address,
                            std::size_t bytes) const {
    return copy_from_process(target_of(peer).region->maker(), target, address, bytes);
}

ReadGuard* MemoryGroup::own_guard(int place) {
    return &front_in(*front_).guards[place];
}

const ReadGuard* MemoryGroup::guard_of(Peer peer, int place) const {
    return &front_in(*target_of(peer).region).guards[place];
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
        case Failure::closed:
            return "shared memory: " + process +
                   " of the peer has deregistered the memory that a put was for";
        case Failure::forbidden:
            return "shared memory: the kernel does not let processes copy what " + process +
                   " has put, or it was freed meanwhile";
    }
    return "no error";
}

}  // namespace trefoil::memory
