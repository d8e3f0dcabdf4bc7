// SPDX-License-Identifier: BSD-3-Clause
// Ways between all pairs of ranks. A link has room for what it carries in the time that is aimed
// at. One that is over its room costs more the fuller it is, and more for good after each round, so
// that those who have other ways leave it to those who have none. Costs are whole numbers: all
// ranks find the same ways.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "algorithms/packing/bound.hpp"
#include "algorithms/packing/routes.hpp"

namespace trefoil {

namespace {

class Negotiation {
  public:
    Negotiation(const std::vector<FabricLink>& links, Rank ranks, int parts)
        : links_(links),
          found_{links, ranks, parts, {}},
          out_(to_index(ranks)),
          in_(to_index(ranks)),
          load_(links.size()),
          room_(links.size()),
          dearer_(links.size()) {
        for (std::size_t i = 0; i < links.size(); ++i) {
            out_[to_index(links[i].from)].push_back(static_cast<int>(i));
            in_[to_index(links[i].to)].push_back(static_cast<int>(i));
        }
        measure();
        for (int part = 0; part < parts; ++part) {
            // Offset by offset: ranks load the links around them evenly from the start.
            for (Rank offset = 1; offset < ranks; ++offset) {
                for (Rank from = 0; from < ranks; ++from) {
                    BlockRoute& route =
                        found_.routes.emplace_back(BlockRoute{from, (from + offset) % ranks, {}});
                    go_short(route);
                    load(route, 1);
                    least_links_ += std::ssize(route.links);
                }
            }
        }
    }

    /// Whether no link carries more than `most` thousandths of a part by its rate.
    bool agree(std::int64_t most) {
        constexpr int most_rounds = 32;
        auto searches = 2 * std::ssize(found_.routes);  // more do not help where there is no room
        for (std::size_t i = 0; i < links_.size(); ++i) {
            room_[i] = static_cast<int>(most * links_[i].rate / Fabric::whole / Fabric::whole);
        }
        if (std::accumulate(room_.begin(), room_.end(), std::int64_t{0}) < least_links_) {
            return false;
        }
        std::fill(dearer_.begin(), dearer_.end(), 0);
        for (int round = 0; round < most_rounds && searches > 0; ++round) {
            bool fits = true;
            for (std::size_t i = 0; i < links_.size(); ++i) {
                if (over(static_cast<int>(i)) > 0) {
                    fits = false;
                    dearer_[i] +=
                        std::max(1, unit * over(static_cast<int>(i)) / std::max(1, room_[i]));
                }
            }
            if (fits) {
                return true;
            }
            for (BlockRoute& route : found_.routes) {
                if (std::any_of(route.links.begin(), route.links.end(),
                                [&](int link) { return over(link) > 0; })) {
                    load(route, -1);
                    go_cheap(route);
                    load(route, 1);
                    --searches;
                }
            }
        }
        return false;
    }

    BlockRoutes take() { return std::move(found_); }

  private:
    static constexpr int unit = 64;  ///< what a link costs that has room

    int over(int link) const { return load_[to_index(link)] - room_[to_index(link)]; }
    std::int64_t cost(int link) const {
        const std::int64_t base = unit + dearer_[to_index(link)];
        return base * std::max(1, over(link) + 2);
    }
    int& hops(Rank from, Rank to) {
        return hops_[to_index(from) * to_index(found_.ranks) + to_index(to)];
    }

    void measure() {
        hops_.assign(to_index(found_.ranks) * to_index(found_.ranks), -1);
        for (Rank from = 0; from < found_.ranks; ++from) {
            std::vector<Rank> queue{from};
            hops(from, from) = 0;
            for (std::size_t i = 0; i < queue.size(); ++i) {
                for (const int link : out_[to_index(queue[i])]) {
                    const Rank to = links_[to_index(link)].to;
                    if (hops(from, to) < 0) {
                        hops(from, to) = hops(from, queue[i]) + 1;
                        queue.push_back(to);
                    }
                }
            }
        }
    }

    void load(const BlockRoute& route, int more) {
        for (const int link : route.links) {
            load_[to_index(link)] += more;
        }
    }

    /// Over the fewest links, backwards, each time through the one with the least load by its rate.
    void go_short(BlockRoute& route) {
        const auto lighter = [&](int a, int b) {
            return std::int64_t{load_[to_index(a)] + 1} * links_[to_index(b)].rate <
                   std::int64_t{load_[to_index(b)] + 1} * links_[to_index(a)].rate;
        };
        for (Rank here = route.to; here != route.from;) {
            int best = -1;
            for (const int link : in_[to_index(here)]) {
                const Rank before = links_[to_index(link)].from;
                if (hops(route.from, before) < hops(route.from, here) &&
                    (best < 0 || lighter(link, best))) {
                    best = link;
                }
            }
            route.links.push_back(best);
            here = links_[to_index(best)].from;
        }
        std::reverse(route.links.begin(), route.links.end());
    }

    /// Of the least cost: no link costs less than a unit, so hops say how far it is at least (A*).
    void go_cheap(BlockRoute& route) {
        using Reached = std::pair<std::int64_t, Rank>;
        std::priority_queue<Reached, std::vector<Reached>, std::greater<>> queue;
        spent_.assign(to_index(found_.ranks), -1);
        via_.assign(to_index(found_.ranks), -1);
        done_.assign(to_index(found_.ranks), false);
        spent_[to_index(route.from)] = 0;
        queue.push({0, route.from});
        while (!done_[to_index(route.to)]) {
            const Rank here = queue.top().second;
            queue.pop();
            if (done_[to_index(here)]) {
                continue;
            }
            done_[to_index(here)] = true;
            for (const int link : out_[to_index(here)]) {
                const Rank to = links_[to_index(link)].to;
                const std::int64_t spent = spent_[to_index(here)] + cost(link);
                if (spent_[to_index(to)] < 0 || spent < spent_[to_index(to)]) {
                    spent_[to_index(to)] = spent;
                    via_[to_index(to)] = link;
                    queue.push({spent + unit * hops(to, route.to), to});
                }
            }
        }
        route.links.clear();
        for (Rank here = route.to; here != route.from;) {
            route.links.push_back(via_[to_index(here)]);
            here = links_[to_index(route.links.back())].from;
        }
        std::reverse(route.links.begin(), route.links.end());
    }

    const std::vector<FabricLink>& links_;
    BlockRoutes found_;
    std::vector<std::vector<int>> out_, in_;
    std::vector<int> load_, room_, dearer_;  ///< by link
    std::vector<int> hops_;
    std::int64_t least_links_ = 0;  ///< of all routes together
    // Of the search under way.
    std::vector<std::int64_t> spent_;
    std::vector<int> via_;
    std::vector<bool> done_;
};

}  // namespace

BlockRoutes route_pairs(const std::vector<FabricLink>& links, Rank ranks, int parts, double bound) {
    constexpr Rank few = 64;  // of more it is not tried whether the bound itself can be reached
    const double aim = bound * (ranks <= few ? 1 : close_to_bound) * parts * ranks;
    auto most = static_cast<std::int64_t>(std::ceil(aim * Fabric::whole - 1e-3));
    Negotiation negotiation(links, ranks, parts);
    while (!negotiation.agree(most)) {
        constexpr std::int64_t step = Fabric::whole / 2;
        most = std::max(most + most / 40, (most / step + 1) * step);
    }
    return negotiation.take();
}

}  // namespace trefoil
