// SPDX-License-Identifier: BSD-3-Clause
// The function of the C interface for each collective, and for its vector variant.
#include "bench/perf/call.hpp"

namespace trefoil::tool {

trefoil_status_t call_collective(trefoil_comm_t comm, const CollectiveCall& c) {
    const auto& [sent, sent_at] = c.sent;
    const auto& [received, received_at] = c.received;
    switch (c.collective) {
        case Collective::allreduce:
            return trefoil_allreduce(c.send, c.recv, c.count, c.type, c.operation, comm);
        case Collective::reduce_scatter:
            return sent == nullptr
                       ? trefoil_reduce_scatter_block(c.send, c.recv, c.count, c.type, c.operation,
                                                      comm)
                       : trefoil_reduce_scatter(c.send, c.recv, sent, c.type, c.operation, comm);
        case Collective::allgather:
            return received == nullptr ? trefoil_allgather(c.send, c.recv, c.count, c.type, comm)
                                       : trefoil_allgatherv(c.send, c.count, c.recv, received,
                                                            received_at, c.type, comm);
        case Collective::bcast:
            return trefoil_bcast(c.recv, c.count, c.type, c.root, comm);
        case Collective::reduce:
            return trefoil_reduce(c.send, c.recv, c.count, c.type, c.operation, c.root, comm);
        case Collective::gather:
            return received == nullptr
                       ? trefoil_gather(c.send, c.recv, c.count, c.type, c.root, comm)
                       : trefoil_gatherv(c.send, c.count, c.recv, received, received_at, c.type,
                                         c.root, comm);
        case Collective::scatter:
            return sent == nullptr ? trefoil_scatter(c.send, c.recv, c.count, c.type, c.root, comm)
                                   : trefoil_scatterv(c.send, sent, sent_at, c.recv, c.count,
                                                      c.type, c.root, comm);
        case Collective::alltoall:
            return received == nullptr ? trefoil_alltoall(c.send, c.recv, c.count, c.type, comm)
                                       : trefoil_alltoallv(c.send, sent, sent_at, c.recv, received,
                                                           received_at, c.type, comm);
        case Collective::scan:
            return trefoil_scan(c.send, c.recv, c.count, c.type, c.operation, comm);
        case Collective::exscan:
            return trefoil_exscan(c.send, c.recv, c.count, c.type, c.operation, comm);
        case Collective::barrier:
            return trefoil_barrier(comm);
    }
    return TREFOIL_ERROR_INTERNAL;
}

}  // namespace trefoil::tool
