// SPDX-License-Identifier: BSD-3-Clause
// The cost summary of an algorithm on a torus, and the time model over it. Units: the per-rank
// vector. On nodes of several ranks, links are those of the nodes, which their ranks share.
#pragma once

#include <list>
#include <memory>
#include <vector>

#include "algorithms/analysis/cost_summary.hpp"
#include "algorithms/schedule/algorithm.hpp"
#include "topo/symmetry.hpp"

namespace trefoil {

/// Builds one rank's schedule after the other; memory does not grow with ranks x schedule.
CostSummary summarize(const Torus& torus, const Algorithm& algorithm,
                      const BuildOptions& options = {});

/// A bound from below of steps, hops and loads without options, where each rank is a node: what the
/// algorithm tells, and of any alltoall by messages that blocks get to the farthest ranks, and what
/// crosses the links of a dimension, if all of them carried alike. Else zeros.
CostSummary least_by_formula(const Algorithm& algorithm, const Torus& torus);

/// The same for the model, for one algorithm of a torus after the other, from the schedule of
/// one rank of those that an algorithm calls alike. Which ranks are alike is found once for
/// each set of translations; on large tori that takes longer than the schedules. Not
/// thread-safe.
class ModelSummaries {
  public:
    /// `links`: what keeps processors busy (the means over ranks, and messages of the busiest
    /// one) is not asked for and may be missing, which makes rooted collectives cheap to sum
    /// up.
    enum class Figures : std::uint8_t { all, links };
    /// `torus` outlives it.
    explicit ModelSummaries(const Torus& torus, Figures figures = Figures::all)
        : torus_(torus), nodes_(torus.nodes()), figures_(figures) {}

    /// max_extents_per_message is that of the ranks whose schedules are built. A message goes
    /// the way of its port, whatever Traits::steered says: where each port is a NIC with a link
    /// of its own, as on the machines that Trefoil chooses for, nobody shares it out to both
    /// ways round.
    CostSummary of(const Algorithm& algorithm, const BuildOptions& options = {});
    /// A bound from below, from formulas or from rank 0's schedule alone: no price of it is above
    /// that of of().
    CostSummary least(const Algorithm& algorithm, const BuildOptions& options = {});
    /// Of how many ranks of() builds the schedules.
    std::int64_t schedules(const Algorithm& algorithm, const BuildOptions& options = {});
    /// of() takes no longer than least() would.
    bool needs_no_bound(const Algorithm& algorithm, const BuildOptions& options = {});
    /// Those schedules are looked at along one dimension each, which is little work.
    bool goes_by_axes(const Algorithm& algorithm, const BuildOptions& options = {}) {
        if (ModelSummaries* const between = between_nodes(options)) {
            return between->goes_by_axes(algorithm, {.pieces = options.pieces});
        }
        return witnesses_of(algorithm, options) != Witnesses::alike;
    }

  private:
    struct Alike {
        std::vector<Rank> translations;  ///< generators
        Symmetry symmetry;
    };
    static const Symmetry& find(std::list<Alike>& all, const Torus& of,
                                const std::vector<Rank>& translations);

    CostSummary summed(const Algorithm& algorithm, const BuildOptions& options);
    CostSummary bound(const Algorithm& algorithm, const BuildOptions& options);
    /// Who tells of the algorithm between nodes, which tells of that by node; null: nobody.
    ModelSummaries* between_nodes(const BuildOptions& options);
    Witnesses witnesses_of(const Algorithm& algorithm, const BuildOptions& options) const;

    std::int64_t schedules_by(Witnesses told, const Algorithm& algorithm,
                              const BuildOptions& options) const;

    const Torus& torus_;
    Torus nodes_;
    Figures figures_;
    std::unique_ptr<ModelSummaries> between_nodes_;
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
///     - steps_at_once*alpha - hops_at_once*tau - load_at_once*bytes*beta
///     + waits*wait + messages*message + forwards*forward + messages_per_rank*busiest
///     + sent*bytes*byte + packed*bytes*copy + pulled*bytes*pull
///     + steps_inside*inside_step + messages_inside*inside_message + inside(),
/// in seconds.
/// The terms by wait, message, forward and byte are for ranks that share cores: what their
/// processors do, one after the other. With a core for each rank it is part of alpha and beta; but
/// in memory, where processors move what NICs would, the rank that sends most may take longer than
/// its steps (busiest).
struct CostModel {
    double alpha = 1.5e-6;      ///< per step
    double tau = 200e-9;        ///< per hop
    double beta = 8.0 / 800e9;  ///< per byte on one link
    double wait = 0;            ///< per CostSummary::waits
    double message = 0;         ///< per CostSummary::messages
    double forward = 0;         ///< per CostSummary::forwards, of nodes that forward by processors
    double busiest = 0;         ///< per CostSummary::messages_per_rank
    double byte = 0;            ///< per byte that a rank sends, on average
    double copy = 0;            ///< per byte of CostSummary::packed
    double pull = 0;            ///< per byte of CostSummary::pulled
    double reduce = 0;          ///< per byte that a rank reduces (comm/plan/select.hpp)
    double inside_step = 0.3e-6;  ///< per CostSummary::steps_inside
    double inside_message = 0;    ///< per CostSummary::messages_inside
    double inside_byte = 0.2e-9;  ///< per byte of CostSummary::inside: into memory, and out again
    /// Links alone decide: no processor's time is counted.
    bool counts_links_only() const {
        return wait == 0 && message == 0 && forward == 0 && busiest == 0 && byte == 0 &&
               reduce == 0;
    }
    CostTerms terms(const CostSummary& cost, double vector_bytes) const;
    /// What moving bytes inside nodes takes. Beside links that are busy all along it takes time
    /// only where it is longer; elsewhere parts that are ahead for it meet others at the links, and
    /// nothing is won. Processors that share cores do all they have to do one after the other.
    double inside(const CostSummary& cost, double vector_bytes) const;
    double time(const CostSummary& cost, double vector_bytes) const {
        return terms(cost, vector_bytes).sum();
    }
};

}  // namespace trefoil
