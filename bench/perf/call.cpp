// SPDX-License-Identifier: BSD-3-Clause
// The function of the C interface for each collective, and for its vector variant.
#include "bench/perf/call.hpp"

#include <map>

namespace trefoil::tool {

std::vector<Rank> neighbours_of(trefoil_comm_t comm) {
    int rank = 0, ranks = 0, dimensions = 0;
    trefoil_comm_rank(comm, &rank);
    trefoil_comm_size(comm, &ranks);
    trefoil_comm_torus(comm, &dimensions, nullptr, 0);
    std::vector<int> sizes(static_cast<std::size_t>(dimensions));
    trefoil_comm_torus(comm, &dimensions, sizes.data(), dimensions);
    std::vector<int> here(sizes.size());
    std::map<std::vector<int>, Rank> at;
    for (Rank r = 0; r < ranks; ++r) {
        trefoil_comm_coordinates(comm, r, here.data(), dimensions);
        at[here] = r;
    }
    trefoil_comm_coordinates(comm, rank, here.data(), dimensions);
    std::vector<Rank> neighbours;
    for (std::size_t j = 0; j < sizes.size(); ++j) {
        for (const int step : {-1, 1}) {
            std::vector<int> there = here;
            there[j] = (there[j] + step + sizes[j]) % sizes[j];
            neighbours.push_back(at.at(there));
        }
    }
    return neighbours;
}

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
        case Collective::neighbor_allgather:
            return received == nullptr
                       ? trefoil_neighbor_allgather(c.send, c.recv, c.count, c.type, comm)
                       : trefoil_neighbor_allgatherv(c.send, c.count, c.recv, received, received_at,
                                                     c.type, comm);
        case Collective::neighbor_alltoall:
            return received == nullptr
                       ? trefoil_neighbor_alltoall(c.send, c.recv, c.count, c.type, comm)
                       : trefoil_neighbor_alltoallv(c.send, sent, sent_at, c.recv, received,
                                                    received_at, c.type, comm);
        case Collective::barrier:
            return trefoil_barrier(comm);
    }
    return TREFOIL_ERROR_INTERNAL;
}

}  // namespace trefoil::tool
