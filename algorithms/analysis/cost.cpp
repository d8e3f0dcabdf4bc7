// SPDX-License-Identifier: BSD-3-Clause
// The cost summary: links are loaded once per group of steps that load them alike, so that a ring
// of thousands of steps costs little more than reading its schedules. All is counted in whole
// units, so that nothing depends on the order of the ranks.
#include "algorithms/analysis/cost.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "algorithms/analysis/link_loads.hpp"
#include "algorithms/schedule/acknowledgements.hpp"

namespace trefoil {

namespace {

/// A message of one step, all parts together.
struct Message {
    Rank peer;
    Port port;
    std::int64_t units;
    friend bool operator==(const Message&, const Message&) = default;
};

/// Steps in which all ranks seen so far send the same messages.
struct AlikeSteps {
    LinkLoads loads;
    std::vector<std::size_t> steps;  // ascending, never empty
    std::int64_t hops = 0;           // of the longest route; 0: nobody sends to another node
    bool inside = false;             // somebody sends inside a node
};

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

    void add(const Schedule& schedule);
    CostSummary finish();

  private:
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
    std::int64_t own_units(const Schedule& schedule) const;
    std::int64_t received(const Schedule& schedule, const Part& part, const Step& step) const;
    std::int64_t pulled(const Schedule& schedule) const;
    void note_step(std::size_t step, std::int64_t largest, std::int64_t sent);
    void collect(const Schedule& schedule);
    void split_groups();
    void load_links(Rank rank, AlikeSteps& group);

    const Torus& torus_;
    const Torus nodes_;
    const Symmetry& symmetry_;
    const CollectiveTraits& row_;
    bool exchange_, steered_;
    LinkPlaces places_;
    std::vector<AlikeSteps> groups_;
    CostSummary result_;

    // Units: a unit is a whole fraction of every part's blocks, alike on all ranks.
    std::int64_t units_per_part_ = 1;
    double units_per_vector_ = 1;
    std::int64_t sent_max_ = 0, sent_min_ = 0, sent_total_ = 0;
    std::int64_t messages_total_ = 0, waits_total_ = 0;
    std::int64_t held_max_ = 0, packed_total_ = 0;
    std::int64_t pulled_max_ = 0, pulled_total_ = 0;
    std::int64_t inside_total_ = 0, messages_inside_ = 0;
    std::size_t acknowledgements_total_ = 0;
    std::vector<std::int64_t> largest_message_, most_sent_;  // by step

