// SPDX-License-Identifier: BSD-3-Clause
// The collectives that move blocks of different sizes. Of gatherv and scatterv only the root knows
// all sizes, so ranks decide without them.
#include TREFOIL_MPI_ENTRIES  // the host's way in

#include <algorithm>
#include <cstring>
#include <numeric>

#include "mpi/buffers.hpp"

using namespace trefoil::mpi;

namespace {

/// The blocks of all ranks in one buffer.
template <typename Count, typename Displacement>
struct UnevenBlocks {
    std::optional<Side> side{};
    const Count* counts = nullptr;
    const Displacement* displacements = nullptr;
    bool good = false;

    BlockList* list = nullptr;
    Room room{};
    std::byte* data = nullptr;
    bool as_they_lie = false;

    std::size_t elements(int rank) const { return static_cast<std::size_t>(counts[rank]); }

    void read(const ShadowCommunicator& c, const void* buffer, const Count* their_counts,
              const Displacement* their_displacements, MPI_Datatype type) {
        side = side_of(buffer, 0, type, c.comm());
        counts = their_counts;
        displacements = their_displacements;
        good = side && buffer != MPI_IN_PLACE && counts != nullptr && displacements != nullptr &&
               std::all_of(counts, counts + c.ranks(), [](Count count) { return count >= 0; }) &&
               !list_names_no_memory(*side, c.ranks(), counts, displacements);
    }
    void stage(const ShadowCommunicator& c, BlockList& of_call) {
        list = &of_call;
        as_they_lie = list_blocks(of_call, c.ranks(), *side, counts, displacements);
        data = as_they_lie ? side->buffer : room.take(of_call.end());
    }
    void pack() {
        if (!as_they_lie) {
            pack_blocks(*list, *side, counts, displacements, data);
        }
    }
    /// Some of these bytes are of a block, or between two.
    bool meets(const std::byte* other, std::size_t bytes) const {
        std::size_t begin = SIZE_MAX, end = 0;
        for (std::size_t r = 0; r < list->counts.size(); ++r) {
            if (list->counts[r] > 0) {
                begin = std::min(begin, list->displacements[r]);
                end = std::max(end, list->displacements[r] + list->counts[r]);
            }
        }
        return begin < end && other < data + end && data + begin < other + bytes;
    }
    void unpack() const {
        if (!as_they_lie) {
            unpack_blocks(*list, *side, counts, displacements, data);
        }
    }
};

/// This rank's own block; none: it is in its place among all.
struct OwnBlock {
    std::optional<Side> side{};
    std::size_t count = 0;
    Room room{};
    bool too_long = false;  ///< for its place among all, or what comes for it

