// SPDX-License-Identifier: BSD-3-Clause
// Shortest ways to one receiver at a time: a search back from it, then the bytes forward.
#include "algorithms/rewiring/circuit_routes.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace trefoil {

namespace {

class Routes {
  public:
    Routes(Rank ranks, std::span<const Circuit> circuits)
        : circuits_(circuits),
          out_(static_cast<std::size_t>(ranks) + 1),
          in_(out_.size()),
          into_(circuits.size()),
          loads_(circuits.size()),
          distance_(static_cast<std::size_t>(ranks), -1),
          waiting_(distance_.size()),
          waiting_unsplit_(distance_.size()) {
        for (const Circuit& c : circuits) {
            ++out_[c.from + 1];
            ++in_[c.to + 1];
        }
        std::partial_sum(out_.begin(), out_.end(), out_.begin());
        std::partial_sum(in_.begin(), in_.end(), in_.begin());
        std::vector<std::size_t> next(in_.begin(), in_.end() - 1);
        for (std::size_t c = 0; c < circuits.size(); ++c) {
            into_[next[circuits[c].to]++] = c;
        }
    }

    /// Carries legs that all go to `to`. Returns the hops of the longest way, -1: there is none.
    int carry(Rank to, std::span<const Leg> legs) {
        search(to);
        int longest = 0;
        for (const Leg& leg : legs) {
            const int hops = distance_[leg.from];
            longest = hops < 0 || longest < 0 ? -1 : std::max(longest, hops);
            (leg.split ? waiting_ : waiting_unsplit_)[leg.from] += leg.share;
        }
        for (auto at = found_.rbegin(); at != found_.rend(); ++at) {
            pass_on(*at);
        }
        for (const Rank r : found_) {
            distance_[r] = -1;
        }
        return longest;
    }

    /// Of one of them where several are parallel.
    std::vector<double> loads() const {
        std::vector<double> all;
        for (std::size_t c = 0; c < circuits_.size(); ++c) {
            all.push_back(loads_[c] / circuits_[c].count);
        }
        return all;
    }

  private:
    /// found_: the ranks from which `to` can be reached, near ones first.
    void search(Rank to) {
        found_.assign(1, to);
        distance_[to] = 0;
        for (std::size_t i = 0; i < found_.size(); ++i) {
            const Rank at = found_[i];
            for (std::size_t c = in_[at]; c < in_[at + 1]; ++c) {
                const Rank before = circuits_[into_[c]].from;
                if (distance_[before] < 0) {
                    distance_[before] = distance_[at] + 1;
                    found_.push_back(before);
                }
            }
        }
    }

    /// Bytes that wait at `at` go on to the next nodes on shortest ways.
    void pass_on(Rank at) {
        const double split = std::exchange(waiting_[at], 0);
        double unsplit = std::exchange(waiting_unsplit_[at], 0);
        if (distance_[at] == 0 || (split == 0 && unsplit == 0)) {
            return;
        }
        const auto leads_on = [&](std::size_t c) {
            return distance_[circuits_[c].to] == distance_[at] - 1;
        };
        int ways = 0;
        for (std::size_t c = out_[at]; c < out_[at + 1]; ++c) {
            ways += leads_on(c) ? 1 : 0;
        }
        for (std::size_t c = out_[at]; c < out_[at + 1]; ++c) {
            if (leads_on(c)) {
                waiting_[circuits_[c].to] += split / ways;
                waiting_unsplit_[circuits_[c].to] += unsplit;
                loads_[c] += split / ways + unsplit;
                unsplit = 0;
            }
        }
    }

    std::span<const Circuit> circuits_;
    std::vector<std::size_t> out_, in_;  ///< where a rank's circuits begin, in circuits_ and into_
    std::vector<std::size_t> into_;
    std::vector<double> loads_;
    std::vector<int> distance_;
    std::vector<double> waiting_, waiting_unsplit_;
    std::vector<Rank> found_;
};

/// Carries all legs. Returns the hops of the longest way, -1: there is none for some leg.
int carry_all(Routes& routes, std::span<const Leg> legs) {
    std::vector<Leg> by_receiver(legs.begin(), legs.end());
    std::ranges::stable_sort(by_receiver, {}, &Leg::to);
    int longest = 0;
    for (auto first = by_receiver.begin(); first != by_receiver.end();) {
        const auto end = std::find_if(first, by_receiver.end(),
                                      [&](const Leg& leg) { return leg.to != first->to; });
        const int hops = routes.carry(first->to, std::span(first, end));
        if (hops < 0) {
            return -1;
        }
        longest = std::max(longest, hops);
        first = end;
    }
    return longest;
}

}  // namespace

WiringLoad load_on_circuits(Rank ranks, std::span<const Leg> legs,
                            std::span<const Circuit> circuits) {
    Routes routes(ranks, circuits);
    WiringLoad result{.hops = carry_all(routes, legs)};
    if (result.reaches()) {
        for (const double load : routes.loads()) {
            result.load = std::max(result.load, load);
        }
    }
    return result;
}

std::vector<double> loads_by_circuit(Rank ranks, std::span<const Leg> legs,
                                     std::span<const Circuit> circuits) {
    Routes routes(ranks, circuits);
    carry_all(routes, legs);
    return routes.loads();
}

}  // namespace trefoil
