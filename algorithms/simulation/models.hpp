// SPDX-License-Identifier: BSD-3-Clause
// The two timing models of the simulator.
#pragma once

#include "algorithms/simulation/network.hpp"
#include "algorithms/simulation/traffic.hpp"

namespace trefoil {

/// What a message costs beside its bytes.
struct MessageCosts {
    double alpha = 1.5e-6;  ///< seconds, start-up of each message; of a step in the step model
    double hop = 200e-9;    ///< seconds per link that it crosses
};

/// How ranks go on.
struct FlowOptions {
    /// A rank opens step s+1 of all parts together, when step s of all of them is complete.
    bool step_sync = false;
};

/// A barrier after every step: the sum, over the steps in which anybody sends, of alpha + hop *
/// (most links of a message) + (most bytes that cross a link) / rate. Seconds.
double step_time(const Network& network, const Traffic& traffic, double vector_bytes,
                 const MessageCosts& costs);

/// Event by event. A rank opens step 0 of all parts at 0, and step s+1 of a part when all receives
/// of step s of that part have arrived; its own sends do not hold it up. A step that opens at t
/// posts all its messages; each begins to flow at t + alpha + hop * links. Messages share links
/// fairly (max-min), whichever way of theirs is concerned; rates change whenever a message begins
/// or ends. It has arrived when the last byte of its last way has. Seconds until the last rank is
/// done.
double flow_time(const Network& network, const Traffic& traffic, double vector_bytes,
                 const MessageCosts& costs, const FlowOptions& options = {});

/// What a barrier at the end adds: up a binary tree of the ranks (the parent of r is (r - 1) / 2)
/// and down again, `message` seconds and `hop` per link for each edge.
double closing_barrier_time(const Network& network, double message, double hop);

}  // namespace trefoil
