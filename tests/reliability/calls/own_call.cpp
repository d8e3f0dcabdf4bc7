// SPDX-License-Identifier: BSD-3-Clause
// Where the elements of each collective lie before and after the call, as trefoil.h defines them.
#include "tests/reliability/calls/own_call.hpp"

#include <algorithm>
#include <cstring>
#include <map>

namespace trefoil::calls {

namespace {

constexpr auto untouched = std::byte{0xa5};

std::uint64_t stream_of(std::uint64_t salt, std::uint64_t source) {
    return mix(salt ^ mix(source + 1));
}

std::uint64_t hash_of(std::uint64_t hash, const std::vector<std::byte>& bytes) {
    std::size_t i = 0;
    for (; i + sizeof hash <= bytes.size(); i += sizeof hash) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + i, sizeof word);
        hash = mix(hash ^ word);
    }
    for (; i < bytes.size(); ++i) {
        hash = mix(hash ^ static_cast<std::uint64_t>(bytes[i]));
    }
    return hash;
}

std::vector<int> neighbours_of(trefoil_comm_t comm, int rank, int ranks, int dimensions) {
    std::vector<int> sizes(static_cast<std::size_t>(dimensions)), here(sizes.size());
    trefoil_comm_torus(comm, &dimensions, sizes.data(), dimensions);
    std::map<std::vector<int>, int> at;
    for (int r = 0; r < ranks; ++r) {
        trefoil_comm_coordinates(comm, r, here.data(), dimensions);
        at[here] = r;
    }
    trefoil_comm_coordinates(comm, rank, here.data(), dimensions);
    std::vector<int> neighbours;
    for (std::size_t j = 0; j < sizes.size(); ++j) {
        for (const int step : {-1, 1}) {
            std::vector<int> there = here;
            there[j] = (there[j] + step + sizes[j]) % sizes[j];
            neighbours.push_back(at.at(there));
        }
    }
    return neighbours;
}

}  // namespace

Group::Group(trefoil_comm_t made, std::string called) : comm(made), name(std::move(called)) {
    int dimensions = 0;
    trefoil_comm_rank(comm, &rank);
    trefoil_comm_size(comm, &ranks);
    trefoil_comm_torus(comm, &dimensions, nullptr, 0);
    ports = 2 * dimensions;
    neighbours = neighbours_of(comm, rank, ranks, dimensions);
}

OwnCall::OwnCall(const Group& group, const Call& call, const CreatedOperations& created)
    : group_(group),
      call_(call),
      created_(created),
      traits_(traits_of(call.collective)),
      bytes_(call.elements.bytes()),
      counts_salt_(call.salt) {
    const auto ranks = static_cast<std::size_t>(group.ranks);
    const std::size_t blocks = !traits_.blocks      ? 1
                               : traits_.neighbours ? group.neighbours.size()
                                                    : ranks;
    count_ = call.bytes * (traits_.vector ? 2 : 1) / (bytes_ * std::max<std::size_t>(1, blocks));
    root_ = static_cast<int>(call.root % ranks);
    lay_out();
    fill(call.salt);
}

/// Of a block that one rank has, or that goes from one to another: from * ranks + to.
std::size_t OwnCall::block_count(std::uint64_t block) const {
    if (!traits_.vector) {
        return count_;
    }
    const auto ranks = static_cast<std::uint64_t>(group_.ranks);
    if (call_.collective == Collective::alltoallv && call_.in_place) {  // as much goes either way
        const std::uint64_t from = block / ranks, to = block % ranks;
        block = std::min(from, to) * ranks + std::max(from, to);
    }
    const std::uint64_t drawn = mix(counts_salt_ + block);
    return drawn % 4 == 0 ? 0 : (drawn >> 8) % (count_ + 1);
}

std::vector<std::uint64_t> OwnCall::one_of_each_rank() const {
    std::vector<std::uint64_t> all(static_cast<std::size_t>(group_.ranks));
    for (std::size_t r = 0; r < all.size(); ++r) {
        all[r] = r;
    }
    return all;
}

