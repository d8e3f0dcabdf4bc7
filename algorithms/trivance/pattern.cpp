// SPDX-License-Identifier: BSD-3-Clause
// AccumulatorAssignment of Trivance's latency plans: which accumulator a run needs and how it is
// filled.
#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>

#include "algorithms/trivance/runs.hpp"

namespace trefoil {

namespace {

class AccumulatorAssignment {
  public:
    explicit AccumulatorAssignment(const TrivancePattern& plan) : plan_(plan) {
        program_.size = plan.size;
    }

    BufferedPattern run() {
        for (const auto& transfers : plan_.steps) {
            const auto step = static_cast<int>(program_.steps.size());
            program_.steps.emplace_back();
            for (const RunTransfer& t : transfers) {
                const bool whole = t.pieces == (std::uint64_t{1} << arrivals_.size()) - 1;
                program_.steps.back().messages.push_back(
                    {t.side, t.distance, whole ? 0 : 1 + accumulator(t.pieces), {}});
            }
            for (int message = 0; message < static_cast<int>(transfers.size()); ++message) {
                arrivals_.push_back({step, message});
            }
        }
        return std::move(program_);
    }

  private:
    /// With which message of which step a piece arrives; the own contribution before all.
    struct Arrival {
        int step = -1;
        int message = 0;
    };

    static bool contains(std::uint64_t run, std::size_t piece) { return (run >> piece & 1) != 0; }

    int accumulator(std::uint64_t run) {
        const auto [found, added] = accumulators_.emplace(run, program_.accumulators);
        if (added) {
            fill(run, program_.accumulators++);
        }
        return found->second;
    }

    /// Up to the step in which the first piece outside the run arrives, the window is a part of the
    /// run and needs no accumulator: a copy before that step holds all that came so far.
    void fill(std::uint64_t run, int accumulator) {
        int first_step = 0;  // the pieces of this step and later ones are added as they arrive
        if (contains(run, 0)) {
            std::size_t outside = 0;
            while (contains(run, outside)) {
                ++outside;
            }
            first_step = arrivals_[outside].step;
            program_.steps[first_step].copies.push_back(accumulator);
        }
        bool empty = !contains(run, 0);
        for (std::size_t piece = 1; piece < arrivals_.size(); ++piece) {
            const Arrival& a = arrivals_[piece];
            if (contains(run, piece) && a.step >= first_step) {
                program_.steps[a.step].messages[a.message].targets.push_back({accumulator, empty});
                empty = false;
            }
        }
    }

    const TrivancePattern& plan_;
    BufferedPattern program_;
    std::vector<Arrival> arrivals_{Arrival{}};
    std::map<std::uint64_t, int> accumulators_;
};

}  // namespace

BufferedPattern buffered_pattern(const TrivancePattern& plan) {
    return AccumulatorAssignment(plan).run();
}

std::shared_ptr<const BufferedPattern> buffered_pattern(Rank size) {
    static std::mutex mutex;
    static auto& programs = *new std::map<Rank, std::shared_ptr<const BufferedPattern>>;
    const std::lock_guard lock(mutex);
    std::shared_ptr<const BufferedPattern>& program = programs[size];
    if (!program) {
        program =
            std::make_shared<const BufferedPattern>(buffered_pattern(*trivance_pattern(size)));
    }
    return program;
}

double run_step_load(const std::vector<RunTransfer>& step, Rank size) {
    double load[2] = {0, 0};
    for (const RunTransfer& t : step) {
        if (2 * static_cast<std::int64_t>(t.distance) == size) {
            load[0] += t.distance / 2.0;
            load[1] += t.distance / 2.0;
        } else {
            load[t.side > 0] += t.distance;
        }
    }
    return std::max(load[0], load[1]);
}

}  // namespace trefoil
