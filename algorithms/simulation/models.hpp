// SPDX-License-Identifier: BSD-3-Clause
// The two timing models of the simulator.
#pragma once

#include <cstddef>
#include <cstdint>

#include "algorithms/simulation/network.hpp"
#include "algorithms/simulation/traffic.hpp"

namespace trefoil {

/// What a message costs beside its bytes' way through the network.
struct MessageCosts {
    double alpha = 1.5e-6;  ///< seconds, start-up of each message; of a step in the step model
    double hop = 200e-9;    ///< seconds per link that it crosses
    /// Bytes per second that a rank copies, and that it reduces; 0: it takes no time. Counted are
    /// what a rank moves before its messages leave, what it gathers from several places for a
    /// message, and what it does with the messages that have arrived. Traffic then has work.
    double copy_rate = 0, reduce_rate = 0;

    bool has_work() const { return copy_rate > 0 || reduce_rate > 0; }
    double copying(double bytes) const { return copy_rate > 0 ? bytes / copy_rate : 0; }
    double reducing(double bytes) const { return reduce_rate > 0 ? bytes / reduce_rate : 0; }
};

/// How ranks go on in the flow model.
struct FlowOptions {
    /// A rank opens step s+1 of all parts together, when step s of all of them is complete.
    bool step_sync = false;
    /// So many messages of a rank may be under way through one port; the next one starts up when
    /// the last byte of one of them has arrived. In the order in which they were posted; 0: any.
    int per_port = 0;
    /// Seconds: so far apart a rank's messages through one port start up, in the order in which
    /// they were posted, and so far apart are those counted that it has received through one port
    /// (the g of LogGP); none through the memory of a node. Without per_port.
    double gap = 0;
    /// A step is complete when the messages that the rank sends in it have arrived, too: the
    /// library goes on when its puts are complete.
    bool sends_complete = false;
    /// Seconds: each message starts up later by a random time below this, the same for a seed.
    double jitter = 0;
    std::uint64_t seed = 1;

    /// Ranks that a symmetry carries over into each other fare alike.
    bool keeps_symmetry() const { return jitter <= 0; }
};

/// Who is told what happens in a run of the flow model, as it happens.
class FlowObserver {
  public:
    virtual ~FlowObserver() = default;
    /// The message of this number (Traffic::first_message) flowed from `begin` to `end`.
    virtual void arrived(std::uint64_t number, double begin, double end) = 0;
    /// The step of this place (Traffic::place) is complete.
    virtual void completed(std::size_t place, double time) = 0;
    /// So many bytes of a message crossed a link between two times, evenly.
    virtual void carried(std::int64_t link, double from, double to, double bytes) = 0;
};

/// A barrier after every step: the sum, over the steps in which anybody sends or works, of
/// the longest delay of a message (Ways::delay) + the longest time of a link (bytes that cross it
/// by its rate) + the longest work of a rank. Seconds. `network` is folded by the symmetry of
/// `traffic`.
double step_time(const Network& network, const Traffic& traffic, double vector_bytes,
                 const MessageCosts& costs);

/// Event by event. A rank opens step 0 of all parts at 0, and step s+1 of a part when all receives
/// of step s of that part have arrived; its own sends do not hold it up. A step that opens at t
/// posts all its messages; each begins to flow after its delay (Ways::delay). Messages share links
/// fairly (max-min), whichever way of theirs is concerned; rates change whenever a message begins
/// or ends. It has arrived when the last byte of its last way has. Seconds until the last rank is
/// done.
///
/// With work, a rank does one thing after the other, in the order in which they can be done: the
/// moves of a step when it opens, then the gathering for each message, which is posted after that;
/// when all messages of a step have arrived, what they are for, after which the step is complete.
///
/// `network` is folded by the symmetry of `traffic`, which is trivial unless
/// options.keeps_symmetry(). `observer`: null, or who is told; with a trivial symmetry alone.
double flow_time(const Network& network, const Traffic& traffic, double vector_bytes,
                 const MessageCosts& costs, const FlowOptions& options = {},
                 FlowObserver* observer = nullptr);

/// What a barrier at the end adds: up a binary tree of the ranks (the parent of r is (r - 1) / 2)
/// and down again, `message` seconds and `hop` per link for each edge.
double closing_barrier_time(const Network& network, double message, double hop);

}  // namespace trefoil
