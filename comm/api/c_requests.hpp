// SPDX-License-Identifier: BSD-3-Clause
// The requests of the C interface: their states, and where they are kept.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "comm/api/request_list.hpp"
#include "comm/communicator/pending_call.hpp"
#include "trefoil/trefoil.h"

/// Never freed, so that a request that was freed can be told from one that is there. The user's
/// handle is not its address but its number and how often that was used: so a handle that was kept
/// too long never means another call.
struct trefoil_request {
    enum class State : int {
        free,      ///< or never was one
        inactive,  ///< persistent, and not under way
        active,
        forgotten,  ///< under way, but nobody has it any more
        orphan      ///< not freed, or not waited for; its communicator is gone
    };
    /// The bits of a handle that are the request's number, counted from 1.
    static constexpr int number_bits = sizeof(std::uintptr_t) * 3;

    trefoil_request_t handle() const noexcept {
        return reinterpret_cast<trefoil_request_t>(bits.load(std::memory_order_relaxed));
    }
    /// Its handle means nothing any more.
    void retire() noexcept {
        bits.fetch_add(std::uintptr_t{1} << number_bits, std::memory_order_relaxed);
    }

    /// Relaxed: it finds mistakes. Who has the request was given it, or finds it in a list, and
    /// both order all else.
    std::atomic<State> state{State::free};
    std::atomic<std::uintptr_t> bits{0};  ///< of its handle; likewise
    trefoil_comm_t comm = nullptr;
    bool persistent = false;
    trefoil::PendingCall call;
    trefoil_request* next = nullptr;  ///< in a list of requests that are free, or forgotten
};

namespace trefoil::c_api {

/// Changes with fork().
unsigned this_process_number() noexcept;

/// The requests of one communicator. Takes some from the process's stock when it runs out of them,
/// and gives them back at its end.
class RequestPool {
  public:
    explicit RequestPool(trefoil_comm& comm) : comm_(comm) {}
    ~RequestPool();
    RequestPool(const RequestPool&) = delete;
    RequestPool& operator=(const RequestPool&) = delete;

    /// By the thread that is in the communicator. Throws what the call throws.
    trefoil_request_t begin(bool persistent, const Request& request, const void* send, void* recv);
    /// The same: starts a persistent request.
    void start(trefoil_request& request);

    // Any thread.
    /// The call is over: the request is free, or may be started again.
    void end(trefoil_request& request) noexcept;
    /// Nobody has it any more; if it is under way it goes on.
    void forget(trefoil_request& request) noexcept;

  private:
    trefoil_request& take();
    void collect_forgotten() noexcept;
    static void clear(trefoil_request& request, trefoil_request::State state) noexcept;
    void give_back(trefoil_request& request) noexcept;

    trefoil_comm& comm_;
    trefoil_request* free_ = nullptr;  ///< of the thread that is in the communicator
    RequestList<trefoil_request> returned_, forgotten_;
    std::vector<trefoil_request*> all_;
};

}  // namespace trefoil::c_api