    // Of the rank under way: messages by step.
    std::vector<Message> messages_;
    std::vector<std::size_t> starts_;
    std::vector<int> sends_through_;  // by port
};

void Summary::add(const Schedule& schedule) {
    if (schedule.rank == 0) {
        choose_unit(schedule);
    }
    collect(schedule);
    const std::size_t steps = starts_.size() - 1;
    if (schedule.rank == 0 && steps > 0) {
        groups_.push_back({LinkLoads(places_), std::vector<std::size_t>(steps)});
        std::iota(groups_[0].steps.begin(), groups_[0].steps.end(), 0);
    }
    split_groups();
    for (AlikeSteps& g : groups_) {
        load_links(schedule.rank, g);
    }
}

void Summary::choose_unit(const Schedule& schedule) {
    for (const Part& p : schedule.parts) {
        units_per_part_ = std::lcm(units_per_part_, std::int64_t{blocks_of_vector(p)});
    }
    result_.parts = static_cast<int>(schedule.parts.size());
    units_per_vector_ = static_cast<double>(units_per_part_) * result_.parts;
}

void Summary::collect(const Schedule& schedule) {
    const auto ranks =
        static_cast<std::int64_t>(symmetry_.translations().size());  // that do the same
    std::size_t steps = 0;
    for (const Part& p : schedule.parts) {
        steps = std::max<std::size_t>(steps, p.steps.count);
    }
    std::int64_t sent = 0;
    std::int64_t held = exchange_ ? own_units(schedule) : 0;
    held_max_ = std::max(held_max_, held);
    messages_.clear();
    starts_.assign(1, 0);
    for (std::size_t s = 0; s < steps; ++s) {
        bool waits = false;
        const std::int64_t sent_before = sent;
        std::int64_t inside = 0;
        std::int64_t largest = 0;
        for (const Part& p : schedule.parts) {
            if (s >= p.steps.count) {
                continue;
            }
            const Step& step = schedule.of(p)[s];
            waits |= step.receives.count > 0;
            held += exchange_ ? received(schedule, p, step) : 0;
            for (const Send& m : schedule.sends_of(step)) {
                const auto extents = schedule.extents_of(m);
                const std::int64_t units =
                    block_units(p) * static_cast<std::int64_t>(block_count(extents));
                messages_.push_back({m.peer, m.port, units});
                if (torus_.is_host(m.port.dimension())) {
                    inside += units;
                    messages_inside_ += ranks;
                } else {
                    sent += units;
                }
                largest = std::max(largest, units);
                packed_total_ += extents.size() > 1 ? units * ranks : 0;
                result_.max_extents_per_message =
                    std::max(result_.max_extents_per_message, static_cast<int>(extents.size()));
            }
        }
        starts_.push_back(messages_.size());
        note_step(s, largest, sent - sent_before);
        inside_total_ += inside * ranks;
        held -= sent - sent_before + inside;
        held_max_ = std::max(held_max_, held);
        waits_total_ += waits ? ranks : 0;
    }
    const auto sent_out = std::ranges::count_if(
        messages_, [&](const Message& m) { return !torus_.is_host(m.port.dimension()); });
    messages_total_ += static_cast<std::int64_t>(sent_out) * ranks;
    result_.messages_per_rank = std::max(result_.messages_per_rank, static_cast<int>(sent_out));
    const std::size_t acknowledged = acknowledgements(schedule, row_).size();
    acknowledgements_total_ += acknowledged * static_cast<std::size_t>(ranks);
    result_.acknowledgements_max =
        std::max(result_.acknowledgements_max, static_cast<int>(acknowledged));
    const std::int64_t pulled = this->pulled(schedule);
    pulled_max_ = std::max(pulled_max_, pulled);
    pulled_total_ += pulled * ranks;
    sent_max_ = std::max(sent_max_, sent);
    sent_min_ = schedule.rank == 0 ? sent : std::min(sent_min_, sent);
    sent_total_ += sent * ranks;
}

/// The blocks that a rank begins an alltoall with, but for its own.
std::int64_t Summary::own_units(const Schedule& schedule) const {
    std::int64_t units = 0;
    for (const Part& p : schedule.parts) {
        units += block_units(p) * (blocks_of_vector(p) - 1);
    }
    return units;
}

std::int64_t Summary::received(const Schedule& schedule, const Part& part, const Step& step) const {
    std::int64_t blocks = 0;
    for (const Receive& r : schedule.receives_of(step)) {
        for (const Application& a : schedule.applications_of(r)) {
            blocks += static_cast<std::int64_t>(block_count(schedule.extents_of(a)));
        }
    }
    return blocks * block_units(part);
}

std::int64_t Summary::pulled(const Schedule& schedule) const {
    std::int64_t units = 0;
    if (std::ranges::none_of(schedule.moves, &Move::pulls)) {
        return units;
    }
    for (const Part& p : schedule.parts) {
        for (const Step& step : schedule.of(p)) {
            for (const Move& m : schedule.moves_of(step)) {
                units += m.pulls() ? block_units(p) * m.from.count : 0;
            }
        }
    }
    return units;
}

void Summary::note_step(std::size_t step, std::int64_t largest, std::int64_t sent) {
    if (step >= most_sent_.size()) {
        largest_message_.resize(step + 1);
        most_sent_.resize(step + 1);
    }
    largest_message_[step] = std::max(largest_message_[step], largest);
    most_sent_[step] = std::max(most_sent_[step], sent);
}

// A group whose steps differ on this rank falls apart; the pieces start with what was common.
void Summary::split_groups() {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        std::vector<std::size_t>& steps = groups_[g].steps;
        if (steps.size() == 1) {
            continue;
        }
        const auto rest = std::stable_partition(
            steps.begin(), steps.end(),
            [this, model = steps[0]](std::size_t s) { return alike(s, model); });
        if (rest != steps.end()) {
            AlikeSteps piece = groups_[g];
            piece.steps.assign(rest, steps.end());
            steps.erase(rest, steps.end());
            groups_.push_back(std::move(piece));
        }
    }
}

