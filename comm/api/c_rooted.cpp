// SPDX-License-Identifier: BSD-3-Clause
// The C interface's gather and scatter, whose counts the root alone may know.
#include <limits>
#include <vector>

#include "comm/api/c_buffers.hpp"

using namespace trefoil;
using namespace trefoil::c_api;

namespace {

/// The counts that only the root knows, on every rank. `check` looks at the root's arguments; when
/// they are wrong all ranks are told so, instead of waiting for the root.
template <typename Check>
std::vector<std::size_t> shared_counts(const Entry& entry, trefoil_comm_t comm,
                                       const Request& request, Check&& check) {
    constexpr std::size_t refused = std::numeric_limits<std::size_t>::max();  // no count
    if (comm->rank == request.root) {
        try {
            check();
        } catch (const Error& error) {
            const std::size_t told[] = {refused, static_cast<std::size_t>(error.status())};
            entry->share_counts(request.root, told);
            throw;
        }
    }
    std::vector<std::size_t> counts = entry->share_counts(request.root, request.counts);
    if (counts[0] == refused) {
        throw Error(static_cast<Status>(counts[1]),
                    "rank " + std::to_string(request.root) +
                        ", the root, has refused its arguments; its own message says why");
    }
    return counts;
}

/// Gather and scatter whose counts nobody else learns: no rank can wait for the root's list while a
/// call begins. As an alltoall in which only the root has several partners.
struct PairedCounts {
    std::vector<std::size_t> root_side;  ///< by rank; at the root only
    std::vector<std::size_t> own_side;   ///< the own block, which the root gives or takes

    PairedCounts(trefoil_comm_t comm, const Request& rooted, std::size_t own)
        : root_side(static_cast<std::size_t>(comm->ranks)),
          own_side(static_cast<std::size_t>(comm->ranks)) {
        if (comm->rank == rooted.root) {
            root_side.assign(rooted.counts.begin(), rooted.counts.end());
        }
        own_side[static_cast<std::size_t>(rooted.root)] = own;
    }
};

/// What the rank that is not the root knows of the counts.
std::vector<std::size_t> own_count_only(trefoil_comm_t comm, std::size_t own) {
    std::vector<std::size_t> counts(static_cast<std::size_t>(comm->ranks));
    counts[static_cast<std::size_t>(comm->rank)] = own;
    return counts;
}

void begin_gatherv(const Entry& entry, Request& request, trefoil_comm_t comm, const void* send,
                   std::size_t send_count, void* recv, const size_t* counts,
                   const size_t* displacements) {
    const std::vector<std::size_t> own = own_count_only(comm, send_count);
    request.counts = own;
    if (comm->rank == request.root) {
        request.counts = list(counts, comm->ranks, "counts");
        request.displacements = displacements_of(displacements, comm->ranks);
        if (in_place(send)) {
            send_count = request.counts[comm->rank];
        }
        require_equal_counts(send_count, request.counts[comm->rank], "send");
    }
    const Buffers b = checked_buffers(request, comm, send, recv);
    const PairedCounts paired(comm, request, send_count);
    const Request pairs{.collective = Collective::alltoall,
                        .type = request.type,
                        .counts = paired.root_side,
                        .displacements = request.displacements,
                        .send_counts = paired.own_side};
    entry.run(pairs, b.send, b.recv);
}

void begin_scatterv(const Entry& entry, Request& request, trefoil_comm_t comm, const void* send,
                    const size_t* counts, const size_t* displacements, void* recv,
                    std::size_t recv_count) {
    const std::vector<std::size_t> own = own_count_only(comm, recv_count);
    request.counts = own;
    if (comm->rank == request.root) {
        request.counts = list(counts, comm->ranks, "counts");
        request.displacements = displacements_of(displacements, comm->ranks);
        if (in_place(recv)) {
            recv_count = request.counts[comm->rank];
        }
        require_equal_counts(recv_count, request.counts[comm->rank], "receive");
    }
    const Buffers b = checked_buffers(request, comm, send, recv);
    const PairedCounts paired(comm, request, recv_count);
    const Request pairs{.collective = Collective::alltoall,
                        .type = request.type,
                        .counts = paired.own_side,
                        .send_counts = paired.root_side,
                        .send_displacements = request.displacements};
    entry.run(pairs, b.send, b.recv);
}

trefoil_status_t gather(const How& how, const void* send, void* recv, size_t count,
                        trefoil_datatype_t datatype, int root, trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm, how);
        Request request{.collective = Collective::gather, .count = count};
        set_type(request, datatype);
        set_root(request, comm, root);
        run_checked(entry, request, comm, send, recv);
    });
}

trefoil_status_t gatherv(const How& how, const void* send, size_t send_count, void* recv,
                         const size_t* counts, const size_t* displacements,
                         trefoil_datatype_t datatype, int root, trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm, how);
        Request request{.collective = Collective::gather};
        set_type(request, datatype);
        set_root(request, comm, root);
        if (!entry.blocks()) {
            begin_gatherv(entry, request, comm, send, send_count, recv, counts, displacements);
            return;
        }
        std::vector<std::size_t> agreed = shared_counts(entry, comm, request, [&] {
            request.counts = list(counts, comm->ranks, "counts");
            request.displacements = displacements_of(displacements, comm->ranks);
            if (!in_place(send)) {
                require_equal_counts(send_count, request.counts[root], "send");
            }
            checked_buffers(request, comm, send, recv);
        });
        if (comm->rank != root) {
            agreed[comm->rank] = send_count;  // if the root's list differs, the calls differ
        }
        request.counts = agreed;
        run_checked(entry, request, comm, send, recv);
    });
}

