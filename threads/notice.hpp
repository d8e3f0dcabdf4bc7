// SPDX-License-Identifier: BSD-3-Clause
// The 32 bits that travel with every put, and what they tell the receiver.
#pragma once

#include <cstdint>

namespace trefoil {

/// Bits, low to high: message index on the channel (13), the receiver's channel number (10), a
/// slice of the call's signature (6), the running segment number modulo 8 (3). Channels, not peers,
/// are named, so that a notice says through which port it came and no transport needs to tell the
/// source.
///
/// The signature slice is how ranks that disagree about a call find out: each message carries
/// another six bits of the 64-bit hash of (collective, count, type, operation, algorithm). Which
/// ones depends on the channel too, so that where a call takes one message per channel its peers
/// still compare different bits.
struct Notice {
    static constexpr std::uint32_t index_limit = (1U << 13) - 1;  ///< the last index is for control
    static constexpr std::uint32_t channel_limit = 1U << 10;
    static constexpr std::uint32_t segment_modulus = 8;

    std::uint32_t index = 0;
    std::uint32_t channel = 0;
    std::uint32_t signature = 0;
    std::uint32_t segment = 0;

    constexpr std::uint32_t encode() const {
        return index | channel << 13 | signature << 23 | segment << 29;
    }
    static constexpr Notice decode(std::uint32_t bits) {
        return {bits & 0x1fff, bits >> 13 & 0x3ff, bits >> 23 & 0x3f, bits >> 29};
    }
    /// What `signature` must be in a call whose hash is `hash`.
    constexpr std::uint32_t expected_signature(std::uint64_t hash) const {
        return static_cast<std::uint32_t>(hash >> (6 * ((index + channel) % 10)) & 0x3f);
    }
    bool is_control() const { return index == index_limit; }
};

/// Control notices carry their kind in the signature bits.
enum class Control : std::uint32_t {
    hello = 1,      ///< the channel works; sent once when it is connected
    leaving = 2,    ///< the peer destroys its communicator
    mismatch = 3,   ///< the peer failed: it saw a call that differs from its own
    failed = 4,     ///< the peer failed for another reason
    connecting = 5  ///< the peer sets up channels for its next call; `number` counts the set-ups
};

/// `number` is taken modulo Notice::segment_modulus and travels in the place of the segment's.
constexpr std::uint32_t control_notice(Control kind, std::uint32_t channel,
                                       std::uint32_t number = 0) {
    return Notice{Notice::index_limit, channel, static_cast<std::uint32_t>(kind),
                  number % Notice::segment_modulus}
        .encode();
}

}  // namespace trefoil
