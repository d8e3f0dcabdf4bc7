// SPDX-License-Identifier: BSD-3-Clause
// Steps are copied, part by part.
#include "algorithms/schedule/stages.hpp"

namespace trefoil {

namespace {

void copy_step(const Schedule& schedule, const Step& step, ScheduleWriter& writer) {
    writer.step();
    for (const Move& move : schedule.moves_of(step)) {
        writer.move(move.action, move.from, move.to);
    }
    for (const Send& send : schedule.sends_of(step)) {
        writer.send(send.peer, send.port, schedule.extents_of(send));
    }
    for (const Receive& receive : schedule.receives_of(step)) {
        writer.receive(receive.peer, receive.port);
        for (const Application& application : schedule.applications_of(receive)) {
            writer.apply(application.action, schedule.extents_of(application));
        }
    }
}

}  // namespace

ScheduleSet stage_of(const ScheduleSet& whole, std::size_t first, std::size_t end) {
    ScheduleSet stage;
    stage.collective = whole.collective;
    stage.torus = whole.torus;
    stage.root = whole.root;
    stage.steered = whole.steered;
    stage.owners = whole.owners;
    stage.is_stage = true;
    for (const Schedule& schedule : whole.schedules) {
        ScheduleWriter writer(schedule.rank);
        for (const Part& part : schedule.parts) {
            writer.part(part.vector_blocks, part.scratch_blocks, part.scratch_like);
            const auto steps = schedule.of(part);
            for (std::size_t s = first; s < end && s < steps.size(); ++s) {
                copy_step(schedule, steps[s], writer);
            }
        }
        stage.schedules.push_back(writer.take());
    }
    return stage;
}

}  // namespace trefoil
