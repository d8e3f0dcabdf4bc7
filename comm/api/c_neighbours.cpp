// SPDX-License-Identifier: BSD-3-Clause
// The C interface's exchanges with the neighbours of the torus.
#include "comm/api/c_buffers.hpp"

using namespace trefoil;
using namespace trefoil::c_api;

namespace {

std::span<const std::size_t> list_of_neighbours(trefoil_comm_t comm, const size_t* numbers,
                                                const char* what) {
    return list(numbers, comm->communicator->torus().ports(), what);
}

std::span<const std::size_t> neighbour_displacements(trefoil_comm_t comm, const size_t* numbers) {
    return numbers == nullptr ? std::span<const std::size_t>{}
                              : list_of_neighbours(comm, numbers, "displacements");
}

trefoil_status_t neighbor_allgather(const How& how, const void* send, void* recv, size_t count,
                                    trefoil_datatype_t datatype, trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm, how);
        Request request{.collective = Collective::neighbor_allgather, .count = count};
        set_type(request, datatype);
        run_checked(entry, request, comm, send, recv);
    });
}

trefoil_status_t neighbor_allgatherv(const How& how, const void* send, size_t send_count,
                                     void* recv, const size_t* counts, const size_t* displacements,
                                     trefoil_datatype_t datatype, trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm, how);
        Request request{.collective = Collective::neighbor_allgather};
        set_type(request, datatype);
        request.counts = list_of_neighbours(comm, counts, "counts");
        request.displacements = neighbour_displacements(comm, displacements);
        request.send_counts = {&send_count, 1};
        run_checked(entry, request, comm, send, recv);
    });
}

trefoil_status_t neighbor_alltoall(const How& how, const void* send, void* recv, size_t count,
                                   trefoil_datatype_t datatype, trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm, how);
        Request request{.collective = Collective::neighbor_alltoall, .count = count};
        set_type(request, datatype);
        run_checked(entry, request, comm, send, recv);
    });
}

trefoil_status_t neighbor_alltoallv(const How& how, const void* send, const size_t* send_counts,
                                    const size_t* send_displacements, void* recv,
                                    const size_t* recv_counts, const size_t* recv_displacements,
                                    trefoil_datatype_t datatype, trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm, how);
        Request request{.collective = Collective::neighbor_alltoall};
        set_type(request, datatype);
        request.counts = list_of_neighbours(comm, recv_counts, "receive counts");
        request.displacements = neighbour_displacements(comm, recv_displacements);
        request.send_counts = list_of_neighbours(comm, send_counts, "send counts");
        request.send_displacements = neighbour_displacements(comm, send_displacements);
        run_checked(entry, request, comm, send, recv);
    });
}

}  // namespace

extern "C" {

trefoil_status_t trefoil_neighbor_allgather(const void* send, void* recv, size_t count,
                                            trefoil_datatype_t datatype, trefoil_comm_t comm) {
    return neighbor_allgather({}, send, recv, count, datatype, comm);
}

trefoil_status_t trefoil_ineighbor_allgather(const void* send, void* recv, size_t count,
                                             trefoil_datatype_t datatype, trefoil_comm_t comm,
                                             trefoil_request_t* request) {
    return neighbor_allgather(How::nonblocking(request), send, recv, count, datatype, comm);
}

trefoil_status_t trefoil_neighbor_allgather_init(const void* send, void* recv, size_t count,
                                                 trefoil_datatype_t datatype, trefoil_comm_t comm,
                                                 trefoil_request_t* request) {
    return neighbor_allgather(How::persistent(request), send, recv, count, datatype, comm);
}

trefoil_status_t trefoil_neighbor_allgatherv(const void* send, size_t send_count, void* recv,
                                             const size_t* counts, const size_t* displacements,
                                             trefoil_datatype_t datatype, trefoil_comm_t comm) {
    return neighbor_allgatherv({}, send, send_count, recv, counts, displacements, datatype, comm);
}

trefoil_status_t trefoil_ineighbor_allgatherv(const void* send, size_t send_count, void* recv,
                                              const size_t* counts, const size_t* displacements,
                                              trefoil_datatype_t datatype, trefoil_comm_t comm,
                                              trefoil_request_t* request) {
    return neighbor_allgatherv(How::nonblocking(request), send, send_count, recv, counts,
                               displacements, datatype, comm);
}

trefoil_status_t trefoil_neighbor_allgatherv_init(const void* send, size_t send_count, void* recv,
                                                  const size_t* counts, const size_t* displacements,
                                                  trefoil_datatype_t datatype, trefoil_comm_t comm,
                                                  trefoil_request_t* request) {
    return neighbor_allgatherv(How::persistent(request), send, send_count, recv, counts,
                               displacements, datatype, comm);
}

trefoil_status_t trefoil_neighbor_alltoall(const void* send, void* recv, size_t count,
                                           trefoil_datatype_t datatype, trefoil_comm_t comm) {
    return neighbor_alltoall({}, send, recv, count, datatype, comm);
}

trefoil_status_t trefoil_ineighbor_alltoall(const void* send, void* recv, size_t count,
                                            trefoil_datatype_t datatype, trefoil_comm_t comm,
                                            trefoil_request_t* request) {
    return neighbor_alltoall(How::nonblocking(request), send, recv, count, datatype, comm);
}

trefoil_status_t trefoil_neighbor_alltoall_init(const void* send, void* recv, size_t count,
                                                trefoil_datatype_t datatype, trefoil_comm_t comm,
                                                trefoil_request_t* request) {
    return neighbor_alltoall(How::persistent(request), send, recv, count, datatype, comm);
}

trefoil_status_t trefoil_neighbor_alltoallv(const void* send, const size_t* send_counts,
                                            const size_t* send_displacements, void* recv,
                                            const size_t* recv_counts,
                                            const size_t* recv_displacements,
                                            trefoil_datatype_t datatype, trefoil_comm_t comm) {
    return neighbor_alltoallv({}, send, send_counts, send_displacements, recv, recv_counts,
                              recv_displacements, datatype, comm);
}

trefoil_status_t trefoil_ineighbor_alltoallv(const void* send, const size_t* send_counts,
                                             const size_t* send_displacements, void* recv,
                                             const size_t* recv_counts,
                                             const size_t* recv_displacements,
                                             trefoil_datatype_t datatype, trefoil_comm_t comm,
                                             trefoil_request_t* request) {
    return neighbor_alltoallv(How::nonblocking(request), send, send_counts, send_displacements,
                              recv, recv_counts, recv_displacements, datatype, comm);
}

trefoil_status_t trefoil_neighbor_alltoallv_init(const void* send, const size_t* send_counts,
                                                 const size_t* send_displacements, void* recv,
                                                 const size_t* recv_counts,
                                                 const size_t* recv_displacements,
                                                 trefoil_datatype_t datatype, trefoil_comm_t comm,
                                                 trefoil_request_t* request) {
    return neighbor_alltoallv(How::persistent(request), send, send_counts, send_displacements, recv,
                              recv_counts, recv_displacements, datatype, comm);
}

}  // extern "C"
