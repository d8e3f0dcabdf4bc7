// SPDX-License-Identifier: BSD-3-Clause
// Moves, sorted once by who sends and once by who receives.
#include "algorithms/alltoall/tabulated_ring.hpp"

#include <algorithm>
#include <numeric>

namespace trefoil {

namespace {

RingSteps without_empty(RingSteps steps) {
    RingSteps kept;
    std::vector<RingSignal> waiting;
    for (RingStep& step : steps) {
        waiting.insert(waiting.end(), step.signals.begin(), step.signals.end());
        if (!step.moves.empty()) {
            kept.push_back({std::move(step.moves), {}});
            if (kept.size() > 1) {  // nothing has moved before the first
                kept.back().signals = waiting;
            }
            waiting.clear();
        }
    }
    return kept;
}

}  // namespace

TabulatedRing::TabulatedRing(Rank size, RingSteps steps)
    : TabulatedRing(without_empty(std::move(steps)), size) {}

TabulatedRing::TabulatedRing(RingSteps steps, Rank size)
    : RingAlltoall(size, static_cast<int>(steps.size())) {
    std::vector<int> last_moves(static_cast<std::size_t>(size) * size, -1);
    for (RingStep& step : steps) {
        add(step, last_moves);
        step = {};
    }
    traffic_ = traffic_of(*this);
}

void TabulatedRing::add(RingStep& given, std::vector<int>& last_moves) {
    std::sort(given.moves.begin(), given.moves.end());
    Step step;
    step.signals = std::move(given.signals);
    for (const RingMove& m : given.moves) {
        if (step.messages.empty() || step.messages.back().holder != m.holder ||
            step.messages.back().hop != m.hop) {
            step.messages.push_back(
                {m.holder, wrapped(std::int64_t{m.holder} + m.hop), m.hop, step.pairs.size(), 0});
        }
        step.messages.back().count += 1;
        int& last = last_moves[static_cast<std::size_t>(m.pair.target) * size() + m.pair.source];
        step.pairs.push_back({m.pair, last});
        last = static_cast<int>(steps_.size());
    }
    step.arrivals.resize(step.messages.size());
    std::iota(step.arrivals.begin(), step.arrivals.end(), 0);
    std::stable_sort(step.arrivals.begin(), step.arrivals.end(),
                     [&](auto a, auto b) { return step.messages[a].peer < step.messages[b].peer; });
    steps_.push_back(std::move(step));
}

RingHandover TabulatedRing::handover(const Step& step, const Message& message) {
    const auto first = step.pairs.begin() + static_cast<std::ptrdiff_t>(message.first);
    return {message.holder, message.hop,
            std::vector(first, first + static_cast<std::ptrdiff_t>(message.count))};
}

std::vector<RingHandover> TabulatedRing::sends(Rank coordinate, int step) const {
    const Step& at = steps_[step];
    std::vector<RingHandover> result;
    for (auto m = std::ranges::lower_bound(at.messages, coordinate, {}, &Message::holder);
         m != at.messages.end() && m->holder == coordinate; ++m) {
        result.push_back(handover(at, *m));
    }
    return result;
}

std::vector<RingHandover> TabulatedRing::receives(Rank coordinate, int step) const {
    const Step& at = steps_[step];
    const auto peer = [&](std::uint32_t message) { return at.messages[message].peer; };
    std::vector<RingHandover> result;
    for (auto m = std::ranges::lower_bound(at.arrivals, coordinate, {}, peer);
         m != at.arrivals.end() && peer(*m) == coordinate; ++m) {
        result.push_back(handover(at, at.messages[*m]));
    }
    return result;
}

}  // namespace trefoil
