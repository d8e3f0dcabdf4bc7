// SPDX-License-Identifier: BSD-3-Clause
// The calls in which each rank sends every other, or every neighbour, something of its own. Of
// alltoall and neighbor_alltoall all ranks know the bytes of a block; of the others nobody knows
// all, so ranks decide without them.
#pragma once

#include <algorithm>
#include <vector>

#include "mpi/buffers.hpp"
#include "mpi/dispatch.hpp"

namespace trefoil::mpi {

/// How many blocks a rank sends and receives. 0: of a call with the neighbours on a communicator
/// that is no torus.
inline std::size_t peers_of(Kind kind, const ShadowCommunicator& c) {
    const bool all = kind == Kind::alltoall || kind == Kind::alltoallv || kind == Kind::alltoallw;
    return all ? c.ranks() : c.neighbours();
}

/// What MPICH reports as MPI_ERR_BUFFER. Other calls with one buffer for both sides go on in either
/// MPI, so they must here.
template <typename Counts, typename Types>
bool reports_aliased(const void* send, const void* recv, const Counts& send_counts,
                     const Counts& recv_counts, const Types& send_types, const Types& recv_types) {
    return is_mpich() && send == recv && send_counts == recv_counts && send_types == recv_types;
}

/// Alltoall and neighbor_alltoall.
template <Kind K>
struct AlltoallOf : CollectiveCall {
    static constexpr Kind kind = K;
    const void* send;
    MPI_Count send_count;
    MPI_Datatype send_type;
    void* recv;
    MPI_Count recv_count;
    MPI_Datatype recv_type;
    MPI_Comm comm;
    std::optional<Side> from{}, to{};                ///< without `from`: in place
    std::size_t from_elements = 0, to_elements = 0;  ///< of all blocks
    std::size_t peers = 0;
    Room send_room{}, recv_room{};
    const void* source = nullptr;
    std::byte* target = nullptr;
    bool unpacks = false;
    /// What this rank sends is not as much as it receives. The others may have it right, and know
    /// nothing of it: as much as fits moves, and what is too long is reported then, as by MPI.
    bool uneven = false;

    /// The beginnings of the blocks, each as long as one that is received.
    const std::byte* fitted() {
        const std::size_t block = to->bytes(to_elements) / peers, size = from->layout.size;
        const std::size_t elements = from_elements / peers;
        std::byte* const data = send_room.take(block * peers);
        std::fill_n(data, block * peers, std::byte{});
        for (std::size_t p = 0; size > 0 && p < peers; ++p) {
            from->pack(static_cast<std::ptrdiff_t>(elements * p), std::min(elements, block / size),
                       data + p * block);
        }
        return data;
    }
    bool keeps() const { return send != MPI_IN_PLACE; }
    Verdict decide(const ShadowCommunicator& c) {
        peers = peers_of(kind, c);
        to = side_of(recv, recv_count, recv_type, comm);
        if (peers == 0) {
            return {Reason::topology};
        }
        if (!to || recv == MPI_IN_PLACE || (kind != Kind::alltoall && send == MPI_IN_PLACE)) {
            return wrong_arguments;
        }
        to_elements = static_cast<std::size_t>(recv_count) * peers;
        if (send != MPI_IN_PLACE) {
            from = side_of(send, send_count, send_type, comm);
            from_elements = static_cast<std::size_t>(std::max<MPI_Count>(0, send_count)) * peers;
            uneven = from && from->bytes(from_elements) != to->bytes(to_elements);
            if (!from || (kind != Kind::alltoall && uneven) ||
                (kind == Kind::alltoall &&
                 reports_aliased(send, recv, send_count, recv_count, send_type, recv_type))) {
                return wrong_arguments;
            }
        }
        return {Reason::none, to->bytes(to_elements)};
    }
    void stage(const ShadowCommunicator&, BlockLists&) {
        unpacks = !to->flat(to_elements);
        target = unpacks ? recv_room.take(to->bytes(to_elements)) : to->buffer;
        source = TREFOIL_IN_PLACE;
        if (uneven) {
            source = fitted();
        } else if (from) {
            const std::byte* const sent = send_room.packed(*from, from_elements);
            const std::size_t bytes = from->bytes(from_elements);
            // Not allowed, but neither MPI reports it among neighbours.
            const bool copies = kind != Kind::alltoall && overlap(sent, bytes, target, bytes);
            source = copies           ? std::copy_n(sent, bytes, send_room.take(bytes)) - bytes
                     : sent == target ? TREFOIL_IN_PLACE
                                      : static_cast<const void*>(sent);
        } else if (unpacks) {
            to->pack(0, to_elements, target);
        }
    }
    trefoil_status_t run(ShadowCommunicator& c, trefoil_comm_t t, const Form& form) const {
        const auto begin = [&](auto*... functions) {
            return form.call(functions..., source, static_cast<void*>(target),
                             to->bytes(to_elements) / peers, TREFOIL_UINT8, t);
        };
        if constexpr (kind == Kind::alltoall) {
            return begin(TREFOIL_MPI_FORMS(alltoall));
        } else {
            return c.has_torus_of(t) ? begin(TREFOIL_MPI_FORMS(neighbor_alltoall))
                                     : TREFOIL_ERROR_UNSUPPORTED;
        }
    }
    void finish() const {
        if (unpacks) {
            to->unpack(0, to_elements, target);
        }
        if (uneven && from->bytes(from_elements) > to->bytes(to_elements)) {
            throw MpiFailure{raise_class(comm, MPI_ERR_TRUNCATE)};
        }
    }
};

/// One side of an alltoallv.
template <typename Count, typename Displacement>
struct Listed {
    std::optional<Side> side{};
    const Count* counts = nullptr;
    const Displacement* displacements = nullptr;

