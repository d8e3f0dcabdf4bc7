// SPDX-License-Identifier: BSD-3-Clause
// Calls that were issued and have not started yet, wholly or in part.
#pragma once

#include <atomic>

#include "threads/executor/running_call.hpp"

namespace trefoil {

/// First in, first out. Calls are issued by one thread at a time and taken by worker 0. They are
/// linked through themselves, so nothing is allocated.
class CallQueue {
  public:
    /// By the thread that issues. Pairs with first(): see Engine::issued().
    void push(RunningCall& call) noexcept {
        RunningCall* newest = incoming_.load(std::memory_order_relaxed);
        do {
            call.next = newest;
        } while (!incoming_.compare_exchange_weak(newest, &call, std::memory_order_seq_cst,
                                                  std::memory_order_relaxed));
    }

    // By worker 0, or while no worker runs.
    /// The same by a thread that is worker 0.
    void push_here(RunningCall& call) noexcept {
        take_incoming();
        append(call);
    }
    /// The oldest; null: there is none.
    RunningCall* first() noexcept {
        if (first_ == nullptr) {
            take_incoming();
        }
        return first_;
    }
    /// All its segments have started, or are about to: the oldest is none of the queue's.
    void pop() noexcept {
        first_ = first_->next;
        last_ = first_ == nullptr ? nullptr : last_;
    }

  private:
    void append(RunningCall& call) noexcept {
        call.next = nullptr;
        (last_ == nullptr ? first_ : last_->next) = &call;
        last_ = &call;
    }
    void take_incoming() noexcept {
        if (incoming_.load(std::memory_order_seq_cst) == nullptr) {
            return;
        }
        RunningCall* newest = incoming_.exchange(nullptr, std::memory_order_acquire);
        RunningCall* oldest = nullptr;
        while (newest != nullptr) {
            RunningCall* const before = newest->next;
            newest->next = oldest;
            oldest = newest;
            newest = before;
        }
        while (oldest != nullptr) {
            RunningCall* const after = oldest->next;
            append(*oldest);
            oldest = after;
        }
    }

    std::atomic<RunningCall*> incoming_{nullptr};  ///< the newest first
    RunningCall* first_ = nullptr;
    RunningCall* last_ = nullptr;
};

}  // namespace trefoil
