// SPDX-License-Identifier: BSD-3-Clause
// The error that set-up code throws; the C boundary turns it into a status and a message.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace trefoil {

/// What went wrong, in the classes a caller can act on. The values equal trefoil_status_t.
enum class Status {
    success = 0,
    invalid_argument = 1,  ///< an argument is wrong; nothing was moved
    unsupported = 2,       ///< correct, but this algorithm, shape, type or backend cannot do it
    not_found = 3,         ///< a named thing (algorithm, backend, provider, NIC) does not exist
    mismatch = 4,          ///< ranks disagree about the call or the configuration
    timeout = 5,           ///< a peer or a service did not answer before the deadline
    peer_lost = 6,         ///< a peer died, left or reported an error; the communicator has failed
    busy = 7,              ///< another thread is inside this communicator
    out_of_memory = 8,
    system_error = 9,  ///< the operating system or a network library failed
    internal = 10,     ///< a defect of Trefoil; please report it
    aborted = 11,      ///< a rank has ended the communicator (trefoil_comm_abort)
};

/// Statuses are counted up without a gap, from 1 to this one.
inline constexpr Status last_status = Status::aborted;

/// `what()` says what happened, where, and what to do next.
class Error : public std::runtime_error {
  public:
    Error(Status status, const std::string& message)
        : std::runtime_error(message), status_(status) {}
    Status status() const noexcept { return status_; }

  private:
    Status status_;
};

/// In a handler: what was thrown, whatever it is, as tell(status, text). Does not allocate.
template <typename Tell>
auto tell_exception(Tell&& tell) {
    try {
        throw;
    } catch (const Error& error) {
        return tell(error.status(), error.what());
    } catch (const std::bad_alloc&) {
        return tell(Status::out_of_memory, "out of memory");
    } catch (const std::exception& error) {
        return tell(Status::internal, error.what());
    } catch (...) {
        return tell(Status::internal, "an unknown exception; please report this");
    }
}

}  // namespace trefoil
