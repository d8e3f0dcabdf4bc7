// SPDX-License-Identifier: BSD-3-Clause
// Whole numbers only: those of std::pow differ from machine to machine, and so would the trees that
// are tried first.
#include "algorithms/search/hop_shares.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <utility>

#include "algorithms/schedule/to_index.hpp"

namespace trefoil {

namespace {

constexpr std::int64_t hop = 1 << 16;  ///< shares are in parts of a hop

/// Rounded down.
std::int64_t square_root(std::int64_t square) {
    std::int64_t root = 0;
    for (std::int64_t bit = std::int64_t{1} << 30; bit > 0; bit /= 2) {
        root += (root + bit) * (root + bit) <= square ? bit : 0;
    }
    return root;
}

/// At least one hop each, and the others in proportion to the powers of the growth; by step.
std::vector<std::int64_t> ideal_shares(int steps, int hops, int growth_squared) {
    const std::int64_t growth = square_root(growth_squared * hop * hop);
    std::vector<std::int64_t> weights{std::int64_t{1} << 30};
    std::int64_t sum = weights.back();
    while (std::ssize(weights) < steps) {
        weights.push_back(weights.back() * hop / growth);
        sum += weights.back();
    }
    std::vector<std::int64_t> shares;
    std::int64_t rest = hops;
    std::reverse(weights.begin(), weights.end());
    for (const std::int64_t weight : weights) {
        shares.push_back(
            std::max(hop, rest * weight / sum * hop + rest * weight % sum * hop / sum));
        if (shares.back() == hop) {  // those before it share what it leaves
            --rest;
            sum -= weight;
        }
    }
    std::reverse(shares.begin(), shares.end());
    return shares;
}

struct Shares {
    std::int64_t unlike = 0;  ///< how far they are from the ideal ones, in all
    std::vector<int> hops;    ///< by step

    /// Of those that are as far the one with the longer first step is better.
    bool is_better(const Shares& other) const {
        return unlike != other.unlike ? unlike < other.unlike : hops > other.hops;
    }
};

}  // namespace

std::vector<std::vector<int>> hop_shares(int steps, int hops, int growth_squared,
                                         std::size_t most) {
    constexpr int around = 4;  // hops more or less than the ideal, of a step and of all so far
    std::map<int, std::vector<Shares>> by_sum{{0, {{}}}};
    std::int64_t ideal_sum = 0;
    for (const std::int64_t ideal : ideal_shares(steps, hops, growth_squared)) {
        ideal_sum += ideal;
        std::map<int, std::vector<Shares>> longer;
        const auto near = static_cast<int>(ideal / hop);
        for (const auto& [sum, all] : by_sum) {
            for (int share = std::max(1, near + 1 - around); share <= near + around; ++share) {
                if (std::abs((sum + share) * hop - ideal_sum) > around * hop) {
                    continue;
                }
                for (const Shares& begun : all) {
                    Shares more = begun;
                    more.unlike += std::abs(share * hop - ideal);
                    more.hops.push_back(share);
                    longer[sum + share].push_back(std::move(more));
                }
            }
        }
        for (auto& [sum, all] : longer) {
            std::sort(all.begin(), all.end(), std::mem_fn(&Shares::is_better));
            all.resize(std::min(most, all.size()));
        }
        by_sum = std::move(longer);
    }
    std::vector<std::vector<int>> found;
    for (Shares& one : by_sum[hops]) {
        found.push_back(std::move(one.hops));
    }
    return found;
}

}  // namespace trefoil
