// SPDX-License-Identifier: BSD-3-Clause
// The buffers of every collective, as trefoil.h defines it.
#include "bench/perf/role.hpp"

#include <utility>

#include "comm/plan/hash.hpp"

namespace trefoil::tool {

namespace {

std::size_t index(Rank rank) {
    return static_cast<std::size_t>(rank);
}

/// From one rank to another. Of uneven blocks three in ten are empty, and one in ten is up to eight
/// times as long as the others may be; in place as much goes either way.
std::size_t block_count(const Part& part, Rank from, Rank to) {
    if (!part.uneven) {
        return part.count;
    }
    if (part.in_place && to < from) {
        std::swap(from, to);
    }
    const auto pair = static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint64_t>(to);
    const std::uint64_t kind = mix_hash(*part.uneven, pair);
    const std::uint64_t length = mix_hash(kind, pair);
    return kind % 10 < 3 ? 0 : length % (part.count * (kind % 10 == 3 ? 8 : 1) + 1);
}

/// The vector's blocks side by side; one block where the collective is not divided.
void add_blocks(const Part& part, Buffer buffer, Content content, std::vector<Piece>& pieces) {
    const Rank blocks = traits_of(part.collective).blocks_have_owners() ? part.ranks : 1;
    for (Rank block = 0; block < blocks; ++block) {
        pieces.push_back({buffer, content, index(block) * part.count, part.count, block});
    }
}

Piece untouched(Buffer buffer, std::size_t count) {
    return {buffer, Content::untouched, 0, count, 0};
}

/// Allreduce, reduce, reduce_scatter: every rank has a whole vector.
Role reduction(const Part& part, bool receives) {
    const std::size_t whole = whole_count(part.collective, part.count, part.ranks);
    const bool divided = part.collective == Collective::reduce_scatter;
    const bool in_place = part.in_place && receives;
    Role role;
    role.send_in_place = in_place;
    role.send_count = in_place ? 0 : whole;
    role.receive_count = divided && !in_place ? part.count : whole;
    add_blocks(part, in_place ? Buffer::receive : Buffer::send, Content::input, role.before);
    if (!in_place) {
        role.after = role.before;
    }
    role.after.push_back(receives ? Piece{Buffer::receive, Content::result, 0, part.count,
                                          divided ? part.rank : Rank{0}}
                                  : untouched(Buffer::receive, whole));
    return role;
}

/// Allgather, gather: every rank has a block.
Role gathering(const Part& part, bool receives) {
    const bool in_place = part.in_place && receives;
    Role role;
    role.send_in_place = in_place;
    role.send_count = in_place ? 0 : part.count;
    role.receive_count = whole_count(part.collective, part.count, part.ranks);
    Piece own{Buffer::send, Content::input, 0, part.count, part.rank};
    if (in_place) {
        own.buffer = Buffer::receive;
        own.first = index(part.rank) * part.count;
    }
    role.before = {own};
    if (!in_place) {
        role.after = {own};
    }
    if (receives) {
        add_blocks(part, Buffer::receive, Content::result, role.after);
    } else {
        role.after.push_back(untouched(Buffer::receive, role.receive_count));
    }
    return role;
}

/// The root has all blocks and keeps them, in place or not.
Role scattering(const Part& part, bool is_root) {
    Role role;
    role.receive_in_place = part.in_place && is_root;
    role.send_count = whole_count(part.collective, part.count, part.ranks);
    role.receive_count = role.receive_in_place ? 0 : part.count;
    if (is_root) {
        add_blocks(part, Buffer::send, Content::input, role.before);
        role.after = role.before;
    } else {
        role.after = {untouched(Buffer::send, role.send_count)};
    }
    if (!role.receive_in_place) {
        role.after.push_back({Buffer::receive, Content::result, 0, part.count, part.rank});
    }
    return role;
}

/// One buffer. The root's pattern is another one for each root.
Role broadcasting(const Part& part, bool is_root) {
    Role role;
    role.receive_count = part.count;
    const Piece all{Buffer::receive, Content::result, 0, part.count, part.root};
    if (is_root) {
        role.before = {all};
    }
    role.after = {all};
    return role;
}

/// A block to and one from each rank. A block that a rank sends itself is checked as any other.
Role exchanging(const Part& part) {
    Role role;
    role.send_in_place = part.in_place;
    const auto add = [&](Buffer buffer, bool sent, std::vector<Piece>& pieces) {
        std::size_t at = 0;
        for (Rank r = 0; r < part.ranks; ++r) {
            const Rank from = sent ? part.rank : r, to = sent ? r : part.rank;
            const std::size_t count = block_count(part, from, to);
            const Content content = sent ? Content::input : Content::result;
            pieces.push_back({buffer, content, at, count, from * part.ranks + to});
            at += count;
            if (part.uneven) {
                (sent ? role.send_counts : role.receive_counts).push_back(count);
            }
        }
        return at;
    };
    const std::size_t sent = add(part.in_place ? Buffer::receive : Buffer::send, true, role.before);
    if (!part.in_place) {
        role.send_count = sent;
        role.after = role.before;
    }
    role.receive_count = add(Buffer::receive, false, role.after);
    return role;
}

}  // namespace

Role role_of(const Part& part) {
    const bool is_root = part.rank == part.root;
    switch (part.collective) {
        case Collective::allreduce:
        case Collective::reduce_scatter:
            return reduction(part, true);
        case Collective::reduce:
            return reduction(part, is_root);
        case Collective::allgather:
            return gathering(part, true);
        case Collective::gather:
            return gathering(part, is_root);
        case Collective::scatter:
            return scattering(part, is_root);
        case Collective::bcast:
            return broadcasting(part, is_root);
        case Collective::alltoall:
            return exchanging(part);
        case Collective::barrier:
            break;
    }
    return {};
}

std::size_t whole_count(Collective collective, std::size_t count, Rank ranks) {
    return traits_of(collective).has_blocks() ? count * index(ranks) : count;
}

std::size_t mean_count(const Part& part) {
    std::size_t all = 0;
    for (Rank from = 0; from < part.ranks; ++from) {
        for (Rank to = 0; to < part.ranks; ++to) {
            all += block_count(part, from, to);
        }
    }
    return all / index(part.ranks);
}

double bus_factor(Collective collective, Rank ranks) {
    const double others = static_cast<double>(ranks - 1) / ranks;
    return collective == Collective::allreduce  ? 2 * others
           : traits_of(collective).has_blocks() ? others
                                                : 1;
}

}  // namespace trefoil::tool
