// SPDX-License-Identifier: BSD-3-Clause
// How the arguments of a random call are drawn: each rank its own layouts, counts that match.
#include "calls.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <numeric>

#include "tests/mpi/persistent.hpp"

namespace trefoil::mpi::test {

enum class CollectiveCall::Kind : std::uint8_t {
    barrier,
    bcast,
    gather,
    scatter,
    allgather,
    alltoall,
    gatherv,
    scatterv,
    allgatherv,
    alltoallv,
    alltoallw,
    allreduce,
    reduce,
    scan,
    exscan,
    reduce_scatter,
    reduce_scatter_block,
    neighbor_allgather,
    neighbor_allgatherv,
    neighbor_alltoall,
    neighbor_alltoallv,
    neighbor_alltoallw
};

namespace {

constexpr std::array<const char*, 22> names{"barrier",
                                            "bcast",
                                            "gather",
                                            "scatter",
                                            "allgather",
                                            "alltoall",
                                            "gatherv",
                                            "scatterv",
                                            "allgatherv",
                                            "alltoallv",
                                            "alltoallw",
                                            "allreduce",
                                            "reduce",
                                            "scan",
                                            "exscan",
                                            "reduce_scatter",
                                            "reduce_scatter_block",
                                            "neighbor_allgather",
                                            "neighbor_allgatherv",
                                            "neighbor_alltoall",
                                            "neighbor_alltoallv",
                                            "neighbor_alltoallw"};

void add(void* in, void* inout, int* count, MPI_Datatype*) {
    for (int i = 0; i < *count; ++i) {
        static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
    }
}

/// x -> factor * x + term, one after the other.
struct Map {
    std::uint32_t factor, term;
};
void compose(void* in, void* inout, int* count, MPI_Datatype*) {
    const Map* const first = static_cast<const Map*>(in);
    Map* const second = static_cast<Map*>(inout);
    for (int i = 0; i < *count; ++i) {
        second[i] = {first[i].factor * second[i].factor,
                     second[i].factor * first[i].term + second[i].term};
    }
}

template <typename T>
void set_value(std::byte* at, std::uint64_t bits) {
    const T value = static_cast<T>(bits % 7 + 1);
    std::memcpy(at, &value, sizeof value);
}

}  // namespace

void OwnOperations::make() {
    MPI_Op_create(&add, 1, &sum);
    MPI_Op_create(&trefoil::mpi::test::compose, 0, &compose);
    MPI_Type_contiguous(2, MPI_UINT32_T, &map);
    MPI_Type_commit(&map);
}

void OwnOperations::free() {
    MPI_Op_free(&sum);
    MPI_Op_free(&compose);
    MPI_Type_free(&map);
}

CollectiveCall::CollectiveCall(const Where& where, const OwnOperations& own, std::uint64_t step,
                               Way way)
    : where_(where), way_(way), step_(step) {
    Draw draw(step), mine(hash_of({step, static_cast<std::uint64_t>(where.rank), 1}));
    const bool to_neighbours = !where.neighbours.empty() && draw.chance(60);
    kind_ = static_cast<Kind>(to_neighbours ? draw.between(17, 21)
                                            : draw.below(where.is_inter ? 1 : 17));
    if (where.is_inter) {
        static constexpr std::array<Kind, 3> some{Kind::barrier, Kind::allgather, Kind::allreduce};
        kind_ = some[static_cast<std::size_t>(draw.below(3))];
    }
    // Open MPI 4.1.4 by itself crashes then.
    if (!is_mpich() && way != Way::blocking && kind_ == Kind::alltoallw &&
        !where.neighbours.empty()) {
        kind_ = Kind::alltoallv;
    }
    root_ = draw.below(where.ranks);
    // MPI's own collectives take negative extents only in some calls.
    backwards_ = way == Way::blocking && (kind_ == Kind::gatherv || kind_ == Kind::scatterv ||
                                          kind_ == Kind::alltoallv || kind_ == Kind::alltoallw);
    const std::vector<MPI_Datatype> basics{MPI_CHAR,    MPI_SHORT,  MPI_INT,     MPI_FLOAT,
                                           MPI_INT64_T, MPI_DOUBLE, MPI_UNSIGNED};
    basic_ = draw.of(basics);
    unit_ = draw.chance(70) ? draw.between(1, 12) : draw.between(1, 300);
    items_ = draw.chance(10) ? 0 : draw.chance(80) ? draw.between(1, 6) : draw.between(1, 300);
    if (draw.chance(4)) {
        items_ *= 40;
    }
    // What Open MPI 4.1.4 copies within one rank is not always right.
    is_plain_ = draw.chance(35) || where.ranks == 1;
    // MPI's own exchanges in place go wrong where they do not block.
    in_place_ = !where.is_inter && draw.chance(25) &&
                (way == Way::blocking || kind_ < Kind::alltoall || kind_ > Kind::alltoallw);
    const int ranks = where.ranks, peers = static_cast<int>(where.neighbours.size());
    const bool is_root = where.rank == root_;
    switch (kind_) {
        case Kind::barrier:
            break;
        case Kind::bcast:
            describe(recv_, mine, 1, 1);
            break;
        case Kind::gather:
            describe(send_, mine, 1, 1);
            describe(recv_, mine, is_root ? ranks : 0, 1);
            break;
        case Kind::scatter:
            describe(send_, mine, is_root ? ranks : 0, 1);
            describe(recv_, mine, 1, 1);
            break;
        case Kind::allgather:
            describe(send_, mine, 1, 1);
            describe(recv_, mine, ranks, 1);
            break;
        case Kind::alltoall:
            if (in_place_) {  // all describe it alike
                mine = draw;
            }
            describe(send_, mine, ranks, 1);
            describe(recv_, mine, ranks, 1);
            break;
        case Kind::gatherv:
        case Kind::allgatherv:
            describe(send_, mine, 1, items(where.rank, 0));
            describe_list(recv_, mine, is_root || kind_ == Kind::allgatherv ? ranks : 0, false);
            break;
        case Kind::scatterv:
            describe_list(send_, mine, is_root ? ranks : 0, false);
            describe(recv_, mine, 1, items(where.rank, 0));
            break;
        case Kind::alltoallv:
            is_symmetric_ = in_place_;
            describe_list(send_, mine, ranks, true);
            describe_list(recv_, mine, ranks, false);
            break;
        case Kind::alltoallw:
            is_symmetric_ = in_place_;
            describe_types(send_, mine, ranks, true);
            describe_types(recv_, mine, ranks, false);
            break;
        case Kind::neighbor_allgather:
            describe(send_, mine, 1, 1);
            describe(recv_, mine, peers, 1);
            break;
        case Kind::neighbor_alltoall:
            describe(send_, mine, peers, 1);
            describe(recv_, mine, peers, 1);
            break;
        case Kind::neighbor_allgatherv:
            describe(send_, mine, 1, items(where.rank, 0));
            describe_list(recv_, mine, peers, false);
            break;
        case Kind::neighbor_alltoallv:
            describe_list(send_, mine, peers, true);
            describe_list(recv_, mine, peers, false);
            break;
        case Kind::neighbor_alltoallw:
            describe_types(send_, mine, peers, true);
            describe_types(recv_, mine, peers, false);
            break;
        default:
            prepare_reduction(draw, own);
    }
    const bool is_rooted = kind_ == Kind::gather || kind_ == Kind::gatherv ||
                           kind_ == Kind::scatter || kind_ == Kind::scatterv ||
                           kind_ == Kind::reduce;
    in_place_ = in_place_ && !to_neighbours && kind_ != Kind::barrier && kind_ != Kind::bcast &&
                (!is_rooted || is_root);
}

CollectiveCall::~CollectiveCall() {
    for (MPI_Datatype& type : made_) {
        MPI_Type_free(&type);
    }
}

std::string CollectiveCall::name() const {
    return std::string(names[static_cast<std::size_t>(kind_)]) + (in_place_ ? " in place" : "") +
           " of " + std::to_string(items_) + "x" + std::to_string(unit_) + " among " +
           std::to_string(where_.ranks);
}

/// How many items rank `from` sends rank `to`.
int CollectiveCall::items(int from, int to) const {
    const auto low = static_cast<std::uint64_t>(is_symmetric_ ? std::min(from, to) : from);
    const auto high = static_cast<std::uint64_t>(is_symmetric_ ? std::max(from, to) : to);
    const bool to_one = kind_ == Kind::gatherv || kind_ == Kind::allgatherv ||
                        kind_ == Kind::scatterv || kind_ == Kind::neighbor_allgatherv;
    return Draw(hash_of({step_, low, to_one ? 0 : high, 7})).below(items_ + 1);
}

MPI_Datatype CollectiveCall::kept(MPI_Datatype type) {
    made_.push_back(type);
    return type;
}

/// `all` blocks of `blocks` items, or of those of an equal block.
void CollectiveCall::describe(Side& side, Draw& own, int all, int blocks) {
    const bool is_list = kind_ == Kind::gatherv || kind_ == Kind::allgatherv ||
                         kind_ == Kind::scatterv || kind_ == Kind::neighbor_allgatherv;
    const int count = is_list ? blocks : items_;
    side.type = is_plain_ ? basic_ : kept(draw_layout(own, basic_, unit_, backwards_));
    side.count = count * (is_plain_ ? unit_ : 1);
    side.buffer.make(side.type, {{0, side.count * all}}, seed_of(own));
}

void CollectiveCall::describe_list(Side& side, Draw& own, int peers, bool sends) {
    side.type = is_plain_ ? basic_ : kept(draw_layout(own, basic_, unit_, backwards_));
    std::vector<int> order(static_cast<std::size_t>(peers));
    std::iota(order.begin(), order.end(), 0);
    side.counts.resize(order.size());
    side.places.resize(order.size());
    for (const int p : order) {
        const bool to_neighbours = kind_ >= Kind::neighbor_allgather;
        const int peer = to_neighbours ? where_.neighbours[static_cast<std::size_t>(p)] : p;
        const int number = peer == MPI_PROC_NULL ? items_
                           : sends               ? items(where_.rank, peer)
                                                 : items(peer, where_.rank);
        side.counts[static_cast<std::size_t>(p)] = number * (is_plain_ ? unit_ : 1);
    }
    if (own.chance(50)) {
        own.shuffle(order);
    }
    int end = own.chance(60) ? 0 : own.between(-20, 20);
    std::vector<Buffer::Block> blocks;
    for (const int p : order) {
        const auto at = static_cast<std::size_t>(p);
        end += own.chance(70) ? 0 : own.below(4);
        side.places[at] = end;
        end += side.counts[at];
        blocks.push_back({side.places[at], side.counts[at]});
    }
    side.buffer.make(side.type, blocks, seed_of(own));
}

void CollectiveCall::describe_types(Side& side, Draw& own, int peers, bool sends) {
    MPI_Aint end = 0;
    for (int p = 0; p < peers; ++p) {
        const bool to_neighbours = kind_ >= Kind::neighbor_allgather;
        const int peer = to_neighbours ? where_.neighbours[static_cast<std::size_t>(p)] : p;
        const int number = peer == MPI_PROC_NULL ? items_
                           : sends               ? items(where_.rank, peer)
                                                 : items(peer, where_.rank);
        Draw drawn =
            is_symmetric_ ? Draw(hash_of({step_, static_cast<std::uint64_t>(number), 9})) : own;
        const MPI_Datatype type =
            is_plain_ ? basic_ : kept(draw_layout(drawn, basic_, unit_, backwards_));
        const int count = number * (is_plain_ ? unit_ : 1);
        own.bits();
        MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
        MPI_Type_get_extent(type, &lower, &extent);
        MPI_Type_get_true_extent(type, &true_lower, &true_extent);
        const MPI_Aint last = std::max(0, count - 1) * extent;
        const MPI_Aint low = std::min<MPI_Aint>(0, last) + true_lower;
        const MPI_Aint high = std::max<MPI_Aint>(0, last) + true_lower + true_extent;
        const MPI_Aint place = (end - low + 15) / 16 * 16;
        side.types.push_back(type);
        side.counts.push_back(count);
        side.places.push_back(static_cast<int>(place));
        side.far_places.push_back(place);
        end = std::max(end, place + high);
    }
    side.buffer.make_plain(static_cast<std::size_t>(end), seed_of(own));
}

void CollectiveCall::prepare_reduction(Draw& draw, const OwnOperations& own) {
    struct Pair {
        MPI_Datatype type;
        MPI_Op op;
    };
    const std::vector<Pair> pairs{{MPI_INT, MPI_SUM},         {MPI_INT, MPI_MAX},
                                  {MPI_INT, MPI_BXOR},        {MPI_INT, MPI_LAND},
                                  {MPI_DOUBLE, MPI_SUM},      {MPI_DOUBLE, MPI_MIN},
                                  {MPI_DOUBLE, MPI_PROD},     {MPI_FLOAT, MPI_SUM},
                                  {MPI_INT64_T, MPI_PROD},    {MPI_UINT8_T, MPI_SUM},
                                  {MPI_SHORT, MPI_MIN},       {MPI_C_BOOL, MPI_LXOR},
                                  {MPI_BYTE, MPI_BOR},        {MPI_2INT, MPI_MINLOC},
                                  {MPI_2INT, MPI_MAXLOC},     {MPI_INT, own.sum},
                                  {own.map, own.compose},     {own.map, own.compose},
                                  {MPI_LONG_DOUBLE, MPI_SUM}, {MPI_C_DOUBLE_COMPLEX, MPI_SUM}};
    const Pair pair = draw.of(pairs);
    basic_ = pair.type;
    op_ = pair.op;
    // MPICH 4.0.2 by itself crashes then.
    in_place_ = in_place_ && !(is_mpich() && kind_ == Kind::reduce);
    const int count = draw.chance(8)    ? 0
                      : draw.chance(75) ? draw.between(1, 40)
                                        : draw.between(1, 30000);
    int sent = count, got = count;
    if (kind_ == Kind::reduce_scatter) {
        for (int r = 0; r < where_.ranks; ++r) {
            counts_.push_back(draw.below(count + 1));
        }
        sent = std::accumulate(counts_.begin(), counts_.end(), 0);
        got = counts_[static_cast<std::size_t>(where_.rank)];
    } else if (kind_ == Kind::reduce_scatter_block) {
        sent = count * where_.ranks;
    }
    send_.type = recv_.type = basic_;
    send_.count = recv_.count = count;
    const auto seed = hash_of({step_, static_cast<std::uint64_t>(where_.rank), 3});
    fill_values(send_.buffer, sent, seed);
    fill_values(recv_.buffer, in_place_ ? sent : got, seed + 1);
    // What else lies where the result of a reduce_scatter in place has been is not told, nor the
    // first rank's result of an exscan.
    looks_ = !(kind_ == Kind::exscan && where_.rank == 0) &&
             !(in_place_ && (kind_ == Kind::reduce_scatter || kind_ == Kind::reduce_scatter_block));
}

void CollectiveCall::fill_values(Buffer& buffer, int elements, std::uint64_t seed) const {
    int size = 0;
    MPI_Type_size(basic_, &size);
    buffer.make_plain(static_cast<std::size_t>(size) * static_cast<std::size_t>(elements), 5);
    for (int i = 0; i < elements; ++i) {
        std::byte* const at = buffer.base + static_cast<std::ptrdiff_t>(i) * size;
        const std::uint64_t bits = hash_of({seed, static_cast<std::uint64_t>(i)}) >> 8;
        if (basic_ == MPI_DOUBLE) {
            set_value<double>(at, bits);
        } else if (basic_ == MPI_FLOAT) {
            set_value<float>(at, bits);
        } else if (basic_ == MPI_C_DOUBLE_COMPLEX) {
            set_value<double>(at, bits);
            set_value<double>(at + sizeof(double), bits >> 8);
        } else if (basic_ == MPI_LONG_DOUBLE) {
            set_value<long double>(at, bits);
            std::memset(at + 10, 0, sizeof(long double) - 10);
        } else if (basic_ == MPI_C_BOOL) {
            const bool value = bits % 2 == 1;
            std::memcpy(at, &value, sizeof value);
        } else if (basic_ == MPI_2INT) {
            set_value<int>(at, bits);
            set_value<int>(at + sizeof(int), bits >> 8);
        } else if (basic_ == MPI_INT64_T) {
            set_value<std::int64_t>(at, bits);
        } else {
            for (int b = 0; b < size; ++b) {
                at[b] = static_cast<std::byte>(bits >> 8 * (b % 4) & 0x7);
            }
        }
    }
}

// A macro, because it makes names.
#define ANY_WAY(Name, lower, ...)                                    \
    (way_ == Way::blocking      ? MPI_##Name(__VA_ARGS__)            \
     : way_ == Way::nonblocking ? MPI_I##lower(__VA_ARGS__, request) \
                                : PERSISTENT(Name)(__VA_ARGS__, MPI_INFO_NULL, request))

int CollectiveCall::call(MPI_Request* request) {
    const MPI_Comm comm = where_.comm;
    Side &s = send_, &r = recv_;
    void* const send = in_place_ && kind_ != Kind::scatter && kind_ != Kind::scatterv
                           ? MPI_IN_PLACE
                           : static_cast<void*>(s.buffer.base);
    void* const recv = in_place_ && (kind_ == Kind::scatter || kind_ == Kind::scatterv)
                           ? MPI_IN_PLACE
                           : static_cast<void*>(r.buffer.base);
    switch (kind_) {
        case Kind::barrier:
            return ANY_WAY(Barrier, barrier, comm);
        case Kind::bcast:
            return ANY_WAY(Bcast, bcast, recv, r.count, r.type, root_, comm);
        case Kind::gather:
            return ANY_WAY(Gather, gather, send, s.count, s.type, recv, r.count, r.type, root_,
                           comm);
        case Kind::scatter:
            return ANY_WAY(Scatter, scatter, send, s.count, s.type, recv, r.count, r.type, root_,
                           comm);
        case Kind::allgather:
            return ANY_WAY(Allgather, allgather, send, s.count, s.type, recv, r.count, r.type,
                           comm);
        case Kind::alltoall:
            return ANY_WAY(Alltoall, alltoall, send, s.count, s.type, recv, r.count, r.type, comm);
        case Kind::gatherv:
            return ANY_WAY(Gatherv, gatherv, send, s.count, s.type, recv, r.counts.data(),
                           r.places.data(), r.type, root_, comm);
        case Kind::scatterv:
            return ANY_WAY(Scatterv, scatterv, send, s.counts.data(), s.places.data(), s.type, recv,
                           r.count, r.type, root_, comm);
        case Kind::allgatherv:
            return ANY_WAY(Allgatherv, allgatherv, send, s.count, s.type, recv, r.counts.data(),
                           r.places.data(), r.type, comm);
        case Kind::alltoallv:
            return ANY_WAY(Alltoallv, alltoallv, send, s.counts.data(), s.places.data(), s.type,
                           recv, r.counts.data(), r.places.data(), r.type, comm);
        case Kind::alltoallw:
            return ANY_WAY(Alltoallw, alltoallw, send, s.counts.data(), s.places.data(),
                           s.types.data(), recv, r.counts.data(), r.places.data(), r.types.data(),
                           comm);
        case Kind::allreduce:
            return ANY_WAY(Allreduce, allreduce, send, recv, s.count, s.type, op_, comm);
        case Kind::reduce:
            return ANY_WAY(Reduce, reduce, send, recv, s.count, s.type, op_, root_, comm);
        case Kind::scan:
            return ANY_WAY(Scan, scan, send, recv, s.count, s.type, op_, comm);
        case Kind::exscan:
            return ANY_WAY(Exscan, exscan, send, recv, s.count, s.type, op_, comm);
        case Kind::reduce_scatter:
            return ANY_WAY(Reduce_scatter, reduce_scatter, send, recv, counts_.data(), s.type, op_,
                           comm);
        case Kind::reduce_scatter_block:
            return ANY_WAY(Reduce_scatter_block, reduce_scatter_block, send, recv, s.count, s.type,
                           op_, comm);
        case Kind::neighbor_allgather:
            return ANY_WAY(Neighbor_allgather, neighbor_allgather, send, s.count, s.type, recv,
                           r.count, r.type, comm);
        case Kind::neighbor_allgatherv:
            return ANY_WAY(Neighbor_allgatherv, neighbor_allgatherv, send, s.count, s.type, recv,
                           r.counts.data(), r.places.data(), r.type, comm);
        case Kind::neighbor_alltoall:
            return ANY_WAY(Neighbor_alltoall, neighbor_alltoall, send, s.count, s.type, recv,
                           r.count, r.type, comm);
        case Kind::neighbor_alltoallv:
            return ANY_WAY(Neighbor_alltoallv, neighbor_alltoallv, send, s.counts.data(),
                           s.places.data(), s.type, recv, r.counts.data(), r.places.data(), r.type,
                           comm);
        default:
            return ANY_WAY(Neighbor_alltoallw, neighbor_alltoallw, send, s.counts.data(),
                           s.far_places.data(), s.types.data(), recv, r.counts.data(),
                           r.far_places.data(), r.types.data(), comm);
    }
}

void CollectiveCall::begin(Digest& digest, MPI_Request* request) {
    digest.add_code(call(request));
}

void CollectiveCall::look(Digest& digest) const {
    if (basic_ == MPI_LONG_DOUBLE) {  // some of its bytes are none of the number's
        int size = 0;
        MPI_Type_size(basic_, &size);
        for (const std::byte* at = recv_.buffer.base;
             looks_ && at + size <= recv_.buffer.memory.data() + recv_.buffer.memory.size();
             at += size) {
            digest.add_bytes(at, 10);
        }
        return;
    }
    digest.add_bytes(send_.buffer.memory.data(), send_.buffer.memory.size());
    if (looks_) {
        digest.add_bytes(recv_.buffer.memory.data(), recv_.buffer.memory.size());
    }
}

}  // namespace trefoil::mpi::test
