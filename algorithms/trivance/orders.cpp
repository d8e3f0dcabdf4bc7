// SPDX-License-Identifier: BSD-3-Clause
// The search for orders of the dimensions that load all links alike. Loads are whole numbers, so
// that no rounding can make ranks disagree.
#include "algorithms/trivance/orders.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "algorithms/schedule/interleave.hpp"
#include "algorithms/schedule/long_dimensions.hpp"
#include "algorithms/trivance/tree.hpp"

namespace trefoil {

namespace {

using Order = std::vector<int>;
using Orders = std::vector<Order>;

/// What one ring's tree does in each step.
struct TreeSteps {
    std::vector<Rank> distances;
    std::vector<std::int64_t> held;  ///< blocks before each step; one more at the end
};

TreeSteps steps_of(const TrivanceTree& tree) {
    TreeSteps steps{tree.distances, {}};
    for (int k = 0; k <= static_cast<int>(tree.distances.size()); ++k) {
        steps.held.push_back(
            std::ranges::count_if(tree.levels, [k](int level) { return level >= k; }));
    }
    return steps;
}

class OrderSearch {
  public:
    explicit OrderSearch(const Torus& torus) {
        const auto dimensions = static_cast<int>(long_dimensions(torus).size());
        for (const Rank size : torus.sizes()) {
            rings_.push_back(steps_of(*trivance_tree(size, dimensions)));
            steps_.push_back(static_cast<int>(rings_.back().distances.size()));
        }
    }

    Orders run(int fewest_parts, int most_parts) {
        improve(fewest_parts);
        Orders best = orders_;
        Cost cost = cost_;
        for (int parts = fewest_parts + 1; parts <= most_parts; ++parts) {
            improve(parts);
            // Each part has one of so many equal shares of the vector.
            const auto before = static_cast<std::int64_t>(best.size());
            const bool lighter = cost_.load * before <= cost.load * parts;
            if (lighter &&
                20 * weighted(cost_) * before < (20 - (parts - before)) * weighted(cost) * parts) {
                best = orders_;
                cost = cost_;
            }
        }
        return best;
    }

  private:
    /// Of the links of a dimension in a step: the load, in halves of a part's block, and how many
    /// parts send there.
    struct Use {
        std::int64_t load = 0;
        int parts = 0;
    };
    using Uses = std::vector<std::vector<Use>>;  // by step and dimension

    void add(const Order& order, int sign, Uses& uses) const {
        std::vector<std::size_t> done(rings_.size(), 0);
        for (std::size_t s = 0; s < order.size(); ++s) {
            std::int64_t others = 1;
            for (std::size_t i = 0; i < rings_.size(); ++i) {
                others *= static_cast<int>(i) == order[s] ? 1 : rings_[i].held[done[i]];
            }
            const TreeSteps& ring = rings_[order[s]];
            const std::size_t k = done[order[s]]++;
            Use& use = uses[s][order[s]];
            use.load += sign * others * (ring.held[k] - ring.held[k + 1]) * ring.distances[k];
            use.parts += sign;
        }
    }

    /// The sum of the steps' largest loads, and the most parts that send through one port.
    struct Cost {
        std::int64_t load = 0;
        int parts = 1;
        auto operator<=>(const Cost&) const = default;
    };

    /// The load, and a twentieth of it for each further message through a port.
    static std::int64_t weighted(const Cost& cost) { return cost.load * (19 + cost.parts); }

    static Cost cost_of(const Uses& uses) {
        Cost cost;
        for (const auto& step : uses) {
            std::int64_t largest = 0;
            for (const Use& use : step) {
                largest = std::max(largest, use.load);
                cost.parts = std::max(cost.parts, use.parts);
            }
            cost.load += largest;
        }
        return cost;
    }

    /// Begins with parts that take turns, and exchanges two steps of a part while that helps.
    void improve(int parts) {
        orders_.clear();
        for (int p = 0; p < parts; ++p) {
            orders_.push_back(interleaved(steps_, p));
        }
        Uses uses(orders_[0].size(), std::vector<Use>(rings_.size()));
        for (const Order& order : orders_) {
            add(order, +1, uses);
        }
        cost_ = cost_of(uses);
        trials_ = 0;
        while (exchange(uses)) {
        }
    }

    /// Takes the best exchange, if any is one.
    bool exchange(Uses& uses) {
        Order* part = nullptr;
        Order with;
        for (Order& order : orders_) {
            add(order, -1, uses);
            Order trial = order;
            for (std::size_t s = 0; s < order.size(); ++s) {
                for (std::size_t t = s + 1; t < order.size(); ++t) {
                    if (order[s] == order[t] || ++trials_ > trial_limit) {
                        continue;
                    }
                    std::swap(trial[s], trial[t]);
                    add(trial, +1, uses);
                    const Cost cost = cost_of(uses);
                    add(trial, -1, uses);
                    if (cost < cost_) {
                        cost_ = cost;
                        part = &order;
                        with = trial;
                    }
                    std::swap(trial[s], trial[t]);
                }
            }
            add(order, +1, uses);
        }
        if (part == nullptr) {
            return false;
        }
        add(*part, -1, uses);
        *part = std::move(with);
        add(*part, +1, uses);
        return true;
    }

    /// By number of parts; keeps a search within milliseconds.
    static constexpr std::int64_t trial_limit = 4000;

    std::vector<TreeSteps> rings_;
    std::vector<int> steps_;
    Orders orders_;
    Cost cost_;
    std::int64_t trials_ = 0;
};

Orders find_orders(const Torus& torus) {
    const std::vector<int> moving = long_dimensions(torus);
    const auto dimensions = static_cast<int>(moving.size());
    if (moving.empty()) {
        return {{}};
    }
    const bool alike =
        std::ranges::all_of(moving, [&](int j) { return torus.size(j) == torus.size(moving[0]); });
    return OrderSearch(torus).run(dimensions, alike ? dimensions : 2 * dimensions);
}

}  // namespace

std::vector<std::vector<int>> trivance_orders(const Torus& torus) {
    static std::mutex mutex;
    static auto& found = *new std::map<std::vector<Rank>, Orders>;
    const std::lock_guard lock(mutex);
    Orders& orders = found[torus.sizes()];
    if (orders.empty()) {
        orders = find_orders(torus);
    }
    return orders;
}

}  // namespace trefoil
