// SPDX-License-Identifier: BSD-3-Clause
// The relay: takes frames from one end of each link, and gives them to the other end in time.
#pragma once

#include <string>
#include <vector>

#include "bench/relay/counts.hpp"
#include "bench/relay/frames.hpp"
#include "bench/relay/links.hpp"
#include "bench/relay/packet_socket.hpp"

namespace trefoil::relay {

/// One thread drives it, alone.
class Relay {
  public:
    static constexpr std::size_t most_frames = 16384;  ///< under way at a time; more are lost

    /// Who connects to the Unix socket `report` gets one line of JSON (Counts). Throws Error.
    Relay(Ways ways, const std::string& report);
    ~Relay();
    Relay(const Relay&) = delete;
    Relay& operator=(const Relay&) = delete;

    /// Until `stop`, which a signal handler may set, or until all interfaces are gone. The signals
    /// concerned are blocked but while this waits.
    void run(const volatile int& stop);

  private:
    bool receive();
    void send_due();
    void wait();
    Time sleep_until_due(Time now);
    void answer();
    bool any_interface() const;

    Ways ways_;
    PacketSocket socket_;
    Frames frames_{most_frames};
    Counts counts_;
    std::vector<Slot> leaving_;
    int listener_ = -1;
    std::string report_;
    bool gone_ = false;
    Time budget_ = 0, budgeted_at_ = 0;  ///< of time that may be spent awake
};

}  // namespace trefoil::relay
