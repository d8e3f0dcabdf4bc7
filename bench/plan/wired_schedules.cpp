// SPDX-License-Identifier: BSD-3-Clause
// Shifted rings say what is behind each port; of other circuits the messages say it.
#include "bench/plan/wired_schedules.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "algorithms/json/circuits.hpp"
#include "algorithms/json/write.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

class Joiner {
  public:
    Joiner(const Torus& torus, std::size_t step)
        : torus_(torus),
          change_{step, std::vector<Rank>(static_cast<std::size_t>(torus.ranks()) * torus.ports(),
                                          CircuitChange::dark)} {}

    /// Both ends.
    void join(Rank from, Port port, Rank to) {
        set(from, port, to);
        set(to, port.opposite(), from);
    }
    void join_ring(int dimension, Rank stride) {
        for (Rank r = 0; r < torus_.ranks() && torus_.size(dimension) > 1; ++r) {
            join(r, Port::plus(dimension), torus_.shifted(r, dimension, stride));
        }
    }
    CircuitChange take() { return std::move(change_); }

  private:
    void set(Rank from, Port port, Rank to) {
        Rank& peer = change_.peers[static_cast<std::size_t>(from) * torus_.ports() + port.index];
        if (peer != CircuitChange::dark && peer != to) {
            throw Error(Status::unsupported,
                        fmt::format("from step {} on port {} of rank {} would have to lead to rank "
                                    "{} and to rank {}; take another algorithm, or --circuits "
                                    "shifted",
                                    change_.step, to_string(port), from, peer, to));
        }
        peer = to;
    }

    const Torus& torus_;
    CircuitChange change_;
};

void join_messages(const ScheduleSet& set, std::size_t step, int dimension, Joiner& joiner) {
    for (const Schedule& schedule : set.schedules) {
        for (const Part& part : schedule.parts) {
            for (const Send& send : schedule.sends_of(schedule.of(part)[step])) {
                if (send.port.dimension() == dimension) {
                    joiner.join(schedule.rank, send.port, send.peer);
                }
            }
        }
    }
}

/// From step `first` of the sequence until its wiring changes.
CircuitChange change_at(const ScheduleSet& set, const Rewiring& rewiring,
                        const WiringSequence& sequence, std::size_t first) {
    Joiner joiner(set.torus, static_cast<std::size_t>(rewiring.step(first).step));
    const std::size_t wiring = sequence.wirings[first];
    for (int j = 0; j < set.torus.dimensions(); ++j) {
        const DimensionWiring& one = rewiring.wiring(wiring, j);
        if (one.is_shifted()) {
            joiner.join_ring(j, one.stride);
            continue;
        }
        for (std::size_t i = first; i < sequence.wirings.size() && sequence.wirings[i] == wiring;
             ++i) {
            join_messages(set, static_cast<std::size_t>(rewiring.step(i).step), j, joiner);
        }
    }
    return joiner.take();
}

}  // namespace

std::string wired_schedules(const Torus& torus, const Choice& choice, const Rewiring& rewiring,
                            const WiringSequence& sequence) {
    ScheduleSet set;
    set.collective = choice.algorithm->collective;
    set.torus = torus;
    for (Rank r = 0; r < torus.ranks(); ++r) {
        set.schedules.push_back(choice.algorithm->build(torus, r, choice.options));
    }
    std::size_t stands = 0;
    for (std::size_t i = 0; i < sequence.wirings.size(); ++i) {
        if (sequence.wirings[i] != stands) {
            set.changes.push_back(change_at(set, rewiring, sequence, i));
            stands = sequence.wirings[i];
        }
    }
    check_circuits(set);
    std::string text;
    for (const Schedule& schedule : set.schedules) {
        auto one = schedule_json(torus, *choice.algorithm, choice.options, schedule);
        one["circuits"] = circuits_json(set.changes, torus, schedule.rank);
        text += one.dump() + "\n";
    }
    return text;
}

}  // namespace trefoil::tool