/// One block behind the other.
Blocks OwnCall::place(const std::vector<std::uint64_t>& blocks, bool received, bool with_gaps,
                      std::vector<Piece>& pieces) {
    Blocks placed;
    std::size_t first = 0;
    for (const std::uint64_t block : blocks) {
        const std::size_t count = block_count(block);
        placed.counts.push_back(count);
        placed.displacements.push_back(first);
        pieces.push_back({received, first, count, block, 0, 0});
        first += count + (traits_.vector && with_gaps ? call_.gap : 0);
    }
    (received ? recv_count_ : send_count_) = first;
    return placed;
}

void OwnCall::lay_out() {
    if (traits_.neighbours) {
        return lay_out_neighbours();
    }
    if (traits_.rooted) {
        return lay_out_rooted();
    }
    const bool shared = send_in_place_ = call_.in_place;
    const auto ranks = static_cast<std::uint64_t>(group_.ranks);
    switch (call_.collective) {
        case Collective::allreduce:
        case Collective::scan:
        case Collective::exscan: {
            send_count_ = recv_count_ = count_;
            const Piece own{shared, 0, count_, me(), 0, 0};
            in_ = {own};
            const int over = call_.collective == Collective::allreduce ? group_.ranks
                             : call_.collective == Collective::scan    ? group_.rank + 1
                                                                       : group_.rank;
            if (over > 0) {
                out_ = {{true, 0, count_, 0, 0, over}};
            } else if (shared) {
                out_ = {own};
            }
            break;
        }
        case Collective::reduce_scatter_block:
        case Collective::reduce_scatter: {
            std::vector<Piece> blocks;
            sent_ = place(one_of_each_rank(), shared, false, blocks);
            const Piece& mine = blocks[static_cast<std::size_t>(me())];
            const std::size_t all = blocks.back().first + blocks.back().count;
            in_ = {{shared, 0, all, me(), 0, 0}};
            out_ = {{true, 0, mine.count, 0, mine.first, group_.ranks}};
            recv_count_ = shared ? all : mine.count;
            undefined_from_ = shared ? mine.count : recv_count_;
            break;
        }
        case Collective::allgather:
        case Collective::allgatherv:
            received_ = place(one_of_each_rank(), true, true, out_);
            in_ = {out_[static_cast<std::size_t>(me())]};
            if (!shared) {
                in_[0] = {false, 0, in_[0].count, me(), 0, 0};
                send_count_ = in_[0].count;
            }
            break;
        case Collective::alltoall:
        case Collective::alltoallv: {
            std::vector<std::uint64_t> to = one_of_each_rank(), from = to;
            for (std::uint64_t r = 0; r < ranks; ++r) {
                to[static_cast<std::size_t>(r)] = me() * ranks + r;
                from[static_cast<std::size_t>(r)] = r * ranks + me();
            }
            sent_ = place(to, shared, true, in_);
            received_ = place(from, true, true, out_);
            break;
        }
        default:
            send_in_place_ = false;  // a barrier has no buffers
    }
}

void OwnCall::lay_out_rooted() {
    const bool shared = call_.in_place && is_root();
    const std::size_t mine = block_count(me());
    switch (call_.collective) {
        case Collective::bcast:
            recv_count_ = count_;
            out_ = {{true, 0, count_, static_cast<std::uint64_t>(root_), 0, 0}};
            in_ = is_root() ? out_ : in_;
            break;
        case Collective::reduce:
            send_in_place_ = shared;
            send_count_ = recv_count_ = count_;
            in_ = {{shared, 0, count_, me(), 0, 0}};
            if (is_root()) {
                out_ = {{true, 0, count_, 0, 0, group_.ranks}};
            }
            break;
        case Collective::gather:
        case Collective::gatherv:
            send_in_place_ = shared;
            received_ = place(one_of_each_rank(), true, true, out_);
            send_count_ = mine;
            in_ = {shared ? out_[static_cast<std::size_t>(me())]
                          : Piece{false, 0, mine, me(), 0, 0}};
            out_.resize(is_root() ? out_.size() : 0);
            break;
        default:  // scatter and scatterv
            recv_in_place_ = shared;
            sent_ = place(one_of_each_rank(), false, true, in_);
            in_.resize(is_root() ? in_.size() : 0);
            recv_count_ = shared ? 0 : mine;
            if (!shared) {
                out_ = {{true, 0, mine, me(), 0, 0}};
            }
    }
}

