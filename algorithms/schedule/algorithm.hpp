// SPDX-License-Identifier: BSD-3-Clause
// What an algorithm is: name, collective, paper, shapes, traits, options, builder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/link_steps.hpp"
#include "algorithms/schedule/options.hpp"
#include "algorithms/schedule/product_flows.hpp"
#include "algorithms/schedule/schedule.hpp"
#include "algorithms/schedule/schedule_set.hpp"
#include "topo/torus.hpp"

namespace trefoil {

struct CostModel;

enum class CostClass : std::uint8_t {
    latency,   ///< few steps, the whole vector in each: small vectors
    bandwidth  ///< every element sent about twice: large vectors
};

struct Traits {
    CostClass cost_class = CostClass::bandwidth;
    /// All ranks associate each sum alike: results are bitwise identical on all ranks.
    bool identical_results = true;
    /// Reduces in rank order, first (rank 0 op rank 1), then op rank 2, ...: right for operations
    /// that do not commute, and the same bits whatever the shape and the algorithm.
    bool order_preserving = false;
    /// A message travels in one dimension, in the sense of its port even if the other way is as
    /// short. Otherwise the network routes it, and halves of such messages are taken to go each
    /// way.
    bool steered = false;
    /// Every block goes straight to its target, so that nobody else need know its size: runs
    /// alltoallv, and gatherv and scatterv that begin before all ranks know the counts.
    bool vector_variant = false;
    /// A message has one block of a part, and others may go the same way in the same step.
    bool single_blocks = false;
    /// Ranks read each other's memory, so it runs only where all get at all others', and is no
    /// candidate of the cost model.
    bool reads_peers = false;
    /// Of those: what ranks read of each other is an image in shared memory, where its owner copies
    /// it first. So it runs wherever all ranks map each other's shared memory.
    bool by_image = false;
};

/// Which vectors an algorithm is taken for on tori with too many ranks to price all candidates.
enum class Unpriced : std::uint8_t { none, small, large, all };

/// On which tori an algorithm is considered: some are no better than others on whole ones, or, of
/// those, only on up to 256 nodes whose sizes differ.
enum class Tori : std::uint8_t { all, unequal, not_whole };

/// What the automatic choice needs to know of an algorithm beside its traits and its cost.
struct Selection {
    /// It is considered on tori of up to so many ranks; 0: it runs only when it is named.
    Rank most_ranks = std::numeric_limits<Rank>::max();
    /// Every rank stores the contributions of all to what it gets and reduces them itself, which
    /// the cost model does not price: it is for short vectors.
    bool gathers_contributions = false;
    /// An allreduce whose ranks store what they are sent, as above, but by sums of several ranks.
    bool stores_sums = false;
    /// A rank sends to all others at once. It is not considered where the model says that ranks
    /// share cores and a message costs more than a wait, as over TCP: such a burst takes twice the
    /// time there that the model foretells.
    bool bursts = false;
    /// It is considered for vectors of up to so many bytes.
    std::size_t most_bytes = std::numeric_limits<std::size_t>::max();
    Tori tori = Tori::all;
    Unpriced unpriced = Unpriced::none;