trefoil_status_t scatter(const How& how, const void* send, void* recv, size_t count,
                         trefoil_datatype_t datatype, int root, trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm, how);
        Request request{.collective = Collective::scatter, .count = count};
        set_type(request, datatype);
        set_root(request, comm, root);
        run_checked(entry, request, comm, send, recv);
    });
}

trefoil_status_t scatterv(const How& how, const void* send, const size_t* counts,
                          const size_t* displacements, void* recv, size_t recv_count,
                          trefoil_datatype_t datatype, int root, trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm, how);
        Request request{.collective = Collective::scatter};
        set_type(request, datatype);
        set_root(request, comm, root);
        if (!entry.blocks()) {
            begin_scatterv(entry, request, comm, send, counts, displacements, recv, recv_count);
            return;
        }
        std::vector<std::size_t> agreed = shared_counts(entry, comm, request, [&] {
            request.counts = list(counts, comm->ranks, "counts");
            request.displacements = displacements_of(displacements, comm->ranks);
            if (!in_place(recv)) {
                require_equal_counts(recv_count, request.counts[root], "receive");
            }
            checked_buffers(request, comm, send, recv);
        });
        if (comm->rank != root) {
            agreed[comm->rank] = recv_count;
        }
        request.counts = agreed;
        run_checked(entry, request, comm, send, recv);
    });
}

}  // namespace

extern "C" {

trefoil_status_t trefoil_gather(const void* send, void* recv, size_t count,
                                trefoil_datatype_t datatype, int root, trefoil_comm_t comm) {
    return gather({}, send, recv, count, datatype, root, comm);
}

trefoil_status_t trefoil_igather(const void* send, void* recv, size_t count,
                                 trefoil_datatype_t datatype, int root, trefoil_comm_t comm,
                                 trefoil_request_t* request) {
    return gather(How::nonblocking(request), send, recv, count, datatype, root, comm);
}

trefoil_status_t trefoil_gather_init(const void* send, void* recv, size_t count,
                                     trefoil_datatype_t datatype, int root, trefoil_comm_t comm,
                                     trefoil_request_t* request) {
    return gather(How::persistent(request), send, recv, count, datatype, root, comm);
}

trefoil_status_t trefoil_gatherv(const void* send, size_t send_count, void* recv,
                                 const size_t* counts, const size_t* displacements,
                                 trefoil_datatype_t datatype, int root, trefoil_comm_t comm) {
    return gatherv({}, send, send_count, recv, counts, displacements, datatype, root, comm);
}

trefoil_status_t trefoil_igatherv(const void* send, size_t send_count, void* recv,
                                  const size_t* counts, const size_t* displacements,
                                  trefoil_datatype_t datatype, int root, trefoil_comm_t comm,
                                  trefoil_request_t* request) {
    return gatherv(How::nonblocking(request), send, send_count, recv, counts, displacements,
                   datatype, root, comm);
}

trefoil_status_t trefoil_gatherv_init(const void* send, size_t send_count, void* recv,
                                      const size_t* counts, const size_t* displacements,
                                      trefoil_datatype_t datatype, int root, trefoil_comm_t comm,
                                      trefoil_request_t* request) {
    return gatherv(How::persistent(request), send, send_count, recv, counts, displacements,
                   datatype, root, comm);
}

trefoil_status_t trefoil_scatter(const void* send, void* recv, size_t count,
                                 trefoil_datatype_t datatype, int root, trefoil_comm_t comm) {
    return scatter({}, send, recv, count, datatype, root, comm);
}

trefoil_status_t trefoil_iscatter(const void* send, void* recv, size_t count,
                                  trefoil_datatype_t datatype, int root, trefoil_comm_t comm,
                                  trefoil_request_t* request) {
    return scatter(How::nonblocking(request), send, recv, count, datatype, root, comm);
}

trefoil_status_t trefoil_scatter_init(const void* send, void* recv, size_t count,
                                      trefoil_datatype_t datatype, int root, trefoil_comm_t comm,
                                      trefoil_request_t* request) {
    return scatter(How::persistent(request), send, recv, count, datatype, root, comm);
}

trefoil_status_t trefoil_scatterv(const void* send, const size_t* counts,
                                  const size_t* displacements, void* recv, size_t recv_count,
                                  trefoil_datatype_t datatype, int root, trefoil_comm_t comm) {
    return scatterv({}, send, counts, displacements, recv, recv_count, datatype, root, comm);
}

trefoil_status_t trefoil_iscatterv(const void* send, const size_t* counts,
                                   const size_t* displacements, void* recv, size_t recv_count,
                                   trefoil_datatype_t datatype, int root, trefoil_comm_t comm,
                                   trefoil_request_t* request) {
    return scatterv(How::nonblocking(request), send, counts, displacements, recv, recv_count,
                    datatype, root, comm);
}

trefoil_status_t trefoil_scatterv_init(const void* send, const size_t* counts,
                                       const size_t* displacements, void* recv, size_t recv_count,
                                       trefoil_datatype_t datatype, int root, trefoil_comm_t comm,
                                       trefoil_request_t* request) {
    return scatterv(How::persistent(request), send, counts, displacements, recv, recv_count,
                    datatype, root, comm);
}

}  // extern "C"
