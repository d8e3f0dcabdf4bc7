// SPDX-License-Identifier: BSD-3-Clause
// The cost summary of an algorithm on a torus, and the time model over it. Units: the per-rank
// vector. On nodes of several ranks, links are those of the nodes, which their ranks share.
#pragma once

#include <list>
#include <vector>

#include "algorithms/schedule/algorithm.hpp"
#include "topo/symmetry.hpp"

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
    int max_sends_per_port_per_step = 0;  ///< over ranks, ports and steps; parts summed
    int max_extents_per_message = 0;
    /// What keeps processors busy, as means over the ranks: messages and vectors that a rank sends,
    /// and steps in which it waits for messages to arrive.
    double messages = 0, sent = 0, waits = 0;
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
    /// Messages without data that a rank sends when it has taken in a segment's messages: mean over
    /// the ranks, and the most. They are not in the other figures, and nobody waits for them in the
    /// call that they belong to, so the model leaves them out.
    double acknowledgements = 0;
    int acknowledgements_max = 0;
};

/// Builds one rank's schedule after the other; memory does not grow with ranks x schedule.
CostSummary summarize(const Torus& torus, const Algorithm& algorithm,
                      const BuildOptions& options = {});

/// The same for the model, for one algorithm of a torus after the other, from the schedule of one
/// rank of those that an algorithm calls alike. Which ranks are alike is found once for each set of
/// translations; on large tori that takes longer than the schedules. Not thread-safe.
class ModelSummaries {
  public:
    /// `torus` outlives it.
    explicit ModelSummaries(const Torus& torus) : torus_(torus), nodes_(torus.nodes()) {}

    /// max_extents_per_message is that of the ranks whose schedules are built. A message goes the
    /// way of its port, whatever Traits::steered says: where each port is a NIC with a link of its
    /// own, as on the machines that Trefoil chooses for, nobody shares it out to both ways round.
    CostSummary of(const Algorithm& algorithm, const BuildOptions& options = {});
    /// Of how many ranks it builds the schedules for that.
    Rank schedules(const Algorithm& algorithm, const BuildOptions& options = {});

  private:
    struct Alike {
        std::vector<Rank> translations;  ///< generators
        Symmetry symmetry;
    };
    static const Symmetry& find(std::list<Alike>& all, const Torus& of,
                                std::vector<Rank> translations);

    const Torus& torus_;
    Torus nodes_;
    std::list<Alike> of_ranks_, of_nodes_;  ///< what was found stays where it is
};

/// A time by the model, term by term, in seconds.
struct CostTerms {
    double steps = 0, hops = 0, links = 0;
    double waits = 0, messages = 0, bytes = 0;
    double copies = 0, pulls = 0, inside = 0;
    double sum() const {
        return steps + hops + links + waits + messages + bytes + copies + pulls + inside;
    }
};

/// T = sum over steps of (alpha + hops*tau + load*bytes*beta)
///     + waits*wait + messages*message + messages_per_rank*busiest + sent*bytes*byte
///     + packed*bytes*copy + pulled*bytes*pull
///     + steps_inside*inside_step + messages_inside*inside_message + inside*bytes*inside_byte,
/// in seconds.
/// The second line is for ranks that share cores: what their processors do, one after the other.
/// With a core for each rank it is part of alpha and beta; but in memory, where processors move
/// what NICs would, the rank that sends most may take longer than its steps (busiest).
struct CostModel {
    double alpha = 1.5e-6;        ///< per step
    double tau = 200e-9;          ///< per hop
    double beta = 8.0 / 800e9;    ///< per byte on one link
    double wait = 0;              ///< per CostSummary::waits
    double message = 0;           ///< per CostSummary::messages
    double busiest = 0;           ///< per CostSummary::messages_per_rank
    double byte = 0;              ///< per byte that a rank sends, on average
    double copy = 0;              ///< per byte of CostSummary::packed
    double pull = 0;              ///< per byte of CostSummary::pulled
    double inside_step = 0.3e-6;  ///< per CostSummary::steps_inside
    double inside_message = 0;    ///< per CostSummary::messages_inside
    double inside_byte = 0.2e-9;  ///< per byte of CostSummary::inside: into memory, and out again
    CostTerms terms(const CostSummary& cost, double vector_bytes) const;
    double time(const CostSummary& cost, double vector_bytes) const {
        return terms(cost, vector_bytes).sum();
    }
};

}  // namespace trefoil
