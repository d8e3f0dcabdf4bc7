// SPDX-License-Identifier: BSD-3-Clause
// What a rank's calls in flight wait for, as data.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

/// What a call waits for. Ranks and ports are the communicator's.
struct Missing {
    enum class Kind : std::uint8_t {
        message,     ///< that the peer is to send in this step
        room,        ///< the peer has not taken in what came before, or has not started the call
        connection,  ///< the peer has not connected to this port
        word         ///< what the peer, or one behind it, is to say of a communicator that is made
    };
    Kind kind = Kind::message;
    Rank peer = 0;
    Port port;
    int part = 0, step = 0;  ///< of the schedule
    std::size_t bytes = 0;   ///< of the message that is to come, or that is to be put
};
/// "step 1 of part 0 from rank 3 through port +0".
std::string text_of(const Missing& missing);

struct CallReport {
    std::uint64_t number = 0;     ///< among the communicator's calls
    std::uint64_t signature = 0;  ///< equal on all ranks that make the same call
    std::string text;
    std::size_t segments = 0, started = 0;  ///< no segments: a communicator is made
    std::vector<Missing> missing;           ///< by its segments that have started
    bool by_some = false;                   ///< of the ranks, which are in no call together
};

struct ExecutorReport {
    std::vector<CallReport> calls;  ///< in flight, the oldest first
    /// Since a call has gone on, as far as somebody waits; negative: nobody does, or it goes on.
    std::chrono::milliseconds idle{-1};
};

}  // namespace trefoil
