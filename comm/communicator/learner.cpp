// SPDX-License-Identifier: BSD-3-Clause
// Trials of algorithms during a program's own calls.
#include "comm/communicator/learner.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "topo/decimals.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

/// A turn's first call makes plan and connections, and does not count.
constexpr int calls_of_turn = 5, rounds_of_trial = 2;
/// What the model does not think so many times slower than the cheapest, and no more than so many.
constexpr double dearest = 2.5;
constexpr std::size_t most_names = 5;
/// What `auto` takes stays unless another one is so much faster.
constexpr double noise = 0.05;
constexpr double never = std::numeric_limits<double>::max();

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

std::string microseconds(double seconds) {
    return short_decimal(1e6 * seconds, 3) + " us";
}

}  // namespace

void Trial::reserve() {
    for (std::vector<double>& of_one : seconds_) {
        of_one.reserve(rounds_of_trial * (calls_of_turn - 1));
    }
}

bool Trial::note(double seconds) noexcept {
    if (calls_in_turn_ > 0) {
        seconds_[turn_].push_back(seconds);
    }
    if (++calls_in_turn_ < calls_of_turn) {
        return false;
    }
    calls_in_turn_ = 0;
    if (++turn_ == names_.size()) {
        turn_ = 0;
        over_ = ++rounds_ == rounds_of_trial;
    }
    return over_;
}

void Trial::drop() {
    names_.erase(names_.begin() + static_cast<std::ptrdiff_t>(turn_));
    seconds_.erase(seconds_.begin() + static_cast<std::ptrdiff_t>(turn_));
    calls_in_turn_ = 0;
    turn_ %= std::max<std::size_t>(1, names_.size());
    over_ = names_.size() < 2;
}

std::vector<double> Trial::medians() const {
    std::vector<double> result;
    for (const std::vector<double>& of_one : seconds_) {
        result.push_back(of_one.empty() ? never : median(of_one));
    }
    return result;
}

Trial::Verdict Trial::decide(const std::vector<double>& slowest) const {
    const auto best = static_cast<std::size_t>(std::ranges::min_element(slowest) - slowest.begin());
    const std::size_t kept = slowest[0] <= slowest[best] * (1 + noise) ? 0 : best;
    const Choice choice = parse_choice(calls_.collective, names_[kept]);
    TuningRule rule = calls_;
    rule.algorithm = choice.algorithm;
    rule.options = choice.options;
    rule.learned = true;
    std::string text = std::string(to_string(calls_.collective)) + " of " +
                       std::to_string(calls_.bytes.least) + " to " +
                       std::to_string(calls_.bytes.most) + " bytes uses " + names_[kept] +
                       " from now on, tried with " + std::to_string(bytes_) + " bytes:";
    for (std::size_t i = 0; i < names_.size(); ++i) {
        text += (i == 0 ? " " : ", ") + names_[i] + " " + microseconds(slowest[i]);
    }
    return {rule, text};
}

std::vector<std::string> Learner::names_for(const Request& request) const {
    std::vector<std::string> names;
    for (const Choice& choice : chooser_.worth_trying(request, access_, dearest, most_names)) {
        names.push_back(to_string(choice));
    }
    return names;
}

Trial* Learner::trial_of(const Request& request) {
    const CollectiveTraits& traits = request.traits();
    if (!traits.has_data() || traits.is_prefix() || traits.with_neighbours() ||
        request.user != nullptr || !request.counts.empty() || !request.displacements.empty() ||
        request.count == 0 || chooser_.has_forced(request.collective)) {
        return nullptr;
    }
    const std::size_t bytes = chooser_.bytes_of(request);
    const bool any_order = request.same_in_any_order();
    const int bits = static_cast<int>(std::bit_width(bytes));
    auto found = trials_.find({request.collective, any_order, bits});
    if (found == trials_.end()) {
        using Types = TuningRule::Types;
        TuningRule calls;
        calls.collective = request.collective;
        calls.types = !traits.reduces ? Types::all
                      : any_order     ? Types::any_order
                                      : Types::fixed_order;
        calls.bytes = {std::size_t{1} << (bits - 1), (std::size_t{2} << (bits - 1)) - 1};
        std::vector<std::string> names = names_for(request);
        found = trials_
                    .emplace(Kind{request.collective, any_order, bits},
                             Trial(calls, bytes, std::move(names)))
                    .first;
    }
    return found->second.is_for(bytes) ? &found->second : nullptr;
}

}  // namespace trefoil