    bool only_by_name_on(const Torus& torus) const;
};

/// Whose schedules tell what those of all ranks cost. The links: steps, hops, loads, and how many
/// messages leave through one port in a step; not what keeps the ranks' processors busy.
enum class Witnesses : std::uint8_t {
    alike,  ///< one rank of each class (Algorithm::alike)
    /// The ranks on the axes through rank 0, of classes: every message travels in one dimension,
    /// and what a rank sends and receives in it depends on its coordinate there alone.
    axes,
    /// Rank 0 tells of the links: no step loads any more than those at rank 0; where it does
    /// nothing others' messages are as its largest ones, for Algorithm::least_steps steps in all.
    root_of_links,
    /// Nobody: Algorithm::flows tells of the links, also of nodes of several ranks ...
    flows,
    /// ... or Algorithm::link_steps does.
    formula
};

struct Algorithm {
    std::string_view name;  ///< kebab-case, as users type it
    Collective collective = Collective::allreduce;
    std::string_view summary;  ///< one line for --help
    std::string_view paper;    ///< source, with section or equation
    std::string_view shapes;   ///< "every torus", "power-of-two dimensions", ...
    Traits traits = {};
    Abilities abilities = {};
    Selection selection = {};
    /// Empty when the algorithm runs on this torus, else the reason why not.
    std::string (*shape_refusal)(const Torus&) = nullptr;
    /// The schedule of one rank. Only called when refusal() is empty. Thread-safe.
    Schedule (*builder)(const Torus&, Rank, const BuildOptions&) = nullptr;
    /// Upper bound, the same on every rank, of what one rank receives from one peer through one
    /// port in the whole schedule, in vectors. The runtime sizes landing zones and segments by it.
    double (*landing_vectors)(const Torus&, const BuildOptions&) = nullptr;
    /// Where each block belongs to one rank: the rank whose block each position of a part is (a
    /// part has as many vector blocks as the torus has ranks). Null: position b is block b. It is
    /// the same on all ranks and therefore not in the schedule.
    std::vector<Rank> (*owners)(const Torus&, const BuildOptions&, int part) = nullptr;
    /// Pipelined algorithms only: the BuildOptions::pieces that are fastest for a vector of so many
    /// bytes under the model, which runs in so many segments, one after the other. Pure. Null: not
    /// pipelined.
    Block (*best_pieces)(const Torus&, const CostModel&, double vector_bytes,
                         Block segments) = nullptr;
    /// Translations of the torus that no schedule without options notices; a rank t stands for the
    /// one that carries rank 0 to t. A rank and the rank to which it is carried send, in each step
    /// of each part and in the same order, through the same ports, as many blocks, to peers that
    /// are carried over too, and receive as many messages. Which blocks these are may differ. What
    /// can be put together from them is meant as well. Null: none is known.
    std::vector<Rank> (*alike)(const Torus&) = nullptr;
    /// Who tells of all others' schedules without options. Null: one of those that are alike.
    Witnesses (*witnesses)(const Torus&) = nullptr;
    /// Without options: all messages, where they are those of rings. Null: schedules tell.
    ProductFlows (*flows)(const Torus&) = nullptr;
    /// Without options, on tori without lines: what all ranks do to links, and what they gather,
    /// where each is a node. Where others are the witnesses, they may gather more. Null: schedules
    /// tell.
    LinkSteps (*link_steps)(const Torus&) = nullptr;
    /// They are told of nodes of several ranks, too.
    bool links_of_nodes = false;
    /// Not more steps than there are where each rank is a node; of pipelines with one piece. For
    /// those with so many that they need not be built to see that they are slow. Null: none.
    int (*least_steps)(const Torus&) = nullptr;
    /// In the same case, not more than the sum of the steps' longest ways. Null: a hop a step.
    std::int64_t (*least_hops)(const Torus&) = nullptr;
    /// In the same case, not more than the sum of the steps' largest link loads; where all messages
    /// leave at once, than that of the busiest link. Null: 0.
    double (*least_load)(const Torus&) = nullptr;
    /// Nobody sends who has sent or received before, unless by node: steps only tell in which order
    /// messages are taken in.
    bool sends_at_once = false;
    /// Schedules that were brought rather than built, in place of all functions above; it outlives
    /// this. Null: the algorithm is one of the registry's.
    const ScheduleSet* set = nullptr;

    /// Empty when the algorithm runs on this torus with these options, else the reason why not.
    std::string refusal(const Torus& torus, const BuildOptions& options = {}) const;
    /// builder(), whatever the schedules come from; so are the functions after it.
    Schedule build(const Torus& torus, Rank rank, const BuildOptions& options = {}) const;
    double landing(const Torus& torus, const BuildOptions& options) const;
    /// With null spelt out.
    std::vector<Rank> block_owners(const Torus& torus, const BuildOptions& options, int part) const;
    /// A pipeline whose last piece comes back to where it began (PipelineCut::returns).
    bool returns() const { return best_pieces != nullptr && collective == Collective::allreduce; }
    /// best_pieces(); 0: it is not pipelined.
    Block pieces(const Torus& torus, const BuildOptions& options, const CostModel& model,
                 double vector_bytes, Block segments = 1) const;
    /// alike(), or none: where it knows none, or options beside the root and by_node are asked for.
    std::vector<Rank> alike_ranks(const Torus& torus, const BuildOptions& options = {}) const;
    /// What holds of its schedules with these options.
    Traits traits_with(const BuildOptions& options) const;
};

}  // namespace trefoil
