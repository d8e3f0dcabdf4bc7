// SPDX-License-Identifier: BSD-3-Clause
// The C interface's gather and scatter, whose counts the root alone may know.
#include <limits>
#include <utility>
#include <vector>

#include "comm/api/c_buffers.hpp"

using namespace trefoil;
using namespace trefoil::c_api;

namespace {

/// What a rank gives to gatherv or scatterv beside its buffers.
struct VectorLists {
    std::size_t own;        ///< elements of its own block
    bool own_in_place;      ///< at the root: the list says it
    const char* own_count;  ///< "send"
    const size_t* counts;   ///< these two at the root only
    const size_t* displacements;
};

bool is_root(const Request& request, trefoil_comm_t comm) {
    return comm->rank == request.root;
}

/// At the root: takes the lists, and throws when they are wrong.
void take_lists(Request& request, trefoil_comm_t comm, const VectorLists& lists) {
    request.counts = list(lists.counts, comm->ranks, "counts");
    request.displacements = displacements_of(lists.displacements, comm->ranks);
    if (!lists.own_in_place) {
        require_equal_counts(lists.own, request.counts[comm->rank], lists.own_count);
    }
}

/// The counts that only the root knows, on every rank. When the root's arguments are wrong all
/// ranks are told so, instead of waiting for the root.
std::vector<std::size_t> shared_counts(const Entry& entry, Request& request, trefoil_comm_t comm,
                                       const void* send, void* recv, const VectorLists& lists) {
    constexpr std::size_t refused = std::numeric_limits<std::size_t>::max();  // no count
    if (is_root(request, comm)) {
        try {
            take_lists(request, comm, lists);
            checked_buffers(request, comm, send, recv);
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

/// A rank's own block alone.
std::vector<std::size_t> own_count_only(trefoil_comm_t comm, std::size_t own) {
    std::vector<std::size_t> counts(static_cast<std::size_t>(comm->ranks));
    counts[static_cast<std::size_t>(comm->rank)] = own;
    return counts;
}

/// No rank can wait for the root's list while a call begins, so each goes by what it knows.
void begin_with_own_counts(const Entry& entry, Request& request, trefoil_comm_t comm,
                           const void* send, void* recv, const VectorLists& lists) {
    std::vector<std::size_t> own = own_count_only(comm, lists.own);
    request.counts = own;
    if (is_root(request, comm)) {
        take_lists(request, comm, lists);
    }
    const Buffers b = checked_buffers(request, comm, send, recv);
    std::vector<std::size_t> other_side = own_count_only(comm, request.counts[comm->rank]);
    other_side[static_cast<std::size_t>(request.root)] = request.counts[comm->rank];
    request.send_counts = other_side;
    if (request.collective == Collective::scatter) {
        std::swap(request.counts, request.send_counts);
        std::swap(request.displacements, request.send_displacements);
    }
    entry.run(request, b.send, b.recv);
}

void run_with_shared_counts(const Entry& entry, Request& request, trefoil_comm_t comm,
                            const void* send, void* recv, const VectorLists& lists) {
    std::vector<std::size_t> agreed = shared_counts(entry, request, comm, send, recv, lists);
    if (!is_root(request, comm)) {
        agreed[comm->rank] = lists.own;  // if the root's list differs, the calls differ
    }
    request.counts = agreed;
    run_checked(entry, request, comm, send, recv);
}

/// `collective`: gather or scatter.
trefoil_status_t run_equal(Collective collective, const How& how, const void* send, void* recv,
                           size_t count, trefoil_datatype_t datatype, int root,
                           trefoil_comm_t comm) {
    return guarded([&] {
        const Arguments asked{collective, datatype, TREFOIL_SUM, root, count, send, recv};
        run_repeatable(Entry(comm, how), comm, asked, recv, [&](Request& request) {
            set_type(request, datatype);
            set_root(request, comm, root);
        });
    });
}

trefoil_status_t run_uneven(Collective collective, const How& how, const void* send, void* recv,
                            const VectorLists& lists, trefoil_datatype_t datatype, int root,
                            trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm, how);
        Request request{.collective = collective};
        set_type(request, datatype);
        set_root(request, comm, root);
        if (entry.blocks()) {
            run_with_shared_counts(entry, request, comm, send, recv, lists);
        } else {
            begin_with_own_counts(entry, request, comm, send, recv, lists);
        }
    });
}

trefoil_status_t gather(const How& how, const void* send, void* recv, size_t count,
                        trefoil_datatype_t datatype, int root, trefoil_comm_t comm) {
    return run_equal(Collective::gather, how, send, recv, count, datatype, root, comm);
}

trefoil_status_t scatter(const How& how, const void* send, void* recv, size_t count,
                         trefoil_datatype_t datatype, int root, trefoil_comm_t comm) {
    return run_equal(Collective::scatter, how, send, recv, count, datatype, root, comm);
}

trefoil_status_t gatherv(const How& how, const void* send, size_t send_count, void* recv,
                         const size_t* counts, const size_t* displacements,
                         trefoil_datatype_t datatype, int root, trefoil_comm_t comm) {
    return run_uneven(Collective::gather, how, send, recv,
                      {send_count, in_place(send), "send", counts, displacements}, datatype, root,
                      comm);
}

trefoil_status_t scatterv(const How& how, const void* send, const size_t* counts,
                          const size_t* displacements, void* recv, size_t recv_count,
                          trefoil_datatype_t datatype, int root, trefoil_comm_t comm) {
    return run_uneven(Collective::scatter, how, send, recv,
                      {recv_count, in_place(recv), "receive", counts, displacements}, datatype,
                      root, comm);
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
