// SPDX-License-Identifier: BSD-3-Clause
// Joining plain and mirrored halves message by message.
#include "algorithms/trivance/halves.hpp"

#include <utility>
#include <vector>

namespace trefoil {

namespace {

struct JoinedMessage {
    Rank peer = 0;
    Port port;
    Action action = Action::replace;
    std::vector<Extent> extents;
};

/// Appends to the message of this peer and port, or begins it.
void join(std::vector<JoinedMessage>& messages, Rank peer, Port port, Action action,
          std::span<const Extent> extents, Block shift) {
    JoinedMessage* message = nullptr;
    for (JoinedMessage& m : messages) {
        if (m.peer == peer && m.port == port && m.action == action) {
            message = &m;
        }
    }
    if (message == nullptr) {
        message = &messages.emplace_back(JoinedMessage{peer, port, action, {}});
    }
    for (const Extent& e : extents) {
        message->extents.push_back({e.first + shift, e.count});
    }
}

void write_step(ScheduleWriter& writer, const Schedule& schedule, const Step* const (&steps)[2],
                Block shift) {
    std::vector<JoinedMessage> sends;
    std::vector<JoinedMessage> receives;
    for (const int half : {0, 1}) {
        const Block by = half == 0 ? 0 : shift;
        for (const Send& s : schedule.sends_of(*steps[half])) {
            join(sends, s.peer, s.port, Action::replace, schedule.extents_of(s), by);
        }
        for (const Receive& r : schedule.receives_of(*steps[half])) {
            const Application& a = schedule.applications_of(r).front();
            join(receives, r.peer, r.port, a.action, schedule.extents_of(a), by);
        }
    }
    writer.step();
    for (const JoinedMessage& m : sends) {
        writer.send(m.peer, m.port, m.extents);
    }
    for (const JoinedMessage& m : receives) {
        writer.receive(m.peer, m.port, m.action, m.extents);
    }
}

}  // namespace

Schedule join_halves(const Schedule& schedule) {
    ScheduleWriter writer(schedule.rank);
    const std::size_t pairs = schedule.parts.size() / 2;
    for (std::size_t p = 0; p < pairs; ++p) {
        const Part& plain = schedule.parts[p];
        const Part& mirror = schedule.parts[pairs + p];
        writer.part(plain.vector_blocks + mirror.vector_blocks);
        for (std::uint32_t i = 0; i < plain.steps.count; ++i) {
            write_step(writer, schedule, {&schedule.of(plain)[i], &schedule.of(mirror)[i]},
                       plain.vector_blocks);
        }
    }
    return writer.take();
}

}  // namespace trefoil
