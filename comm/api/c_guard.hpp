// SPDX-License-Identifier: BSD-3-Clause
// What all of the C interface shares: one caller at a time, and every exception turned into a
// status.
#pragma once

#include <atomic>
#include <memory>
#include <new>

#include "comm/communicator/communicator.hpp"
#include "trefoil/trefoil.h"

struct trefoil_comm {
    std::unique_ptr<trefoil::Communicator> communicator;
    std::atomic_flag entered = ATOMIC_FLAG_INIT;
    int rank = 0, ranks = 0;
};

namespace trefoil::c_api {

/// Keeps the message for this thread; returns the status for C.
trefoil_status_t failed(Status status, const char* message) noexcept;
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

/// Holds the communicator for one call; a second thread is refused, not queued.
class Entry {
  public:
    explicit Entry(trefoil_comm_t comm) : comm_(comm) {
        require(comm != nullptr, "the communicator is NULL");
        if (comm->entered.test_and_set(std::memory_order_acquire)) {
            throw Error(Status::busy,
                        "another thread is inside this communicator; one call at a time, or one "
                        "communicator per thread");
        }
    }
    ~Entry() { comm_->entered.clear(std::memory_order_release); }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    Communicator& operator*() const { return *comm_->communicator; }
    Communicator* operator->() const { return comm_->communicator.get(); }

  private:
    trefoil_comm_t comm_;
};

}  // namespace trefoil::c_api
