// SPDX-License-Identifier: BSD-3-Clause
// The C interface's collectives that reduce, the user's operations, and the barrier.
#include "comm/api/c_buffers.hpp"
#include "comm/api/user_operations.hpp"

using namespace trefoil;
using namespace trefoil::c_api;

namespace {

trefoil_status_t allreduce(const How& how, const void* send, void* recv, size_t count,
                           trefoil_datatype_t datatype, trefoil_op_t op, trefoil_comm_t comm) {
    return guarded([&] {
        const Arguments asked{Collective::allreduce, datatype, op, 0, count, send, recv};
        run_repeatable(Entry(comm, how), comm, asked, recv,
                       [&](Request& request) { set_operation(request, datatype, op); });
    });
}

trefoil_status_t reduce(const How& how, const void* send, void* recv, size_t count,
                        trefoil_datatype_t datatype, trefoil_op_t op, int root,
                        trefoil_comm_t comm) {
    return guarded([&] {
        const Arguments asked{Collective::reduce, datatype, op, root, count, send, recv};
        run_repeatable(Entry(comm, how), comm, asked, recv, [&](Request& request) {
            set_operation(request, datatype, op);
            set_root(request, comm, root);
        });
    });
}

trefoil_status_t reduce_scatter_block(const How& how, const void* send, void* recv, size_t count,
                                      trefoil_datatype_t datatype, trefoil_op_t op,
                                      trefoil_comm_t comm) {
    return guarded([&] {
        const Arguments asked{Collective::reduce_scatter, datatype, op, 0, count, send, recv};
        run_repeatable(Entry(comm, how), comm, asked, recv,
                       [&](Request& request) { set_operation(request, datatype, op); });
    });
}

trefoil_status_t reduce_scatter(const How& how, const void* send, void* recv, const size_t* counts,
                                trefoil_datatype_t datatype, trefoil_op_t op, trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm, how);
        Request request{.collective = Collective::reduce_scatter};
        set_operation(request, datatype, op);
        request.counts = list(counts, comm->ranks, "counts");
        run_checked(entry, request, comm, send, recv);
    });
}

trefoil_status_t barrier(const How& how, trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm, how);
        const Request request{.collective = Collective::barrier};
        if (entry.blocks()) {
            entry.run(request, nullptr, nullptr, &comm->barrier);
        } else {
            entry.run(request, nullptr, nullptr);
        }
    });
}

trefoil_status_t scan(const How& how, const void* send, void* recv, size_t count,
                      trefoil_datatype_t datatype, trefoil_op_t op, trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm, how);
        Request request{.collective = Collective::scan, .count = count};
        set_operation(request, datatype, op);
        require_no_average(request, "scan");
        run_checked(entry, request, comm, send, recv);
    });
}

trefoil_status_t exscan(const How& how, const void* send, void* recv, size_t count,
                        trefoil_datatype_t datatype, trefoil_op_t op, trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm, how);
        Request request{.collective = Collective::exscan, .count = count};
        set_operation(request, datatype, op);
        require_no_average(request, "exscan");
        // In place the first rank's contribution is where it would receive, too.
        run_checked(entry, request, comm, comm->rank == 0 && in_place(send) ? recv : send, recv);
    });
}

}  // namespace

