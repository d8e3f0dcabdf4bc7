// SPDX-License-Identifier: BSD-3-Clause
// How many calls of an executor are in flight.
#pragma once

#include <atomic>
#include <cstdint>

#include "threads/executor/engine.hpp"

namespace trefoil {

/// Counts the calls that were issued and those that are complete.
class InFlight {
  public:
    explicit InFlight(Engine& engine) : engine_(engine), is_shared_(engine.groups().size() > 1) {}

    /// Several workers complete calls.
    bool is_shared() const noexcept { return is_shared_; }

    /// By the thread that issues, before the call is in the queue. Sequentially consistent, as is
    /// count(): see Worker::has_done_its_work().
    void issue() noexcept {
        issued_.store(issued_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
    }
    /// The same by a thread that has the turn: no worker looks meanwhile.
    void issue_here() noexcept {
        issued_.store(issued_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    /// By the worker that completes a call, which is not touched any more. `text`: as the call's.
    void complete(bool reads_peers, const char* text) noexcept {
        last_text_.store(text, std::memory_order_relaxed);
        if (reads_peers) {
            reads_.store(false, std::memory_order_release);
        }
        if (is_shared_) {
            completed_.fetch_add(1, std::memory_order_release);
        } else {
            completed_.store(completed() + 1, std::memory_order_release);
        }
        engine_.completed();
    }
    /// None of those in flight will be completed. When no worker completes calls any more; by
    /// several threads, each call is given up once.
    void give_up() noexcept {
        std::uint64_t completed = completed_.load(std::memory_order_relaxed);
        std::uint64_t issued = issued_.load(std::memory_order_seq_cst);
        while (!completed_.compare_exchange_weak(completed, issued, std::memory_order_acq_rel,
                                                 std::memory_order_acquire)) {
            issued = issued_.load(std::memory_order_relaxed);
        }
        engine_.completed(static_cast<std::uint32_t>(issued - completed));
    }
    // For the timeline.
    std::uint64_t completed() const noexcept { return completed_.load(std::memory_order_relaxed); }
    /// Of the call that was completed last.
    const char* last_text() const noexcept { return last_text_.load(std::memory_order_relaxed); }

    std::uint64_t count() const noexcept {
        const std::uint64_t completed = completed_.load(std::memory_order_acquire);
        return issued_.load(std::memory_order_seq_cst) - completed;
    }

    // By worker 0.
    /// A call is in flight in which peers read this rank's vectors.
    bool reads() const noexcept { return reads_.load(std::memory_order_acquire); }
    void begin_reads() noexcept { reads_.store(true, std::memory_order_relaxed); }

  private:
    Engine& engine_;
    const bool is_shared_;
    std::atomic<std::uint64_t> issued_{0};
    std::atomic<std::uint64_t> completed_{0};
    std::atomic<bool> reads_{false};
    std::atomic<const char*> last_text_{""};
};

}  // namespace trefoil
