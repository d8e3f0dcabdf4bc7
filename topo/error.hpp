// SPDX-License-Identifier: BSD-3-Clause
// The error that set-up code throws; the C boundary turns it into a status and a message.
#pragma once

#include <chrono>
#include <cstdint>
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

/// The evidence against the culprit of an error. The values equal trefoil_evidence_t.
enum class Evidence : std::uint8_t {
    none = 0,         ///< no rank is known to be at fault
    own = 1,          ///< the culprit found it itself: its arguments, memory, files or libraries
    ended = 2,        ///< the culprit's process has ended
    stopped = 3,      ///< the culprit's process is stopped
    left = 4,         ///< the culprit has left: it destroyed its communicator, or disconnected
    unreachable = 5,  ///< messages to the culprit fail
    silent = 6,       ///< nothing comes from the culprit
    disagrees = 7,    ///< the culprit makes another call, or is configured differently
    aborted = 8,      ///< the culprit called trefoil_comm_abort
};

/// Kinds of evidence are counted up without a gap, from 0 to this one.
inline constexpr Evidence last_evidence = Evidence::aborted;

/// Whose fault an error is, as far as it is known. Ranks pass it on as they heard it.
struct Blame {
    using Time = std::chrono::system_clock::time_point;
    static constexpr std::int32_t nobody = -1;

    Blame(std::int32_t whose = nobody, Evidence shown_by = Evidence::none)
        : culprit(whose), evidence(shown_by) {}

    /// The same, where nobody is known to be at fault, or to have found it: that is `rank`.
    Blame or_of(std::int32_t rank) const {
        Blame blame = *this;
        if (culprit == nobody) {
            blame.culprit = rank;
            blame.evidence = Evidence::own;
        }
        blame.finder = finder == nobody ? rank : finder;
        return blame;
    }
    bool operator==(const Blame&) const = default;

    std::int32_t culprit;  ///< a rank, or nobody: it is not known
    Evidence evidence;
    std::int32_t finder = nobody;  ///< the rank that found it; nobody: the one that has this
    Time since{};                  ///< the finder's clock: when it noticed, or the stall began
    bool before = false;           ///< the call failed because an earlier one had
};

/// `what()` says what happened, where, and what to do next.
class Error : public std::runtime_error {
  public:
    Error(Status status, const std::string& message, const Blame& blame = {})
        : std::runtime_error(message), status_(status), blame_(blame) {}
    Status status() const noexcept { return status_; }
    const Blame& blame() const noexcept { return blame_; }

  private:
    Status status_;
    Blame blame_;
};

/// In a handler: what was thrown, whatever it is, as tell(status, text, blame). Does not allocate.
template <typename Tell>
auto tell_exception(Tell&& tell) {
    try {
        throw;
    } catch (const Error& error) {
        return tell(error.status(), error.what(), error.blame());
    } catch (const std::bad_alloc&) {
        return tell(Status::out_of_memory, "out of memory", Blame{});
    } catch (const std::exception& error) {
        return tell(Status::internal, error.what(), Blame{});
    } catch (...) {
        return tell(Status::internal, "an unknown exception; please report this", Blame{});
    }
}

}  // namespace trefoil
