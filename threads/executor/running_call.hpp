// SPDX-License-Identifier: BSD-3-Clause
// A call in flight: which one it is, and how much of it is done.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "threads/executor/call.hpp"
#include "threads/executor/counters.hpp"

namespace trefoil {

/// Begins when it is issued, and is done when all its segments are complete. Issued again when it
/// is done, or never was. Workers share it through complete_segment() and done() alone; nobody but
/// its owner touches it once it is done.
class RunningCall {
  public:
    RunningCall() = default;
    RunningCall(const RunningCall&) = delete;
    RunningCall& operator=(const RunningCall&) = delete;

    /// By the thread that issues it. `call` stays where it is until it is done. `number` counts the
    /// calls of the communicator.
    void begin(const Call& call, const CallVectors& vectors, std::uint64_t number) {
        call_ = &call;
        vectors_ = vectors;
        is_alone_ = false;
        number_ = number;
        hash_ = call.signature ^ number * 0x9e3779b97f4a7c15ULL;
        started_ = 0;
        left_.store(static_cast<std::uint32_t>(call.segments.size()), std::memory_order_relaxed);
    }

    /// No thread but its owner's looks whether it is done, and that one works for it.
    void stay_alone() noexcept { is_alone_ = true; }
    /// From now on others may. By who has the turn.
    void share() noexcept { is_alone_ = false; }

    const Call& call() const { return *call_; }
    const CallVectors& vectors() const { return vectors_; }
    std::uint64_t number() const { return number_; }
    /// Of the call and its number, for the notifications: equal on all ranks that make this call.
    std::uint64_t hash() const { return hash_; }
    /// Ranks read each other's vectors in it.
    bool reads_peers() const {
        return !call_->segments.empty() && call_->segments.front().program->shares_vectors;
    }

    // By worker 0: the segments that are still to start.
    bool has_more() const { return started_ < call_->segments.size(); }
    bool has_started() const { return started_ > 0; }
    std::size_t started() const { return started_; }
    const CallSegment& first_waiting() const { return call_->segments[started_]; }
    const CallSegment& next_segment() { return call_->segments[started_++]; }

    /// By whoever completes a segment. True: it was the last, and the call must not be touched any
    /// more. Pairs with done().
    bool complete_segment() {
        return is_alone_ ? take_last(left_, false)
                         : left_.fetch_sub(1, std::memory_order_seq_cst) == 1;
    }
    /// Whoever sees it also sees all results.
    bool done() const { return left_.load(std::memory_order_seq_cst) == 0; }

    RunningCall* next = nullptr;  ///< for CallQueue

  private:
    const Call* call_ = nullptr;
    CallVectors vectors_;
    bool is_alone_ = false;
    std::uint64_t number_ = 0;
    std::uint64_t hash_ = 0;
    std::size_t started_ = 0;
    std::atomic<std::uint32_t> left_{0};
};

}  // namespace trefoil
