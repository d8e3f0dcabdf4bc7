// SPDX-License-Identifier: BSD-3-Clause
// trivance-l: allreduce in ceil(log3 d) steps per dimension, the whole share in every message.
//
// Trivance (Juerss, Addanki, Schmid), latency-optimal variant, with plans for every ring size
// (algorithms/trivance/runs.hpp). Invariant: before each step, a rank holds the sum over a
// product of windows around it, the whole ring in the dimensions that are done, one rank wide in
// those to come. Part p of D works through dimension p, then p + 1, and so on, so that the parts
// use different dimensions; an accumulator is valid only while no other dimension moves, hence one
// dimension after another. Each port carries 1/D of the vector per step.
//
//     n = 9, step 0:   r-1 -> r <- r+1        then sums of three, step 1:   r-3 -> r <- r+3
#include <algorithm>
#include <array>
#include <vector>

#include "algorithms/schedule/long_dimensions.hpp"
#include "algorithms/trivance/builders.hpp"
#include "algorithms/trivance/runs.hpp"

namespace trefoil {

namespace {

class LatencyBuilder {
  public:
    LatencyBuilder(const Torus& torus, Rank rank) : torus_(torus), rank_(rank), writer_(rank) {}

    Schedule build() {
        const std::vector<int> dimensions = long_dimensions(torus_);
        int accumulators = 0;
        bool across = false;
        for (const int j : dimensions) {
            const auto program = buffered_pattern(torus_.size(j));
            accumulators = std::max(accumulators, program->accumulators);
            across = across || goes_across(j, program->steps.back().messages[0]);
        }
        // What goes straight across travels in halves, both ways round: over both links of a pair.
        // Accumulators need a share in one block; then the network may divide it.
        window_ = {0, across && accumulators == 0 ? 2U : 1U};
        const std::size_t parts = std::max<std::size_t>(dimensions.size(), 1);
        for (std::size_t p = 0; p < parts; ++p) {
            writer_.part(window_.count, static_cast<Block>(accumulators));
            for (std::size_t i = 0; i < dimensions.size(); ++i) {
                dimension(dimensions[(p + i) % parts]);
            }
        }
        return writer_.take();
    }

  private:
    Extent buffer(int index) const {
        return index == 0 ? window_ : Extent{window_.count + static_cast<Block>(index) - 1, 1};
    }

    void dimension(int j) {
        const auto program = buffered_pattern(torus_.size(j));
        for (const BufferedPattern::Step& step : program->steps) {
            writer_.step();
            for (const int accumulator : step.copies) {
                writer_.move(Action::replace, window_, buffer(1 + accumulator).first);
            }
            for (const RunMessage& m : step.messages) {
                send(j, m);
            }
            for (const RunMessage& m : step.messages) {
                receive(j, m);
            }
        }
    }

    bool goes_across(int j, const RunMessage& m) const {
        return 2 * static_cast<std::int64_t>(m.distance) == torus_.size(j);
    }
    bool in_halves(int j, const RunMessage& m) const {
        return window_.count == 2 && goes_across(j, m);
    }

    /// The port through which the message leaves; a tie goes the way that the plan tells.
    Port port(int j, const RunMessage& m) const {
        const bool the_other_way = 2 * static_cast<std::int64_t>(m.distance) > torus_.size(j);
        return Port::towards(j, the_other_way ? m.side : -m.side);
    }

    void send(int j, const RunMessage& m) {
        const Rank peer = torus_.shifted(rank_, j, -m.side * m.distance);
        if (in_halves(j, m)) {
            writer_.send(peer, Port::plus(j), std::array{Extent{0, 1}});
            writer_.send(peer, Port::minus(j), std::array{Extent{1, 1}});
        } else {
            writer_.send(peer, port(j, m), std::array{buffer(m.source)});
        }
    }

    void receive(int j, const RunMessage& m) {
        const Rank peer = torus_.shifted(rank_, j, m.side * m.distance);
        if (in_halves(j, m)) {
            writer_.receive(peer, Port::minus(j), Action::reduce, std::array{Extent{0, 1}});
            writer_.receive(peer, Port::plus(j), Action::reduce, std::array{Extent{1, 1}});
            return;
        }
        writer_.receive(peer, port(j, m).opposite());
        writer_.apply(Action::reduce, std::array{window_});
        for (const RunTarget& t : m.targets) {
            writer_.apply(t.replace ? Action::replace : Action::reduce,
                          std::array{buffer(1 + t.accumulator)});
        }
    }

    const Torus& torus_;
    Rank rank_;
    ScheduleWriter writer_;
    Extent window_;
};

}  // namespace

Schedule build_trivance_l(const Torus& torus, Rank rank) {
    return LatencyBuilder(torus, rank).build();
}

}  // namespace trefoil