void Summary::load_links(Rank rank, AlikeSteps& group) {
    const auto messages = messages_of(group.steps[0]);
    const auto add = [&](Rank from_rank, const Message& m, Rank to_rank) {
        const Rank from = torus_.node_of(from_rank), to = torus_.node_of(to_rank);
        group.loads.add(from, to, m.units, steered_ ? std::optional(m.port) : std::nullopt);
        group.hops = std::max(group.hops, nodes_.route_length(from, to));
    };
    for (const Message& m : messages) {
        if (torus_.is_host(m.port.dimension())) {
            group.inside = true;
            continue;
        }
        if (places_.folded()) {
            add(rank, m, m.peer);
        } else {  // along lines translations go other ways
            for (const Rank t : symmetry_.translations()) {
                add(torus_.translated(rank, t, +1), m, torus_.translated(m.peer, t, +1));
            }
        }
        const int same_port = ++sends_through_[m.port.index];
        result_.max_sends_per_port_per_step =
            std::max(result_.max_sends_per_port_per_step, same_port);
    }
    for (const Message& m : messages) {
        sends_through_[m.port.index] = 0;
    }
}

CostSummary Summary::finish() {
    std::vector<std::pair<std::int64_t, std::int64_t>> by_step;  // load in half units, hops
    for (const AlikeSteps& g : groups_) {
        const std::int64_t load = g.loads.largest();
        for (const std::size_t s : g.steps) {
            by_step.resize(std::max(by_step.size(), s + 1));
            by_step[s] = {load, g.hops};
            result_.steps_inside += g.hops == 0 && g.inside ? 1 : 0;
        }
    }
    std::int64_t sum = 0;
    for (const auto& [load, hops] : by_step) {
        if (hops > 0) {  // somebody sends to another node
            result_.step_max_link_load.push_back(static_cast<double>(load) /
                                                 (2 * units_per_vector_));
            result_.step_max_hops.push_back(static_cast<int>(hops));
            sum += load;
            result_.sum_hops += hops;
        }
    }
    result_.sum_link_load = static_cast<double>(sum) / (2 * units_per_vector_);
    result_.bytes_sent_max = static_cast<double>(sent_max_) / units_per_vector_;
    result_.bytes_sent_min = static_cast<double>(sent_min_) / units_per_vector_;
    result_.bytes_sent_total = static_cast<double>(sent_total_) / units_per_vector_;
    result_.sent = result_.bytes_sent_total / torus_.ranks();
    result_.messages = static_cast<double>(messages_total_) / torus_.ranks();
    result_.waits = static_cast<double>(waits_total_) / torus_.ranks();
    result_.pulled = static_cast<double>(pulled_total_) / units_per_vector_ / torus_.ranks();
    result_.inside = static_cast<double>(inside_total_) / units_per_vector_ / torus_.ranks();
    result_.messages_inside = static_cast<double>(messages_inside_) / torus_.ranks();
    result_.acknowledgements = static_cast<double>(acknowledgements_total_) / torus_.ranks();
    result_.pulled_max = static_cast<double>(pulled_max_) / units_per_vector_;
    result_.steps = static_cast<int>(result_.step_max_hops.size());
    if (exchange_) {
        const auto blocks = [this](std::int64_t units) {
            return static_cast<double>(units) * torus_.ranks() / units_per_vector_;
        };
        result_.block_times = result_.sum_link_load * torus_.ranks();
        result_.msg_block_times = blocks(
            std::accumulate(largest_message_.begin(), largest_message_.end(), std::int64_t{0}));
        result_.rank_block_times =
            blocks(std::accumulate(most_sent_.begin(), most_sent_.end(), std::int64_t{0}));
        result_.peak_blocks_held = blocks(held_max_);
        result_.packed = static_cast<double>(packed_total_) / units_per_vector_ / torus_.ranks();
    }
    return result_;
}

