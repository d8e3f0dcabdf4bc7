// SPDX-License-Identifier: BSD-3-Clause
// Counts the users of registered ranges.
#include "backend/registrations/memory_registry.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <utility>

#include "backend/ports/powers.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

std::uintptr_t address_of(const void* data) {
    return reinterpret_cast<std::uintptr_t>(data);
}

std::string bytes_at(std::uintptr_t address, std::size_t bytes) {
    char text[2 + 2 * sizeof address + 1];
    std::snprintf(text, sizeof text, "0x%" PRIxPTR, address);
    return std::to_string(bytes) + " bytes at " + text;
}

}  // namespace

MemoryRegistry::~MemoryRegistry() {
    for (const auto& [address, range] : ranges_) {
        if (!range.closed) {
            registering_->deregister(range.memory);
        }
    }
}

void MemoryRegistry::forget() noexcept {
    holds_.clear();
    users_.clear();
    ranges_.clear();
    bytes_ = 0;
}

/// A range that holds all these bytes, or a new one.
MemoryRegistry::Ranges::iterator MemoryRegistry::range_of(void* data, std::size_t bytes) {
    const std::uintptr_t begin = address_of(data);
    for (auto at = ranges_.upper_bound(begin); at != ranges_.begin();) {
        --at;
        const std::uintptr_t before = begin - at->first;
        if (before >= longest_) {
            break;
        }
        const std::size_t all = at->second.memory.bytes;
        if (!at->second.closed && bytes > 0 && before <= all && bytes <= all - before) {
            return at;
        }
    }
    if (registering_ == nullptr) {
        throw Error(Status::unsupported, "this transport cannot let peers put into " +
                                             std::to_string(bytes) +
                                             " bytes of memory that it has not allocated");
    }
    const LocalMemory memory = registering_->register_memory(data, bytes);
    longest_ = std::max(longest_, bytes);
    bytes_ += bytes;
    return ranges_.emplace(begin, Range{memory, 0, 0, false});
}

std::uint64_t MemoryRegistry::add_user(void* data, std::size_t bytes, std::string name) {
    const auto range = range_of(data, bytes);
    ++range->second.users;
    range->second.holds += name.empty() ? 1 : 0;
    users_.emplace(++last_number_, User{range, address_of(data), bytes, std::move(name)});
    return last_number_;
}

void MemoryRegistry::remove_user(std::map<std::uint64_t, User>::iterator user) noexcept {
    const Ranges::iterator range = user->second.range;
    range->second.holds -= user->second.name.empty() ? 1 : 0;
    users_.erase(user);
    if (--range->second.users == 0) {
        bytes_ -= range->second.memory.bytes;
        if (!range->second.closed) {
            registering_->deregister(range->second.memory);
        }
        ranges_.erase(range);
    }
}

std::string MemoryRegistry::text_of(const User& user) {
    return user.name.empty() ? "the program has registered " + bytes_at(user.begin, user.bytes)
                             : user.name + " uses " + bytes_at(user.begin, user.bytes);
}

MemoryRegistry::Place MemoryRegistry::use(void* data, std::size_t bytes, std::string user) {
    if (user.empty()) {
        throw Error(Status::invalid_argument, "the user of registered memory needs a name");
    }
    const std::uint64_t number = add_user(data, bytes, std::move(user));
    const LocalMemory& memory = users_.at(number).range->second.memory;
    return {memory, address_of(data) - address_of(memory.data), number};
}

void MemoryRegistry::close(std::uint64_t use) noexcept {
    const auto user = users_.find(use);
    if (user != users_.end() && !user->second.range->second.closed) {
        user->second.range->second.closed = true;
        registering_->deregister(user->second.range->second.memory);
    }
}

void MemoryRegistry::end_use(std::uint64_t use) noexcept {
    const auto user = users_.find(use);
    if (user != users_.end() && !user->second.name.empty()) {
        remove_user(user);
    }
}

void MemoryRegistry::hold(void* data, std::size_t bytes) {
    holds_.emplace(address_of(data), add_user(data, bytes, {}));
}

void MemoryRegistry::drop(const void* data) {
    const auto [first, end] = holds_.equal_range(address_of(data));
    if (first == end) {
        throw Error(Status::invalid_argument, "no memory that begins at " +
                                                  bytes_at(address_of(data), 0).substr(11) +
                                                  " is registered by the program");
    }
    const auto hold = std::prev(end);  // equal ones stand in the order of their coming
    const auto held = users_.find(hold->second);
    const Range& range = held->second.range->second;
    if (range.holds == 1 && range.users > 1) {
        const auto user = std::find_if(users_.begin(), users_.end(), [&](const auto& each) {
            return each.second.range == held->second.range && !each.second.name.empty();
        });
        throw Error(Status::invalid_argument,
                    "deregistered too early: " + bytes_at(held->second.begin, held->second.bytes) +
                        ", of which " + text_of(user->second) +
                        (range.users > 2 ? ", and " + std::to_string(range.users - 2) + " more"
                                         : std::string()) +
                        "; end that first");
    }
    holds_.erase(hold);
    remove_user(held);
}

void MemoryRegistry::require_unused(const void* data, std::size_t bytes,
                                    std::string_view what) const {
    const std::uintptr_t begin = address_of(data);
    const auto user = std::find_if(users_.begin(), users_.end(), [&](const auto& each) {
        return each.second.begin < begin + bytes && begin < each.second.begin + each.second.bytes;
    });
    if (user != users_.end()) {
        throw Error(Status::invalid_argument,
                    std::string(what) + " too early: " + bytes_at(begin, bytes) + ", of which " +
                        text_of(user->second) + "; end that first");
    }
}

}  // namespace trefoil
