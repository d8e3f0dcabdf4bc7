// SPDX-License-Identifier: BSD-3-Clause
// Each message of a tree goes down in its step, or up in the step as far from the end.
#include "algorithms/search/tree_schedules.hpp"

#include <array>

namespace trefoil {

namespace {

constexpr std::array whole_vector{Extent{0, 1}};

void add_step(std::vector<ScheduleWriter>& writers, const FewStepTree& tree, int step, bool up) {
    for (ScheduleWriter& writer : writers) {
        writer.step();
    }
    for (const bool sends : {true, false}) {
        for (const FewStepMessage& m : tree.messages) {
            if (m.step != step) {
                continue;
            }
            const bool at_child = sends == up;
            ScheduleWriter& writer = writers[to_index(at_child ? m.to : m.from)];
            const Rank peer = at_child ? m.from : m.to;
            const Port port = at_child ? m.port.opposite() : m.port;
            if (sends) {
                writer.send(peer, port, whole_vector);
            } else {
                writer.receive(peer, port, up ? Action::reduce : Action::replace, whole_vector);
            }
        }
    }
}

}  // namespace

std::vector<Schedule> tree_schedules(const FewStepTree& tree, Rank ranks, TreeUse use) {
    std::vector<ScheduleWriter> writers;
    for (Rank r = 0; r < ranks; ++r) {
        writers.emplace_back(r);
        writers.back().part(1);
    }
    for (int s = tree.steps; use != TreeUse::down && s-- > 0;) {
        add_step(writers, tree, s, true);
    }
    for (int s = 0; use != TreeUse::up && s < tree.steps; ++s) {
        add_step(writers, tree, s, false);
    }
    std::vector<Schedule> schedules;
    for (ScheduleWriter& writer : writers) {
        schedules.push_back(writer.take());
    }
    return schedules;
}

}  // namespace trefoil