    bool good(std::size_t peers) const {
        return side && counts != nullptr && displacements != nullptr &&
               std::all_of(counts, counts + peers, [](Count count) { return count >= 0; }) &&
               !list_names_no_memory(*side, peers, counts, displacements);
    }
};

/// What a rank sends itself it knows to be too long before anything moves. Throws what MPI reports.
inline void require_own_block_fits(const ShadowCommunicator& c, const BlockLists& lists,
                                   bool sends) {
    const auto rank = static_cast<std::size_t>(c.rank());
    if (sends && lists.send.counts[rank] > lists.recv.counts[rank]) {
        throw MpiFailure{raise_class(c.comm(), MPI_ERR_TRUNCATE)};
    }
}

/// The blocks at the same distances in `room`.
inline const std::byte* copy_of_blocks(const BlockList& list, const std::byte* blocks, Room& room) {
    std::size_t end = 0;
    for (std::size_t r = 0; r < list.counts.size(); ++r) {
        end = std::max(end, list.displacements[r] + list.counts[r]);
    }
    std::byte* const copy = room.take(end);
    for (std::size_t r = 0; r < list.counts.size(); ++r) {
        std::copy_n(blocks + list.displacements[r], list.counts[r], copy + list.displacements[r]);
    }
    return copy;
}

/// Alltoallv and neighbor_alltoallv.
template <Kind K, typename Count, typename Displacement>
struct AlltoallvOf : CollectiveCall {
    static constexpr Kind kind = K;
    const void* send;
    KeptList<Count> send_counts;
    KeptList<Displacement> send_displacements;
    MPI_Datatype send_type;
    void* recv;
    KeptList<Count> recv_counts;
    KeptList<Displacement> recv_displacements;
    MPI_Datatype recv_type;
    MPI_Comm comm;
    Listed<Count, Displacement> from{}, to{};
    std::size_t peers = 0;
    BlockLists* lists = nullptr;
    Room send_room{}, recv_room{};
    const std::byte* source = nullptr;
    std::byte* target = nullptr;
    bool unpacks = false;

