// SPDX-License-Identifier: BSD-3-Clause
// One program in flight: the state machine of its steps.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "threads/executor/channels.hpp"
#include "threads/executor/counters.hpp"
#include "threads/executor/direct_program.hpp"
#include "threads/executor/program.hpp"
#include "threads/executor/program_sizes.hpp"
#include "threads/executor/running_call.hpp"
#include "threads/executor/segment_buffers.hpp"
#include "threads/executor/shown_image.hpp"
#include "threads/executor/staging.hpp"
#include "threads/kernels/aligned_bytes.hpp"
#include "topo/cache_line.hpp"

namespace trefoil {

/// An array of atomics that grows while nobody shares it.
template <typename T>
class AtomicArray {
  public:
    /// What was in it is lost if it has to grow.
    void reserve(std::size_t count) {
        if (count > capacity_) {
            values_ = std::make_unique<std::atomic<T>[]>(count);
            capacity_ = count;
        }
    }
    std::atomic<T>& operator[](std::size_t i) { return values_[i]; }
    const std::atomic<T>& operator[](std::size_t i) const { return values_[i]; }

  private:
    std::unique_ptr<std::atomic<T>[]> values_;
    std::size_t capacity_ = 0;
};

/// A segment is idle or runs. start() makes it run; SegmentQueue then shows it to the other
/// workers. Every part is at one *open* step, or at none before the first. An open step awaits
/// events: one per arrival, one per put, and one that is spent when the step before is complete.
/// Whoever counts the last event completes the step, alone, and opens the next one. The segment
/// ends when nobody holds it any more: each part holds it until it is finished, and each worker
/// until it has posted all its puts.
///
/// While it runs, workers share it through the atomics alone; each says what it pairs with. What is
/// read of it otherwise was written before it started.
class alignas(cache_line) RunningSegment {
  public:
    static constexpr std::uint32_t none = ~0U;

    /// Makes room for the programs that may run. By worker 0, while idle. May throw bad_alloc.
    void make_room(RoomNeeded& room, const Channels& channels);

    /// By worker 0: this rank's ends of what the program uses are there.
    static bool may_start(const Program& program, const Channels& channels) noexcept;
    /// By worker 0, while idle: begins the next uses of the program's channels, which chooses the
    /// landing slots, and fills all counters. Does not allocate.
    void start(RunningCall& call, const CallSegment& segment, std::uint64_t number,
               Channels& channels, std::uint32_t workers, std::int64_t now) noexcept;

    // What stands while it runs.
    const Program& program() const { return *program_; }
    RunningCall& call() const { return *call_; }
    std::uint64_t number() const { return number_; }  ///< running number over all calls
    const SegmentBuffers& buffers() const { return buffers_; }
    SegmentBuffers& buffers() { return buffers_; }  ///< for Operations, which open peers' vectors
    /// What of its messages lands in vectors; null: nothing.
    const DirectProgram* direct() const { return direct_; }
    std::size_t offset() const { return offset_; }  ///< in the call's vectors
    const Staging& staging() const { return staging_; }
    Staging& staging() { return staging_; }  ///< for each group's owner
    /// The use of a channel that the program uses.
    std::uint32_t in_use(std::uint32_t channel) const { return in_use_[channel]; }
    std::uint32_t out_use(std::uint32_t channel) const { return out_use_[channel]; }
    /// Where it lands in the peer's ring.
    std::size_t out_offset(std::uint32_t channel) const { return out_offset_[channel]; }