extern "C" {

trefoil_status_t trefoil_op_create(trefoil_reduce_fn function, void* context, size_t element_bytes,
                                   int commutes, trefoil_op_t* op) {
    return guarded([&] {
        require(op != nullptr, "the place for the operation is NULL");
        require(function != nullptr, "the operation's function is NULL");
        require(element_bytes > 0, "an element of 0 bytes cannot be reduced");
        *op = static_cast<trefoil_op_t>(
            add_user_operation({function, context, element_bytes, commutes != 0}));
    });
}

trefoil_status_t trefoil_op_free(trefoil_op_t op) {
    return guarded([&] {
        const Removal removal = remove_user_operation(static_cast<int>(op));
        if (removal == Removal::unknown) {
            refuse("op " + std::to_string(op) +
                   " is not one that trefoil_op_create made, or it was freed");
        }
        if (removal == Removal::in_use) {
            throw Error(Status::busy, "op " + std::to_string(op) +
                                          " is used by a call in flight; wait for its request "
                                          "before the operation is freed");
        }
    });
}

trefoil_status_t trefoil_allreduce(const void* send, void* recv, size_t count,
                                   trefoil_datatype_t datatype, trefoil_op_t op,
                                   trefoil_comm_t comm) {
    return allreduce({}, send, recv, count, datatype, op, comm);
}

trefoil_status_t trefoil_iallreduce(const void* send, void* recv, size_t count,
                                    trefoil_datatype_t datatype, trefoil_op_t op,
                                    trefoil_comm_t comm, trefoil_request_t* request) {
    return allreduce(How::nonblocking(request), send, recv, count, datatype, op, comm);
}

trefoil_status_t trefoil_allreduce_init(const void* send, void* recv, size_t count,
                                        trefoil_datatype_t datatype, trefoil_op_t op,
                                        trefoil_comm_t comm, trefoil_request_t* request) {
    return allreduce(How::persistent(request), send, recv, count, datatype, op, comm);
}

trefoil_status_t trefoil_reduce(const void* send, void* recv, size_t count,
                                trefoil_datatype_t datatype, trefoil_op_t op, int root,
                                trefoil_comm_t comm) {
    return reduce({}, send, recv, count, datatype, op, root, comm);
}

trefoil_status_t trefoil_ireduce(const void* send, void* recv, size_t count,
                                 trefoil_datatype_t datatype, trefoil_op_t op, int root,
                                 trefoil_comm_t comm, trefoil_request_t* request) {
    return reduce(How::nonblocking(request), send, recv, count, datatype, op, root, comm);
}

trefoil_status_t trefoil_reduce_init(const void* send, void* recv, size_t count,
                                     trefoil_datatype_t datatype, trefoil_op_t op, int root,
                                     trefoil_comm_t comm, trefoil_request_t* request) {
    return reduce(How::persistent(request), send, recv, count, datatype, op, root, comm);
}

trefoil_status_t trefoil_scan(const void* send, void* recv, size_t count,
                              trefoil_datatype_t datatype, trefoil_op_t op, trefoil_comm_t comm) {
    return scan({}, send, recv, count, datatype, op, comm);
}

trefoil_status_t trefoil_iscan(const void* send, void* recv, size_t count,
                               trefoil_datatype_t datatype, trefoil_op_t op, trefoil_comm_t comm,
                               trefoil_request_t* request) {
    return scan(How::nonblocking(request), send, recv, count, datatype, op, comm);
}

trefoil_status_t trefoil_scan_init(const void* send, void* recv, size_t count,
                                   trefoil_datatype_t datatype, trefoil_op_t op,
                                   trefoil_comm_t comm, trefoil_request_t* request) {
    return scan(How::persistent(request), send, recv, count, datatype, op, comm);
}

trefoil_status_t trefoil_exscan(const void* send, void* recv, size_t count,
                                trefoil_datatype_t datatype, trefoil_op_t op, trefoil_comm_t comm) {
    return exscan({}, send, recv, count, datatype, op, comm);
}

trefoil_status_t trefoil_iexscan(const void* send, void* recv, size_t count,
                                 trefoil_datatype_t datatype, trefoil_op_t op, trefoil_comm_t comm,
                                 trefoil_request_t* request) {
    return exscan(How::nonblocking(request), send, recv, count, datatype, op, comm);
}

trefoil_status_t trefoil_exscan_init(const void* send, void* recv, size_t count,
                                     trefoil_datatype_t datatype, trefoil_op_t op,
                                     trefoil_comm_t comm, trefoil_request_t* request) {
    return exscan(How::persistent(request), send, recv, count, datatype, op, comm);
}

trefoil_status_t trefoil_reduce_scatter_block(const void* send, void* recv, size_t count,
                                              trefoil_datatype_t datatype, trefoil_op_t op,
                                              trefoil_comm_t comm) {
    return reduce_scatter_block({}, send, recv, count, datatype, op, comm);
}

trefoil_status_t trefoil_ireduce_scatter_block(const void* send, void* recv, size_t count,
                                               trefoil_datatype_t datatype, trefoil_op_t op,
                                               trefoil_comm_t comm, trefoil_request_t* request) {
    return reduce_scatter_block(How::nonblocking(request), send, recv, count, datatype, op, comm);
}

trefoil_status_t trefoil_reduce_scatter_block_init(const void* send, void* recv, size_t count,
                                                   trefoil_datatype_t datatype, trefoil_op_t op,
                                                   trefoil_comm_t comm,
                                                   trefoil_request_t* request) {
    return reduce_scatter_block(How::persistent(request), send, recv, count, datatype, op, comm);
}

trefoil_status_t trefoil_reduce_scatter(const void* send, void* recv, const size_t* counts,
                                        trefoil_datatype_t datatype, trefoil_op_t op,
                                        trefoil_comm_t comm) {
    return reduce_scatter({}, send, recv, counts, datatype, op, comm);
}

trefoil_status_t trefoil_ireduce_scatter(const void* send, void* recv, const size_t* counts,
                                         trefoil_datatype_t datatype, trefoil_op_t op,
                                         trefoil_comm_t comm, trefoil_request_t* request) {
    return reduce_scatter(How::nonblocking(request), send, recv, counts, datatype, op, comm);
}

trefoil_status_t trefoil_reduce_scatter_init(const void* send, void* recv, const size_t* counts,
                                             trefoil_datatype_t datatype, trefoil_op_t op,
                                             trefoil_comm_t comm, trefoil_request_t* request) {
    return reduce_scatter(How::persistent(request), send, recv, counts, datatype, op, comm);
}

trefoil_status_t trefoil_reduce_local(const void* in, void* inout, size_t count,
                                      trefoil_datatype_t datatype, trefoil_op_t op) {
    return guarded([&] {
        Request request{.collective = Collective::reduce, .count = count};
        set_operation(request, datatype, op);
        require_no_average(request, "trefoil_reduce_local, which knows of no ranks");
        const std::size_t bytes = bytes_of(request, count);
        require_disjoint({in, bytes, "in"}, {inout, bytes, "inout"}, "disjoint ones");
        if (count > 0) {
            ReduceKernels kernels = reduce_kernels(request.type, request.op);
            kernels.user = request.user.get();
            kernels.apply(inout, in, inout, count);
        }
    });
}

trefoil_status_t trefoil_barrier(trefoil_comm_t comm) {
    return barrier({}, comm);
}

trefoil_status_t trefoil_ibarrier(trefoil_comm_t comm, trefoil_request_t* request) {
    return barrier(How::nonblocking(request), comm);
}

trefoil_status_t trefoil_barrier_init(trefoil_comm_t comm, trefoil_request_t* request) {
    return barrier(How::persistent(request), comm);
}

}  // extern "C"
