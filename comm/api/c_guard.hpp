// SPDX-License-Identifier: BSD-3-Clause
// What all of the C interface shares: one caller at a time, and every exception turned into a
// status.
#pragma once

#include <atomic>
#include <memory>
#include <new>
#include <optional>

#include "comm/api/c_repeated_call.hpp"
#include "comm/api/c_requests.hpp"
#include "comm/communicator/communicator.hpp"
#include "threads/workers/biased_flag.hpp"
#include "trefoil/trefoil.h"

/// Made and ended by c_handles.hpp. Its memory stays, so that one that was destroyed is known.
struct trefoil_comm {
    std::unique_ptr<trefoil::Communicator> communicator;  ///< null: it was destroyed
    trefoil::BiasedFlag entered;
    int rank = 0, ranks = 0;
    unsigned process = 0;  ///< that it was made in
    std::optional<trefoil::c_api::RequestPool> requests;
    trefoil::c_api::RepeatedCall repeated;
    trefoil::Communicator::FoundPlan barrier;
};

namespace trefoil::c_api {

/// Keeps the error for this thread; returns the status for C.
trefoil_status_t failed(Status status, const char* message, const Blame& blame) noexcept;
const char* last_error() noexcept;

/// Runs `work`; turns what it throws into a status and this thread's last error.
template <typename Work>
trefoil_status_t guarded(Work&& work) noexcept {
    try {
        work();
        return TREFOIL_SUCCESS;
    } catch (...) {
        return tell_exception(failed);
    }
}

[[noreturn]] inline void refuse(const std::string& message) {
    throw Error(Status::invalid_argument, message);
}
inline void require(bool condition, const char* message) {
    if (!condition) {
        refuse(message);
    }
}

/// How a collective is called: to its end, or in pieces, by a request.
struct How {
    bool blocks = true;
    bool is_persistent = false;
    trefoil_request_t* request = nullptr;

    static How nonblocking(trefoil_request_t* request) { return {false, false, request}; }
    static How persistent(trefoil_request_t* request) { return {false, true, request}; }
};

/// The communicator is one.
inline void require_there(trefoil_comm_t comm) {
    require(comm != nullptr, "the communicator is NULL");
    require(comm->communicator != nullptr,
            "this is not a communicator, or it was destroyed (trefoil_comm_destroy)");
}
/// And it is of this process.
inline void require_usable(trefoil_comm_t comm) {
    require_there(comm);
    require(comm->process == this_process_number(),
            "this process was forked; the communicator belongs to its parent");
}

/// Holds the communicator for one call; a second thread is refused, not queued.
class Entry {
  public:
    explicit Entry(trefoil_comm_t comm, const How& how = {})
        : comm_(comm), blocks_(how.blocks), persistent_(how.is_persistent), request_(how.request) {
        if (!how.blocks) {
            require(how.request != nullptr, "the place for the request is NULL");
            *how.request = TREFOIL_REQUEST_NULL;
        }
        require_usable(comm);
        if (comm->entered.take() != BiasedFlag::Taken::yes) {
            throw Error(Status::busy,
                        "another thread is inside this communicator; one call at a time, or one "
                        "communicator per thread");
        }
    }
    ~Entry() { comm_->entered.leave(); }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    /// As it is called: returns when the collective is complete, or when its request is there.
    void run(const Request& request, const void* send, void* recv) const {
        if (blocks_) {
            run(request, send, recv, nullptr);
        } else {
            *request_ = comm_->requests->begin(persistent_, request, send, recv);
        }
    }
    /// To its end.
    void run(const Request& request, const void* send, void* recv,
             Communicator::FoundPlan* found) const {
        comm_->communicator->run(request, send, recv, found);
    }
    bool blocks() const { return blocks_; }
    Communicator& operator*() const { return *comm_->communicator; }
    Communicator* operator->() const { return comm_->communicator.get(); }

  private:
    trefoil_comm_t comm_;
    // Not a How: copied as a whole just after it was written in parts, it is waited for (see
    // Executor::run()).
    bool blocks_, persistent_;
    trefoil_request_t* request_;
};

}  // namespace trefoil::c_api
