// SPDX-License-Identifier: BSD-3-Clause
// The collectives that move equal blocks. Ranks decide by the bytes of data, which are equal
// wherever the signatures match; see mpi/buffers.hpp.
#include TREFOIL_MPI_ENTRIES  // the host's way in

#include <algorithm>

#include "mpi/buffers.hpp"

using namespace trefoil::mpi;

namespace {

bool is_rank(const ShadowCommunicator& c, int root) {
    return root >= 0 && static_cast<std::size_t>(root) < c.ranks();
}

/// The two buffers of a call: one block of this rank's, and the blocks of all ranks.
struct EqualBlocks {
    std::optional<Side> one{}, all{};
    std::size_t one_count = 0, all_count = 0;
    std::size_t block = 0;  ///< bytes
    bool in_place = false;  ///< the own block is among all
    /// At the root: MPICH reports MPI_ERR_BUFFER, since both buffers are one. The others know
    /// nothing of it, so it takes part, with other memory, before it reports.
    bool aliased = false;
    /// At the root: where all blocks are is wrong, and how large the others' are it knows from its
    /// own block alone. They know nothing of it, so it takes part before MPI reports it.
    bool refused = false;
    /// This rank's own block is not as large as each of all. The others may have it right, and know
    /// nothing of it: as much as fits moves, and what is too long is reported then, as by MPI.
    bool uneven = false, too_long = false;

    Room one_room{}, all_room{}, fitted_room{};
    const void* source = nullptr;
    void* target = nullptr;
    bool unpacks = false;  ///< what is received, to where the user wants it

    bool reports() const { return aliased || refused; }
    Verdict verdict(const ShadowCommunicator& c) const { return {Reason::none, block * c.ranks()}; }

    /// Reads the side that tells the size of a block; false: the arguments are wrong.
    bool read_all(const void* buffer, MPI_Count count, MPI_Datatype type, MPI_Comm comm) {
        all = side_of(buffer, count, type, comm);
        all_count = static_cast<std::size_t>(std::max<MPI_Count>(0, count));
        block = all ? all->bytes(all_count) : 0;
        return all.has_value() && buffer != MPI_IN_PLACE;
    }
    /// After read_all() has found them wrong; false: so is its own side, or there is none.
    bool refuse(const void* buffer, MPI_Count count, MPI_Datatype type, MPI_Comm comm) {
        all.reset();
        refused = buffer != MPI_IN_PLACE && read_one(buffer, count, type, comm) && block > 0;
        return refused;
    }
    /// Reads a rank's own side.
    bool read_one(const void* buffer, MPI_Count count, MPI_Datatype type, MPI_Comm comm) {
        if (buffer == MPI_IN_PLACE) {
            in_place = true;
            return all.has_value();
        }
        one = side_of(buffer, count, type, comm);
        one_count = static_cast<std::size_t>(std::max<MPI_Count>(0, count));
        const std::size_t bytes = one ? one->bytes(one_count) : 0;
        uneven = one && all && bytes != block;
        block = all ? block : bytes;
        return one.has_value();
    }
    /// At a root: the other ranks have blocks like its own.
    void go_by_own_block() {
        if (uneven) {
            block = one->bytes(one_count);
        }
    }
    /// Elements of each of all blocks that are in `block`.
    std::size_t fitting() const {
        return all->layout.size == 0 ? 0 : std::min(all_count, block / all->layout.size);
    }
    void report(MPI_Comm comm) const {
        if (too_long) {
            throw MpiFailure{raise_class(comm, MPI_ERR_TRUNCATE)};
        }
    }
    bool is_aliased(const ShadowCommunicator& c) const {
        return is_mpich() && one && !uneven && one->type == all->type && one_count == all_count &&
               block > 0 && one->buffer == all->buffer + block * static_cast<std::size_t>(c.rank());
    }

