// SPDX-License-Identifier: BSD-3-Clause
// The nonblocking and the persistent function of the C interface for each collective.
#include "bench/perf/call.hpp"

namespace trefoil::tool {

trefoil_status_t begin_collective(trefoil_comm_t comm, const CollectiveCall& c,
                                  trefoil_request_t* request) {
    const auto& [sent, sent_at] = c.sent;
    const auto& [received, received_at] = c.received;
    switch (c.collective) {
        case Collective::allreduce:
            return trefoil_iallreduce(c.send, c.recv, c.count, c.type, c.operation, comm, request);
        case Collective::reduce_scatter:
            return sent == nullptr ? trefoil_ireduce_scatter_block(c.send, c.recv, c.count, c.type,
                                                                   c.operation, comm, request)
                                   : trefoil_ireduce_scatter(c.send, c.recv, sent, c.type,
                                                             c.operation, comm, request);
        case Collective::allgather:
            return received == nullptr
                       ? trefoil_iallgather(c.send, c.recv, c.count, c.type, comm, request)
                       : trefoil_iallgatherv(c.send, c.count, c.recv, received, received_at, c.type,
                                             comm, request);
        case Collective::bcast:
            return trefoil_ibcast(c.recv, c.count, c.type, c.root, comm, request);
        case Collective::reduce:
            return trefoil_ireduce(c.send, c.recv, c.count, c.type, c.operation, c.root, comm,
                                   request);
        case Collective::gather:
            return received == nullptr
                       ? trefoil_igather(c.send, c.recv, c.count, c.type, c.root, comm, request)
                       : trefoil_igatherv(c.send, c.count, c.recv, received, received_at, c.type,
                                          c.root, comm, request);
        case Collective::scatter:
            return sent == nullptr
                       ? trefoil_iscatter(c.send, c.recv, c.count, c.type, c.root, comm, request)
                       : trefoil_iscatterv(c.send, sent, sent_at, c.recv, c.count, c.type, c.root,
                                           comm, request);
        case Collective::alltoall:
            return received == nullptr
                       ? trefoil_ialltoall(c.send, c.recv, c.count, c.type, comm, request)
                       : trefoil_ialltoallv(c.send, sent, sent_at, c.recv, received, received_at,
                                            c.type, comm, request);
        case Collective::barrier:
            return trefoil_ibarrier(comm, request);
        case Collective::scan:
            return trefoil_iscan(c.send, c.recv, c.count, c.type, c.operation, comm, request);
        case Collective::exscan:
            return trefoil_iexscan(c.send, c.recv, c.count, c.type, c.operation, comm, request);
        case Collective::neighbor_allgather:
            return received == nullptr
                       ? trefoil_ineighbor_allgather(c.send, c.recv, c.count, c.type, comm, request)
                       : trefoil_ineighbor_allgatherv(c.send, c.count, c.recv, received,
                                                      received_at, c.type, comm, request);
        case Collective::neighbor_alltoall:
            return received == nullptr
                       ? trefoil_ineighbor_alltoall(c.send, c.recv, c.count, c.type, comm, request)
                       : trefoil_ineighbor_alltoallv(c.send, sent, sent_at, c.recv, received,
                                                     received_at, c.type, comm, request);
    }
    return TREFOIL_ERROR_INTERNAL;
}

trefoil_status_t prepare_collective(trefoil_comm_t comm, const CollectiveCall& c,
                                    trefoil_request_t* request) {
    const auto& [sent, sent_at] = c.sent;
    const auto& [received, received_at] = c.received;
    switch (c.collective) {
        case Collective::allreduce:
            return trefoil_allreduce_init(c.send, c.recv, c.count, c.type, c.operation, comm,
                                          request);
        case Collective::reduce_scatter:
            return sent == nullptr
                       ? trefoil_reduce_scatter_block_init(c.send, c.recv, c.count, c.type,
                                                           c.operation, comm, request)
                       : trefoil_reduce_scatter_init(c.send, c.recv, sent, c.type, c.operation,
                                                     comm, request);
        case Collective::allgather:
            return received == nullptr
                       ? trefoil_allgather_init(c.send, c.recv, c.count, c.type, comm, request)
                       : trefoil_allgatherv_init(c.send, c.count, c.recv, received, received_at,
                                                 c.type, comm, request);
        case Collective::bcast:
            return trefoil_bcast_init(c.recv, c.count, c.type, c.root, comm, request);
        case Collective::reduce:
            return trefoil_reduce_init(c.send, c.recv, c.count, c.type, c.operation, c.root, comm,
                                       request);
        case Collective::gather:
            return received == nullptr
                       ? trefoil_gather_init(c.send, c.recv, c.count, c.type, c.root, comm, request)
                       : trefoil_gatherv_init(c.send, c.count, c.recv, received, received_at,
                                              c.type, c.root, comm, request);
        case Collective::scatter:
            return sent == nullptr ? trefoil_scatter_init(c.send, c.recv, c.count, c.type, c.root,
                                                          comm, request)
                                   : trefoil_scatterv_init(c.send, sent, sent_at, c.recv, c.count,
                                                           c.type, c.root, comm, request);
        case Collective::alltoall:
            return received == nullptr
                       ? trefoil_alltoall_init(c.send, c.recv, c.count, c.type, comm, request)
                       : trefoil_alltoallv_init(c.send, sent, sent_at, c.recv, received,
                                                received_at, c.type, comm, request);
        case Collective::barrier:
            return trefoil_barrier_init(comm, request);
        case Collective::scan:
            return trefoil_scan_init(c.send, c.recv, c.count, c.type, c.operation, comm, request);
        case Collective::exscan:
            return trefoil_exscan_init(c.send, c.recv, c.count, c.type, c.operation, comm, request);
        case Collective::neighbor_allgather:
            return received == nullptr
                       ? trefoil_neighbor_allgather_init(c.send, c.recv, c.count, c.type, comm,
                                                         request)
                       : trefoil_neighbor_allgatherv_init(c.send, c.count, c.recv, received,
                                                          received_at, c.type, comm, request);
        case Collective::neighbor_alltoall:
            return received == nullptr
                       ? trefoil_neighbor_alltoall_init(c.send, c.recv, c.count, c.type, comm,
                                                        request)
                       : trefoil_neighbor_alltoallv_init(c.send, sent, sent_at, c.recv, received,
                                                         received_at, c.type, comm, request);
    }
    return TREFOIL_ERROR_INTERNAL;
}

}  // namespace trefoil::tool
