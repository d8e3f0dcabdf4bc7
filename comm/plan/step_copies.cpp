// SPDX-License-Identifier: BSD-3-Clause
// What a step works on is copied before it; what it only sends is sent from where it lies.
#include "comm/plan/step_copies.hpp"

#include <algorithm>
#include <utility>

namespace trefoil {

bool StepCopies::pays(const Schedule& schedule, const VectorMap& map,
                      const std::vector<Transfer>& copies) {
    std::size_t bytes = 0;
    for (const Transfer& copy : copies) {
        bytes += copy.bytes;
    }
    // Who receives nothing works on nothing: that is sent without a copy however short it is.
    return map.input_stays() && !copies.empty() &&
           (schedule.receives.empty() ||
            bytes / copies.size() >= least_late_copy * schedule.parts.size()) &&
           std::ranges::none_of(schedule.sends, &Send::opens);
}

void StepCopies::begin_part(const PartRuns& runs) {
    worked_on_ = late_.empty() ? LateCopies() : LateCopies(worked_on(runs));
}

/// Of a part, what is pending and not replaced before anything else is done with it but to send it.
std::vector<Transfer> StepCopies::worked_on(const PartRuns& runs) const {
    LateCopies pending = late_;
    std::vector<Transfer> found, replaced;
    const auto take = [&](const Extent& extent, std::vector<Transfer>& taken) {
        for (const Run& run : runs.of(extent)) {
            pending.take(run, taken);
        }
    };
    for (const Step& step : schedule_.of(runs.part())) {
        for (const Move& move : schedule_.moves_of(step)) {
            take(move.from, found);
            take({move.to, move.from.count}, found);
        }
        for (const Receive& receive : schedule_.receives_of(step)) {
            for (const Application& a : schedule_.applications_of(receive)) {
                for (const Extent& extent : schedule_.extents_of(a)) {
                    take(extent, a.action == Action::replace ? replaced : found);
                }
            }
        }
    }
    return found;
}

void StepCopies::before_moves(const PartRuns& runs, const Step& step, std::vector<ProgramOp>& ops) {
    if (late_.empty()) {
        return;
    }
    for (const Move& move : schedule_.moves_of(step)) {
        for (const Extent& extent : {move.from, Extent{move.to, move.from.count}}) {
            for (const Run& run : runs.of(extent)) {
                late_.copy(run, ops);
            }
        }
    }
}

// What is to be copied is sent from the copy, as it is near then; and what lies side by side stays
// one piece of a message.
void StepCopies::before_sends(const PartRuns& runs, const Step& step, std::vector<ProgramOp>& ops) {
    if (late_.empty()) {
        return;
    }
    for (const Send& send : schedule_.sends_of(step)) {
        for (const Run& run : runs.of(schedule_.extents_of(send))) {
            if (late_.is_mixed(run) || worked_on_.has_any_of(run)) {
                late_.copy(run, ops);
            }
        }
    }
}

std::vector<Run> StepCopies::sources(std::vector<Run> runs) const {
    if (late_.empty()) {
        return runs;
    }
    std::vector<Run> result;
    for (const Run& run : runs) {
        late_.append_sources(run, result);
    }
    return result;
}

bool StepCopies::add_rest(const std::vector<Run>& wanted, std::vector<ProgramOp>& ops) {
    if (late_.empty()) {
        return false;
    }
    for (const Run& run : wanted) {
        late_.copy(run, ops);
    }
    return true;
}

}  // namespace trefoil
