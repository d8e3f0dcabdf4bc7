// SPDX-License-Identifier: BSD-3-Clause
// What a schedule costs in figures that the length of the vector and the machine do not change.
#pragma once

#include <vector>

namespace trefoil {

struct CostSummary {
    int parts = 0;
    int steps = 0;  ///< steps in which any rank sends; all parts run concurrently, step by step
    double bytes_sent_max = 0, bytes_sent_min = 0, bytes_sent_total = 0;  ///< over ranks
    /// Per step: the largest load of a directed link (parts summed), minimal dimension-ordered
    /// routes, ties half/half, or as the port says (Traits::steered); and the longest route in
    /// hops.
    std::vector<double> step_max_link_load;
    std::vector<int> step_max_hops;
    double sum_link_load = 0;
    long sum_hops = 0;
    /// Where all messages leave at once (Algorithm::sends_at_once), what the figures above have in
    /// excess: the steps after the first one, the hops of all but the longest route, and the load
    /// by which the sum exceeds that of the busiest link in all.
    int steps_at_once = 0;
    long hops_at_once = 0;
    double load_at_once = 0;
    int max_sends_per_port_per_step = 0;  ///< over ranks, ports and steps; parts summed
    int max_extents_per_message = 0;
    /// What keeps processors busy, as means over the ranks: messages and vectors that a rank sends,
    /// steps in which it waits for messages to arrive (of a rooted collective where it waits for
    /// ranks that wait for it: those of each part), and hops of its messages beyond the first of
    /// each, where another node forwards them.
    double messages = 0, sent = 0, waits = 0, forwards = 0;
    /// Of alltoall, in blocks: sums over the steps of the largest link load, of the largest message
    /// and of the most that one rank sends; the most that a rank holds after any step, its own
    /// blocks that have not left and those that have arrived among them; messages of the rank that
    /// sends most, of any collective. What a rank sends to itself counts nowhere.
    double block_times = 0, msg_block_times = 0, rank_block_times = 0, peak_blocks_held = 0;
    int messages_per_rank = 0;
    /// Of alltoall: vectors that a rank gathers from several places before it sends them, mean over
    /// the ranks. Forwarding blocks costs that; in other collectives it is little.
    double packed = 0;
    /// Vectors that a rank reads straight from its peers' memory: mean over the ranks, and the
    /// most.
    double pulled = 0, pulled_max = 0;
    /// On nodes of several ranks, through memory: vectors and messages that a rank sends to ranks
    /// of its node, means over the ranks, and steps in which nobody sends anything else. They are
    /// in no figure above but parts, waits, extents and what is gathered, and in no list.
    double inside = 0, messages_inside = 0;
    int steps_inside = 0;
    /// Of the rank that sends or receives most in a step, summed over those steps and over all
    /// others.
    double inside_alone = 0, inside_beside_links = 0;
    /// What the busiest link carries in all steps together: ranks of a node may use it one after
    /// the other. 0: not told.
    double busiest_link = 0;
    /// Links are busy all along: all messages leave at once, or pieces follow one another, or each
    /// rank has something for all others (alltoall).
    bool steady = false;
    /// Messages without data that a rank sends when it has taken in a segment's messages: mean over
    /// the ranks, and the most. They are not in the other figures, and nobody waits for them in the
    /// call that they belong to, so the model leaves them out.
    double acknowledgements = 0;
    int acknowledgements_max = 0;
    /// The figures are bounds from below: not all ranks were asked.
    bool at_least = false;
    /// Steps, hops, loads, messages per port and step, and what is gathered are told, and no other
    /// figure.
    bool links_only = false;
};

}  // namespace trefoil
