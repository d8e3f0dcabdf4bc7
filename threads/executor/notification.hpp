// SPDX-License-Identifier: BSD-3-Clause
// The 64 bits that travel with every put, and what they tell the receiver.
#pragma once

#include <cstdint>

#include "threads/connections/signal.hpp"

namespace trefoil {

/// Bits, low to high: message index on the channel (13), the receiver's channel number (10), a
/// slice of the call's signature (6), the number of the channel's use modulo 256 (its lower 3
/// bits), a check (19), the rest of the number of the use (5), the rest of the channel number (8).
/// A channel is used once by each segment that sends messages through it; both ends count alike.
/// Channels, not peers, are named, so that a notification says through which port it came and no
/// transport needs to tell the source.
///
/// The check is how ranks that disagree about a call find out: 19 bits of a hash of the call, its
/// number and the message's length, so that one message is enough. (The length: in alltoallv
/// counts are known to two ranks only, and no other check sees that they differ.) With checksums
/// the CRC of the message's bytes is added to it, folded to as many bits.
///
/// A transport may carry the lower 32 bits only (PortTraits::notification_bits). There channels
/// have ten bits, uses are numbered modulo 8, and the signature slice stands alone: each message
/// carries another six bits of the hash. Which ones depends on the channel too, so that where a
/// call takes one message per channel its peers still compare different bits.
struct Notification {
    /// The last index is for acknowledgements, those before it are signals
    /// (threads/connections/signal.hpp), and those before them are for permissions of direct
    /// landing: one for each kind of ring.
    static constexpr std::uint32_t acknowledgement_index = (1U << 13) - 1;
    static constexpr std::uint32_t rings = 4;
    static constexpr std::uint32_t first_ready_index = Signal::first_index - rings;
    static constexpr std::uint32_t index_limit = first_ready_index;
    static_assert(index_limit + rings + Signal::kinds == acknowledgement_index);
    /// How many channels can be named at a group that has so many notification_bits.
    static constexpr std::uint32_t channel_limit(int notification_bits) {
        return notification_bits == 64 ? 1U << 18 : 1U << 10;
    }
    /// Modulo what uses are numbered at such a group.
    static constexpr std::uint32_t use_modulus(int notification_bits) {
        return notification_bits == 64 ? 256 : 8;
    }
    static constexpr int check_bits = 19;

    std::uint32_t index = 0;
    std::uint32_t channel = 0;
    std::uint32_t signature = 0;
    std::uint32_t use = 0;  ///< modulo use_modulus(); what is more is not sent
    std::uint32_t check = 0;

    /// 32 bits as a check: none of them is without influence.
    static constexpr std::uint32_t folded(std::uint32_t bits) {
        return (bits ^ bits >> check_bits) & ((1U << check_bits) - 1);
    }
    constexpr std::uint64_t encode() const {
        const std::uint32_t low = index | (channel & 0x3ff) << 13 | signature << 23 | use << 29;
        const std::uint32_t high = check | (use >> 3 & 0x1f) << check_bits | channel >> 10 << 24;
        return std::uint64_t{high} << 32 | low;
    }
    static constexpr Notification decode(std::uint64_t bits) {
        const auto low = static_cast<std::uint32_t>(bits);
        const auto high = static_cast<std::uint32_t>(bits >> 32);
        return {low & 0x1fff, (low >> 13 & 0x3ff) | high >> 24 << 10, low >> 23 & 0x3f,
                low >> 29 | (high >> check_bits & 0x1f) << 3, high & ((1U << check_bits) - 1)};
    }
    /// This message of `bytes` bytes in a call whose hash is `hash`; `checksum`: of its bytes, or
    /// 0 where none is kept.
    constexpr Notification signed_for(std::uint64_t hash, std::uint64_t bytes,
                                      std::uint32_t checksum) const {
        const std::uint64_t length = bytes * 0x9e3779b97f4a7c15ULL;
        Notification result = *this;
        result.signature = static_cast<std::uint32_t>(
            (hash >> (6 * ((index + channel) % 10)) ^ length >> 58) & 0x3f);
        result.check = folded(static_cast<std::uint32_t>((hash ^ length) >> 32) ^ checksum);
        return result;
    }
    /// The same, of a message that has landed in the vector itself: another signature, so that the
    /// receiver sees which way it went.
    constexpr Notification landed_directly() const {
        Notification result = *this;
        result.signature ^= 0x3f;
        return result;
    }
    /// A message of a segment; all others of a channel are acknowledgements and permissions.
    bool is_message() const { return index < index_limit; }
    bool is_acknowledgement() const { return index == acknowledgement_index; }
    /// Of an acknowledgement or a permission.
    std::uint32_t ring() const {
        return is_acknowledgement() ? signature : index - first_ready_index;
    }
};

/// That this rank has started use `use` of a channel of the peer's (channel_uses.hpp): of the one
/// to here that has this ring and the port opposite to channel `channel`. `proof`: that it comes
/// from the channel's peer (Wire::proof); folded, it is the check.
constexpr std::uint64_t acknowledgement(std::uint32_t channel, std::uint32_t use,
                                        std::uint32_t ring, std::uint32_t proof = 0) {
    return Notification{Notification::acknowledgement_index, channel, ring, use,
                        Notification::folded(proof)}
        .encode();
}

/// That the peer may put use `use` of such a channel into the vector of a persistent call, whose
/// `sign` goes along (DirectCall::sign()).
constexpr std::uint64_t permission_of(std::uint32_t channel, std::uint32_t use, std::uint32_t ring,
                                      std::uint32_t sign, std::uint32_t proof = 0) {
    return Notification{Notification::first_ready_index + ring, channel, sign, use,
                        Notification::folded(proof)}
        .encode();
}

}  // namespace trefoil
