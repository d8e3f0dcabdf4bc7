// SPDX-License-Identifier: BSD-3-Clause
// The one handler that Trefoil installs, and its end.
#include "comm/status/caught_signal.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "topo/error.hpp"

namespace trefoil {

namespace {

/// All ranks of this process count those that have come, whichever it was.
std::atomic<unsigned> signals_come{0};
static_assert(std::atomic<unsigned>::is_always_lock_free, "a signal handler counts");

void count_signal(int) {
    signals_come.fetch_add(1, std::memory_order_relaxed);
}

constinit std::mutex users_mutex;            // guards users_of
constinit std::array<int, NSIG> users_of{};  // by signal

/// Leaves alone what the program or another library has set.
void begin_to_catch(int number) {
    struct sigaction now = {};
    struct sigaction ours = {};
    ours.sa_handler = count_signal;
    ours.sa_flags = SA_RESTART;
    const bool known = sigaction(number, nullptr, &now) == 0;
    if (known && ((now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != SIG_DFL)) {
        throw Error(Status::system_error, "TREFOIL_DUMP: the program handles signal " +
                                              std::to_string(number) + " itself; choose another");
    }
    if (!known || sigaction(number, &ours, nullptr) != 0) {
        throw Error(Status::system_error, "TREFOIL_DUMP: signal " + std::to_string(number) +
                                              " cannot be caught: " + std::strerror(errno));
    }
}

/// Unless the program has set another handler meanwhile.
void end_catching(int number) {
    struct sigaction now = {};
    struct sigaction usual = {};
    usual.sa_handler = SIG_DFL;
    if (sigaction(number, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
        now.sa_handler == count_signal) {
        sigaction(number, &usual, nullptr);
    }
}

}  // namespace

CaughtSignal::CaughtSignal(int number)
    : number_(number), seen_(signals_come.load(std::memory_order_relaxed)) {
    const std::scoped_lock lock(users_mutex);
    int& users = users_of.at(static_cast<std::size_t>(number));
    if (number != 0 && users == 0) {
        begin_to_catch(number);
    }
    ++users;
}

CaughtSignal::~CaughtSignal() {
    const std::scoped_lock lock(users_mutex);
    if (--users_of[static_cast<std::size_t>(number_)] == 0 && number_ != 0) {
        end_catching(number_);
    }
}

bool CaughtSignal::has_come() noexcept {
    const unsigned come = signals_come.load(std::memory_order_relaxed);
    return number_ != 0 && std::exchange(seen_, come) != come;
}

}  // namespace trefoil
