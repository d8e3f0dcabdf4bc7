// SPDX-License-Identifier: BSD-3-Clause
// One UCX context and worker, restricted to one device or to none, with its endpoints.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/ucx/handle.hpp"

namespace trefoil::ucx {

/// A peer's worker as seen from here.
struct Endpoint {
    ucp_ep_h handle = nullptr;
    bool used = false;            ///< something was sent, which drain() has to see off
    ucs_status_t lost = UCS_OK;   ///< what UCX has reported about the connection
    bool* any_is_lost = nullptr;  ///< set with it
};

/// Not thread-safe. Active messages of number 0 are handed to the handler
/// inside progress().
class Rail {
  public:
    /// Throws Error(not_found) when no transport is left under the settings.
    Rail(const std::string& transports, std::string device, ucp_am_recv_callback_t handler,
         void* argument);
    ~Rail();
    Rail(const Rail&) = delete;
    Rail& operator=(const Rail&) = delete;

    /// What peers connect to.
    const std::string& address() const { return address_; }
    /// The endpoint to the worker with this address; the same one each time.
    Endpoint& connect(const std::string& worker_address);
    ucp_worker_h worker() const { return worker_.get(); }
    ucp_context_h context() const { return context_.get(); }
    void progress() { library().worker_progress(worker_.get()); }
    /// True when a poll of event_fd() will see whatever comes; progress() first when false.
    bool arm() { return library().worker_arm(worker_.get()) == UCS_OK; }
    /// Whether UCX has reported a connection lost since this was asked last.
    bool has_lost_one() noexcept { return std::exchange(any_is_lost_, false); }
    /// -1 where the worker cannot wake a sleeper.
    int event_fd() const { return event_fd_; }
    const std::string& transports() const { return transports_; }
    const std::string& device() const { return device_; }

    /// Sees off what was accepted, but for messages that wait to be fetched; until `deadline`, or a
    /// moment longer.
    void drain(std::chrono::steady_clock::time_point deadline);
    /// Connections may be half made: close() keeps the worker.
    void abandon() noexcept { abandoned_ = true; }
    /// Closes the worker with its endpoints, not the context. After drain(); when that could not
    /// finish, or after abandon(), the worker is kept until the process ends: see ucx_rail.cpp.
    void close();

  private:
    void handle(unsigned message, ucp_am_recv_callback_t handler, void* argument);
    bool bid_farewell(bool used, std::chrono::steady_clock::time_point deadline);

    std::string device_;
    std::string transports_;
    Context context_;
    Worker worker_;
    std::string address_;
    std::map<std::string, Endpoint, std::less<>> endpoints_;
    /// Workers that could not be connected, and why: UCX 1.13 ends the process at a second try.
    std::map<std::string, ucs_status_t, std::less<>> refused_;
    int event_fd_ = -1;
    bool any_is_lost_ = false;
    bool drained_ = true;  // nothing waits for a peer
    bool abandoned_ = false;
};

}  // namespace trefoil::ucx