    bool read(const void* buffer, MPI_Count its_count, MPI_Datatype type, MPI_Comm comm) {
        side = side_of(buffer, its_count, type, comm);
        count = static_cast<std::size_t>(std::max<MPI_Count>(0, its_count));
        return side.has_value() && buffer != MPI_IN_PLACE;
    }
    std::size_t bytes() const { return side ? side->bytes(count) : 0; }
    void report(MPI_Comm comm) const {
        if (too_long) {
            throw MpiFailure{raise_class(comm, MPI_ERR_TRUNCATE)};
        }
    }
    /// Of data without gaps.
    const std::byte* copied() {
        std::byte* const copy = room.take(bytes());
        std::copy_n(side->buffer, bytes(), copy);
        return copy;
    }
};

/// The two buffers of a rank are one, which MPICH reports as MPI_ERR_BUFFER. The other ranks know
/// nothing of it, so it takes part before it reports.
template <typename Count, typename Displacement>
bool is_aliased(const ShadowCommunicator& c, const UnevenBlocks<Count, Displacement>& all,
                const OwnBlock& one) {
    if (!is_mpich() || !one.side || one.side->type != all.side->type || one.count == 0) {
        return false;
    }
    const std::ptrdiff_t distance = all.displacements[c.rank()];
    return all.counts[c.rank()] != 0 &&
           one.side->buffer ==
               all.side->buffer + distance * static_cast<std::ptrdiff_t>(all.side->layout.size);
}

/// For a rank that gathers into `all`: where its own block comes from. The others may have theirs
/// right, and know nothing of one that is as long as its place: as much as fits moves.
template <typename Count, typename Displacement>
const void* stage_gathering(const ShadowCommunicator& c, UnevenBlocks<Count, Displacement>& all,
                            OwnBlock& one, BlockList& list) {
    all.stage(c, list);
    const int r = c.rank();
    std::byte* const own = all.data + list.displacements[static_cast<std::size_t>(r)];
    if (!one.side) {
        if (!all.as_they_lie) {
            all.side->pack(all.displacements[r], all.elements(r), own);
        }
        return TREFOIL_IN_PLACE;
    }
    const std::byte* const source = one.room.packed(*one.side, one.count);
    if (source == own) {
        return TREFOIL_IN_PLACE;
    }
    const std::size_t room = list.counts[static_cast<std::size_t>(r)];
    if (one.bytes() != room) {
        if (!all.as_they_lie) {
            all.side->pack(all.displacements[r], all.elements(r), own);
        }
        std::memmove(own, source, std::min(one.bytes(), room));
        one.too_long = one.bytes() > room;
        return TREFOIL_IN_PLACE;
    }
    // Not allowed, but neither MPI reports it, and the other ranks are here already.
    return all.meets(source, one.bytes()) ? one.copied() : source;
}

template <typename Count, typename Displacement>
struct Allgatherv : CollectiveCall {
    static constexpr Kind kind = Kind::allgatherv;
    const void* send;
    MPI_Count send_count;
    MPI_Datatype send_type;
    void* recv;
    KeptList<Count> counts;
    KeptList<Displacement> displacements;
    MPI_Datatype recv_type;
    MPI_Comm comm;
    UnevenBlocks<Count, Displacement> all{};
    OwnBlock one{};
    const void* source = nullptr;
    bool aliased = false;

    bool reports() const { return aliased; }
    void keep(const ShadowCommunicator& c) {
        counts.keep(c.ranks());
        displacements.keep(c.ranks());
    }
    Verdict decide(const ShadowCommunicator& c) {
        all.read(c, recv, counts, displacements, recv_type);
        if (!all.good) {
            return wrong_arguments;
        }
        if (send != MPI_IN_PLACE && !one.read(send, send_count, send_type, comm)) {
            return wrong_arguments;
        }
        aliased = is_aliased(c, all, one);
        return {Reason::none, all.side->bytes(std::accumulate(counts.data(), counts + c.ranks(),
                                                              std::size_t{0}))};
    }
    void stage(const ShadowCommunicator& c, BlockLists& lists) {
        source = stage_gathering(c, all, one, lists.recv);
    }
    trefoil_status_t run(ShadowCommunicator& c, trefoil_comm_t t, const Form& form) const {
        return form.call(TREFOIL_MPI_FORMS(allgatherv), source,
                         all.list->counts[static_cast<std::size_t>(c.rank())],
                         static_cast<void*>(all.data), all.list->counts.data(),
                         all.list->displacements.data(), TREFOIL_UINT8, t);
    }
    void finish() const {
        all.unpack();
        one.report(comm);
    }
};

template <typename Count, typename Displacement>
struct Gatherv : CollectiveCall {
    static constexpr Kind kind = Kind::gatherv;
    const void* send;
    MPI_Count send_count;
    MPI_Datatype send_type;
    void* recv;
    KeptList<Count> counts;
    KeptList<Displacement> displacements;
    MPI_Datatype recv_type;
    int root;
    MPI_Comm comm;
    UnevenBlocks<Count, Displacement> all{};
    OwnBlock one{};
    bool at_root = false, aliased = false;
    const void* source = nullptr;

