// SPDX-License-Identifier: BSD-3-Clause
// Candidates per dimension, and what each step costs on their combinations.
#include "algorithms/rewiring/rewiring.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "topo/error.hpp"

namespace trefoil {

namespace {

constexpr std::size_t most_wirings = std::size_t{1} << 18;

void add_once(std::vector<DimensionWiring>& all, DimensionWiring wiring) {
    if (std::ranges::none_of(all, [&](const DimensionWiring& w) { return w.same_as(wiring); })) {
        all.push_back(std::move(wiring));
    }
}

void check_dimensions(const Torus& torus, const std::vector<int>& dimensions) {
    for (const int j : dimensions) {
        if (j < 0 || j >= torus.dimensions()) {
            throw Error(Status::invalid_argument,
                        "torus " + torus.name() + " has no dimension " + std::to_string(j) +
                            "; its dimensions are 0 to " + std::to_string(torus.dimensions() - 1));
        }
    }
}

}  // namespace

Rewiring::Rewiring(const Torus& torus, const Algorithm& algorithm, const BuildOptions& build,
                   const RewiringOptions& options)
    : torus_(torus),
      steps_(legs_of(torus, algorithm, build, options.tie)),
      candidates_(torus.dimensions(), {DimensionWiring{}}) {
    check_dimensions(torus, options.switched);
    for (int j = 0; j < torus.dimensions(); ++j) {
        const bool has_switch = options.switched.empty() ||
                                std::ranges::find(options.switched, j) != options.switched.end();
        if (has_switch && options.candidates != Candidates::none) {
            add_candidates(j, options);
        }
        places_.push_back(wirings_);
        wirings_ *= candidates_[j].size();
        if (wirings_ > most_wirings) {
            throw Error(Status::unsupported,
                        "torus " + torus.name() + " has more than " + std::to_string(most_wirings) +
                            " wirings to choose from; let fewer dimensions be switched, or give "
                            "own circuits instead of shifted rings");
        }
    }
    work_out_loads();
}

void Rewiring::add_candidates(int dimension, const RewiringOptions& options) {
    std::vector<DimensionWiring>& all = candidates_[dimension];
    if (options.candidates == Candidates::shifted) {
        for (Rank stride = 2; 2 * stride <= torus_.size(dimension); ++stride) {
            all.push_back({.stride = stride, .circuits = {}});
        }
    }
    for (const StepLegs& step : steps_) {
        auto own = own_wiring(torus_, step, dimension, options.limits);
        if (auto* wiring = std::get_if<DimensionWiring>(&own)) {
            add_once(all, std::move(*wiring));
        } else if (auto* why = std::get_if<Unwirable>(&own)) {
            unwirable_.push_back(std::move(*why));
        }
    }
}

void Rewiring::work_out_loads() {
    loads_.resize(steps_.size());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        for (int j = 0; j < torus_.dimensions(); ++j) {
            auto& of_dimension = loads_[i].emplace_back();
            for (const DimensionWiring& wiring : candidates_[j]) {
                // Where ways have several dimensions, only those of shifted rings are added up.
                of_dimension.push_back(steps_[i].straight || wiring.is_shifted()
                                           ? load_on(torus_, steps_[i], j, wiring)
                                           : WiringLoad{.hops = -1});
            }
        }
        crossing_hops_.push_back(steps_[i].straight ? std::vector<int>{}
                                                    : crossing_hops(steps_[i]));
    }
}

/// Of the longest way on each wiring; -1 where there is none, or circuits are no shifted ring.
std::vector<int> Rewiring::crossing_hops(const StepLegs& step) const {
    std::vector<std::vector<std::vector<int>>> hops(torus_.dimensions());
    for (int j = 0; j < torus_.dimensions(); ++j) {
        for (const DimensionWiring& wiring : candidates_[j]) {
            std::vector<int>& by_displacement = hops[j].emplace_back(torus_.size(j), -1);
            for (Rank apart = 0; wiring.is_shifted() && apart < torus_.size(j); ++apart) {
                by_displacement[apart] = stride_hops(torus_.size(j), wiring.stride, apart);
            }
        }
    }
    std::vector<int> longest(wirings());
    for (std::size_t w = 0; w < wirings(); ++w) {
        for (const std::vector<Rank>& displacement : step.displacements) {
            int sum = 0;
            for (int j = 0; j < torus_.dimensions() && sum >= 0; ++j) {
                const int one = hops[j][candidate(w, j)][displacement[j]];
                sum = one < 0 ? -1 : sum + one;
            }
            longest[w] = sum < 0 || longest[w] < 0 ? -1 : std::max(longest[w], sum);
        }
    }
    return longest;
}

WiringLoad Rewiring::load(std::size_t step, std::size_t wiring) const {
    WiringLoad all;
    for (int j = 0; j < torus_.dimensions(); ++j) {
        const WiringLoad& one = loads_[step][j][candidate(wiring, j)];
        if (!one.reaches()) {
            return one;
        }
        all.hops = std::max(all.hops, one.hops);
        all.load = std::max(all.load, one.load);
    }
    if (!steps_[step].straight) {
        all.hops = std::max(all.hops, crossing_hops_[step][wiring]);
    }
    return all;
}

double Rewiring::seconds(std::size_t step, std::size_t wiring, const RewiringCosts& costs,
                         double bytes) const {
    const WiringLoad all = load(step, wiring);
    return all.reaches() ? costs.alpha + all.hops * costs.hop + all.load * bytes * costs.byte
                         : std::numeric_limits<double>::infinity();
}

double Rewiring::static_seconds(const RewiringCosts& costs, double bytes) const {
    double sum = 0;
    for (std::size_t i = 0; i < steps(); ++i) {
        sum += seconds(i, 0, costs, bytes);
    }
    return sum;
}

WiringSequence Rewiring::optimum(const RewiringCosts& costs, double bytes) const {
    const ChangeCosts changes{costs.reconfiguration + costs.barrier, costs.free_start,
                              costs.give_back};
    return cheapest_sequence(
        steps(), wirings(),
        [&](std::size_t step, std::size_t wiring) { return seconds(step, wiring, costs, bytes); },
        changes);
}

}  // namespace trefoil
