// SPDX-License-Identifier: BSD-3-Clause
// Finding what the segments in flight wait for, and saying it.
#include "threads/executor/missing_list.hpp"

#include <algorithm>

#include "threads/executor/poster.hpp"

namespace trefoil {

namespace {

constexpr std::size_t most_listed = 4;

/// Appends what the segment waits for through an incoming channel. False: nothing.
bool add_message(const Channels& channels, const RunningSegment& segment, std::size_t in_channel,
                 std::vector<Missing>& found) {
    const Program& program = segment.program();
    if (in_channel >= program.arrivals.size()) {
        return false;
    }
    const ProgramRange range = program.arrivals[in_channel];
    for (std::uint32_t i = range.first; i < range.first + range.count; ++i) {
        const std::uint32_t number = program.arrival_steps[i];
        const ProgramStep& step = program.steps[number];
        if (segment.open_step(step.part) == number && !segment.has_arrived(i)) {
            const InChannel& channel = channels.in[in_channel];
            found.push_back({Missing::Kind::message, channel.peer, channel.port,
                             static_cast<int>(step.schedule_part),
                             static_cast<int>(step.schedule_step), program.arrival_bytes[i]});
            return true;
        }
    }
    return false;
}

/// The same of an outgoing channel: a put of an open step waits until the peer has connected, or
/// has said how far it is.
bool add_room(const Channels& channels, const RunningSegment& segment, std::size_t out_channel,
              std::vector<Missing>& found) {
    const Program& program = segment.program();
    const OutChannel& channel = channels.out[out_channel];
    for (std::uint32_t part = 0; part < program.parts.size(); ++part) {
        const std::uint32_t open = segment.open_step(part);
        if (open == RunningSegment::none) {
            continue;
        }
        const ProgramStep& step = program.steps[open];
        for (std::uint32_t i = step.puts.first; i < step.puts.first + step.puts.count; ++i) {
            const ProgramPut& put = program.puts[i];
            if (put.channel == out_channel && awaits_room(channels, segment, put)) {
                const bool wired = channel.wired.load(std::memory_order_relaxed);
                found.push_back({wired ? Missing::Kind::room : Missing::Kind::connection,
                                 channel.peer, channel.port, static_cast<int>(step.schedule_part),
                                 static_cast<int>(step.schedule_step), put.bytes});
                return true;
            }
        }
    }
    return false;
}

}  // namespace

std::string text_of(const Missing& missing) {
    const std::string rank = "rank " + std::to_string(missing.peer);
    switch (missing.kind) {
        case Missing::Kind::message:
            return "step " + std::to_string(missing.step) + " of part " +
                   std::to_string(missing.part) + " from " + rank + " through port " +
                   to_string(missing.port);
        case Missing::Kind::room:
            return rank + " to take in what came through port " + to_string(missing.port) +
                   " before";
        case Missing::Kind::word:
            return rank;
        case Missing::Kind::connection:
            break;
    }
    return rank + " to connect to port " + to_string(missing.port);
}

std::vector<Missing> MissingList::of(const RunningCall* call) const {
    std::vector<Missing> found = stored_.missing(call);
    const auto look = [&](std::size_t channels, auto&& add) {
        for (std::size_t c = 0; c < channels; ++c) {
            for (const RunningSegment& segment : queue_.places()) {
                if (segment.running() && (call == nullptr || &segment.call() == call) &&
                    add(channels_, segment, c, found)) {
                    break;
                }
            }
        }
    };
    look(channels_.in.size(), add_message);
    look(channels_.out.size(), add_room);
    return found;
}

std::vector<Missing> MissingList::list() const {
    return of(nullptr);
}

std::vector<Missing> MissingList::list(const RunningCall& call) const {
    return of(&call);
}

std::vector<Rank> MissingList::ranks() const {
    std::vector<Rank> found;
    for (const Missing& missing : list()) {
        if (std::find(found.begin(), found.end(), missing.peer) == found.end()) {
            found.push_back(missing.peer);
        }
    }
    return found;
}

std::string MissingList::text(const char* call) const {
    const std::vector<Missing> all = list();
    std::string text = std::string(call) + ": waits for ";
    for (std::size_t i = 0; i < std::min(all.size(), most_listed); ++i) {
        text += (i > 0 ? ", " : "") + text_of(all[i]);
    }
    return all.empty() ? text + "its own puts to leave" : text;
}

}  // namespace trefoil
