// SPDX-License-Identifier: BSD-3-Clause
// All interfaces of this network namespace as one socket of whole Ethernet frames.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bench/relay/frames.hpp"

namespace trefoil::relay {

struct Arrival {
    Slot slot = 0;
    int interface = 0;       ///< index of the one where it came in
    Time age = 0;            ///< nanoseconds since the kernel has seen it
    std::size_t length = 0;  ///< of the bytes in the slot
};

class PacketSocket {
  public:
    /// What stands before the Ethernet header in a slot: the kernel's note on a checksum that
    /// nobody has computed yet. It goes out as it came in.
    static constexpr std::size_t note_bytes = 10;

    /// Throws Error(system_error).
    PacketSocket();
    ~PacketSocket();
    PacketSocket(const PacketSocket&) = delete;
    PacketSocket& operator=(const PacketSocket&) = delete;

    int file() const { return file_; }
    /// Takes what has come, without waiting, into slots that are the caller's then. The list is
    /// valid until the next call.
    std::span<const Arrival> receive(Frames& frames);
    /// Sends by Frame::interface, in order; how many of them could not be sent.
    std::size_t send(Frames& frames, std::span<const Slot> slots);
    /// Frames that came and found no room, since the last call.
    std::uint64_t dropped() const;

  private:
    struct Batch;
    std::unique_ptr<Batch> incoming_, outgoing_;
    int file_ = -1;
    std::vector<Slot> slots_;  ///< for what comes next
    std::vector<Arrival> arrivals_;
};

}  // namespace trefoil::relay
