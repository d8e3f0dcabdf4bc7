// SPDX-License-Identifier: BSD-3-Clause
// All lines of a dimension have the ring's messages, times what their other coordinates hold. So
// the busiest link of a step is on a line that no other line holds more than: of lines of which one
// holds as much as the other in each part, or more, only that one is looked at. The ranks of a node
// share its links: what they hold adds up.
#include "algorithms/analysis/product_summary.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace trefoil {

namespace {

/// What the messages of one step of one ring do to the ring.
struct RingStepLoads {
    /// By coordinate, up and down: what crosses the link that leaves it there, the messages that it
    /// sends through that port, and those that it receives from there.
    std::vector<std::int64_t> load[2];
    std::vector<int> sends[2], receives[2];
    std::int64_t hops = 0, units = 0, messages = 0;
    std::vector<std::int64_t> sent, received;  ///< units, by coordinate
};

/// What a ring's coordinates stand for before a step.
struct RingHeld {
    std::vector<std::int64_t> by_coordinate;
    std::int64_t largest = 0;
    bool first_is_largest = false;  ///< that of coordinate 0
};

/// A part that moves in the dimension that is looked at.
struct Active {
    const std::vector<int>* rings;  ///< their numbers, by dimension
    const std::vector<int>* done;   ///< by dimension: steps before the message, as the ring counts
    bool backwards;
};

/// What a line holds, by active part.
using Held = std::vector<std::int64_t>;

bool holds_no_more(const Held& a, const Held& b) {
    return std::ranges::equal(a, b, [](std::int64_t x, std::int64_t y) { return x <= y; });
}

void keep_largest(std::vector<Held>& lines) {
    std::ranges::sort(lines, std::greater<>());
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    std::vector<Held> kept;
    for (Held& line : lines) {  // nothing holds more than what comes before it
        if (std::ranges::none_of(kept, [&](const Held& k) { return holds_no_more(line, k); })) {
            kept.push_back(std::move(line));
        }
    }
    lines = std::move(kept);
}

class ProductLinks {
  public:
    ProductLinks(const Torus& torus, const ProductFlows& flows) : torus_(torus), flows_(flows) {
        for (const ProductFlow& part : flows.parts) {
            for (const ProductPhase& phase : part) {
                for (const auto& ring : phase.rings) {
                    if (std::ranges::find(rings_, ring.get()) == rings_.end()) {
                        rings_.push_back(ring.get());
                        held_.emplace_back(ring->steps() + 1);
                    }
                }
            }
        }
    }

    CostSummary sum() {
        CostSummary result;
        result.parts = static_cast<int>(flows_.parts.size());
        result.links_only = true;
        const double units_of_vector =
            static_cast<double>(flows_.blocks_of_part) * static_cast<double>(flows_.parts.size());
        std::int64_t load = 0, alone = 0, beside_links = 0;
        for (std::size_t phase = 0; phase < flows_.parts.front().size(); ++phase) {
            begin(phase);
            for (std::size_t s = 0; s < flows_.parts.front()[phase].order.size(); ++s) {
                const Figures figures = step(s);
                result.steps_inside += figures.hops == 0 && figures.inside ? 1 : 0;
                (figures.hops == 0 ? alone : beside_links) += figures.most_inside;
                if (figures.hops == 0) {
                    continue;
                }
                result.step_max_link_load.push_back(static_cast<double>(2 * figures.load) /
                                                    (2 * units_of_vector));
                result.step_max_hops.push_back(static_cast<int>(figures.hops));
                load += figures.load;
                result.sum_hops += figures.hops;
                result.max_sends_per_port_per_step =
                    std::max(result.max_sends_per_port_per_step, figures.through_port);
            }
        }
        result.steps = static_cast<int>(result.step_max_hops.size());
        result.sum_link_load = static_cast<double>(2 * load) / (2 * units_of_vector);
        result.inside = static_cast<double>(units_inside_) / units_of_vector / torus_.ranks();
        result.inside_alone = static_cast<double>(alone) / units_of_vector;
        result.inside_beside_links = static_cast<double>(beside_links) / units_of_vector;
        result.messages_inside = static_cast<double>(messages_inside_) / torus_.ranks();
        return result;
    }

  private:
    struct Figures {
        std::int64_t load = 0, hops = 0;
        int through_port = 0;
        bool inside = false;
        std::int64_t most_inside = 0;  ///< that one rank sends or receives
    };

    /// A part in the phase under way.
    struct Part {
        const ProductPhase* phase;
        std::vector<int> rings;  ///< their numbers, by dimension
        std::vector<int> done;   ///< by dimension
    };

