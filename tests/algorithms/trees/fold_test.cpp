// SPDX-License-Identifier: BSD-3-Clause
// Bine trees on odd rings, against all ways to cut a small ring into groups: none loads links less.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/analysis/cost.hpp"
#include "algorithms/registry/registry.hpp"

namespace trefoil {
namespace {

/// A ring of one or two neighbours to a group: which have two, and whose centre is the second.
struct Cut {
    unsigned two = 0;
    unsigned last = 0;
};

struct Edge {
    Rank from = 0, to = 0;
    int weight = 1;
};

int modulo(int value, int size) {
    return (value % size + size) % size;
}

/// Bine's rule among 2^k groups: who reaches whom, by step.
std::vector<std::vector<std::pair<int, int>>> group_edges(int groups, bool doubling) {
    const int steps = std::countr_zero(static_cast<unsigned>(groups));
    std::vector<int> rho{1};
    while (static_cast<int>(rho.size()) < steps) {
        rho.push_back(1 - 2 * rho.back());
    }
    std::vector<std::vector<std::pair<int, int>>> result(steps);
    std::vector<int> reached{0};
    for (int step = 0; step < steps; ++step) {
        const int distance = rho[doubling ? step : steps - 1 - step];
        for (std::size_t i = 0, before = reached.size(); i < before; ++i) {
            const int to =
                modulo(reached[i] + (reached[i] % 2 == 0 ? distance : -distance), groups);
            if (std::ranges::count(reached, to) == 0) {
                result[step].emplace_back(reached[i], to);
                reached.push_back(to);
            }
        }
    }
    return result;
}

/// Of one step, with the same edges seen in a mirror: half the vector goes by each.
int largest_load(const std::vector<Edge>& edges, int size) {
    std::vector<int> up(size, 0), down(size, 0);  // from x to x + 1, and back
    for (const Edge& e : edges) {
        const int ahead = modulo(e.to - e.from, size);
        for (int i = 0; i < std::min(ahead, size - ahead); ++i) {
            const bool forward = 2 * ahead < size;
            (forward ? up : down)[modulo(forward ? e.from + i : e.to + i, size)] += e.weight;
        }
    }
    int largest = 0;
    for (int x = 0; x < size; ++x) {
        largest = std::max(largest, up[x] + down[size - 1 - x]);
    }
    return largest;
}

/// The sum of the steps' largest loads, in halves of a block or of a vector.
int load(const Cut& cut, int size, const std::vector<std::vector<std::pair<int, int>>>& steps,
         bool blocks) {
    const int groups = 1 << steps.size();
    std::vector<int> centre, below;
    std::vector<Edge> members;
    int at = (cut.two & cut.last & 1) != 0 ? size - 1 : 0;
    for (int g = 0; g < groups; ++g) {
        const int next = modulo(at + 1, size);
        const bool two = (cut.two >> g & 1) != 0;
        const bool last = two && (cut.last >> g & 1) != 0;
        centre.push_back(last ? next : at);
        below.push_back(two ? 2 : 1);
        if (two) {
            members.push_back({last ? next : at, last ? at : next});
        }
        at = two ? modulo(next + 1, size) : next;
    }
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
        for (const auto& [from, to] : *step) {
            below[from] += below[to];
        }
    }
    int sum = largest_load(members, size);
    for (const auto& step : steps) {
        std::vector<Edge> edges;
        for (const auto& [from, to] : step) {
            edges.push_back({centre[from], centre[to], blocks ? below[to] : 1});
        }
        sum += largest_load(edges, size);
    }
    return sum;
}

int least_load(int size, bool doubling, bool blocks) {
    const int groups = static_cast<int>(std::bit_floor(static_cast<unsigned>(size)));
    const auto steps = group_edges(groups, doubling);
    int least = 1 << 30;
    for (unsigned two = 0; two < 1U << groups; ++two) {
        if (std::popcount(two) != size - groups) {
            continue;
        }
        for (unsigned last = two;; last = (last - 1) & two) {
            least = std::min(least, load({two, last}, size, steps, blocks));
            if (last == 0) {
                break;
            }
        }
    }
    return least;
}

TEST(TreeFold, NoCutOfASmallRingLoadsLinksLess) {
    for (const int size : {3, 5, 7, 9, 11, 13, 15, 17, 19}) {
        for (const bool doubling : {true, false}) {
            SCOPED_TRACE(std::to_string(size) + (doubling ? " dd" : " dh"));
            const auto cost = [&](Collective collective) {
                const Algorithm& tree =
                    find_algorithm(collective, doubling ? "bine-dd" : "bine-dh");
                return summarize(Torus({size}), tree).sum_link_load;
            };
            EXPECT_NEAR(cost(Collective::scatter) * 2 * size, least_load(size, doubling, true),
                        1e-9);
            EXPECT_NEAR(cost(Collective::bcast) * 2, least_load(size, doubling, false), 1e-9);
        }
    }
}

}  // namespace
}  // namespace trefoil