    void stage_one() { source = one_room.packed(*one, one_count); }
    /// The own block, as long as the others' are.
    const std::byte* fitted_own() {
        const std::size_t bytes = one->bytes(one_count);
        const std::byte* const mine = one_room.packed(*one, one_count);
        too_long = (all_count > 0 || !is_mpich()) && bytes > all->bytes(all_count);
        if (bytes == block) {
            return mine;
        }
        std::byte* const own = fitted_room.take(block);
        std::fill_n(own, block, std::byte{});
        std::copy_n(mine, std::min(bytes, block), own);
        return own;
    }
    /// For a rank that gathers: where all blocks come to lie, and where its own comes from.
    void stage_gathering(const ShadowCommunicator& c) {
        const auto rank = static_cast<std::size_t>(c.rank());
        const std::size_t bytes = block * c.ranks();
        if (refused || uneven) {
            target = all_room.take(bytes);
            source = uneven ? fitted_own() : one_room.packed(*one, one_count);
            return;
        }
        unpacks = !all->flat(all_count * c.ranks()) || aliased;
        auto* const data = unpacks ? all_room.take(bytes) : all->buffer;
        target = data;
        std::byte* const own = data + block * rank;
        if (in_place) {
            source = TREFOIL_IN_PLACE;
            if (unpacks) {
                all->pack(static_cast<std::ptrdiff_t>(all_count * rank), all_count, own);
            }
            return;
        }
        const std::byte* const mine = one_room.packed(*one, one_count);
        if (mine == own) {
            source = TREFOIL_IN_PLACE;
        } else if (overlap(mine, block, data, bytes)) {
            // Not allowed, but neither MPI reports it, and the other ranks are here already.
            source = std::copy_n(mine, block, one_room.take(block)) - block;
        } else {
            source = mine;
        }
    }
    /// For a root that scatters: what it sends, side by side.
    const std::byte* scattered(std::size_t ranks) {
        if (!refused && !uneven) {
            return all_room.packed(*all, all_count * ranks);
        }
        std::byte* const data = all_room.take(block * ranks);
        std::fill_n(data, block * ranks, std::byte{});
        for (std::size_t r = 0; uneven && r < ranks; ++r) {
            all->pack(static_cast<std::ptrdiff_t>(all_count * r), fitting(), data + r * block);
        }
        too_long = uneven && all->bytes(all_count) > block;
        return data;
    }
    void finish_gathering(std::size_t ranks, MPI_Comm comm) const {
        if (uneven) {
            for (std::size_t r = 0; r < ranks; ++r) {
                all->unpack(static_cast<std::ptrdiff_t>(all_count * r), fitting(),
                            static_cast<const std::byte*>(target) + r * block);
            }
            report(comm);
        } else if (unpacks && !reports()) {
            all->unpack(0, all_count * ranks, static_cast<const std::byte*>(target));
        }
    }
};

struct Bcast : CollectiveCall {
    static constexpr Kind kind = Kind::bcast;
    void* buffer;
    MPI_Count count;
    MPI_Datatype type;
    int root;
    MPI_Comm comm;
    EqualBlocks blocks{};
    bool at_root = false;

    bool only_sends(const ShadowCommunicator&) const { return at_root; }
    Verdict decide(const ShadowCommunicator& c) {
        at_root = root == c.rank();
        const bool good = is_rank(c, root) && blocks.read_one(buffer, count, type, comm);
        return good ? Verdict{Reason::none, blocks.block} : wrong_arguments;
    }
    void stage(const ShadowCommunicator&, BlockLists&) {
        const Side& side = *blocks.one;
        blocks.unpacks = !side.flat(blocks.one_count);
        std::byte* const data = blocks.unpacks ? blocks.one_room.take(blocks.block) : side.buffer;
        blocks.target = data;
        if (blocks.unpacks && at_root) {
            side.pack(0, blocks.one_count, data);
        }
    }
    trefoil_status_t run(ShadowCommunicator&, trefoil_comm_t t, const Form& form) const {
        return form.call(TREFOIL_MPI_FORMS(bcast), blocks.target, blocks.block, TREFOIL_UINT8, root,
                         t);
    }
    void finish() const {
        if (blocks.unpacks && !at_root) {
            blocks.one->unpack(0, blocks.one_count, static_cast<const std::byte*>(blocks.target));
        }
    }
};

struct Allgather : CollectiveCall {
    static constexpr Kind kind = Kind::allgather;
    const void* send;
    MPI_Count send_count;
    MPI_Datatype send_type;
    void* recv;
    MPI_Count recv_count;
    MPI_Datatype recv_type;
    MPI_Comm comm;
    EqualBlocks blocks{};
    std::size_t ranks = 0;

    bool reports() const { return blocks.aliased; }
    Verdict decide(const ShadowCommunicator& c) {
        ranks = c.ranks();
        const bool good = blocks.read_all(recv, recv_count, recv_type, comm) &&
                          blocks.read_one(send, send_count, send_type, comm);
        blocks.aliased = good && blocks.is_aliased(c);
        return good ? blocks.verdict(c) : wrong_arguments;
    }
    void stage(const ShadowCommunicator& c, BlockLists&) { blocks.stage_gathering(c); }
    trefoil_status_t run(ShadowCommunicator&, trefoil_comm_t t, const Form& form) const {
        return form.call(TREFOIL_MPI_FORMS(allgather), blocks.source, blocks.target, blocks.block,
                         TREFOIL_UINT8, t);
    }
    void finish() const { blocks.finish_gathering(ranks, comm); }
};

struct Gather : CollectiveCall {
    static constexpr Kind kind = Kind::gather;
    const void* send;
    MPI_Count send_count;
    MPI_Datatype send_type;
    void* recv;
    MPI_Count recv_count;
    MPI_Datatype recv_type;
    int root;
    MPI_Comm comm;
    EqualBlocks blocks{};
    std::size_t ranks = 0;
    bool at_root = false;

