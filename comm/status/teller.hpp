// SPDX-License-Identifier: BSD-3-Clause
// The thread that says what a rank is doing, when a signal or somebody at a socket asks.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "backend/bootstrap/store_socket.hpp"
#include "comm/status/caught_signal.hpp"
#include "comm/status/report.hpp"
#include "topo/log/log.hpp"

namespace trefoil {

/// "SIGUSR1", "USR1" or "10". Throws Error(invalid_argument).
int signal_named(const std::string& name);

/// Runs until it is destroyed. Takes processor time only when somebody asks, and a look at the
/// clock five times a second.
class Teller {
  public:
    struct Options {
        int signal = 0;        ///< writes the report to the log; 0: none does
        bool listens = false;  ///< at a socket
        bool to_all_hosts = false;
        std::string host;  ///< this one's name, for the others
        std::string key;   ///< who asks must know it
    };
    /// `report` is called by this thread. Throws Error(system_error) where there is no socket, no
    /// thread, or another handler for the signal.
    Teller(Options options, std::function<RankReport()> report, std::shared_ptr<const Log> log);
    ~Teller();
    Teller(const Teller&) = delete;
    Teller& operator=(const Teller&) = delete;

    /// "127.0.0.1:40123/KEY": for `trefoil info --job`. "": it does not listen.
    const std::string& address() const { return address_; }

  private:
    void run() noexcept;
    void answer() noexcept;

    Options options_;
    std::function<RankReport()> report_;
    std::shared_ptr<const Log> log_;
    Descriptor socket_;
    std::string address_;
    CaughtSignal signal_;
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

}  // namespace trefoil
