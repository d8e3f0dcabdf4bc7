// SPDX-License-Identifier: BSD-3-Clause
// Starting a thread of the library's own.
#pragma once

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "topo/error.hpp"
#include "topo/no_signals.hpp"

namespace trefoil {

/// The system refuses a thread: its text says why, and what to do.
class NoThread : public Error {
  public:
    using Error::Error;
};

/// Starts a std::thread, or a std::jthread, that gets none of the program's signals. Throws
/// NoThread(system_error).
template <typename Thread = std::thread, typename Work>
Thread start_thread(Work&& work) {
    const NoSignals blocked;
    try {
        return Thread(std::forward<Work>(work));
    } catch (const std::system_error& error) {
        throw NoThread(Status::system_error,
                       std::string("the system refuses another thread: ") + error.what() +
                           "; raise the limit of processes (ulimit -u), or use fewer port threads");
    }
}

}  // namespace trefoil
