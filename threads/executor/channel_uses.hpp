// SPDX-License-Identifier: BSD-3-Clause
// Counting the uses of a channel at both ends, and why its landing slots can be reused.
//
// Segments are numbered through all calls of a communicator, and a rank runs at most two of them at
// a time. So a rank that has started segment t has completed all segments up to t - 2.
//
// A channel counts its own uses. Each segment that sends through the channel is one use. Both ends
// count alike. Use u lands in slot u mod 4. So it must not be put before the receiver has completed
// use u - 4.
//
// A program is of one of two kinds:
//
//  - Synchronising: a rank that completes the segment has heard from every rank in that segment,
//    directly or through other ranks. The verifier proves this.
//  - Acknowledged: a rank that has taken in a segment's messages tells their senders.
//
// Use u is *settled* when the peer has acknowledged it, or when its segment synchronises. The rule
// is: a put of use u waits until use u - 2 is settled. Then the receiver has completed use u - 4:
//
//  - Say use u - 2 was acknowledged. Then the receiver had started its segment. That segment is
//    later by two or more than the segment of use u - 4. So the latter was complete.
//  - Say the segment of use u - 2 synchronises. It is earlier by two or more than the sender's
//    present segment. So it is complete at the sender. So the sender has heard from the receiver in
//    it, and the receiver had started it. As before, the segment of use u - 4 was complete.
//
// A receiver is therefore at most three uses behind a sender, however far ranks drift apart in
// rooted collectives, and a notification needs to carry the use modulo 8 only. Waiting for an
// acknowledgement cannot deadlock: it is that of an earlier segment, and no segment waits for a
// later one. tests/comm/communicator/stress_test.cpp attacks all this.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "threads/executor/notification.hpp"

namespace trefoil {

/// How many segments a rank runs at a time, and how many landing slots a channel has therefore.
inline constexpr std::uint32_t segment_window = 2;
inline constexpr std::uint32_t landing_slots = 2 * segment_window;
static_assert(Notification::use_modulus % landing_slots == 0, "the slot follows from the use");
static_assert(Notification::use_modulus >= 2 * landing_slots - 1, "see above: three uses behind");

/// The receiving end's count. By worker 0.
class InUses {
  public:
    /// A segment that receives through the channel starts: the number of its use, modulo
    /// Notification::use_modulus.
    std::uint32_t begin() {
        return static_cast<std::uint32_t>(begun_++ % Notification::use_modulus);
    }

  private:
    std::uint64_t begun_ = 0;
};

/// The sending end's count, with what the peer has acknowledged. Uses are numbered modulo
/// Notification::use_modulus.
class OutUses {
  public:
    /// A segment that sends through the channel starts: the number of its use. `acknowledged`: the
    /// peer will acknowledge it. By worker 0, which publishes the segment to the others afterwards.
    std::uint32_t begin(bool acknowledged) {
        const auto use = static_cast<std::uint32_t>(begun_++ % Notification::use_modulus);
        if (acknowledged) {
            awaited_.fetch_or(bit(use), std::memory_order_relaxed);
        }
        return use;
    }
    /// The peer has taken in what `use` brought. By the owner of the channel's group.
    void acknowledge(std::uint32_t use) {
        awaited_.fetch_and(static_cast<std::uint8_t>(~bit(use)), std::memory_order_release);
    }
    /// The use before the last one is settled, so a put of `use` may leave. By the owner of the
    /// channel's group; its acquire pairs with acknowledge() only where others ask, for messages.
    bool may_put(std::uint32_t use) const {
        constexpr std::uint32_t modulus = Notification::use_modulus;
        return (awaited_.load(std::memory_order_acquire) & bit((use + modulus - 2) % modulus)) == 0;
    }

  private:
    static constexpr std::uint8_t bit(std::uint32_t use) {
        return static_cast<std::uint8_t>(1U << use);
    }

    std::uint64_t begun_ = 0;
    /// A bit for each use that is to be acknowledged and was not yet.
    std::atomic<std::uint8_t> awaited_{0};
};

/// The sending end's tokens (direct_program.hpp): for which uses the peer's vector is ready.
///
/// A token of use u comes only if this end will wait for it, and before it ends use u. When it
/// comes, the peer has started use u, so it has completed use u - 2, which this end has begun. So
/// tokens that matter are of the last two uses that were begun, and of the next two.
class Tokens {
  public:
    /// A segment that sends through the channel starts. By worker 0, which publishes the segment to
    /// the others afterwards.
    void begin(std::uint32_t use) {
        std::atomic<std::uint8_t>& ended = tokens_[(use + 4) % Notification::use_modulus];
        if (ended.load(std::memory_order_relaxed) != 0) {
            ended.store(0, std::memory_order_relaxed);
        }
    }
    /// By the owner of the channel's group.
    void take(std::uint32_t use, std::uint32_t sign) {
        tokens_[use].store(static_cast<std::uint8_t>(has_come | sign), std::memory_order_relaxed);
    }
    /// By the same; others ask for messages.
    bool have(std::uint32_t use) const { return tokens_[use].load(std::memory_order_relaxed) != 0; }
    std::uint32_t sign_of(std::uint32_t use) const {
        return tokens_[use].load(std::memory_order_relaxed) & (has_come - 1U);
    }

  private:
    static constexpr std::uint8_t has_come = 0x40;
    std::array<std::atomic<std::uint8_t>, Notification::use_modulus> tokens_{};
};

}  // namespace trefoil