    void begin(std::size_t phase) {
        parts_.clear();
        for (const ProductFlow& flow : flows_.parts) {
            const ProductPhase& p = flow[phase];
            Part part{&p, {}, std::vector<int>(p.rings.size(), 0)};
            for (std::size_t j = 0; j < p.rings.size(); ++j) {
                const auto found = std::ranges::find(rings_, p.rings[j].get());
                part.rings.push_back(static_cast<int>(found - rings_.begin()));
                part.done[j] = p.backwards ? p.rings[j]->steps() : 0;
            }
            parts_.push_back(std::move(part));
        }
    }

    Figures step(std::size_t step) {
        Figures figures;
        const auto moving = [step](const Part& part) {
            const std::vector<int>& order = part.phase->order;
            return order[part.phase->backwards ? order.size() - 1 - step : step];
        };
        for (Part& part : parts_) {
            if (const int j = moving(part); j >= 0 && part.phase->backwards) {
                part.done[static_cast<std::size_t>(j)] -= 1;
            }
        }
        for (int j = 0; j < torus_.dimensions(); ++j) {
            std::vector<Active> active;
            for (const Part& part : parts_) {
                if (moving(part) == j) {
                    active.push_back({&part.rings, &part.done, part.phase->backwards});
                }
            }
            if (active.empty()) {
                continue;
            }
            if (torus_.is_host(j)) {
                add_inside(active, j, figures);
            } else {
                add_links(active, j, figures);
            }
        }
        for (Part& part : parts_) {
            if (const int j = moving(part); j >= 0 && !part.phase->backwards) {
                part.done[static_cast<std::size_t>(j)] += 1;
            }
        }
        return figures;
    }

    const RingHeld& held(const Active& part, int dimension) {
        const auto j = static_cast<std::size_t>(dimension);
        const auto ring = static_cast<std::size_t>((*part.rings)[j]);
        const int done = (*part.done)[j];
        RingHeld& found = held_[ring][static_cast<std::size_t>(done)];
        if (found.by_coordinate.empty()) {
            rings_[ring]->held(done, found.by_coordinate);
            found.largest = std::ranges::max(found.by_coordinate);
            found.first_is_largest = found.by_coordinate.front() == found.largest;
        }
        return found;
    }

    /// What the coordinates of a dimension hold, but those that hold no more than others.
    std::vector<Held> largest_of(const std::vector<Active>& active, int dimension) {
        Held first;
        bool first_is_largest = true;
        for (const Active& part : active) {
            const RingHeld& of_part = held(part, dimension);
            first_is_largest = first_is_largest && of_part.first_is_largest;
            first.push_back(of_part.largest);
        }
        if (torus_.is_host(dimension)) {  // all together
            for (std::size_t a = 0; a < active.size(); ++a) {
                const auto& of_part = held(active[a], dimension).by_coordinate;
                first[a] = std::accumulate(of_part.begin(), of_part.end(), std::int64_t{0});
            }
            first_is_largest = true;
        }
        if (first_is_largest) {
            return {first};
        }
        std::vector<Held> all(static_cast<std::size_t>(torus_.size(dimension)));
        for (const Active& part : active) {
            const auto& of_part = held(part, dimension).by_coordinate;
            for (std::size_t c = 0; c < all.size(); ++c) {
                all[c].push_back(of_part[c]);
            }
        }
        keep_largest(all);
        return all;
    }

    /// The lines of a dimension that hold most.
    std::vector<Held> lines(const std::vector<Active>& active, int dimension) {
        std::vector<Held> all{Held(active.size(), 1)};
        for (int i = 0; i < torus_.dimensions(); ++i) {
            if (i == dimension || torus_.size(i) == 1) {
                continue;
            }
            const std::vector<Held> of_dimension = largest_of(active, i);
            std::vector<Held> products;
            for (const Held& line : all) {
                for (const Held& more : of_dimension) {
                    products.push_back(line);
                    for (std::size_t a = 0; a < active.size(); ++a) {
                        products.back()[a] *= more[a];
                    }
                }
            }
            if (products.size() > 1) {
                keep_largest(products);
            }
            all = std::move(products);
        }
        return all;
    }

    void add_links(const std::vector<Active>& active, int dimension, Figures& figures) {
        std::vector<const RingStepLoads*> loads;
        for (const Active& part : active) {
            loads.push_back(&loads_of(part, dimension));
        }
        // Backwards every link carries what the other one of its cable did, and who received sends.
        const auto messages_of = [&](std::size_t a) -> const std::vector<int>(&)[2] {
            return active[a].backwards ? loads[a]->receives : loads[a]->sends;
        };
        for (const Held& line : lines(active, dimension)) {
            for (std::size_t a = 0; a < active.size(); ++a) {
                figures.hops = std::max(figures.hops, line[a] > 0 ? loads[a]->hops : 0);
            }
            for (const int way : {0, 1}) {
                for (std::size_t c = 0; c < loads.front()->load[way].size(); ++c) {
                    std::int64_t load = 0;
                    int sends = 0;
                    for (std::size_t a = 0; a < active.size(); ++a) {
                        load += line[a] * loads[a]->load[way][c];
                        sends += line[a] > 0 ? messages_of(a)[way][c] : 0;
                    }
                    figures.load = std::max(figures.load, load);
                    figures.through_port = std::max(figures.through_port, sends);
                }
            }
        }
    }

