// SPDX-License-Identifier: BSD-3-Clause
// Looking for buffers that overlap, and telling whose they are.
#include "comm/communicator/buffers_in_flight.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

#include "topo/error.hpp"

namespace trefoil {

namespace {

/// "bytes 0x7f01 to 0x7f40".
std::string text_of(const ByteRange& range) {
    const auto first = reinterpret_cast<std::uintptr_t>(range.begin);
    char text[64];
    std::snprintf(text, sizeof(text), "%zu bytes, 0x%zx to 0x%zx", range.bytes,
                  static_cast<std::size_t>(first),
                  static_cast<std::size_t>(first + range.bytes - 1));
    return text;
}

[[noreturn]] void refuse(const UsedBytes& mine, bool i_write, const PendingCall& other,
                         bool it_writes, const ByteRange& both) {
    throw Error(Status::invalid_argument,
                "the " + std::string(i_write ? "receive" : "send") + " buffer of this " +
                    std::string(mine.name) + " overlaps the " + (it_writes ? "receive" : "send") +
                    " buffer of the " + std::string(other.buffers.name) +
                    " that is pending as call " + std::to_string(other.running.number()) +
                    " of this communicator, by " + text_of(both) +
                    "; wait for that call first (trefoil_wait). Nothing was begun here, and call " +
                    std::to_string(other.running.number()) + " goes on");
}

}  // namespace

void BuffersInFlight::forget_those_ended() noexcept {
    std::erase_if(calls_, [](const PendingCall* call) {
        const Holds holds = call->holds.load(std::memory_order_relaxed);
        return holds == Holds::nothing || (holds == Holds::until_over && call->running.done());
    });
}

void BuffersInFlight::require_free(const UsedBytes& mine) {
    forget_those_ended();
    for (const PendingCall* const call : calls_) {
        const UsedBytes& theirs = call->buffers;
        if (const ByteRange both = first_overlap(mine.writes, theirs.writes); both.bytes > 0) {
            refuse(mine, true, *call, true, both);
        }
        if (const ByteRange both = first_overlap(mine.writes, theirs.reads); both.bytes > 0) {
            refuse(mine, true, *call, false, both);
        }
        if (const ByteRange both = first_overlap(mine.reads, theirs.writes); both.bytes > 0) {
            refuse(mine, false, *call, true, both);
        }
    }
}

void BuffersInFlight::reserve() {
    if (calls_.size() == calls_.capacity()) {
        calls_.reserve(std::max<std::size_t>(32, 2 * calls_.size()));
    }
}

void BuffersInFlight::add(PendingCall& call) noexcept {
    call.holds.store(Holds::until_ended, std::memory_order_relaxed);
    calls_.push_back(&call);
}

}  // namespace trefoil
