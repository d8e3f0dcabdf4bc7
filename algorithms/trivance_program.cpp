// SPDX-License-Identifier: BSD-3-Clause
// Lowering of Trivance's latency plans: which accumulator a run needs and how it is filled.
#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "algorithms/trivance_runs.hpp"

namespace trefoil {

namespace {

using Run = std::pair<int, int>;

/// When each piece arrived: the transfer's place in the order of the whole plan, and its step.
struct Arrival {
    int step = -1;  ///< -1: the own contribution
    int message = 0;
};

class Lowering {
  public:
    explicit Lowering(const RunPlan& plan) : plan_(plan) {
        program_.size = plan.size;
        arrivals_[0] = {};
    }

    RunProgram run() {
        int right = 0;
        int left = 0;
        for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
            program_.steps.emplace_back();
            for (const RunTransfer& t : plan_.steps[s]) {
                const bool whole = t.first == first_piece() && t.last == last_piece();
                program_.steps.back().messages.push_back(
                    {t.side, t.distance, whole ? 0 : 1 + accumulator({t.first, t.last}), {}});
            }
            int message = 0;
            for (const RunTransfer& t : plan_.steps[s]) {
                const int piece = t.side > 0 ? ++right : --left;
                arriving_.push_back({piece, {static_cast<int>(s), message++}});
            }
            for (const auto& [piece, arrival] : arriving_) {
                arrivals_[piece] = arrival;
            }
            arriving_.clear();
        }
        return std::move(program_);
    }

  private:
    int first_piece() const { return arrivals_.begin()->first; }
    int last_piece() const { return arrivals_.rbegin()->first; }

    static bool contains(Run run, int piece) { return run.first <= piece && piece <= run.second; }

    int accumulator(Run run) {
        const auto [found, added] = accumulators_.emplace(run, program_.accumulators);
        if (added) {
            fill(run, program_.accumulators++);
        }
        return found->second;
    }

    /// Up to the step in which the first piece outside the run arrives, the window is a part of the
    /// run and needs no accumulator: a copy before that step holds all that came so far.
    void fill(Run run, int accumulator) {
        int copy_step = -1;
        if (contains(run, 0)) {
            copy_step = static_cast<int>(program_.steps.size());
            for (const auto& [piece, arrival] : arrivals_) {
                if (!contains(run, piece)) {
                    copy_step = std::min(copy_step, arrival.step);
                }
            }
            program_.steps[copy_step].copies.push_back(accumulator);
        }
        std::vector<Arrival> later;
        for (const auto& [piece, arrival] : arrivals_) {
            if (contains(run, piece) && arrival.step >= std::max(copy_step, 0)) {
                later.push_back(arrival);
            }
        }
        std::sort(later.begin(), later.end(), [](const Arrival& a, const Arrival& b) {
            return std::pair(a.step, a.message) < std::pair(b.step, b.message);
        });
        bool empty = copy_step < 0;
        for (const Arrival& a : later) {
            program_.steps[a.step].messages[a.message].targets.push_back({accumulator, empty});
            empty = false;
        }
    }

    const RunPlan& plan_;
    RunProgram program_;
    std::map<int, Arrival> arrivals_;
    std::vector<std::pair<int, Arrival>> arriving_;
    std::map<Run, int> accumulators_;
};

}  // namespace

RunProgram run_program(const RunPlan& plan) {
    return Lowering(plan).run();
}

std::shared_ptr<const RunProgram> run_program(Rank size) {
    static std::mutex mutex;
    static std::map<Rank, std::shared_ptr<const RunProgram>> programs;
    const std::lock_guard lock(mutex);
    std::shared_ptr<const RunProgram>& program = programs[size];
    if (!program) {
        program = std::make_shared<const RunProgram>(run_program(*run_plan(size)));
    }
    return program;
}

Rank run_step_load(const std::vector<RunTransfer>& step) {
    Rank load[2] = {0, 0};
    for (const RunTransfer& t : step) {
        load[t.side > 0] += t.distance;
    }
    return std::max(load[0], load[1]);
}

}  // namespace trefoil
