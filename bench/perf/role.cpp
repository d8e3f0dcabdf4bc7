// SPDX-License-Identifier: BSD-3-Clause
// The buffers of every collective, as its row and trefoil.h define them.
#include "bench/perf/role.hpp"

#include <algorithm>
#include <utility>

#include "comm/plan/hash.hpp"

namespace trefoil::tool {

namespace {

std::size_t index(Rank rank) {
    return static_cast<std::size_t>(rank);
}

std::size_t count_between(const RankCall& call, Rank from, Rank to) {
    return call.block_count ? call.block_count(from, to) : call.count;
}

/// What a rank brings or takes: its ranges from the beginning of a buffer that holds nothing else.
struct Side {
    std::vector<RoleRange> ranges, gaps;
    std::size_t elements = 0;
    RoleBlocks blocks;

    void add(std::size_t count, Rank block, std::size_t gap) {
        ranges.push_back({Buffer::send, Content::input, elements, count, block});
        if (gap > 0) {
            gaps.push_back({Buffer::send, Content::untouched, elements + count, gap, 0});
        }
        elements += count + gap;
    }
    void add_listed(const RankCall& call, std::size_t count, Rank block, std::size_t gap) {
        if (call.block_count) {
            blocks.counts.push_back(count);
            blocks.displacements.push_back(elements);
        }
        add(count, block, gap);
    }
};

/// What goes to a neighbour, or comes from it: by its sender, which gives all of them the same in
/// an allgather, and by its own slot there.
Rank neighbour_block(const RankCall& call, int slot, bool is_in) {
    const auto slots = static_cast<Rank>(call.neighbours.size());
    const Rank sender = is_in ? call.rank : call.neighbours[index(slot)];
    const bool alike = traits_of(call.collective).in.data == Data::own_block;
    return alike ? sender : sender * slots + (is_in ? slot : opposite_slot(slot));
}

Side side_of(const RankCall& call, Data data, bool is_in) {
    const CollectiveTraits& row = traits_of(call.collective);
    Side side;
    switch (data) {
        case Data::none:
            break;
        case Data::vector:  // where there is one buffer, the root's pattern is another for each
                            // root
            side.add(call.count, row.in.holders == Holders::root ? call.root : 0, 0);
            break;
        case Data::own_block:
            side.add(count_between(call, call.rank, call.rank), call.rank, 0);
            break;
        case Data::rank_blocks:
            for (Rank r = 0; r < call.ranks; ++r) {
                const bool both_ways = row.blocks_both_ways();
                const Rank from = both_ways && is_in ? call.rank : r;
                const Rank to = both_ways && !is_in ? call.rank : r;
                side.add_listed(call, count_between(call, from, to),
                                both_ways ? from * call.ranks + to : r, row.reduces ? 0 : call.gap);
            }
            break;
        case Data::neighbour_blocks:
            for (int slot = 0; slot < static_cast<int>(call.neighbours.size()); ++slot) {
                const Rank block = neighbour_block(call, slot, is_in);
                side.add_listed(call, count_between(call, block, block), block, call.gap);
            }
            break;
    }
    return side;
}

void append(std::vector<RoleRange>& list, const std::vector<RoleRange>& ranges, Buffer buffer,
            Content content, std::size_t shift = 0) {
    for (RoleRange range : ranges) {
        range.buffer = buffer;
        range.content = content;
        range.first += shift;
        list.push_back(range);
    }
}

}  // namespace

Role role_of(const RankCall& call) {
    const CollectiveTraits& row = traits_of(call.collective);
    const bool brings = row.in.held_by(call.rank, call.root);
    const bool takes = row.out.held_by(call.rank, call.root);
    const bool one_buffer = row.in_place == InPlace::always;
    const bool shared =
        one_buffer || (call.in_place && row.in_place != InPlace::never && brings && takes);
    const Side in = side_of(call, row.in.data, true), out = side_of(call, row.out.data, false);
    Role role;
    role.count = row.has_blocks() ? count_between(call, call.rank, call.rank) : call.count;
    role.send_in_place = shared && row.in_place == InPlace::send;
    role.receive_in_place = shared && row.in_place == InPlace::receive;
    role.sent = in.blocks;
    role.received = out.blocks;

    // In place, what is smaller lies in the larger: a rank's own block among all blocks.
    const Buffer source = role.send_in_place || one_buffer ? Buffer::receive : Buffer::send;
    const std::size_t common = std::max(in.elements, out.elements);
    role.send_count = source == Buffer::receive ? 0 : role.receive_in_place ? common : in.elements;
    role.receive_count = role.receive_in_place ? 0 : shared ? common : out.elements;
    const bool own_among_all = shared && row.in.data == Data::own_block;
    if (brings) {
        append(role.before, in.ranges, source, Content::input,
               own_among_all ? out.ranges[index(call.rank)].first : 0);
    }
    if (!brings && !one_buffer) {
        role.after.push_back({Buffer::send, Content::untouched, 0, in.elements, 0});
    } else if (source == Buffer::send) {
        role.after = role.before;
    }
    if (!takes) {
        role.after.push_back({Buffer::receive, Content::untouched, 0, out.elements, 0});
    } else if (!role.receive_in_place) {
        append(role.after, out.ranges, Buffer::receive, Content::result);
        append(role.after, out.gaps, Buffer::receive, Content::untouched);
    }
    return role;
}

std::size_t whole_count(Collective collective, std::size_t count, const Torus& torus) {
    const CollectiveTraits& row = traits_of(collective);
    return row.has_blocks() ? count * row.blocks(torus) : count;
}

BlockCount random_counts(std::uint64_t seed, std::size_t most, bool in_place) {
    return [=](Rank from, Rank to) -> std::size_t {
        if (in_place && to < from) {
            std::swap(from, to);
        }
        const auto pair = static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint64_t>(to);
        const std::uint64_t kind = mix_hash(seed, pair);
        const std::uint64_t length = mix_hash(kind, pair);
        return kind % 10 < 3 ? 0 : length % (most * (kind % 10 == 3 ? 8 : 1) + 1);
    };
}

std::size_t mean_count(const BlockCount& block_count, Rank ranks) {
    std::size_t all = 0;
    for (Rank from = 0; from < ranks; ++from) {
        for (Rank to = 0; to < ranks; ++to) {
            all += block_count(from, to);
        }
    }
    return all / index(ranks);
}

double bus_factor(Collective collective, Rank ranks) {
    const CollectiveTraits& row = traits_of(collective);
    const double others = static_cast<double>(ranks - 1) / ranks;
    return row.replicates_results()                     ? 2 * others
           : row.has_blocks() && !row.with_neighbours() ? others
                                                        : 1;
}

}  // namespace trefoil::tool