    void keep(const ShadowCommunicator&) {
        recv_counts.keep(peers);
        recv_displacements.keep(peers);
        if (from.side) {
            send_counts.keep(peers);
            send_displacements.keep(peers);
        }
    }
    bool keeps() const { return send != MPI_IN_PLACE; }
    Verdict decide(const ShadowCommunicator& c) {
        peers = peers_of(kind, c);
        if (peers == 0) {
            return {Reason::topology};
        }
        to = {side_of(recv, 0, recv_type, comm), recv_counts, recv_displacements};
        if (!to.good(peers) || recv == MPI_IN_PLACE ||
            (kind != Kind::alltoallv && send == MPI_IN_PLACE)) {
            return wrong_arguments;
        }
        if (send != MPI_IN_PLACE) {
            from = {side_of(send, 0, send_type, comm), send_counts, send_displacements};
            if (!from.good(peers) ||
                (kind == Kind::alltoallv &&
                 reports_aliased(send, recv, send_counts, recv_counts, send_type, recv_type))) {
                return wrong_arguments;
            }
        }
        return {};
    }
    void stage(const ShadowCommunicator&, BlockLists& room) {
        lists = &room;
        if (from.side) {
            source = from.side->buffer;
            if (!list_blocks(room.send, peers, *from.side, from.counts, from.displacements)) {
                std::byte* const packed = send_room.take(room.send.end());
                pack_blocks(room.send, *from.side, from.counts, from.displacements, packed);
                source = packed;
            } else if (source == to.side->buffer) {
                source = copy_of_blocks(room.send, source, send_room);
            }
        }
        unpacks = !list_blocks(room.recv, peers, *to.side, to.counts, to.displacements);
        target = unpacks ? recv_room.take(room.recv.end()) : to.side->buffer;
        if (unpacks && !from.side) {
            pack_blocks(room.recv, *to.side, to.counts, to.displacements, target);
        }
    }
    trefoil_status_t run(ShadowCommunicator& c, trefoil_comm_t t, const Form& form) const {
        const bool in_place = !from.side;
        const auto begin = [&](auto*... functions) {
            return form.call(
                functions..., in_place ? TREFOIL_IN_PLACE : static_cast<const void*>(source),
                in_place ? nullptr : lists->send.counts.data(),
                in_place ? nullptr : lists->send.displacements.data(), static_cast<void*>(target),
                lists->recv.counts.data(), lists->recv.displacements.data(), TREFOIL_UINT8, t);
        };
        if constexpr (kind == Kind::alltoallv) {
            require_own_block_fits(c, *lists, !in_place);
            return begin(TREFOIL_MPI_FORMS(alltoallv));
        } else {
            return c.has_torus_of(t) ? begin(TREFOIL_MPI_FORMS(neighbor_alltoallv))
                                     : TREFOIL_ERROR_UNSUPPORTED;
        }
    }
    void finish() const {
        if (unpacks) {
            unpack_blocks(lists->recv, *to.side, to.counts, to.displacements, target);
        }
    }
};

/// The blocks of an alltoallw, each of a datatype of its own, `Displacement` bytes from the buffer.
template <typename Count, typename Displacement>
struct TypedBlocks {
    std::vector<Side> sides{};
    const Count* counts = nullptr;
    Room room{};
    std::byte* packed = nullptr;

