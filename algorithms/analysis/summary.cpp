// SPDX-License-Identifier: BSD-3-Clause
// Links are loaded once per group of steps that load them alike, so that a ring of thousands of
// steps costs little more than reading its schedules. All is counted in whole units, so that
// nothing depends on the order of the ranks.
#include "algorithms/analysis/summary.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "algorithms/schedule/acknowledgements.hpp"

namespace trefoil {

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
    if (torus_.fabric() != nullptr) {
        units_per_part_ *= 60;  // loads of slow links are rounded
    }
    result_.parts = static_cast<int>(schedule.parts.size());
    units_per_vector_ = static_cast<double>(units_per_part_) * result_.parts;
}

void Summary::collect(const Schedule& schedule) {
    const std::int64_t ranks = symmetry_.translations();  // that do the same
    std::size_t steps = 0;
    for (const Part& p : schedule.parts) {
        steps = std::max<std::size_t>(steps, p.steps.count);
    }
    const bool part_by_part = row_.rooted() && hears_whom_it_tells(schedule);
    std::int64_t sent = 0;
    std::int64_t held = exchange_ ? own_units(schedule) : 0;
    held_max_ = std::max(held_max_, held);
    messages_.clear();
    starts_.assign(1, 0);
    for (std::size_t s = 0; s < steps; ++s) {
        std::int64_t waits = 0;  // of parts
        const std::int64_t sent_before = sent;
        std::int64_t inside = 0, received_inside = 0;
        std::int64_t largest = 0;
        for (const Part& p : schedule.parts) {
            if (s >= p.steps.count) {
                continue;
            }
            const Step& step = schedule.of(p)[s];
            waits += step.receives.count > 0 ? 1 : 0;
            held += exchange_ ? received(schedule, p, step) : 0;
            if (torus_.has_nodes()) {
                for (const Receive& r : schedule.receives_of(step)) {
                    received_inside +=
                        torus_.is_host(r.port.dimension()) ? message_units(schedule, p, r) : 0;
                }
            }
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
                    forwards_total_ += forwards(schedule.rank, m.peer);
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
        most_inside_.resize(std::max(most_inside_.size(), s + 1));
        most_inside_[s] = std::max({most_inside_[s], inside, received_inside});
        held -= sent - sent_before + inside;
        held_max_ = std::max(held_max_, held);
        waiting_.resize(std::max(waiting_.size(), s + 1));
        waiting_[s] += ranks * (part_by_part ? waits : std::min<std::int64_t>(waits, 1));
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

/// Of a message and what translations make of it: nodes on their ways that hand them on.
std::int64_t Summary::forwards(Rank from, Rank to) const {
    const auto between = [this](Rank a, Rank b) {
        return nodes_.route_length(torus_.node_of(a), torus_.node_of(b)) - 1;
    };
    if (places_.folded()) {
        return between(from, to) * symmetry_.translations();
    }
    std::int64_t all = 0;
    for (Rank i = 0; i < symmetry_.translations(); ++i) {
        const Rank t = symmetry_.translation(i);
        all += between(torus_.translated(from, t, +1), torus_.translated(to, t, +1));
    }
    return all;
}

/// In one part it waits for a rank that waits for it in another: neither may run ahead by a call.
bool Summary::hears_whom_it_tells(const Schedule& schedule) {
    return std::ranges::any_of(schedule.sends, [&](const Send& m) {
        return std::ranges::find(schedule.receives, m.peer, &Receive::peer) !=
               schedule.receives.end();
    });
}

/// The blocks that a rank begins an alltoall with, but for its own.
std::int64_t Summary::own_units(const Schedule& schedule) const {
    std::int64_t units = 0;
    for (const Part& p : schedule.parts) {
        units += block_units(p) * (blocks_of_vector(p) - 1);
    }
    return units;
}

std::int64_t Summary::received(const Schedule& schedule, const Part& part,
                               const Receive& receive) const {
    std::int64_t blocks = 0;
    for (const Application& a : schedule.applications_of(receive)) {
        blocks += static_cast<std::int64_t>(block_count(schedule.extents_of(a)));
    }
    return blocks * block_units(part);
}

std::int64_t Summary::received(const Schedule& schedule, const Part& part, const Step& step) const {
    std::int64_t units = 0;
    for (const Receive& r : schedule.receives_of(step)) {
        units += received(schedule, part, r);
    }
    return units;
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
    const std::size_t before = groups_.size();
    for (std::size_t g = 0; g < before; ++g) {
        std::vector<std::size_t> steps = std::move(groups_[g].steps);
        const auto differs = [&](std::size_t s) { return !alike(s, steps[0]); };
        if (std::ranges::none_of(steps, differs)) {
            groups_[g].steps = std::move(steps);
            continue;
        }
        std::ranges::stable_sort(steps, [&](std::size_t a, std::size_t b) {
            return std::ranges::lexicographical_compare(messages_of(a), messages_of(b));
        });
        for (auto first = steps.begin(); first != steps.end();) {
            const auto end =
                std::find_if(first, steps.end(), [&](std::size_t s) { return !alike(s, *first); });
            if (first == steps.begin()) {
                groups_[g].steps.assign(first, end);
            } else {
                const LinkLoads common = groups_[g].loads;
                groups_.push_back({common, {first, end}, groups_[g].hops, groups_[g].inside});
            }
            first = end;
        }
    }
}

void Summary::load_route(AlikeSteps& group, Rank from_rank, Rank to_rank, const Message& m) {
    const Rank from = torus_.node_of(from_rank), to = torus_.node_of(to_rank);
    group.loads.add(from, to, m.units, steered_ ? std::optional(m.port) : std::nullopt);
    group.hops = std::max(group.hops, nodes_.route_length(from, to));
}

void Summary::load_links(Rank rank, AlikeSteps& group) {
    const auto messages = messages_of(group.steps[0]);
    for (const Message& m : messages) {
        if (torus_.is_host(m.port.dimension())) {
            group.inside = true;
            continue;
        }
        if (places_.folded()) {
            load_route(group, rank, m.peer, m);
        } else {  // along lines translations go other ways
            for (Rank i = 0; i < symmetry_.translations(); ++i) {
                const Rank t = symmetry_.translation(i);
                load_route(group, torus_.translated(rank, t, +1), torus_.translated(m.peer, t, +1),
                           m);
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

/// A message may be applied to several places, so its size is at least that of the smallest.
std::int64_t Summary::message_units(const Schedule& schedule, const Part& part,
                                    const Receive& receive) const {
    std::int64_t units = receive.applications.count == 0 ? 0 : received(schedule, part, receive);
    for (const Application& a : schedule.applications_of(receive)) {
        units = std::min(units, block_units(part) *
                                    static_cast<std::int64_t>(block_count(schedule.extents_of(a))));
    }
    return units;
}

void Summary::add_received(const Schedule& schedule) {
    finish_steps();
    for (std::size_t s = 0; s < figures_.size(); ++s) {
        AlikeSteps arriving{LinkLoads(places_), {s}};
        for (const Part& p : schedule.parts) {
            if (s >= p.steps.count) {
                continue;
            }
            for (const Receive& r : schedule.receives_of(schedule.of(p)[s])) {
                if (torus_.is_host(r.port.dimension())) {
                    inside_total_ += message_units(schedule, p, r);
                    ++messages_inside_;
                    figures_[s].inside = true;
                    continue;
                }
                load_route(arriving, r.peer, schedule.rank,
                           {r.peer, r.port.opposite(), message_units(schedule, p, r)});
            }
        }
        figures_[s].load = std::max(figures_[s].load, arriving.loads.largest());
        figures_[s].hops = std::max(figures_[s].hops, arriving.hops);
        if (arriving.hops > 0) {  // whoever sends sends something
            result_.max_sends_per_port_per_step = std::max(result_.max_sends_per_port_per_step, 1);
        }
    }
}

void Summary::go_on(int steps) {
    finish_steps();
    const auto largest = std::ranges::max_element(figures_, {}, &StepFigures::load);
    const auto known =
        std::ranges::count_if(figures_, [](const StepFigures& step) { return step.hops > 0; });
    if (known > 0 && known < steps) {
        figures_.insert(figures_.end(), static_cast<std::size_t>(steps - known),
                        StepFigures(*largest));
    }
}

void Summary::finish_steps() {
    LinkLoads all(places_);
    for (const AlikeSteps& g : groups_) {
        const std::int64_t load = g.loads.largest();
        if (torus_.has_nodes() || !torus_.is_whole()) {
            all.add(g.loads, std::ssize(g.steps));
        }
        for (const std::size_t s : g.steps) {
            figures_.resize(std::max(figures_.size(), s + 1));
            figures_[s] = {load, g.hops, g.inside};
        }
    }
    busiest_link_ = std::max(busiest_link_, all.largest());
    groups_.clear();
}

void Summary::add_line(Summary&& line) {
    line.finish_steps();
    const Rank lines = torus_.ranks() / line.torus_.ranks();
    const bool first = result_.parts == 0;
    result_.parts = line.result_.parts;
    units_per_part_ = line.units_per_part_;
    units_per_vector_ = line.units_per_vector_;
    figures_.resize(std::max(figures_.size(), line.figures_.size()));
    for (std::size_t s = 0; s < line.figures_.size(); ++s) {
        figures_[s].load = std::max(figures_[s].load, line.figures_[s].load);
        figures_[s].hops = std::max(figures_[s].hops, line.figures_[s].hops);
    }
    // Who waits along none of its lines does not wait.
    waiting_.resize(figures_.size());
    line.waiting_.resize(figures_.size());
    for (std::size_t s = 0; s < figures_.size(); ++s) {
        const std::int64_t others = torus_.ranks() - (first ? 0 : waiting_[s]);
        const std::int64_t of_line = line.torus_.ranks();
        waiting_[s] = torus_.ranks() - others / of_line * (of_line - line.waiting_[s]);
    }
    sent_max_ += line.sent_max_;
    sent_min_ += line.sent_min_;
    sent_total_ += line.sent_total_ * lines;
    messages_total_ += line.messages_total_ * lines;
    forwards_total_ += line.forwards_total_ * lines;
    acknowledgements_total_ += line.acknowledgements_total_ * static_cast<std::size_t>(lines);
    CostSummary& sum = result_;
    const CostSummary& more = line.result_;
    sum.messages_per_rank += more.messages_per_rank;
    sum.acknowledgements_max += more.acknowledgements_max;
    sum.max_extents_per_message =
        std::max(sum.max_extents_per_message, more.max_extents_per_message);
    sum.max_sends_per_port_per_step =
        std::max(sum.max_sends_per_port_per_step, more.max_sends_per_port_per_step);
}

CostSummary Summary::finish() {
    finish_steps();
    std::int64_t sum = 0;
    std::int64_t alone = 0, beside_links = 0;
    most_inside_.resize(figures_.size());
    for (std::size_t s = 0; s < figures_.size(); ++s) {
        const auto [load, hops, inside] = figures_[s];
        result_.steps_inside += hops == 0 && inside ? 1 : 0;
        (hops == 0 ? alone : beside_links) += most_inside_[s];
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
    result_.forwards = static_cast<double>(forwards_total_) / torus_.ranks();
    const std::int64_t waits = std::accumulate(waiting_.begin(), waiting_.end(), std::int64_t{0});
    result_.waits = static_cast<double>(waits) / torus_.ranks();
    result_.pulled = static_cast<double>(pulled_total_) / units_per_vector_ / torus_.ranks();
    result_.inside = static_cast<double>(inside_total_) / units_per_vector_ / torus_.ranks();
    result_.busiest_link = static_cast<double>(busiest_link_) / (2 * units_per_vector_);
    result_.inside_alone = static_cast<double>(alone) / units_per_vector_;
    result_.inside_beside_links = static_cast<double>(beside_links) / units_per_vector_;
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

Schedule along(const Torus& torus, int dimension, const Schedule& schedule) {
    const auto on_line = [&](Port port) { return Port{port.index - 2 * dimension}; };
    ScheduleWriter writer(torus.coordinate(schedule.rank, dimension));
    for (const Part& p : schedule.parts) {
        writer.part(p.vector_blocks, p.scratch_blocks, p.scratch_like);
        for (const Step& step : schedule.of(p)) {
            writer.step();
            for (const Send& m : schedule.sends_of(step)) {
                if (m.port.dimension() == dimension) {
                    writer.send(torus.coordinate(m.peer, dimension), on_line(m.port),
                                schedule.extents_of(m));
                }
            }
            for (const Receive& r : schedule.receives_of(step)) {
                if (r.port.dimension() == dimension) {
                    writer.receive(torus.coordinate(r.peer, dimension), on_line(r.port));
                }
            }
        }
    }
    return writer.take();
}

}  // namespace trefoil
