// SPDX-License-Identifier: BSD-3-Clause
// The cost summary: routes are walked once per group of steps that load the links alike, so that a
// ring of thousands of steps costs little more than reading its schedules.
#include "algorithms/cost.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace trefoil {

namespace {

/// A message of one step, all parts together.
struct Message {
    Rank peer;
    Port port;
    double vectors;
    friend bool operator==(const Message&, const Message&) = default;
};

/// Steps in which all ranks seen so far send the same messages.
struct Group {
    std::vector<double> loads;       // per rank and port
    std::vector<std::size_t> steps;  // ascending, never empty
    std::int64_t hops = 0;           // of the longest route; 0: nobody sends
};

class Summary {
  public:
    explicit Summary(const Torus& torus)
        : torus_(torus), links_(static_cast<std::size_t>(torus.ranks()) * torus.ports()) {}

    void add(const Schedule& schedule);
    CostSummary finish();

  private:
    std::span<const Message> messages_of(std::size_t step) const {
        return std::span(messages_).subspan(starts_[step], starts_[step + 1] - starts_[step]);
    }
    bool alike(std::size_t a, std::size_t b) const {
        return std::ranges::equal(messages_of(a), messages_of(b));
    }
    void collect(const Schedule& schedule);
    void count_bytes(const Schedule& schedule);
    void split_groups();
    void load_links(Rank rank, Group& group);

    const Torus& torus_;
    std::size_t links_;
    std::vector<Group> groups_;
    CostSummary result_;

    // Of the rank under way: messages by step.
    std::vector<Message> messages_;
    std::vector<std::size_t> starts_;
};

void Summary::add(const Schedule& schedule) {
    collect(schedule);
    const std::size_t steps = starts_.size() - 1;
    result_.parts = static_cast<int>(schedule.parts.size());
    if (schedule.rank == 0 && steps > 0) {
        groups_.push_back({std::vector<double>(links_), std::vector<std::size_t>(steps), 0});
        std::iota(groups_[0].steps.begin(), groups_[0].steps.end(), 0);
    }
    count_bytes(schedule);
    split_groups();
    for (Group& g : groups_) {
        load_links(schedule.rank, g);
    }
}

void Summary::collect(const Schedule& schedule) {
    std::size_t steps = 0;
    for (const Part& p : schedule.parts) {
        steps = std::max<std::size_t>(steps, p.steps.count);
    }
    messages_.clear();
    starts_.assign(1, 0);
    for (std::size_t s = 0; s < steps; ++s) {
        for (const Part& p : schedule.parts) {
            if (s >= p.steps.count) {
                continue;
            }
            const double block =
                1.0 / (static_cast<double>(schedule.parts.size()) * p.vector_blocks);
            for (const Send& m : schedule.sends_of(schedule.of(p)[s])) {
                const auto extents = schedule.extents_of(m);
                const double vectors = block * static_cast<double>(block_count(extents));
                messages_.push_back({m.peer, m.port, vectors});
                result_.max_extents_per_message =
                    std::max(result_.max_extents_per_message, static_cast<int>(extents.size()));
            }
        }
        starts_.push_back(messages_.size());
    }
}

// Counted in blocks, so that thousands of messages do not add up rounding errors.
void Summary::count_bytes(const Schedule& schedule) {
    double sent = 0;
    for (const Part& p : schedule.parts) {
        std::uint64_t blocks = 0;
        for (const Step& s : schedule.of(p)) {
            for (const Send& m : schedule.sends_of(s)) {
                blocks += block_count(schedule.extents_of(m));
            }
        }
        sent += static_cast<double>(blocks) /
                (static_cast<double>(schedule.parts.size()) * p.vector_blocks);
    }
    const bool first = schedule.rank == 0;
    result_.bytes_sent_max = first ? sent : std::max(result_.bytes_sent_max, sent);
    result_.bytes_sent_min = first ? sent : std::min(result_.bytes_sent_min, sent);
    result_.bytes_sent_total += sent;
}

// A group whose steps differ on this rank falls apart; the pieces start with what was common.
void Summary::split_groups() {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        std::vector<std::size_t>& steps = groups_[g].steps;
        const auto rest = std::stable_partition(
            steps.begin(), steps.end(),
            [this, model = steps[0]](std::size_t s) { return alike(s, model); });
        if (rest != steps.end()) {
            Group piece = groups_[g];
            piece.steps.assign(rest, steps.end());
            steps.erase(rest, steps.end());
            groups_.push_back(std::move(piece));
        }
    }
}

void Summary::load_links(Rank rank, Group& group) {
    const auto messages = messages_of(group.steps[0]);
    for (const Message& m : messages) {
        torus_.for_each_link(rank, m.peer, [&](const LinkShare& l) {
            const std::size_t link =
                static_cast<std::size_t>(l.link.from) * torus_.ports() + l.link.port.index;
            group.loads[link] += l.share * m.vectors;
        });
        group.hops = std::max(group.hops, torus_.hops(rank, m.peer));
        const auto same_port = std::ranges::count(messages, m.port, &Message::port);
        result_.max_sends_per_port_per_step =
            std::max(result_.max_sends_per_port_per_step, static_cast<int>(same_port));
    }
}

CostSummary Summary::finish() {
    std::vector<std::pair<double, std::int64_t>> by_step;  // load, hops
    for (const Group& g : groups_) {
        const double load = *std::ranges::max_element(g.loads);
        for (const std::size_t s : g.steps) {
            by_step.resize(std::max(by_step.size(), s + 1));
            by_step[s] = {load, g.hops};
        }
    }
    for (const auto& [load, hops] : by_step) {
        if (hops > 0) {  // somebody sends
            result_.step_max_link_load.push_back(load);
            result_.step_max_hops.push_back(static_cast<int>(hops));
            result_.sum_link_load += load;
            result_.sum_hops += hops;
        }
    }
    result_.steps = static_cast<int>(result_.step_max_hops.size());
    return result_;
}

}  // namespace

CostSummary summarize(const Torus& torus, const Algorithm& algorithm, const BuildOptions& options) {
    Summary summary(torus);
    for (Rank r = 0; r < torus.ranks(); ++r) {
        summary.add(algorithm.build(torus, r, options));
    }
    return summary.finish();
}

double CostModel::time(const CostSummary& cost, double vector_bytes) const {
    return cost.steps * alpha + static_cast<double>(cost.sum_hops) * tau +
           cost.sum_link_load * vector_bytes * beta;
}

}  // namespace trefoil
