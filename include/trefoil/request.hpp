// SPDX-License-Identifier: BSD-3-Clause
// Requests of trefoil.hpp: calls in flight, and calls that are made again and again.
#pragma once

#include <trefoil/trefoil.h>
#include <trefoil/errors.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace trefoil {

/// Owns a request of the C interface, whose rules hold (requests.h). One that is still under way
/// when it is destroyed is waited for, so that its buffers may be destroyed after it; declare it
/// behind them. Every function throws CallFailed.
class Request {
  public:
    Request() = default;
    explicit Request(trefoil_request_t handle) : handle_(handle) {}
    ~Request() { end(); }
    Request(Request&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Request& operator=(Request&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }

    /// Begins a persistent call.
    void start() { check(trefoil_start(&handle_)); }
    /// Whether the call has ended.
    bool test() {
        int done = 0;
        check(trefoil_test(&handle_, &done));
        return done != 0;
    }
    void wait() { check(trefoil_wait(&handle_)); }
    /// Lets go of a call that is under way; its buffers are in use until it is over.
    void free() { check(trefoil_request_free(&handle_)); }

    trefoil_request_t& handle() { return handle_; }

  private:
    void end() noexcept {
        if (handle_ != TREFOIL_REQUEST_NULL) {
            (void)trefoil_wait(&handle_);
        }
        if (handle_ != TREFOIL_REQUEST_NULL) {
            (void)trefoil_request_free(&handle_);
        }
    }

    trefoil_request_t handle_ = TREFOIL_REQUEST_NULL;
};

/// Several requests at a time.
class Requests {
  public:
    explicit Requests(std::span<Request> requests) : requests_(requests) {
        for (Request& request : requests_) {
            handles_.push_back(request.handle());
        }
    }
    void start() { check(back(trefoil_startall(count(), handles_.data()))); }
    void wait() { check(back(trefoil_waitall(count(), handles_.data()))); }
    bool test() {
        int done = 0;
        check(back(trefoil_testall(count(), handles_.data(), &done)));
        return done != 0;
    }
    /// Waits for one, and says which; -1: none is under way.
    int wait_any() {
        int index = -1;
        check(back(trefoil_waitany(count(), handles_.data(), &index)));
        return index;
    }

  private:
    int count() const { return static_cast<int>(handles_.size()); }
    /// Those that have ended are none any more.
    trefoil_status_t back(trefoil_status_t status) {
        for (std::size_t i = 0; i < handles_.size(); ++i) {
            requests_[i].handle() = handles_[i];
        }
        return status;
    }

    std::span<Request> requests_;
    std::vector<trefoil_request_t> handles_;
};

}  // namespace trefoil
