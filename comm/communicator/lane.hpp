// SPDX-License-Identifier: BSD-3-Clause
// A lane of a communicator: calls that start in order among themselves.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

#include "comm/communicator/planner.hpp"
#include "comm/communicator/schedules.hpp"
#include "comm/derived/geometry.hpp"
#include "comm/plan/segments.hpp"
#include "threads/executor/channels.hpp"
#include "threads/executor/executor.hpp"
#include "threads/executor/landing_rings.hpp"

namespace trefoil {

/// Of a whole vector: so much goes in the lane of small calls.
inline constexpr std::size_t most_small_bytes = 1024;
/// What its larger landing slots hold: also the parts of such a vector that gather on their way.
inline constexpr std::size_t small_slot_bytes = 4096;
/// Where messages are stores, which costs each of them less than a notification does: so much. Up
/// to 256 KiB were faster there, by less.
inline constexpr std::size_t most_stored_bytes = std::size_t{64} << 10;
/// Of a lane whose messages are stores: what slots hold, and how much of a whole vector goes there.
struct StoredLane {
    std::size_t small_slot = most_small_bytes + 64;  ///< a vector and its flag
    std::size_t medium_slot = 0;                     ///< 0: there are none
    std::size_t large_slot = 2 * small_slot_bytes;
    std::size_t most_bytes = most_small_bytes;
};
/// In a ring of its large slots as many bytes as in one of the other lane at most; where that is
/// too few, it is for vectors of most_small_bytes, as it is without stores.
constexpr StoredLane stored_lane(std::size_t landing_bytes) {
    constexpr std::size_t line = 64, flags = 16 * line;
    StoredLane lane;
    const std::size_t medium = (std::size_t{8} << 10) + line;
    const std::size_t large = std::min(landing_bytes / LandingRings::stored_few_slots / line * line,
                                       most_stored_bytes + flags);
    if (large >= medium) {
        lane.medium_slot = medium;
        lane.large_slot = large;
        lane.most_bytes = large - flags;
    }
    return lane;
}
/// With so many bytes to a peer a sender may run ahead of it (Ring::many), in the other lane.
inline constexpr std::size_t most_bytes_ahead = 8192;
/// Of a large landing slot, for all ranks of a host together that write to one: so four slots of
/// two ports have 2 MiB. Less stays in the caches that cores have of their own, more is not in
/// those that they share (docs/performance.md).
inline constexpr std::size_t most_spread_bytes = std::size_t{256} << 10;

/// A communicator has two: small calls do not wait for large ones. A lane has an executor of its
/// own, and channels with landing slots that suit it. It is made when a call first needs it, on
/// each rank by itself.
class Lane {
  public:
    /// `settings`: what is the same in all lanes. All but `limits` and `options` outlive this.
    Lane(const Geometry& geometry, Engine& engine, const ChannelSettings& settings,
         const SegmentLimits& limits, ProgramPool& programs, ExecutorOptions options)
        : channels_(engine.groups(), settings),
          executor_(channels_, engine, std::move(options)),
          schedules_(geometry, settings.rank),
          planner_(geometry.map, limits, channels_, schedules_, programs, executor_) {}

    const Channels& channels() const { return channels_; }
    Executor& executor() { return executor_; }
    const Executor& executor() const { return executor_; }
    Planner& planner() { return planner_; }
    /// The torus is another one; before the communicator's first call.
    void forget_schedules() { schedules_.forget(); }

  private:
    Channels channels_;
    Executor executor_;
    Schedules schedules_;
    Planner planner_;
};

/// The lanes of a communicator that have been made. One thread at a time adds them; any thread may
/// ask meanwhile.
class Lanes {
  public:
    /// Null until it has been made.
    Lane* find(bool small) const noexcept { return made_[small].load(std::memory_order_acquire); }
    /// One that has been made, or null.
    Lane* any() const noexcept {
        Lane* const small = find(true);
        return small != nullptr ? small : find(false);
    }
    Lane& add(bool small, std::unique_ptr<Lane> lane) {
        owned_[small] = std::move(lane);
        made_[small].store(owned_[small].get(), std::memory_order_release);
        return *owned_[small];
    }
    /// visit(lane) for those that have been made.
    template <typename Visit>
    void for_each(Visit&& visit) const {
        for (const bool small : {false, true}) {
            if (Lane* const lane = find(small)) {
                visit(*lane);
            }
        }
    }

    /// No thread asks any more but the one that does this, and workers for the other lane.
    void clear() noexcept {
        for (const bool small : {false, true}) {
            made_[small].store(nullptr, std::memory_order_release);
            owned_[small].reset();
        }
    }

  private:
    std::array<std::unique_ptr<Lane>, 2> owned_;
    std::array<std::atomic<Lane*>, 2> made_{};  ///< [1]: of small calls
};

}  // namespace trefoil
