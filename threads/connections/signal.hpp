// SPDX-License-Identifier: BSD-3-Clause
// Notifications that belong to no channel: between two ports, whatever communicators use them.
#pragma once

#include <cstdint>

namespace trefoil {

/// Bits, low to high: a message index that no message has (13), the sender's place in the
/// receiver's mailbox (19), a proof (32). The index has `kinds` values at the end of its range; the
/// last one, all bits set, stays with the control messages of channels. The place tells the sender
/// and the port (MailboxLayout). Who does not know the job's secret does not know the proof. Where
/// a transport carries the lower 32 bits only, the bytes that came with the signal prove it alone.
struct Signal {
    static constexpr std::uint32_t kinds = 7;
    static constexpr std::uint32_t first_index = (1U << 13) - 1 - kinds;
    static constexpr std::uint32_t place_limit = 1U << 19;

    enum class Kind : std::uint32_t {
        record = 0,     ///< a record lies in the sender's place
        answer = 1,     ///< the record that was put last has been taken
        urgent = 2,     ///< an urgent record lies in the sender's place, the only one for ever
        trial = 3,      ///< many bytes have come, which mean nothing
        first_free = 4  ///< this and what follows have no meaning here
    };

    Kind kind = Kind::record;
    std::uint32_t place = 0;
    std::uint32_t proof = 0;

    constexpr std::uint64_t encode() const {
        const std::uint32_t index = first_index + static_cast<std::uint32_t>(kind);
        return std::uint64_t{proof} << 32 | (index | place << 13);
    }
    static constexpr bool is_signal(std::uint64_t bits) {
        const auto index = static_cast<std::uint32_t>(bits) & 0x1fff;
        return index >= first_index && index < first_index + kinds;
    }
    /// Of bits that are a signal.
    static constexpr Signal decode(std::uint64_t bits) {
        const auto low = static_cast<std::uint32_t>(bits);
        return {static_cast<Kind>((low & 0x1fff) - first_index), low >> 13,
                static_cast<std::uint32_t>(bits >> 32)};
    }
};

}  // namespace trefoil
