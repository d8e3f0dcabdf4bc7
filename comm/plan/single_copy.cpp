// SPDX-License-Identifier: BSD-3-Clause
// The direct allreduce as a program: tell addresses, fold the own share, tell that it is done.
#include "comm/plan/single_copy.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "comm/plan/lower.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

/// What is folded at a time. The kernel's copies are calls, so they are long, but not longer than
/// what the second-level cache holds of two.
constexpr std::size_t copied_chunk_bytes = std::size_t{256} << 10;
constexpr std::size_t addressed_chunk_bytes = std::size_t{32} << 10;
/// Shares begin at multiples of so many elements, hence at cache lines of vectors that do.
constexpr std::size_t share_unit = 64;

/// The channels to and from a peer: those of the first message that either sends the other.
struct Pair {
    Rank peer = 0;
    std::uint32_t out = 0, in = 0;
};

template <typename Channel>
std::uint32_t index_of(const std::vector<Channel>& channels, Rank peer, Port port) {
    for (std::uint32_t c = 0; c < channels.size(); ++c) {
        if (channels[c].peer == peer && channels[c].port == port) {
            return c;
        }
    }
    throw Error(Status::internal, "no channel to rank " + std::to_string(peer) + " through port " +
                                      to_string(port) + "; please report this");
}

/// In the order of the schedule's sends: the nearest peers first, and no two ranks begin with the
/// same one.
std::vector<Pair> pairs_of(const Schedule& schedule, const Channels& channels) {
    std::vector<Pair> pairs;
    const auto pair_with = [&](Rank peer) {
        return std::find_if(pairs.begin(), pairs.end(),
                            [&](const Pair& p) { return p.peer == peer; });
    };
    const auto steps = schedule.of(schedule.parts.front());
    for (const Step& step : steps) {
        for (const Send& send : schedule.sends_of(step)) {
            if (pair_with(send.peer) == pairs.end()) {
                pairs.push_back({send.peer, index_of(channels.out, send.peer, send.port), 0});
            }
        }
    }
    std::vector<Rank> heard;
    for (const Step& step : steps) {
        for (const Receive& receive : schedule.receives_of(step)) {
            if (std::find(heard.begin(), heard.end(), receive.peer) == heard.end()) {
                heard.push_back(receive.peer);
                pair_with(receive.peer)->in = index_of(channels.in, receive.peer, receive.port);
            }
        }
    }
    return pairs;
}

bool by_addresses(const std::vector<Pair>& pairs, const Channels& channels) {
    return std::all_of(pairs.begin(), pairs.end(), [&](const Pair& pair) {
        const OutChannel& out = channels.out[pair.out];
        return channels.groups[out.group]->reach(out.endpoint) == Reach::addresses;
    });
}

DirectShare share_of(Rank rank, Rank ranks, const std::vector<Pair>& pairs, std::size_t count,
                     std::size_t element_bytes, std::size_t chunk_bytes) {
    DirectShare share;
    share.contributors.resize(static_cast<std::size_t>(ranks));
    for (const Pair& pair : pairs) {
        share.contributors[pair.peer] = {pair.out, {Location::first_landing + pair.in, 0}};
    }
    const auto shares = static_cast<std::size_t>(ranks);
    const std::size_t each = (count + shares - 1) / shares;
    const std::size_t per_rank = (each + share_unit - 1) / share_unit * share_unit;
    const std::size_t begin = std::min(count, static_cast<std::size_t>(rank) * per_rank);
    share.offset = begin * element_bytes;
    share.elements = std::min(per_rank, count - begin);
    share.element_bytes = element_bytes;
    share.chunk_elements = std::max<std::size_t>(1, chunk_bytes / element_bytes);
    return share;
}

}  // namespace

bool reaches_all(const Schedule& schedule, const Channels& channels) {
    const std::vector<Pair> pairs = pairs_of(schedule, channels);
    return std::all_of(pairs.begin(), pairs.end(), [&](const Pair& pair) {
        const OutChannel& out = channels.out[pair.out];
        return channels.groups[out.group]->reach(out.endpoint) != Reach::none;
    });
}

Program lower_directly(const Schedule& schedule, const Channels& channels, Rank rank, Rank ranks,
                       std::size_t count, std::size_t element_bytes) {
    const std::vector<Pair> pairs = pairs_of(schedule, channels);
    const std::size_t chunk_bytes =
        by_addresses(pairs, channels) ? addressed_chunk_bytes : copied_chunk_bytes;
    Program program;
    program.direct = share_of(rank, ranks, pairs, count, element_bytes, chunk_bytes);
    const Location addresses{Location::scratch, 0};
    program.direct.sum = {Location::scratch, landing_alignment};
    program.direct.fetched = {Location::scratch, landing_alignment + chunk_bytes};
    program.scratch_bytes = landing_alignment + 2 * chunk_bytes;
    program.ops = {{ProgramOp::Kind::publish, addresses, {}, {}, 0},
                   {ProgramOp::Kind::fold, {}, {}, {}, 0}};
    program.begin = {0, 1};

    const auto messages = static_cast<std::uint32_t>(pairs.size());
    for (const std::uint32_t number : {0U, 1U}) {  // the addresses; the share is done
        for (const Pair& pair : pairs) {
            ProgramPut put;
            put.channel = pair.out;
            put.group = channels.out[pair.out].group;
            put.source = addresses;
            put.bytes = number == 0 ? sizeof(VectorAddresses) : 0;
            put.index = number;
            program.puts.push_back(put);
        }
        ProgramStep step;
        step.puts = {number * messages, messages};
        step.tokens = 1 + 2 * messages;
        step.last = number == 1;
        step.schedule_step = number;
        program.steps.push_back(step);
    }
    program.steps[0].after = {1, 1};
    program.parts = {{0, 2}};

    program.arrivals.resize(channels.in.size());
    for (const Pair& pair : pairs) {
        program.used_out.push_back(pair.out);
        program.used_in.push_back(pair.in);
        program.arrivals[pair.in] = {static_cast<std::uint32_t>(program.arrival_steps.size()), 2};
        program.arrival_steps.insert(program.arrival_steps.end(), {0, 1});
        program.arrival_bytes.insert(program.arrival_bytes.end(), {sizeof(VectorAddresses), 0});
    }
    program.pack_bytes.resize(channels.groups.size());
    return program;
}

}  // namespace trefoil
