// SPDX-License-Identifier: BSD-3-Clause
// What a message of an exchange carries.
#include "algorithms/search/exchange_schedules.hpp"

#include <algorithm>
#include <array>

namespace trefoil {

namespace {

std::vector<Schedule> taken(std::vector<ScheduleWriter>& writers) {
    std::vector<Schedule> schedules;
    for (ScheduleWriter& writer : writers) {
        schedules.push_back(writer.take());
    }
    return schedules;
}

std::vector<ScheduleWriter> begun(Rank ranks) {
    std::vector<ScheduleWriter> writers;
    for (Rank r = 0; r < ranks; ++r) {
        writers.emplace_back(r);
    }
    return writers;
}

/// Block 0 is a rank's sum. What arrives waits in scratch: first sums of classes before its own, in
/// order, then those of the classes behind. Two operands may change places, as bits stay the same.
void add_up(ScheduleWriter& writer, int before, int behind) {
    for (int i = 1; i < before; ++i) {
        writer.move(Action::reduce, {static_cast<Block>(1 + i), 1}, 1);
    }
    if (before > 0) {
        writer.move(Action::reduce, {1, 1}, 0);
    }
    for (int i = before; i < before + behind; ++i) {
        writer.move(Action::reduce, {static_cast<Block>(1 + i), 1}, 0);
    }
}

std::vector<Schedule> sums(const Exchange& exchange, Rank ranks) {
    std::vector<ScheduleWriter> writers = begun(ranks);
    struct Arrived {
        int before = 0, behind = 0;
    };
    std::vector<Arrived> arrived(to_index(ranks));
    Block scratch = 0;
    for (const ExchangeStep& step : exchange.steps) {
        std::vector<Block> received(to_index(ranks));
        for (const ExchangeMessage& m : step.messages) {
            scratch = std::max(scratch, ++received[to_index(m.to)]);
        }
    }
    for (ScheduleWriter& writer : writers) {
        writer.part(1, scratch);
    }
    const auto begin_step = [&] {
        for (Rank r = 0; r < ranks; ++r) {
            ScheduleWriter& writer = writers[to_index(r)];
            writer.step();
            add_up(writer, arrived[to_index(r)].before, arrived[to_index(r)].behind);
            arrived[to_index(r)] = {};
        }
    };
    for (const ExchangeStep& step : exchange.steps) {
        begin_step();
        for (const ExchangeMessage& m : step.messages) {
            writers[to_index(m.from)].send(m.to, m.port, std::array{Extent{0, 1}});
        }
        for (const ExchangeMessage& m : step.messages) {  // by receiver, in the order of classes
            Arrived& at = arrived[to_index(m.to)];
            const auto place = static_cast<Block>(1 + at.before + at.behind);
            writers[to_index(m.to)].receive(m.from, m.port.opposite(), Action::replace,
                                            std::array{Extent{place, 1}});
            const bool is_before = step.classes[to_index(m.from)] < step.classes[to_index(m.to)];
            ++(is_before ? at.before : at.behind);
        }
    }
    if (!exchange.steps.empty()) {
        begin_step();
    }
    return taken(writers);
}

/// The blocks of all ranks of a class.
std::vector<Extent> blocks_of(const ExchangeStep& step, Rank of_class) {
    std::vector<Extent> extents;
    for (Rank r = 0; r < std::ssize(step.classes); ++r) {
        if (step.classes[to_index(r)] != of_class) {
            continue;
        }
        const auto block = static_cast<Block>(r);
        if (!extents.empty() && extents.back().first + extents.back().count == block) {
            ++extents.back().count;
        } else {
            extents.push_back({block, 1});
        }
    }
    return extents;
}

std::vector<Schedule> blocks(const Exchange& exchange, Rank ranks, bool backwards) {
    std::vector<ScheduleWriter> writers = begun(ranks);
    for (ScheduleWriter& writer : writers) {
        writer.part(static_cast<Block>(ranks));
    }
    std::vector<ExchangeStep> steps = exchange.steps;
    if (backwards) {
        std::reverse(steps.begin(), steps.end());
    }
    for (const ExchangeStep& step : steps) {
        for (ScheduleWriter& writer : writers) {
            writer.step();
        }
        for (const bool sends : {true, false}) {
            for (const ExchangeMessage& m : step.messages) {
                const auto extents = blocks_of(step, step.classes[to_index(m.from)]);
                const bool at_from = sends != backwards;
                ScheduleWriter& writer = writers[to_index(at_from ? m.from : m.to)];
                const Rank peer = at_from ? m.to : m.from;
                const Port port = at_from ? m.port : m.port.opposite();
                if (sends) {
                    writer.send(peer, port, extents);
                } else {
                    writer.receive(peer, port, backwards ? Action::reduce : Action::replace,
                                   extents);
                }
            }
        }
    }
    return taken(writers);
}

}  // namespace

std::vector<Schedule> exchange_schedules(const Exchange& exchange, Rank ranks,
                                         Collective collective) {
    return collective == Collective::allreduce
               ? sums(exchange, ranks)
               : blocks(exchange, ranks, collective == Collective::reduce_scatter);
}

}  // namespace trefoil