/// What goes to the neighbour behind slot i arrives in its opposite slot.
void OwnCall::lay_out_neighbours() {
    const std::size_t slots = group_.neighbours.size();
    const bool alike = std::string(traits_.base) == "neighbor_allgather";
    std::vector<std::uint64_t> to, from;
    for (std::size_t i = 0; i < slots; ++i) {
        const auto other = static_cast<std::uint64_t>(group_.neighbours[i]);
        to.push_back(me() * slots + i);
        from.push_back(alike ? other : other * slots + (i ^ 1));
    }
    received_ = place(from, true, true, out_);
    if (alike) {
        send_count_ = block_count(me());
        in_ = {{false, 0, send_count_, me(), 0, 0}};
    } else {
        sent_ = place(to, false, true, in_);
    }
}

void OwnCall::fill(std::uint64_t salt) {
    call_.salt = salt;
    send_before_.assign(send_count_ * bytes_ + 2 * guard, untouched);
    recv_before_.assign(recv_count_ * bytes_ + 2 * guard, untouched);
    for (const Piece& piece : in_) {
        calls::fill(call_.elements, stream_of(salt, piece.source), piece.offset, piece.count,
                    at(piece, send_before_, recv_before_));
    }
    // Persistent calls know where their buffers are.
    send_.resize(send_before_.size());
    recv_.resize(recv_before_.size());
    std::copy(send_before_.begin(), send_before_.end(), send_.begin());
    std::copy(recv_before_.begin(), recv_before_.end(), recv_.begin());
}

std::byte* OwnCall::at(const Piece& piece, Bytes& send, Bytes& recv) const {
    return (piece.received ? recv : send).data() + guard + piece.first * bytes_;
}

OwnCall::Outcome OwnCall::outcome(trefoil_status_t status, bool flip) {
    Outcome outcome;
    const bool refused = status == TREFOIL_ERROR_INVALID_ARGUMENT ||
                         status == TREFOIL_ERROR_UNSUPPORTED || status == TREFOIL_ERROR_NOT_FOUND;
    if (status != TREFOIL_SUCCESS && !refused) {
        return outcome;  // what the buffers hold is undefined
    }
    Bytes expected = recv_before_;
    outcome.checked = true;
    if (!refused) {
        std::fill(expected.begin(), expected.end(), untouched);
        if (undefined_from_ < recv_count_) {
            const auto begin =
                recv_.begin() + static_cast<std::ptrdiff_t>(guard + undefined_from_ * bytes_);
            std::fill(begin, recv_.end() - guard, untouched);
        }
        const bool one_result = has_one_result(call_.elements);
        for (const Piece& piece : out_) {
            std::byte* const to = at(piece, expected, expected);
            if (piece.ranks == 0) {
                calls::fill(call_.elements, stream_of(call_.salt, piece.source), piece.offset,
                            piece.count, to);
            } else if (one_result || group_.ranks == 1) {
                fold(call_.elements, stream_of, call_.salt, piece.ranks, group_.ranks, piece.offset,
                     piece.count, to);
            } else {
                std::memcpy(to, at(piece, send_, recv_), piece.count * bytes_);
                outcome.checked = false;
            }
        }
    }
    if (call_.mistake != Mistake::none && !refused) {
        outcome.wrong = "the mistake was accepted";
    } else if (recv_ != expected) {
        const auto differs = std::mismatch(recv_.begin(), recv_.end(), expected.begin()).first;
        outcome.wrong =
            "wrong at byte " +
            std::to_string(differs - recv_.begin() - static_cast<std::ptrdiff_t>(guard)) + " of " +
            std::to_string(recv_count_ * bytes_);
    } else if (send_ != send_before_) {
        outcome.wrong = "the send buffer was written";
    }
    if (flip) {
        recv_[guard] ^= std::byte{1};
    }
    outcome.hash = hash_of(hash_of(0, send_), recv_);
    return outcome;
}

}  // namespace trefoil::calls