    bool only_sends(const ShadowCommunicator&) const { return !at_root; }
    bool reports() const { return blocks.reports(); }
    Verdict decide(const ShadowCommunicator& c) {
        ranks = c.ranks();
        at_root = root == c.rank();
        if (at_root && !blocks.read_all(recv, recv_count, recv_type, comm)) {
            return blocks.refuse(send, send_count, send_type, comm) ? blocks.verdict(c)
                                                                    : wrong_arguments;
        }
        const bool good = is_rank(c, root) && blocks.read_one(send, send_count, send_type, comm);
        blocks.go_by_own_block();
        blocks.aliased = good && at_root && blocks.is_aliased(c);
        return good ? blocks.verdict(c) : wrong_arguments;
    }
    void stage(const ShadowCommunicator& c, BlockLists&) {
        at_root ? blocks.stage_gathering(c) : blocks.stage_one();
    }
    trefoil_status_t run(ShadowCommunicator&, trefoil_comm_t t, const Form& form) const {
        return form.call(TREFOIL_MPI_FORMS(gather), blocks.source, blocks.target, blocks.block,
                         TREFOIL_UINT8, root, t);
    }
    void finish() const {
        if (at_root) {
            blocks.finish_gathering(ranks, comm);
        }
    }
};

struct Scatter : CollectiveCall {
    static constexpr Kind kind = Kind::scatter;
    const void* send;
    MPI_Count send_count;
    MPI_Datatype send_type;
    void* recv;
    MPI_Count recv_count;
    MPI_Datatype recv_type;
    int root;
    MPI_Comm comm;
    EqualBlocks blocks{};
    bool at_root = false;

    bool only_sends(const ShadowCommunicator&) const { return at_root; }
    bool reports() const { return blocks.reports(); }
    Verdict decide(const ShadowCommunicator& c) {
        at_root = root == c.rank();
        if (at_root && !blocks.read_all(send, send_count, send_type, comm)) {
            return blocks.refuse(recv, recv_count, recv_type, comm) ? blocks.verdict(c)
                                                                    : wrong_arguments;
        }
        const bool good = is_rank(c, root) && blocks.read_one(recv, recv_count, recv_type, comm);
        blocks.go_by_own_block();
        blocks.aliased = good && at_root && blocks.is_aliased(c);
        return good ? blocks.verdict(c) : wrong_arguments;
    }
    void stage(const ShadowCommunicator& c, BlockLists&) {
        const std::size_t bytes = blocks.block * c.ranks();
        const std::byte* const data = at_root ? blocks.scattered(c.ranks()) : nullptr;
        blocks.source = data;
        if (blocks.in_place) {
            blocks.target = TREFOIL_IN_PLACE;
            return;
        }
        // One buffer for both is not allowed, but Open MPI takes it, as long as nothing overlaps
        // really.
        const bool overlaps = at_root && overlap(data, bytes, blocks.one->buffer, blocks.block);
        blocks.unpacks = !blocks.one->flat(blocks.one_count) || overlaps || blocks.refused;
        blocks.target = blocks.unpacks ? blocks.one_room.take(blocks.block) : blocks.one->buffer;
    }
    trefoil_status_t run(ShadowCommunicator&, trefoil_comm_t t, const Form& form) const {
        return form.call(TREFOIL_MPI_FORMS(scatter), blocks.source, blocks.target, blocks.block,
                         TREFOIL_UINT8, root, t);
    }
    void finish() const {
        if (blocks.unpacks && !blocks.reports()) {
            blocks.one->unpack(0, blocks.one_count, static_cast<const std::byte*>(blocks.target));
        }
        blocks.report(comm);
    }
};

}  // namespace

TREFOIL_MPI_ENTRY(Bcast, bcast, Bcast,
                  (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
                  (buffer, count, type, root, comm))
TREFOIL_MPI_ENTRY(Allgather, allgather, Allgather,
                  (const void* send, int send_count, MPI_Datatype send_type, void* recv,
                   int recv_count, MPI_Datatype recv_type, MPI_Comm comm),
                  (send, send_count, send_type, recv, recv_count, recv_type, comm))
TREFOIL_MPI_ENTRY(Gather, gather, Gather,
                  (const void* send, int send_count, MPI_Datatype send_type, void* recv,
                   int recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm),
                  (send, send_count, send_type, recv, recv_count, recv_type, root, comm))
TREFOIL_MPI_ENTRY(Scatter, scatter, Scatter,
                  (const void* send, int send_count, MPI_Datatype send_type, void* recv,
                   int recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm),
                  (send, send_count, send_type, recv, recv_count, recv_type, root, comm))
TREFOIL_MPI_LARGE_ENTRY(Bcast, Bcast,
                        (void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm),
                        (buffer, count, type, root, comm))
TREFOIL_MPI_LARGE_ENTRY(Allgather, Allgather,
                        (const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
                         MPI_Count recv_count, MPI_Datatype recv_type, MPI_Comm comm),
                        (send, send_count, send_type, recv, recv_count, recv_type, comm))
TREFOIL_MPI_LARGE_ENTRY(Gather, Gather,
                        (const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
                         MPI_Count recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm),
                        (send, send_count, send_type, recv, recv_count, recv_type, root, comm))
TREFOIL_MPI_LARGE_ENTRY(Scatter, Scatter,
                        (const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
                         MPI_Count recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm),
                        (send, send_count, send_type, recv, recv_count, recv_type, root, comm))