    bool read(const void* buffer, const Count* their_counts, const Displacement* displacements,
              const MPI_Datatype* types, std::size_t peers, MPI_Comm comm) {
        counts = their_counts;
        if (counts == nullptr || displacements == nullptr || types == nullptr) {
            return false;
        }
        sides.clear();
        for (std::size_t p = 0; p < peers; ++p) {
            if (is_mpich() && counts[p] == 0) {  // it does not look at that datatype
                sides.emplace_back();
                continue;
            }
            auto side = side_of(static_cast<const std::byte*>(buffer) + displacements[p], counts[p],
                                types[p], comm);
            if (!side) {
                return false;
            }
            sides.push_back(*side);
        }
        return true;
    }
    std::size_t elements(std::size_t peer) const { return static_cast<std::size_t>(counts[peer]); }
    void stage(BlockList& list, bool packs) {
        list.counts.resize(sides.size());
        list.displacements.resize(sides.size());
        std::size_t end = 0;
        for (std::size_t p = 0; p < sides.size(); ++p) {
            list.counts[p] = sides[p].bytes(elements(p));
            list.displacements[p] = end;
            end += list.counts[p];
        }
        packed = room.take(end);
        for (std::size_t p = 0; packs && p < sides.size(); ++p) {
            sides[p].pack(0, elements(p), packed + list.displacements[p]);
        }
    }
    void unpack(const BlockList& list) const {
        for (std::size_t p = 0; p < sides.size(); ++p) {
            sides[p].unpack(0, elements(p), packed + list.displacements[p]);
        }
    }
};

/// Alltoallw and neighbor_alltoallw: alltoallv of what is packed.
template <Kind K, typename Count, typename Displacement>
struct AlltoallwOf : CollectiveCall {
    static constexpr Kind kind = K;
    const void* send;
    KeptList<Count> send_counts;
    KeptList<Displacement> send_displacements;
    KeptList<MPI_Datatype> send_types;
    void* recv;
    KeptList<Count> recv_counts;
    KeptList<Displacement> recv_displacements;
    KeptList<MPI_Datatype> recv_types;
    MPI_Comm comm;
    TypedBlocks<Count, Displacement> from{}, to{};
    std::size_t peers = 0;
    BlockLists* lists = nullptr;

    bool in_place() const { return send == MPI_IN_PLACE; }
    void keep(const ShadowCommunicator&) {
        recv_counts.keep(peers);
        recv_displacements.keep(peers);
        recv_types.keep(peers);
        if (!in_place()) {
            send_counts.keep(peers);
            send_displacements.keep(peers);
            send_types.keep(peers);
        }
    }
    bool keeps() const { return send != MPI_IN_PLACE; }
    Verdict decide(const ShadowCommunicator& c) {
        peers = peers_of(kind, c);
        if (peers == 0) {
            return {Reason::topology};
        }
        const bool aliased = kind == Kind::alltoallw &&
                             reports_aliased(send, recv, send_counts.data(), recv_counts.data(),
                                             send_types.data(), recv_types.data());
        const bool good =
            recv != MPI_IN_PLACE && (kind == Kind::alltoallw || !in_place()) && !aliased &&
            to.read(recv, recv_counts, recv_displacements, recv_types, peers, comm) &&
            (in_place() ||
             from.read(send, send_counts, send_displacements, send_types, peers, comm));
        return good ? Verdict{} : wrong_arguments;
    }
    void stage(const ShadowCommunicator&, BlockLists& room) {
        lists = &room;
        to.stage(room.recv, in_place());
        if (!in_place()) {
            from.stage(room.send, true);
        }
    }
    trefoil_status_t run(ShadowCommunicator& c, trefoil_comm_t t, const Form& form) const {
        const auto begin = [&](auto*... functions) {
            return form.call(functions...,
                             in_place() ? TREFOIL_IN_PLACE : static_cast<const void*>(from.packed),
                             in_place() ? nullptr : lists->send.counts.data(),
                             in_place() ? nullptr : lists->send.displacements.data(),
                             static_cast<void*>(to.packed), lists->recv.counts.data(),
                             lists->recv.displacements.data(), TREFOIL_UINT8, t);
        };
        if constexpr (kind == Kind::alltoallw) {
            require_own_block_fits(c, *lists, !in_place());
            return begin(TREFOIL_MPI_FORMS(alltoallv));
        } else {
            return c.has_torus_of(t) ? begin(TREFOIL_MPI_FORMS(neighbor_alltoallv))
                                     : TREFOIL_ERROR_UNSUPPORTED;
        }
    }
    void finish() const { to.unpack(lists->recv); }
};

}  // namespace trefoil::mpi