    /// True: it was the step's last event. Acquire and release: whoever counts the last one sees
    /// what all others wrote before they spent theirs.
    bool count_event(std::uint32_t step) noexcept {
        return take_last(events_left_[step], is_shared_);
    }
    /// More puts than the program says belong to an open step: by the owner of their group, before
    /// the first of them has left.
    void add_events(std::uint32_t step, std::uint32_t count) noexcept {
        events_left_[step].fetch_add(count, std::memory_order_relaxed);
    }
    /// By whoever completed the step before, or starts the segment. The release pairs with
    /// open_step().
    void open(std::uint32_t part, std::uint32_t step) noexcept {
        open_step_[part].store(step, std::memory_order_release);
    }
    /// The step whose puts may leave, as those of all steps before; or `none`.
    std::uint32_t open_step(std::uint32_t part) const {
        return open_step_[part].load(std::memory_order_acquire);
    }
    /// All parts have come to Program::drains_at, or the segment has ended. By worker 0.
    bool drains() const noexcept;
    enum class Taken : std::uint8_t { in_part, whole, twice };
    /// A put of a message has come: one of `runs` that land in the vector, or the only one, to
    /// its slot (0). By the owner of the arrival's group, who alone writes it.
    Taken take_arrival(std::uint32_t arrival, std::size_t runs) noexcept {
        const std::size_t missing = puts_missing(arrival, runs);
        if (missing == 0) {
            return Taken::twice;
        }
        arrived_[arrival].store(
            static_cast<std::uint8_t>(runs == 0 ? in_slot : directly + (missing - 1)),
            std::memory_order_relaxed);
        return missing == 1 ? Taken::whole : Taken::in_part;
    }
    /// Of a message that comes as take_arrival() says. By the same.
    std::size_t puts_missing(std::uint32_t arrival, std::size_t runs) const {
        const std::uint8_t so_far = arrived_[arrival].load(std::memory_order_relaxed);
        if (so_far == 0) {
            return runs == 0 ? 1 : runs;
        }
        return runs > 0 && so_far > directly ? std::size_t{so_far} - directly : 0;
    }
    /// By whoever completes its step, which orders it.
    bool landed_directly(std::uint32_t arrival) const {
        return arrived_[arrival].load(std::memory_order_relaxed) == directly;
    }
    /// For messages: orders nothing.
    bool has_arrived(std::uint32_t arrival) const {
        const std::uint8_t so_far = arrived_[arrival].load(std::memory_order_relaxed);
        return so_far == in_slot || so_far == directly;
    }
    /// A part is finished. True: it was the last. Acquire and release:
    /// whoever finishes the last one sees the results of all.
    bool finish_part() noexcept { return take_last(unfinished_, is_shared_); }

    /// A finished part, or a worker that has posted its puts, does not look here any more. True: it
    /// was the last that held the segment, and has to call end(). Acquire and release, as above.
    bool release() noexcept { return take_last(holders_, is_shared_); }
    /// By worker 0, for a look at a segment that may end meanwhile. False: it has. Else its call is
    /// not done before the matching release(). Relaxed, and no test could need more: what it looks
    /// at it has written itself, when it started the segment, or is atomic; and as all changes of
    /// the count are of one order, whoever takes the last hold sees what was done under this one,
    /// by the release in release().
    bool hold() noexcept {
        std::uint32_t holders = holders_.load(std::memory_order_relaxed);
        while (holders != 0 &&
               !holders_.compare_exchange_weak(holders, holders + 1, std::memory_order_relaxed)) {
        }
        return holders != 0;
    }
    /// Idle from now on. The release pairs with running(), after which worker 0 may start anew.
    void end() noexcept { running_.store(false, std::memory_order_release); }
    bool running() const { return running_.load(std::memory_order_acquire); }

    // For the timeline: when the segment began, and when the open step of a part was opened. Noted
    // before what publishes segment and step, read by their completers.
    std::int64_t begun() const { return begun_; }
    std::int64_t opened(std::uint32_t part) const { return opened_[part]; }
    void note_opened(std::uint32_t part, std::int64_t now) noexcept { opened_[part] = now; }

  private:
    /// What `arrived_` says of a message; more than `directly`: so many puts of it are missing.
    static constexpr std::uint8_t in_slot = 1, directly = 2;
    static_assert(directly + DirectRuns::most <= 0xff);

    void begin_uses(Channels& channels) noexcept;

    const DirectProgram* direct_ = nullptr;
    std::size_t offset_ = 0;
    const Program* program_ = nullptr;
    bool is_shared_ = true;  ///< by several workers
    RunningCall* call_ = nullptr;
    std::uint64_t number_ = 0;
    AtomicArray<std::uint32_t> events_left_;  ///< left, by step
    AtomicArray<std::uint32_t> open_step_;    ///< by part
    AtomicArray<std::uint8_t> arrived_;       ///< by arrival; written by the owner of its group
    std::atomic<std::uint32_t> unfinished_{0};
    std::atomic<std::uint32_t> holders_{0};
    std::atomic<bool> running_{false};
    std::vector<std::uint32_t> drains_at_;  ///< the program's, which may go when the segment ends
    SegmentBuffers buffers_;
    std::vector<std::uint32_t> in_use_, out_use_;  ///< by channel
    std::vector<std::size_t> out_offset_;          ///< likewise
    Staging staging_;
    AlignedBytes scratch_;
    ShownImage image_;        ///< the scratch of programs that show it
    std::uint64_t room_ = 0;  ///< RoomNeeded::version()
    std::int64_t begun_ = 0;
    std::vector<std::int64_t> opened_;  ///< by part
};

}  // namespace trefoil