    bool only_sends(const ShadowCommunicator&) const { return !at_root; }
    bool reports() const { return aliased; }
    void keep(const ShadowCommunicator& c) {
        if (at_root) {
            counts.keep(c.ranks());
            displacements.keep(c.ranks());
        }
    }
    Verdict decide(const ShadowCommunicator& c) {
        at_root = c.rank() == root;
        const bool good =
            root >= 0 && static_cast<std::size_t>(root) < c.ranks() &&
            ((send == MPI_IN_PLACE && at_root) || one.read(send, send_count, send_type, comm));
        return good ? Verdict{} : wrong_arguments;
    }
    void stage(const ShadowCommunicator& c, BlockLists& lists) {
        if (!at_root) {
            source = one.room.packed(*one.side, one.count);
            return;
        }
        all.read(c, recv, counts, displacements, recv_type);
        if (all.good) {
            source = stage_gathering(c, all, one, lists.recv);
            aliased = is_aliased(c, all, one);
        }
    }
    trefoil_status_t run(ShadowCommunicator&, trefoil_comm_t t, const Form& form) const {
        const std::size_t* const none = nullptr;
        if (at_root && !all.good) {
            // Without counts Trefoil refuses on all ranks, so that nobody waits for the root.
            trefoil_gatherv(nullptr, 0, nullptr, none, none, TREFOIL_UINT8, root, t);
            throw LeftToMpi{};
        }
        const trefoil_status_t status =
            form.call(TREFOIL_MPI_FORMS(gatherv), source, one.bytes(), static_cast<void*>(all.data),
                      at_root ? all.list->counts.data() : none,
                      at_root ? all.list->displacements.data() : none, TREFOIL_UINT8, root, t);
        // The root has refused, and reports it. In MPI the others have sent, and are done.
        const bool root_refused = !at_root && status == TREFOIL_ERROR_INVALID_ARGUMENT;
        return root_refused ? TREFOIL_SUCCESS : status;
    }
    void finish() const {
        if (at_root) {
            all.unpack();
            one.report(comm);
        }
    }
};

template <typename Count, typename Displacement>
struct Scatterv : CollectiveCall {
    static constexpr Kind kind = Kind::scatterv;
    const void* send;
    KeptList<Count> counts;
    KeptList<Displacement> displacements;
    MPI_Datatype send_type;
    void* recv;
    MPI_Count recv_count;
    MPI_Datatype recv_type;
    int root;
    MPI_Comm comm;
    UnevenBlocks<Count, Displacement> all{};
    OwnBlock one{};
    bool at_root = false, aliased = false;
    void* target = nullptr;
    bool unpacks = false;
    /// The root's own block is not as long as what it sends itself: as much as fits is copied.
    bool uneven = false;

