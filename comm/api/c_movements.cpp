// SPDX-License-Identifier: BSD-3-Clause
// The C interface's collectives that move data without reducing it, but for gather and scatter.
#include "comm/api/c_buffers.hpp"

using namespace trefoil;
using namespace trefoil::c_api;

namespace {

trefoil_status_t bcast(const How& how, void* buffer, size_t count, trefoil_datatype_t datatype,
                       int root, trefoil_comm_t comm) {
    return guarded([&] {
        const Arguments asked{
            Collective::bcast, datatype, TREFOIL_SUM, root, count, buffer, buffer};
        run_repeatable(
            Entry(comm, how), comm, asked,
            [&](Request& request) {
                set_type(request, datatype);
                set_root(request, comm, root);
            },
            [&](const Request& request) {
                require_vector({buffer, bytes_of(request, count), "broadcast"});
                return Buffers{buffer, buffer};
            });
    });
}

trefoil_status_t allgather(const How& how, const void* send, void* recv, size_t count,
                           trefoil_datatype_t datatype, trefoil_comm_t comm) {
    return guarded([&] {
        const Arguments asked{Collective::allgather, datatype, TREFOIL_SUM, 0, count, send, recv};
        run_repeatable(Entry(comm, how), comm, asked, recv,
                       [&](Request& request) { set_type(request, datatype); });
    });
}

trefoil_status_t allgatherv(const How& how, const void* send, size_t send_count, void* recv,
                            const size_t* counts, const size_t* displacements,
                            trefoil_datatype_t datatype, trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm, how);
        Request request{.collective = Collective::allgather};
        set_type(request, datatype);
        request.counts = list(counts, comm->ranks, "counts");
        request.displacements = displacements_of(displacements, comm->ranks);
        if (!in_place(send)) {
            require_equal_counts(send_count, request.counts[comm->rank], "send");
        }
        run_checked(entry, request, comm, send, recv);
    });
}

trefoil_status_t alltoall(const How& how, const void* send, void* recv, size_t count,
                          trefoil_datatype_t datatype, trefoil_comm_t comm) {
    return guarded([&] {
        const Arguments asked{Collective::alltoall, datatype, TREFOIL_SUM, 0, count, send, recv};
        run_repeatable(Entry(comm, how), comm, asked, recv,
                       [&](Request& request) { set_type(request, datatype); });
    });
}

trefoil_status_t alltoallv(const How& how, const void* send, const size_t* send_counts,
                           const size_t* send_displacements, void* recv, const size_t* recv_counts,
                           const size_t* recv_displacements, trefoil_datatype_t datatype,
                           trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm, how);
        Request request{.collective = Collective::alltoall};
        set_type(request, datatype);
        request.counts = list(recv_counts, comm->ranks, "receive counts");
        request.displacements = displacements_of(recv_displacements, comm->ranks);
        if (!in_place(send)) {
            request.send_counts = list(send_counts, comm->ranks, "send counts");
            request.send_displacements = displacements_of(send_displacements, comm->ranks);
        }
        run_checked(entry, request, comm, send, recv);
    });
}

}  // namespace

