// SPDX-License-Identifier: BSD-3-Clause
// Finding what the segments in flight wait for, and saying it.
#include "threads/executor/missing_pieces.hpp"

#include <algorithm>

#include "threads/executor/poster.hpp"

namespace trefoil {

namespace {

constexpr int most_listed = 4;

/// Of one segment; null: it waits for nothing through the channel.
const ProgramStep* waiting_step(const RunningSegment& segment, std::size_t in_channel) {
    const Program& program = segment.program();
    if (in_channel >= program.arrivals.size()) {
        return nullptr;
    }
    const ProgramRange range = program.arrivals[in_channel];
    for (std::uint32_t i = range.first; i < range.first + range.count; ++i) {
        const std::uint32_t number = program.arrival_steps[i];
        const ProgramStep& step = program.steps[number];
        if (segment.open_step(step.part) == number && !segment.has_arrived(i)) {
            return &step;
        }
    }
    return nullptr;
}

bool blocks(const Channels& channels, const RunningSegment& segment, std::size_t out_channel) {
    const Program& program = segment.program();
    for (std::uint32_t part = 0; part < program.parts.size(); ++part) {
        const std::uint32_t open = segment.open_step(part);
        if (open == RunningSegment::none) {
            continue;
        }
        const ProgramRange puts = program.steps[open].puts;
        for (std::uint32_t i = puts.first; i < puts.first + puts.count; ++i) {
            const ProgramPut& put = program.puts[i];
            if (put.channel == out_channel &&
                awaits_room(channels.out[out_channel], segment, put)) {
                return true;
            }
        }
    }
    return false;
}

}  // namespace

const ProgramStep* MissingPieces::step_waiting_for(std::size_t in_channel) const {
    for (const RunningSegment& segment : queue_.places()) {
        const ProgramStep* const step =
            segment.running() ? waiting_step(segment, in_channel) : nullptr;
        if (step != nullptr) {
            return step;
        }
    }
    return nullptr;
}

bool MissingPieces::blocked(std::size_t out_channel) const {
    for (const RunningSegment& segment : queue_.places()) {
        if (segment.running() && blocks(channels_, segment, out_channel)) {
            return true;
        }
    }
    return false;
}

std::vector<Rank> MissingPieces::ranks() const {
    std::vector<Rank> found;
    const auto add = [&found](Rank rank) {
        if (std::find(found.begin(), found.end(), rank) == found.end()) {
            found.push_back(rank);
        }
    };
    for (std::size_t c = 0; c < channels_.in.size(); ++c) {
        if (step_waiting_for(c) != nullptr) {
            add(channels_.in[c].peer);
        }
    }
    for (std::size_t c = 0; c < channels_.out.size(); ++c) {
        if (blocked(c)) {
            add(channels_.out[c].peer);
        }
    }
    return found;
}

std::string MissingPieces::text(const char* call) const {
    std::string text = std::string(call) + ": ";
    int listed = 0;
    for (std::size_t c = 0; c < channels_.in.size() && listed < most_listed; ++c) {
        const ProgramStep* const step = step_waiting_for(c);
        if (step != nullptr) {
            text += (listed++ > 0 ? ", " : "waits for ") + std::string("step ") +
                    std::to_string(step->schedule_step) + " of part " +
                    std::to_string(step->schedule_part) + " from rank " +
                    std::to_string(channels_.in[c].peer) + " through port " +
                    to_string(channels_.in[c].port);
        }
    }
    for (std::size_t c = 0; c < channels_.out.size() && listed < most_listed; ++c) {
        if (blocked(c)) {
            const OutChannel& channel = channels_.out[c];
            const bool wired = channel.wired.load(std::memory_order_relaxed);
            text += (listed++ > 0 ? ", " : "waits for ") + std::string("rank ") +
                    std::to_string(channel.peer) +
                    (wired ? " to take in what came through port " : " to connect to port ") +
                    to_string(channel.port) + (wired ? " before" : "");
        }
    }
    return listed > 0 ? text : text + "waits for its own puts to leave";
}

}  // namespace trefoil
