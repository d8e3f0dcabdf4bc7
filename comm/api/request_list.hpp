// SPDX-License-Identifier: BSD-3-Clause
// Requests that one thread hands to another one.
#pragma once

#include <atomic>

namespace trefoil::c_api {

/// A list that any thread adds to, and one thread takes all of; linked by `next`.
template <typename Request>
class RequestList {
  public:
    void push(Request& request) noexcept {
        request.next = first_.load(std::memory_order_relaxed);
        while (!first_.compare_exchange_weak(request.next, &request, std::memory_order_release,
                                             std::memory_order_relaxed)) {
        }
    }
    /// Linked, the last one that was added first; null: there is none.
    Request* take_all() noexcept {
        return first_.load(std::memory_order_relaxed) == nullptr
                   ? nullptr
                   : first_.exchange(nullptr, std::memory_order_acquire);
    }

  private:
    std::atomic<Request*> first_{nullptr};
};

}  // namespace trefoil::c_api