CostSummary summarize(const Torus& torus, const Algorithm& algorithm, const BuildOptions& options,
                      bool steered, const Symmetry& symmetry, const Symmetry& of_nodes) {
    Summary summary(torus, algorithm.collective, steered, symmetry, of_nodes);
    for (Rank one = 0; one < symmetry.classes(); ++one) {
        summary.add(algorithm.build(torus, symmetry.representative(one), options));
    }
    return summary.finish();
}

/// Translations under which the schedules with these options are known to be alike. On nodes of
/// several ranks only those that carry a node's ranks to another node's in their order.
std::vector<Rank> alike_ranks(const Torus& torus, const Algorithm& algorithm,
                              const BuildOptions& options) {
    std::vector<Rank> ranks = algorithm.alike_ranks(torus, options);
    std::erase_if(ranks, [&](Rank t) { return t % torus.per_node() != 0; });
    return ranks;
}

Symmetry symmetry_of(const Torus& torus, std::span<const Rank> translations) {
    return translations.empty() ? Symmetry(torus)
                                : Symmetry(torus, translations, [](Rank) { return true; });
}

}  // namespace

CostSummary summarize(const Torus& torus, const Algorithm& algorithm, const BuildOptions& options) {
    const Torus nodes = torus.nodes();
    return summarize(torus, algorithm, options, algorithm.traits.steered, Symmetry(torus),
                     Symmetry(nodes));
}

const Symmetry& ModelSummaries::find(std::list<Alike>& all, const Torus& of,
                                     std::vector<Rank> translations) {
    const auto found = std::ranges::find(all, translations, &Alike::translations);
    if (found != all.end()) {
        return found->symmetry;
    }
    Symmetry symmetry = symmetry_of(of, translations);
    all.push_back({std::move(translations), std::move(symmetry)});
    return all.back().symmetry;
}

CostSummary ModelSummaries::of(const Algorithm& algorithm, const BuildOptions& options) {
    std::vector<Rank> translations = alike_ranks(torus_, algorithm, options);
    const Symmetry& symmetry = find(of_ranks_, torus_, translations);
    if (torus_.per_node() == 1) {
        return summarize(torus_, algorithm, options, true, symmetry, symmetry);
    }
    for (Rank& translation : translations) {
        translation = torus_.node_of(translation);
    }
    return summarize(torus_, algorithm, options, true, symmetry,
                     find(of_nodes_, nodes_, std::move(translations)));
}

Rank ModelSummaries::schedules(const Algorithm& algorithm, const BuildOptions& options) {
    return find(of_ranks_, torus_, alike_ranks(torus_, algorithm, options)).classes();
}

CostTerms CostModel::terms(const CostSummary& cost, double vector_bytes) const {
    return {.steps = cost.steps * alpha,
            .hops = static_cast<double>(cost.sum_hops) * tau,
            .links = cost.sum_link_load * vector_bytes * beta,
            .waits = cost.waits * wait,
            .messages = cost.messages * message + cost.messages_per_rank * busiest,
            .bytes = cost.sent * vector_bytes * byte,
            .copies = cost.packed * vector_bytes * copy,
            .pulls = cost.pulled * vector_bytes * pull,
            .inside = cost.steps_inside * inside_step + cost.messages_inside * inside_message +
                      cost.inside * vector_bytes * inside_byte};
}

}  // namespace trefoil