    void add_inside(const std::vector<Active>& active, int dimension, Figures& figures) {
        for (const Active& part : active) {
            const RingStepLoads& loads = loads_of(part, dimension);
            std::int64_t units = loads.units, messages = loads.messages;
            for (int i = 0; i < dimension; ++i) {
                const std::vector<std::int64_t>& others = held(part, i).by_coordinate;
                std::int64_t sum = 0;
                for (const std::int64_t of_coordinate : others) {
                    sum += of_coordinate;
                }
                units *= sum;
                messages *= std::ranges::count_if(others, [](std::int64_t h) { return h > 0; });
            }
            figures.inside |= messages > 0;
            units_inside_ += units;
            messages_inside_ += messages;
        }
        for (const Held& line : lines(active, dimension)) {
            for (Rank c = 0; c < torus_.size(dimension); ++c) {
                std::int64_t sent = 0, received = 0;
                for (std::size_t a = 0; a < active.size(); ++a) {
                    const RingStepLoads& loads = loads_of(active[a], dimension);
                    const std::int64_t out = line[a] * loads.sent[static_cast<std::size_t>(c)];
                    const std::int64_t in = line[a] * loads.received[static_cast<std::size_t>(c)];
                    sent += active[a].backwards ? in : out;
                    received += active[a].backwards ? out : in;
                }
                figures.most_inside = std::max({figures.most_inside, sent, received});
            }
        }
    }

    /// Forwards.
    const RingStepLoads& loads_of(const Active& part, int dimension) {
        const auto j = static_cast<std::size_t>(dimension);
        const int ring = (*part.rings)[j], step = (*part.done)[j];
        // Dimensions of one size have one ring, and some of them may be lines.
        const bool is_line = torus_.is_line(dimension);
        const auto [found, added] = loads_.try_emplace({ring, step, is_line});
        if (added) {
            messages_.clear();
            rings_[static_cast<std::size_t>(ring)]->messages(step, messages_);
            found->second = loads_of(torus_.size(dimension), is_line);
        }
        return found->second;
    }

    RingStepLoads loads_of(Rank size, bool is_line) const {
        const auto n = static_cast<std::size_t>(size);
        RingStepLoads result;
        for (const int way : {0, 1}) {
            result.load[way].assign(n, 0);
            result.sends[way].assign(n, 0);
            result.receives[way].assign(n, 0);
        }
        result.sent.assign(n, 0);
        result.received.assign(n, 0);
        for (const auto& [from, to, sign, units] : messages_) {
            result.sent[static_cast<std::size_t>(from)] += units;
            result.received[static_cast<std::size_t>(to)] += units;
            const Rank ahead = to >= from ? to - from : to - from + size;
            const bool up = is_line                           ? to > from
                            : 2 * std::int64_t{ahead} == size ? sign > 0
                                                              : 2 * std::int64_t{ahead} < size;
            const Rank hops = is_line ? std::max(to - from, from - to) : up ? ahead : size - ahead;
            result.hops = std::max<std::int64_t>(result.hops, hops);
            result.units += units;
            result.messages += 1;
            result.sends[sign > 0 ? 0 : 1][static_cast<std::size_t>(from)] += 1;
            result.receives[sign > 0 ? 1 : 0][static_cast<std::size_t>(to)] += 1;
            // By how much a link's load differs from that of the one before; runs wrap once.
            std::vector<std::int64_t>& load = result.load[up ? 0 : 1];
            const Rank first = up ? from : to == size - 1 ? 0 : to + 1;
            load[static_cast<std::size_t>(first)] += units;
            if (first + hops < size) {
                load[static_cast<std::size_t>(first + hops)] -= units;
            } else if (first + hops > size) {
                load[0] += units;
                load[static_cast<std::size_t>(first + hops - size)] -= units;
            }
        }
        for (std::vector<std::int64_t>& load : result.load) {
            for (std::size_t i = 1; i < n; ++i) {
                load[i] += load[i - 1];
            }
        }
        return result;
    }

    const Torus& torus_;
    const ProductFlows& flows_;
    std::vector<const RingFlow*> rings_;       // by number
    std::vector<std::vector<RingHeld>> held_;  // by number and step; empty: not asked for yet
    std::vector<Part> parts_;
    std::map<std::tuple<int, int, bool>, RingStepLoads> loads_;
    std::vector<RingMessage> messages_;
    std::int64_t units_inside_ = 0, messages_inside_ = 0;
};

}  // namespace

CostSummary summarize_product(const Torus& torus, const ProductFlows& flows) {
    return ProductLinks(torus, flows).sum();
}

}  // namespace trefoil