    bool only_sends(const ShadowCommunicator&) const { return at_root; }
    bool reports() const { return aliased; }
    void keep(const ShadowCommunicator& c) {
        if (at_root) {
            counts.keep(c.ranks());
            displacements.keep(c.ranks());
        }
    }
    Verdict decide(const ShadowCommunicator& c) {
        at_root = c.rank() == root;
        const bool good =
            root >= 0 && static_cast<std::size_t>(root) < c.ranks() &&
            ((recv == MPI_IN_PLACE && at_root) || one.read(recv, recv_count, recv_type, comm));
        return good ? Verdict{} : wrong_arguments;
    }
    void stage(const ShadowCommunicator& c, BlockLists& lists) {
        unpacks = one.side && !one.side->flat(one.count);
        target = !one.side ? TREFOIL_IN_PLACE
                 : unpacks ? one.room.take(one.bytes())
                           : one.side->buffer;
        if (!at_root) {
            return;
        }
        all.read(c, send, counts, displacements, send_type);
        if (all.good) {
            all.stage(c, lists.send);
            all.pack();
            aliased = is_aliased(c, all, one);
            const std::size_t sent = lists.send.counts[static_cast<std::size_t>(root)];
            uneven = one.side && one.bytes() != sent;
            if (uneven) {
                one.too_long = is_mpich() && sent > one.bytes();  // Open MPI does not report it
                target = TREFOIL_IN_PLACE;
                unpacks = false;
                return;
            }
            // One buffer for both is not allowed, but Open MPI takes it.
            if (one.side && !unpacks && all.meets(one.side->buffer, one.bytes())) {
                unpacks = true;
                target = one.room.take(one.bytes());
            }
        }
    }
    trefoil_status_t run(ShadowCommunicator&, trefoil_comm_t t, const Form& form) const {
        const std::size_t* const none = nullptr;
        if (at_root && !all.good) {
            trefoil_scatterv(nullptr, none, none, nullptr, 0, TREFOIL_UINT8, root, t);
            throw LeftToMpi{};
        }
        return form.call(TREFOIL_MPI_FORMS(scatterv), static_cast<const void*>(all.data),
                         at_root ? all.list->counts.data() : none,
                         at_root ? all.list->displacements.data() : none, target, one.bytes(),
                         TREFOIL_UINT8, root, t);
    }
    void finish() const {
        if (unpacks) {
            one.side->unpack(0, one.count, static_cast<const std::byte*>(target));
        }
        if (uneven) {
            const auto self = static_cast<std::size_t>(root);
            const std::size_t size = std::max<std::size_t>(1, one.side->layout.size);
            one.side->unpack(0, std::min(one.count, all.list->counts[self] / size),
                             all.data + all.list->displacements[self]);
            one.report(comm);
        }
    }
};

using SmallAllgatherv = Allgatherv<int, int>;
using LargeAllgatherv = Allgatherv<MPI_Count, MPI_Aint>;
using SmallGatherv = Gatherv<int, int>;
using LargeGatherv = Gatherv<MPI_Count, MPI_Aint>;
using SmallScatterv = Scatterv<int, int>;
using LargeScatterv = Scatterv<MPI_Count, MPI_Aint>;

}  // namespace

TREFOIL_MPI_ENTRY(Allgatherv, allgatherv, SmallAllgatherv,
                  (const void* send, int send_count, MPI_Datatype send_type, void* recv,
                   const int counts[], const int displacements[], MPI_Datatype recv_type,
                   MPI_Comm comm),
                  (send, send_count, send_type, recv, counts, displacements, recv_type, comm))
TREFOIL_MPI_ENTRY(Gatherv, gatherv, SmallGatherv,
                  (const void* send, int send_count, MPI_Datatype send_type, void* recv,
                   const int counts[], const int displacements[], MPI_Datatype recv_type, int root,
                   MPI_Comm comm),
                  (send, send_count, send_type, recv, counts, displacements, recv_type, root, comm))
TREFOIL_MPI_ENTRY(Scatterv, scatterv, SmallScatterv,
                  (const void* send, const int counts[], const int displacements[],
                   MPI_Datatype send_type, void* recv, int recv_count, MPI_Datatype recv_type,
                   int root, MPI_Comm comm),
                  (send, counts, displacements, send_type, recv, recv_count, recv_type, root, comm))
TREFOIL_MPI_LARGE_ENTRY(Allgatherv, LargeAllgatherv,
                        (const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
                         const MPI_Count counts[], const MPI_Aint displacements[],
                         MPI_Datatype recv_type, MPI_Comm comm),
                        (send, send_count, send_type, recv, counts, displacements, recv_type, comm))
TREFOIL_MPI_LARGE_ENTRY(Gatherv, LargeGatherv,
                        (const void* send, MPI_Count send_count, MPI_Datatype send_type, void* recv,
                         const MPI_Count counts[], const MPI_Aint displacements[],
                         MPI_Datatype recv_type, int root, MPI_Comm comm),
                        (send, send_count, send_type, recv, counts, displacements, recv_type, root,
                         comm))
TREFOIL_MPI_LARGE_ENTRY(Scatterv, LargeScatterv,
                        (const void* send, const MPI_Count counts[], const MPI_Aint displacements[],
                         MPI_Datatype send_type, void* recv, MPI_Count recv_count,
                         MPI_Datatype recv_type, int root, MPI_Comm comm),
                        (send, counts, displacements, send_type, recv, recv_count, recv_type, root,
                         comm))
