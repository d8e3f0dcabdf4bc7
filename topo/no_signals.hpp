// SPDX-License-Identifier: BSD-3-Clause
// Threads of the library's own: the program's signals are for the program's threads.
#pragma once

#include <signal.h>

#include <initializer_list>

namespace trefoil {

/// While it lives this thread gets no signals, and neither do threads that are started meanwhile.
/// Those that tell of a thread's own faults stay as they are: a user's operation may run in it, and
/// the program may handle its faults.
class NoSignals {
  public:
    NoSignals() noexcept {
        sigset_t all;
        sigfillset(&all);
        for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) {
            sigdelset(&all, fault);
        }
        pthread_sigmask(SIG_BLOCK, &all, &before_);
    }
    ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    NoSignals(const NoSignals&) = delete;
    NoSignals& operator=(const NoSignals&) = delete;

  private:
    sigset_t before_;
};

}  // namespace trefoil
