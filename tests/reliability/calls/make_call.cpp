// SPDX-License-Identifier: BSD-3-Clause
// The function of the C interface for each collective and form, and mistakes in its arguments.
#include <cstdint>
#include <limits>

#include "tests/reliability/calls/own_call.hpp"

namespace trefoil::calls {

namespace {

/// The three functions of a collective take the same arguments, and two of them a request, too.
template <typename Blocking, typename Nonblocking, typename Persistent, typename... Arguments>
trefoil_status_t run(Form form, trefoil_request_t* request, Blocking blocking,
                     Nonblocking nonblocking, Persistent persistent, Arguments... arguments) {
    switch (form) {
        case Form::nonblocking:
            return nonblocking(arguments..., request);
        case Form::persistent:
            return persistent(arguments..., request);
        default:
            return blocking(arguments...);
    }
}

const std::size_t* list(const std::vector<std::size_t>& values) {
    return values.empty() ? nullptr : values.data();
}

struct Arguments {
    const void* send;
    void* recv;
    std::size_t count;
    const std::size_t *sent, *sent_at, *received, *received_at;
    trefoil_datatype_t type;
    trefoil_op_t operation;
    int root;
    trefoil_comm_t comm;
};

void make_mistake(Mistake mistake, std::size_t element_bytes, int ranks, Arguments& a) {
    constexpr auto nothing_at_all = 99;
    switch (mistake) {
        case Mistake::type:
            a.type = static_cast<trefoil_datatype_t>(nothing_at_all);
            break;
        case Mistake::operation:
            a.operation = static_cast<trefoil_op_t>(nothing_at_all);
            break;
        case Mistake::unsuitable:
            a.operation = TREFOIL_BAND;
            break;
        case Mistake::average:
            a.operation = TREFOIL_AVG;
            break;
        case Mistake::low_root:
            a.root = -1;
            break;
        case Mistake::high_root:
            a.root = ranks;
            break;
        case Mistake::no_send:
            a.send = nullptr;
            break;
        case Mistake::both_in_place:
            a.send = a.recv = TREFOIL_IN_PLACE;
            break;
        case Mistake::overlap:
            a.send = static_cast<std::byte*>(a.recv) + element_bytes;
            break;
        case Mistake::no_counts:
            a.sent = a.received = nullptr;
            break;
        case Mistake::no_operation:
            a.type = TREFOIL_ELEMENT;
            break;
        case Mistake::huge:
            a.count = std::numeric_limits<std::size_t>::max() / 2;
            break;
        case Mistake::no_comm:
            a.comm = nullptr;
            break;
        default:
            break;
    }
}

trefoil_status_t call_with(Collective collective, Form form, const Arguments& a,
                           trefoil_request_t* request) {
    const auto with = [&](auto blocking, auto nonblocking, auto persistent, auto... arguments) {
        return run(form, request, blocking, nonblocking, persistent, arguments..., a.comm);
    };
    switch (collective) {
        case Collective::allreduce:
            return with(trefoil_allreduce, trefoil_iallreduce, trefoil_allreduce_init, a.send,
                        a.recv, a.count, a.type, a.operation);
        case Collective::reduce:
            return with(trefoil_reduce, trefoil_ireduce, trefoil_reduce_init, a.send, a.recv,
                        a.count, a.type, a.operation, a.root);
        case Collective::scan:
            return with(trefoil_scan, trefoil_iscan, trefoil_scan_init, a.send, a.recv, a.count,
                        a.type, a.operation);
        case Collective::exscan:
            return with(trefoil_exscan, trefoil_iexscan, trefoil_exscan_init, a.send, a.recv,
                        a.count, a.type, a.operation);
        case Collective::reduce_scatter_block:
            return with(trefoil_reduce_scatter_block, trefoil_ireduce_scatter_block,
                        trefoil_reduce_scatter_block_init, a.send, a.recv, a.count, a.type,
                        a.operation);
        case Collective::reduce_scatter:
            return with(trefoil_reduce_scatter, trefoil_ireduce_scatter,
                        trefoil_reduce_scatter_init, a.send, a.recv, a.sent, a.type, a.operation);
        case Collective::allgather:
            return with(trefoil_allgather, trefoil_iallgather, trefoil_allgather_init, a.send,
                        a.recv, a.count, a.type);
        case Collective::allgatherv:
            return with(trefoil_allgatherv, trefoil_iallgatherv, trefoil_allgatherv_init, a.send,
                        a.count, a.recv, a.received, a.received_at, a.type);
        case Collective::bcast:
            return with(trefoil_bcast, trefoil_ibcast, trefoil_bcast_init, a.recv, a.count, a.type,
                        a.root);
        case Collective::gather:
            return with(trefoil_gather, trefoil_igather, trefoil_gather_init, a.send, a.recv,
                        a.count, a.type, a.root);
        case Collective::gatherv:
            return with(trefoil_gatherv, trefoil_igatherv, trefoil_gatherv_init, a.send, a.count,
                        a.recv, a.received, a.received_at, a.type, a.root);
        case Collective::scatter:
            return with(trefoil_scatter, trefoil_iscatter, trefoil_scatter_init, a.send, a.recv,
                        a.count, a.type, a.root);
        case Collective::scatterv:
            return with(trefoil_scatterv, trefoil_iscatterv, trefoil_scatterv_init, a.send, a.sent,
                        a.sent_at, a.recv, a.count, a.type, a.root);
        case Collective::alltoall:
            return with(trefoil_alltoall, trefoil_ialltoall, trefoil_alltoall_init, a.send, a.recv,
                        a.count, a.type);
        case Collective::alltoallv:
            return with(trefoil_alltoallv, trefoil_ialltoallv, trefoil_alltoallv_init, a.send,
                        a.sent, a.sent_at, a.recv, a.received, a.received_at, a.type);
        case Collective::neighbor_allgather:
            return with(trefoil_neighbor_allgather, trefoil_ineighbor_allgather,
                        trefoil_neighbor_allgather_init, a.send, a.recv, a.count, a.type);
        case Collective::neighbor_allgatherv:
            return with(trefoil_neighbor_allgatherv, trefoil_ineighbor_allgatherv,
                        trefoil_neighbor_allgatherv_init, a.send, a.count, a.recv, a.received,
                        a.received_at, a.type);
        case Collective::neighbor_alltoall:
            return with(trefoil_neighbor_alltoall, trefoil_ineighbor_alltoall,
                        trefoil_neighbor_alltoall_init, a.send, a.recv, a.count, a.type);
        case Collective::neighbor_alltoallv:
            return with(trefoil_neighbor_alltoallv, trefoil_ineighbor_alltoallv,
                        trefoil_neighbor_alltoallv_init, a.send, a.sent, a.sent_at, a.recv,
                        a.received, a.received_at, a.type);
        case Collective::barrier:
            return with(trefoil_barrier, trefoil_ibarrier, trefoil_barrier_init);
    }
    return TREFOIL_ERROR_INTERNAL;
}

}  // namespace

trefoil_status_t OwnCall::make() {
    const auto operation = static_cast<std::size_t>(call_.elements.operation);
    const bool own = call_.elements.are_created() || call_.mistake == Mistake::wrong_type;
    const std::size_t which =
        call_.elements.are_created() ? operation - static_cast<std::size_t>(first_created) : 0;
    Arguments a{send_.data() + guard,
                recv_.data() + guard,
                count_,
                list(sent_.counts),
                call_.gap > 0 ? list(sent_.displacements) : nullptr,
                list(received_.counts),
                call_.gap > 0 ? list(received_.displacements) : nullptr,
                call_.elements.are_created() ? TREFOIL_ELEMENT : call_.elements.type,
                own ? created_[which] : static_cast<trefoil_op_t>(operation),
                root_,
                group_.comm};
    if (traits_.vector) {
        a.count = block_count(me());
    }
    // Where the collective has nothing for this rank its arguments may be NULL or not.
    const bool gives_null = (me() + counts_salt_) % 2 == 0 && traits_.rooted && !is_root();
    const bool from_root = std::string(traits_.base) == "scatter";
    if (gives_null && from_root) {
        a.send = nullptr;
        a.sent = a.sent_at = nullptr;
    } else if (gives_null && call_.collective != Collective::bcast) {
        a.recv = nullptr;
        a.received = a.received_at = nullptr;
    }
    if (send_in_place_) {
        const bool equal = call_.same_pointer && call_.collective == Collective::allreduce;
        a.send = equal ? a.recv : TREFOIL_IN_PLACE;
        a.sent = traits_.reduces ? a.sent : nullptr;
        a.sent_at = nullptr;
    }
    if (recv_in_place_) {
        a.recv = TREFOIL_IN_PLACE;
    }
    make_mistake(call_.mistake, bytes_, group_.ranks, a);
    return call_with(call_.collective, call_.form, a, &request);
}

}  // namespace trefoil::calls
