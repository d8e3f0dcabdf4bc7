// SPDX-License-Identifier: BSD-3-Clause
// A call while it runs: which one it is, and how much of it is done.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "threads/executor/call.hpp"

namespace trefoil {

/// Begins when all segments of it are to be run, and is done when all are complete. Workers share
/// it through complete_segment() and done() alone.
class RunningCall {
  public:
    /// While no worker runs; `number` counts the calls of the communicator.
    void begin(const Call& call, std::uint64_t number) {
        call_ = &call;
        number_ = number;
        hash_ = call.signature ^ number * 0x9e3779b97f4a7c15ULL;
        started_ = 0;
        completed_.store(0, std::memory_order_relaxed);
    }

    const Call& call() const { return *call_; }
    std::uint64_t number() const { return number_; }
    /// Of the call and its number, for the notifications: equal on all ranks that make this call.
    std::uint64_t hash() const { return hash_; }

    // By worker 0: the pieces that are still to start.
    bool has_more() const { return started_ < call_->segments.size(); }
    const CallSegment& next_piece() { return call_->segments[started_++]; }

    /// By whoever completes a segment; its release pairs with done().
    void complete_segment() { completed_.fetch_add(1, std::memory_order_acq_rel); }
    /// Whoever sees it also sees all results.
    bool done() const {
        return completed_.load(std::memory_order_acquire) == call_->segments.size();
    }

  private:
    const Call* call_ = nullptr;
    std::uint64_t number_ = 0;
    std::uint64_t hash_ = 0;
    std::size_t started_ = 0;
    std::atomic<std::size_t> completed_{0};
};

}  // namespace trefoil
