// SPDX-License-Identifier: BSD-3-Clause
// The rings of landing slots that a channel has, and in which of them a use lands.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "threads/executor/notification.hpp"

namespace trefoil {

/// How many segments a rank runs at a time.
inline constexpr std::uint32_t segment_window = 2;

/// A ring is landing memory of its own at the receiver, cut into slots: use u of the channel lands
/// in slot u mod its number of slots. Both ends know how many bytes a use brings and whether its
/// program is acknowledged, so both know the ring. A ring is made when a program first needs it.
enum class Ring : std::uint8_t {
    tiny,   ///< small slots, few: what synchronises and has at most 64 bytes. Every channel has it.
    many,   ///< many slots: small uses that are acknowledged, so that senders may run ahead
    few,    ///< large slots, few: all else
    medium  ///< where messages are stores: larger slots than those of `many`, and fewer
};
inline constexpr std::size_t ring_kinds = Notification::rings;
inline constexpr std::array<Ring, ring_kinds> all_rings{Ring::tiny, Ring::many, Ring::few,
                                                        Ring::medium};

struct RingShape {
    std::size_t slot_bytes = 0;
    std::uint32_t slots = 0;
    std::size_t bytes() const { return slot_bytes * slots; }
};

/// The rings of all channels of a communicator's lane, alike on its ranks.
class LandingRings {
  public:
    static constexpr std::uint32_t few_slots = 2 * segment_window;
    static constexpr std::size_t tiny_bytes = 64;
    /// How many uses a sender may be ahead of the receiver in the ring `many`, plus two.
    static constexpr std::uint32_t many_slots = 128;
    /// The same of `tiny` where messages are stores, which takes 20 KiB for each peer and port: a
    /// burst of so many small rooted calls waits for nobody.
    static constexpr std::uint32_t tiny_slots = 256;
    /// And of `medium` and `few` there.
    static constexpr std::uint32_t medium_slots = 64, stored_few_slots = 16;
    /// What a use brings for which another place is worth it.
    static constexpr std::size_t least_spread_bytes = 4096;
    static_assert((few_slots & (few_slots - 1)) == 0 && (many_slots & (many_slots - 1)) == 0 &&
                      (tiny_slots & (tiny_slots - 1)) == 0 &&
                      (medium_slots & (medium_slots - 1)) == 0 &&
                      (stored_few_slots & (stored_few_slots - 1)) == 0,
                  "numbers of uses wrap around");

    LandingRings() = default;
    /// `slot_bytes`: of `few`; `many_bytes`: of `many`, if that is less.
    LandingRings(std::size_t slot_bytes, std::size_t many_bytes)
        : shapes_{RingShape{tiny_bytes, few_slots},
                  RingShape{std::min(many_bytes, slot_bytes), many_slots},
                  RingShape{slot_bytes, few_slots}} {}

    /// Of a lane whose messages are stores (stored_calls.hpp): each lies behind a flag in its
    /// slot. Senders may run ahead in all rings.
    static LandingRings stored(std::size_t many_bytes, std::size_t medium_bytes,
                               std::size_t few_bytes) {
        LandingRings rings;
        rings.flag_bytes_ = 16;  // two words; the message behind them is aligned as malloc() would
        rings.shapes_ = {RingShape{tiny_bytes, tiny_slots}, RingShape{many_bytes, many_slots},
                         RingShape{few_bytes, stored_few_slots},
                         RingShape{medium_bytes, medium_slots}};
        return rings;
    }
    bool are_stored() const { return flag_bytes_ > 0; }
    /// Ahead of each message in a slot.
    std::size_t flag_bytes() const { return flag_bytes_; }

    /// Where messages are stores: whether the receiver tells now that it is done with so many uses.
    /// The line that tells it would go to and fro between two cores in each small call, so of a
    /// long ring it tells each quarter.
    bool is_told(Ring ring, std::uint64_t uses) const {
        const std::uint32_t slots = (*this)[ring].slots;
        return slots < many_slots || (uses & (slots / 4 - 1)) == 0;
    }

    /// In the ring: where the slot of a use begins.
    std::size_t offset(Ring ring, std::uint64_t use) const {
        const RingShape& shape = (*this)[ring];
        return (use & (shape.slots - 1)) * shape.slot_bytes;
    }
    /// From now on uses of a large slot lie in one place of its first `bytes` after the other. A
    /// core takes longer to fetch a line that another one has just changed, and has in its own
    /// cache, than one that has gone to the cache which they share. So it is better to come back
    /// late to the same lines, if they are many: a few are best where they are in nobody's way.
    void spread(std::size_t bytes) {
        spread_bytes_ = std::min(bytes, (*this)[Ring::few].slot_bytes);
    }
    /// Where a use of so many bytes begins, alike at both ends.
    std::size_t spread_offset(Ring ring, std::uint32_t use, std::size_t bytes) const {
        const bool moves =
            ring == Ring::few && bytes >= least_spread_bytes && 2 * bytes <= spread_bytes_;
        const std::size_t place = moves ? use / few_slots % (spread_bytes_ / bytes) : 0;
        return offset(ring, use) + place * bytes;
    }

    const RingShape& operator[](Ring ring) const { return shapes_[static_cast<std::size_t>(ring)]; }
    /// Of a use of so many bytes, at a group whose notifications have so many bits: few bits
    /// cannot name a use among many.
    Ring of(std::size_t bytes, bool acknowledged, int notification_bits) const {
        const auto fits = [&](Ring ring) { return bytes <= (*this)[ring].slot_bytes; };
        if (are_stored()) {
            return fits(Ring::tiny)     ? Ring::tiny
                   : fits(Ring::many)   ? Ring::many
                   : fits(Ring::medium) ? Ring::medium
                                        : Ring::few;
        }
        if (acknowledged && notification_bits == 64) {
            return fits(Ring::many) ? Ring::many : Ring::few;
        }
        return fits(Ring::tiny) ? Ring::tiny : Ring::few;
    }

  private:
    std::size_t flag_bytes_ = 0, spread_bytes_ = 0;
    std::array<RingShape, ring_kinds> shapes_{};
};

static_assert(Notification::use_modulus(32) >= LandingRings::few_slots + segment_window + 1 &&
                  Notification::use_modulus(64) >= LandingRings::many_slots + segment_window + 1,
              "a use to come is told from those that run");

}  // namespace trefoil
