// SPDX-License-Identifier: BSD-3-Clause
// How a cost summary is made: rank by rank, or axis by axis.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "algorithms/analysis/cost_summary.hpp"
#include "algorithms/analysis/link_loads.hpp"
#include "algorithms/schedule/collective.hpp"
#include "algorithms/schedule/schedule.hpp"
#include "topo/symmetry.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// Sums up schedules of ranks that all others are like; or, where messages travel along one
/// dimension at a time and lines of a dimension are alike, the summaries of one line of each.
class Summary {
  public:
    /// The symmetries outlive it: that of the ranks, whose first ones the schedules are of, and
    /// that of the nodes.
    Summary(const Torus& torus, Collective collective, bool steered, const Symmetry& symmetry,
            const Symmetry& of_nodes)
        : torus_(torus),
          nodes_(torus.nodes()),
          symmetry_(symmetry),
          row_(traits_of(collective)),
          exchange_(row_.blocks_both_ways() && !row_.with_neighbours()),
          steered_(steered),
          places_(nodes_, of_nodes),
          sends_through_(torus.ports()) {}

    /// What rank 0 does comes first.
    void add(const Schedule& schedule);
    /// As a bound from below: what comes to the rank, which its senders' schedules would tell.
    void add_received(const Schedule& schedule);
    /// Others go on as in the step with the largest load, up to `steps` in all.
    void go_on(int steps);
    /// What the ranks of a line do, along the line; all lines of that dimension do the same, and
    /// whatever a rank does in one dimension it does for all its coordinates in others.
    void add_line(Summary&& line);
    CostSummary finish();

  private:
    /// A message of one step, all parts together.
    struct Message {
        Rank peer;
        Port port;
        std::int64_t units;
        friend auto operator<=>(const Message&, const Message&) = default;
    };
    /// Steps in which all ranks seen so far send the same messages.
    struct AlikeSteps {
        LinkLoads loads;
        std::vector<std::size_t> steps;  // ascending, never empty
        std::int64_t hops = 0;           // of the longest route; 0: nobody sends to another node
        bool inside = false;             // somebody sends inside a node
    };
    struct StepFigures {
        std::int64_t load = 0;  // in half units
        std::int64_t hops = 0;
        bool inside = false;
    };

    std::span<const Message> messages_of(std::size_t step) const {
        return std::span(messages_).subspan(starts_[step], starts_[step + 1] - starts_[step]);
    }
    bool alike(std::size_t a, std::size_t b) const {
        return std::ranges::equal(messages_of(a), messages_of(b));
    }
    void choose_unit(const Schedule& schedule);
    std::int64_t block_units(const Part& part) const {
        return units_per_part_ / blocks_of_vector(part);
    }
    Block blocks_of_vector(const Part& part) const { return row_.received_of(part.vector_blocks); }
    static bool hears_whom_it_tells(const Schedule& schedule);
    std::int64_t own_units(const Schedule& schedule) const;
    std::int64_t forwards(Rank from, Rank to) const;
    std::int64_t received(const Schedule& schedule, const Part& part, const Receive& receive) const;
    std::int64_t received(const Schedule& schedule, const Part& part, const Step& step) const;
    std::int64_t message_units(const Schedule& schedule, const Part& part,
                               const Receive& receive) const;
    std::int64_t pulled(const Schedule& schedule) const;
    void note_step(std::size_t step, std::int64_t largest, std::int64_t sent);
    void collect(const Schedule& schedule);
    void split_groups();
    void load_links(Rank rank, AlikeSteps& group);
    void load_route(AlikeSteps& group, Rank from, Rank to, const Message& message);
    /// Of the groups, which are gone then.
    void finish_steps();

    const Torus& torus_;
    const Torus nodes_;
    const Symmetry& symmetry_;
    const CollectiveTraits& row_;
    bool exchange_, steered_;
    LinkPlaces places_;
    std::vector<AlikeSteps> groups_;
    std::vector<StepFigures> figures_;  // by step, once the groups are finished
    std::int64_t busiest_link_ = 0;     // in half units
    CostSummary result_;

    // Units: a unit is a whole fraction of every part's blocks, alike on all ranks.
    std::int64_t units_per_part_ = 1;
    double units_per_vector_ = 1;
    std::int64_t sent_max_ = 0, sent_min_ = 0, sent_total_ = 0;
    std::int64_t messages_total_ = 0, forwards_total_ = 0;
    std::vector<std::int64_t> waiting_;  // ranks, by step
    std::int64_t held_max_ = 0, packed_total_ = 0;
    std::int64_t pulled_max_ = 0, pulled_total_ = 0;
    std::int64_t inside_total_ = 0, messages_inside_ = 0;
    std::vector<std::int64_t> most_inside_;  // by step: of the rank that sends or receives most
    std::size_t acknowledgements_total_ = 0;
    std::vector<std::int64_t> largest_message_, most_sent_;  // by step

    // Of the rank under way: messages by step.
    std::vector<Message> messages_;
    std::vector<std::size_t> starts_;
    std::vector<int> sends_through_;  // by port
};

/// What a schedule sends and receives along `dimension`, as one of the ring through the rank.
Schedule along(const Torus& torus, int dimension, const Schedule& schedule);

}  // namespace trefoil
