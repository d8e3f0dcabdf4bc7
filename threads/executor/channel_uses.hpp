// SPDX-License-Identifier: BSD-3-Clause
// Counting the uses of a channel at both ends, and why its landing slots can be reused.
//
// Segments are numbered through all calls of a communicator, and a rank runs at most two of them at
// a time. So a rank that has started segment t has completed all segments up to t - 2.
//
// A channel counts its own uses. Each segment that sends through the channel is one use. Both ends
// count alike. Use u lands in slot u mod S of a ring of S slots (landing_rings.hpp); a use that
// lands in another ring leaves this ring's slot empty. So use u must not be put before the receiver
// has completed use u - S and all before it.
//
// Use v is *settled* when the sender knows that the receiver has started the segment of use v. The
// rule is: a put of use u waits until use u - S + 2 is settled, or a later one. Then the receiver
// has completed all uses up to u - S: their segments are earlier by two or more than that of use
// u - S + 2, which it has started.
//
// How the sender comes to know it depends on the program, which is of one of two kinds:
//
//  - Synchronising: a rank that completes the segment has heard from every rank in that segment,
//    directly or through other ranks. The verifier proves this. So use u - 2 is settled if its
//    segment synchronises: it is earlier by two or more than that of use u, so it is complete here,
//    and the receiver has started it. (Such programs use rings of four slots only.)
//  - Acknowledged: a rank tells the senders that it has started a segment. In a ring of four slots
//    it says so of each such use, and a put of use u waits for the word of use u - 2. In a ring of
//    many slots it says so of the last use of each group of 32, and a put of use u waits for the
//    word of the group that use u - S + 2 belongs to.
//
// Each word is said once, and some put waits for it. So a sender knows each word by a number modulo
// eight: in four slots those of uses u - 3 to u + 2 may come while use u runs (the receiver may be
// ahead by two), in many slots those of the groups g - 4 to g while a use of group g runs. However
// late a word comes, it is taken for no other.
//
// No put waits for ever. The word that it waits for is of a use that does not come after its own.
// Say all ranks have completed the segments that are earlier by two or more than that of use u.
// Then the receiver can start use u, perhaps when the segment before it drains, which waits for no
// later one; and so it has started what the word is of. It says the word with its next round, or
// with the first round of its next call.
//
// A receiver is therefore at most S - 1 uses behind a sender, however far ranks drift apart in
// rooted collectives, and a notification needs to carry the use modulo a little more than S only.
// tests/comm/communicator/stress_test.cpp attacks all this.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "threads/executor/landing_rings.hpp"
#include "threads/executor/notification.hpp"

namespace trefoil {

/// In a ring of many slots one word tells of so many uses.
inline constexpr std::uint32_t gathered_uses = 32;
static_assert(LandingRings::many_slots == 4 * gathered_uses, "see above: groups g - 4 to g");
static_assert(LandingRings::few_slots == 4 && segment_window == 2,
              "see above: uses u - 3 to u + 2");

/// The receiving end's count. Numbers of uses grow without end, and wrap around.
class InUses {
  public:
    /// A segment that receives through the channel starts: the number of its use. By worker 0.
    std::uint32_t begin() { return begun_++; }
    /// Whether the start of a use that is acknowledged is told.
    static bool is_told(std::uint32_t use, Ring ring) {
        return ring != Ring::many || (use + 1) % gathered_uses == 0;
    }

  private:
    std::uint32_t begun_ = 0;
};

/// The sending end's count, with the words that have come.
class OutUses {
  public:
    /// A segment that sends through the channel starts: the number of its use. `acknowledged`: by
    /// the peer; else it synchronises. By worker 0, which publishes the segment to the others
    /// afterwards.
    std::uint32_t begin(bool acknowledged, Ring ring) {
        const std::uint32_t use = begun_++;
        if (ring == Ring::many) {
            if (use % gathered_uses == 0) {
                forget(use / gathered_uses + 3);
            }
            return use;
        }
        forget(use + 4);
        const std::uint32_t bit = 1U << use % words;
        const std::uint32_t bits = acknowledged_.load(std::memory_order_relaxed);
        const std::uint32_t changed = acknowledged ? bits | bit : bits & ~bit;
        if (changed != bits) {
            acknowledged_.store(static_cast<std::uint8_t>(changed), std::memory_order_relaxed);
        }
        return use;
    }
    /// The peer has started `use`, which has at least its three lower bits, or eight in a ring of
    /// many slots. By the owner of the channel's group.
    void acknowledge(std::uint32_t use, Ring ring) {
        const std::uint32_t word = ring == Ring::many ? use / gathered_uses : use;
        come_[word % words].store(1, std::memory_order_relaxed);
    }
    /// A put of `use` may leave. By the owner of the channel's group, too, so nothing need be
    /// ordered; others ask for messages.
    bool may_put(std::uint32_t use, Ring ring) const {
        if (ring == Ring::many) {
            constexpr std::uint32_t ahead = LandingRings::many_slots - segment_window;
            return has_come((use - ahead) / gathered_uses);
        }
        const std::uint32_t before = use - segment_window;
        return (acknowledged_.load(std::memory_order_relaxed) >> before % words & 1) == 0 ||
               has_come(before);
    }

  private:
    static constexpr std::uint32_t words = 8;

    bool has_come(std::uint32_t word) const {
        return come_[word % words].load(std::memory_order_relaxed) != 0;
    }
    void forget(std::uint32_t word) {
        std::atomic<std::uint8_t>& old = come_[word % words];
        if (old.load(std::memory_order_relaxed) != 0) {
            old.store(0, std::memory_order_relaxed);
        }
    }

    std::uint32_t begun_ = 0;
    std::atomic<std::uint8_t> acknowledged_{0};  ///< a bit for each of the last eight uses
    /// Of the groups before the first, as if there had been any.
    std::array<std::atomic<std::uint8_t>, words> come_{0, 0, 0, 0, 1, 1, 1, 1};
};

/// The sending end's permissions (direct_program.hpp): for which uses the peer's vector is ready.
///
/// A permission of use u comes only if this end will wait for it, and before it ends use u. When it
/// comes, the peer has started use u, so it has completed use u - 2, which this end has begun. So
/// permissions that matter are of the last two uses that were begun, and of the next two.
class Permissions {
  public:
    /// A segment that sends through the channel starts. By worker 0, which publishes the segment to
    /// the others afterwards.
    void begin(std::uint32_t use) {
        std::atomic<std::uint8_t>& ended = permissions_[(use + 4) % places];
        if (ended.load(std::memory_order_relaxed) != 0) {
            ended.store(0, std::memory_order_relaxed);
        }
    }
    /// By the owner of the channel's group.
    void take(std::uint32_t use, std::uint32_t sign) {
        permissions_[use % places].store(static_cast<std::uint8_t>(has_come | sign),
                                         std::memory_order_relaxed);
    }
    /// By the same; others ask for messages.
    bool have(std::uint32_t use) const {
        return permissions_[use % places].load(std::memory_order_relaxed) != 0;
    }
    std::uint32_t sign_of(std::uint32_t use) const {
        return permissions_[use % places].load(std::memory_order_relaxed) & (has_come - 1U);
    }

  private:
    static constexpr std::uint32_t places = 8;
    static constexpr std::uint8_t has_come = 0x40;
    static_assert(Notification::use_modulus(32) % places == 0);
    std::array<std::atomic<std::uint8_t>, places> permissions_{};
};

}  // namespace trefoil
