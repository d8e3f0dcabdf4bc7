// SPDX-License-Identifier: BSD-3-Clause
// Pairs of ranks with what passes between them; then counting.
#include "bench/traffic/crossing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "topo/error.hpp"

namespace trefoil::tool {

PairTraffic::PairTraffic(const Torus& torus, const Choice& choice) : ranks_(torus.ranks()) {
    const CollectiveTraits& row = traits_of(choice.algorithm->collective);
    const auto add = [this](Rank a, Rank b, double vectors) {
        if (vectors > 0) {
            pairs_.push_back({std::min(a, b), std::max(a, b), vectors});
            total_ += vectors;
        }
    };
    for (Rank r = 0; r < ranks_; ++r) {
        const Schedule schedule = choice.algorithm->build(torus, r, choice.options);
        const auto parts = static_cast<double>(schedule.parts.size());
        for (const Part& part : schedule.parts) {
            const double block = 1 / (parts * std::max(1U, row.received_of(part.vector_blocks)));
            for (const Step& step : schedule.of(part)) {
                for (const Send& send : schedule.sends_of(step)) {
                    const auto blocks = block_count(schedule.extents_of(send));
                    add(r, send.peer, block * static_cast<double>(blocks));
                }
                for (const Move& move : schedule.moves_of(step)) {
                    if (move.pulls()) {
                        add(r, move.peer, block * move.from.count);
                    }
                }
            }
        }
    }
    const auto key = [](const Pair& p) { return std::tuple(p.low, p.high); };
    std::ranges::sort(pairs_, {}, key);
    std::size_t kept = 0;
    for (const Pair& p : pairs_) {
        if (kept > 0 && key(pairs_[kept - 1]) == key(p)) {
            pairs_[kept - 1].vectors += p.vectors;
        } else {
            pairs_[kept++] = p;
        }
    }
    pairs_.resize(kept);
}

double PairTraffic::crossing(std::span<const int> group_of, std::span<const Rank> order,
                             Rank rotation) const {
    std::vector<int> groups(ranks_);
    for (Rank r = 0; r < ranks_; ++r) {
        groups[r] = group_of[order[(r + rotation) % ranks_]];
    }
    double sum = 0;
    for (const Pair& p : pairs_) {
        sum += groups[p.low] != groups[p.high] ? p.vectors : 0;
    }
    return sum;
}

HostOrder parse_host_order(const std::string& text) {
    static constexpr std::pair<const char*, HostOrder> names[] = {{"given", HostOrder::given},
                                                                  {"rotated", HostOrder::rotated},
                                                                  {"aligned", HostOrder::aligned},
                                                                  {"least", HostOrder::least}};
    for (const auto& [name, order] : names) {
        if (text == name) {
            return order;
        }
    }
    throw Error(
        Status::invalid_argument,
        fmt::format("there is no order '{}' of hosts; take given, rotated, aligned or least",
                    text));
}

std::string Crossing::order() const {
    const std::string name = aligned ? "aligned" : "given";
    return rotation == 0 ? name : fmt::format("{}, rotated by {}", name, rotation);
}

Crossing least_crossing(const PairTraffic& traffic, const Allocation& allocation,
                        HostOrder orders) {
    std::vector<Rank> given(traffic.ranks());
    std::iota(given.begin(), given.end(), 0);
    const std::vector<Rank> aligned = aligned_order(allocation);
    const bool rotates = orders == HostOrder::rotated || orders == HostOrder::least;
    Crossing best;
    bool any = false;
    for (const bool aligns : {false, true}) {
        if (aligns ? orders == HostOrder::given || orders == HostOrder::rotated
                   : orders == HostOrder::aligned) {
            continue;
        }
        for (Rank rotation = 0; rotation < (rotates ? traffic.ranks() : 1); ++rotation) {
            const double vectors =
                traffic.crossing(allocation.group_of, aligns ? aligned : given, rotation);
            if (!any || vectors < best.vectors * (1 - 1e-12)) {
                best = {vectors, aligns, rotation};
                any = true;
            }
        }
    }
    return best;
}

}  // namespace trefoil::tool