extern "C" {

trefoil_status_t trefoil_bcast(void* buffer, size_t count, trefoil_datatype_t datatype, int root,
                               trefoil_comm_t comm) {
    return bcast({}, buffer, count, datatype, root, comm);
}

trefoil_status_t trefoil_ibcast(void* buffer, size_t count, trefoil_datatype_t datatype, int root,
                                trefoil_comm_t comm, trefoil_request_t* request) {
    return bcast(How::nonblocking(request), buffer, count, datatype, root, comm);
}

trefoil_status_t trefoil_bcast_init(void* buffer, size_t count, trefoil_datatype_t datatype,
                                    int root, trefoil_comm_t comm, trefoil_request_t* request) {
    return bcast(How::persistent(request), buffer, count, datatype, root, comm);
}

trefoil_status_t trefoil_allgather(const void* send, void* recv, size_t count,
                                   trefoil_datatype_t datatype, trefoil_comm_t comm) {
    return allgather({}, send, recv, count, datatype, comm);
}

trefoil_status_t trefoil_iallgather(const void* send, void* recv, size_t count,
                                    trefoil_datatype_t datatype, trefoil_comm_t comm,
                                    trefoil_request_t* request) {
    return allgather(How::nonblocking(request), send, recv, count, datatype, comm);
}

trefoil_status_t trefoil_allgather_init(const void* send, void* recv, size_t count,
                                        trefoil_datatype_t datatype, trefoil_comm_t comm,
                                        trefoil_request_t* request) {
    return allgather(How::persistent(request), send, recv, count, datatype, comm);
}

trefoil_status_t trefoil_allgatherv(const void* send, size_t send_count, void* recv,
                                    const size_t* counts, const size_t* displacements,
                                    trefoil_datatype_t datatype, trefoil_comm_t comm) {
    return allgatherv({}, send, send_count, recv, counts, displacements, datatype, comm);
}

trefoil_status_t trefoil_iallgatherv(const void* send, size_t send_count, void* recv,
                                     const size_t* counts, const size_t* displacements,
                                     trefoil_datatype_t datatype, trefoil_comm_t comm,
                                     trefoil_request_t* request) {
    return allgatherv(How::nonblocking(request), send, send_count, recv, counts, displacements,
                      datatype, comm);
}

trefoil_status_t trefoil_allgatherv_init(const void* send, size_t send_count, void* recv,
                                         const size_t* counts, const size_t* displacements,
                                         trefoil_datatype_t datatype, trefoil_comm_t comm,
                                         trefoil_request_t* request) {
    return allgatherv(How::persistent(request), send, send_count, recv, counts, displacements,
                      datatype, comm);
}

trefoil_status_t trefoil_alltoall(const void* send, void* recv, size_t count,
                                  trefoil_datatype_t datatype, trefoil_comm_t comm) {
    return alltoall({}, send, recv, count, datatype, comm);
}

trefoil_status_t trefoil_ialltoall(const void* send, void* recv, size_t count,
                                   trefoil_datatype_t datatype, trefoil_comm_t comm,
                                   trefoil_request_t* request) {
    return alltoall(How::nonblocking(request), send, recv, count, datatype, comm);
}

trefoil_status_t trefoil_alltoall_init(const void* send, void* recv, size_t count,
                                       trefoil_datatype_t datatype, trefoil_comm_t comm,
                                       trefoil_request_t* request) {
    return alltoall(How::persistent(request), send, recv, count, datatype, comm);
}

trefoil_status_t trefoil_alltoallv(const void* send, const size_t* send_counts,
                                   const size_t* send_displacements, void* recv,
                                   const size_t* recv_counts, const size_t* recv_displacements,
                                   trefoil_datatype_t datatype, trefoil_comm_t comm) {
    return alltoallv({}, send, send_counts, send_displacements, recv, recv_counts,
                     recv_displacements, datatype, comm);
}

trefoil_status_t trefoil_ialltoallv(const void* send, const size_t* send_counts,
                                    const size_t* send_displacements, void* recv,
                                    const size_t* recv_counts, const size_t* recv_displacements,
                                    trefoil_datatype_t datatype, trefoil_comm_t comm,
                                    trefoil_request_t* request) {
    return alltoallv(How::nonblocking(request), send, send_counts, send_displacements, recv,
                     recv_counts, recv_displacements, datatype, comm);
}

trefoil_status_t trefoil_alltoallv_init(const void* send, const size_t* send_counts,
                                        const size_t* send_displacements, void* recv,
                                        const size_t* recv_counts, const size_t* recv_displacements,
                                        trefoil_datatype_t datatype, trefoil_comm_t comm,
                                        trefoil_request_t* request) {
    return alltoallv(How::persistent(request), send, send_counts, send_displacements, recv,
                     recv_counts, recv_displacements, datatype, comm);
}

}  // extern "C"
