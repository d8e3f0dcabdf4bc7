// SPDX-License-Identifier: BSD-3-Clause
// Frames that are under way: their memory, and which one is due next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <queue>
#include <vector>

#include "bench/relay/wire.hpp"

namespace trefoil::relay {

/// Place of a frame in the memory.
using Slot = std::uint32_t;

struct Frame {
    int interface = 0;       ///< index of the one to leave by
    std::size_t length = 0;  ///< of the bytes in the slot
};

/// A bounded number of slots of equal size, used again last in first out, so that only as much
/// memory is touched as frames are under way at a time. Not thread-safe.
class Frames {
  public:
    static constexpr std::size_t slot_bytes =
        9232;  ///< a header of the socket, and 9014 of Ethernet

    explicit Frames(std::size_t slots);

    std::size_t free() const { return free_.size(); }
    /// There is a free one.
    Slot take();
    void give_back(Slot slot) { free_.push_back(slot); }
    std::byte* bytes(Slot slot) { return memory_.get() + slot * slot_bytes; }
    Frame& frame(Slot slot) { return frames_[slot]; }

    /// The frame leaves at `due`; of those due at one time the first one first.
    void schedule(Slot slot, Time due) { due_.push({due, number_++, slot}); }
    bool empty() const { return due_.empty(); }
    Time next_due() const { return due_.top().due; }
    /// There is one under way. Its slot is the caller's to give back.
    Slot take_due();

  private:
    struct Due {
        Time due;
        std::uint64_t number;
        Slot slot;
        bool operator<(const Due& other) const {  // a priority queue gives the greatest first
            return due != other.due ? due > other.due : number > other.number;
        }
    };
    std::unique_ptr<std::byte[]> memory_;
    std::vector<Frame> frames_;
    std::vector<Slot> free_;
    std::priority_queue<Due> due_;
    std::uint64_t number_ = 0;
};

}  // namespace trefoil::relay
