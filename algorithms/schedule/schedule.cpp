// SPDX-License-Identifier: BSD-3-Clause
// Writing schedules into their flat arrays.
#include "algorithms/schedule/schedule.hpp"

namespace trefoil {

namespace {
template <typename T>
std::uint32_t end_of(const std::vector<T>& v) {
    return static_cast<std::uint32_t>(v.size());
}
}  // namespace

std::uint64_t block_count(std::span<const Extent> extents) {
    std::uint64_t total = 0;
    for (const Extent& e : extents) {
        total += e.count;
    }
    return total;
}

void ScheduleWriter::reserve(std::size_t steps) {
    schedule_.steps.reserve(steps);
    schedule_.sends.reserve(steps);
    schedule_.receives.reserve(steps);
    schedule_.applications.reserve(steps);
    schedule_.extents.reserve(2 * steps);
}

void ScheduleWriter::part(Block vector_blocks, Block scratch_blocks, Block scratch_like) {
    schedule_.parts.push_back(
        {vector_blocks, scratch_blocks, {end_of(schedule_.steps), 0}, scratch_like, false});
}

void ScheduleWriter::step() {
    schedule_.parts.back().steps.count += 1;
    schedule_.steps.push_back({{end_of(schedule_.moves), 0},
                               {end_of(schedule_.sends), 0},
                               {end_of(schedule_.receives), 0}});
}

void ScheduleWriter::move(Action action, Extent from, Block to) {
    add_move(action, false, Move::self, from, to);
}

void ScheduleWriter::add_move(Action action, bool initial, Rank peer, Extent from, Block to) {
    const Rank source = peer == schedule_.rank ? Move::self : peer;
    schedule_.moves.push_back({action, initial, source, from, to});
    schedule_.steps.back().moves.count += 1;
}

void ScheduleWriter::open(Rank peer, Port port) {
    send(peer, port, {});
    schedule_.sends.back().opens = true;
}

void ScheduleWriter::receive_opening(Rank peer, Port port) {
    receive(peer, port);
    schedule_.receives.back().opens = true;
}

void ScheduleWriter::send(Rank peer, Port port, std::span<const Extent> extents) {
    schedule_.sends.push_back({peer, port, add(extents), false});
    schedule_.steps.back().sends.count += 1;
}

void ScheduleWriter::receive(Rank peer, Port port) {
    schedule_.receives.push_back({peer, port, {end_of(schedule_.applications), 0}, false});
    schedule_.steps.back().receives.count += 1;
}

void ScheduleWriter::apply(Action action, std::span<const Extent> extents) {
    schedule_.applications.push_back({action, add(extents)});
    schedule_.receives.back().applications.count += 1;
}

Slice ScheduleWriter::add(std::span<const Extent> extents) {
    const std::uint32_t first = end_of(schedule_.extents);
    for (const Extent& e : extents) {
        if (e.count == 0) {
            continue;
        }
        if (end_of(schedule_.extents) > first) {
            Extent& last = schedule_.extents.back();
            if (last.first + last.count == e.first) {
                last.count += e.count;
                continue;
            }
        }
        schedule_.extents.push_back(e);
    }
    return {first, end_of(schedule_.extents) - first};
}

}  // namespace trefoil
