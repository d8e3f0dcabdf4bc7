// SPDX-License-Identifier: BSD-3-Clause
// What the program registers, frees, and frees too early.
#include "comm/communicator/user_memory.hpp"

#include <sys/mman.h>

#include <cinttypes>
#include <cstdio>
#include <utility>

#include "topo/error.hpp"
#include "topo/log/log.hpp"

namespace trefoil {

namespace {

std::string bytes_at(const void* data, std::size_t bytes) {
    char text[2 + 2 * sizeof data + 1];
    std::snprintf(text, sizeof text, "0x%" PRIxPTR, reinterpret_cast<std::uintptr_t>(data));
    return std::to_string(bytes) + " bytes at " + text;
}

template <typename One, typename Other>
bool overlap(const One& one, const Other& other) {
    return one.data < other.data + other.bytes && other.data < one.data + one.bytes;
}

}  // namespace

UserMemory::UserMemory(Engine& engine) : engine_(engine) {
    for (const auto& group : engine.groups()) {
        registries_.push_back(std::make_unique<MemoryRegistry>(*group));
    }
}

UserMemory::~UserMemory() {
    const std::lock_guard lock(mutex_);
    {
        const Engine::Exclusive held(engine_);
        for (const auto& registry : registries_) {
            if (engine_.groups_are_gone()) {
                registry->forget();
            }
        }
        registries_.clear();
    }
    for (const auto& [data, held] : held_) {
        if (held.allocated) {
            munmap(held.data, held.bytes);
        }
    }
}

void* UserMemory::allocate(std::size_t bytes) {
    void* const data =
        bytes > static_cast<std::size_t>(PTRDIFF_MAX)
            ? MAP_FAILED
            : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) {
        throw Error(Status::out_of_memory,
                    "no memory for " + std::to_string(bytes) + " bytes that the program asks for");
    }
    try {
        const std::lock_guard lock(mutex_);
        take_in({static_cast<std::byte*>(data), bytes, true, 0}, false);
    } catch (...) {
        munmap(data, bytes);
        throw;
    }
    return data;
}

void UserMemory::free(void* data) {
    const std::lock_guard lock(mutex_);
    Held& held = registered_at(data, true);
    require_unused(held, "freed");
    deregister(held);
    munmap(held.data, held.bytes);
    held_.erase(data);
}

void UserMemory::hold(void* data, std::size_t bytes) {
    const Held wanted{static_cast<std::byte*>(data), bytes, false, 0};
    const std::lock_guard lock(mutex_);
    for (const auto& [begin, held] : held_) {
        if (overlap(held, wanted)) {
            throw Error(Status::invalid_argument,
                        bytes_at(data, bytes) + " overlap " + bytes_at(begin, held.bytes) +
                            ", which " +
                            (held.allocated ? "trefoil_alloc gave, registered"
                                            : "the program has registered already"));
        }
    }
    take_in(wanted, true);
}

void UserMemory::drop(void* data) {
    const std::lock_guard lock(mutex_);
    Held& held = registered_at(data, false);
    require_unused(held, "deregistered");
    deregister(held);
    held_.erase(data);
}

/// At all groups or none.
void UserMemory::take_in(const Held& wanted, bool needs_registration) {
    const Engine::Exclusive exclusive(engine_);
    Held& held = held_.emplace(wanted.data, wanted).first->second;
    if (engine_.groups_are_gone()) {
        return;
    }
    try {
        for (const auto& registry : registries_) {
            registry->hold(held.data, held.bytes);
            ++held.registered;
        }
    } catch (const Error& error) {
        for (; held.registered > 0; --held.registered) {
            registries_[held.registered - 1]->drop(held.data);
        }
        if (needs_registration) {
            held_.erase(wanted.data);
            throw Error(
                error.status(),
                std::string("memory cannot be registered, and need not be: ") + error.what());
        }
        log_info(LogTopic::transport, [&] {
            return bytes_at(wanted.data, wanted.bytes) + " are not registered: " + error.what();
        });
    }
}

UserMemory::Held& UserMemory::registered_at(void* data, bool allocated) {
    const auto found = held_.find(data);
    if (found == held_.end()) {
        throw Error(Status::invalid_argument,
                    allocated ? "this is not memory that trefoil_alloc returned, or it was freed"
                              : "no memory that begins here is registered by the program");
    }
    if (found->second.allocated != allocated) {
        throw Error(Status::invalid_argument,
                    allocated ? "this memory was registered, not allocated, by Trefoil; "
                                "trefoil_deregister is its end"
                              : "trefoil_alloc gave this memory; trefoil_free is its end");
    }
    return found->second;
}

void UserMemory::require_unused(const Held& held, const char* what) const {
    for (const auto& [number, user] : users_) {
        if (overlap(held, user)) {
            throw Error(Status::busy,
                        std::string(what) + " too early: " + bytes_at(held.data, held.bytes) +
                            ", of which " + user.name + " uses " + bytes_at(user.data, user.bytes) +
                            "; free that request first");
        }
    }
}

void UserMemory::deregister(Held& held) noexcept {
    const Engine::Exclusive exclusive(engine_);
    if (engine_.groups_are_gone()) {
        return;  // so are the registrations
    }
    for (; held.registered > 0; --held.registered) {
        registries_[held.registered - 1]->drop(held.data);
    }
}

std::uint64_t UserMemory::use(const void* data, std::size_t bytes, std::string user) {
    const std::lock_guard lock(mutex_);
    users_[++last_use_] = {static_cast<const std::byte*>(data), bytes, std::move(user)};
    return last_use_;
}

void UserMemory::end_use(std::uint64_t use) noexcept {
    const std::lock_guard lock(mutex_);
    users_.erase(use);
}

}  // namespace trefoil
