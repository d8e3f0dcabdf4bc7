// SPDX-License-Identifier: BSD-3-Clause
// The C interface's collectives that move data without reducing it.
#include <limits>
#include <vector>

#include "comm/api/c_buffers.hpp"

using namespace trefoil;
using namespace trefoil::c_api;

namespace {

std::span<const std::size_t> displacements_of(const size_t* numbers, int ranks) {
    return numbers == nullptr ? std::span<const std::size_t>{}
                              : list(numbers, ranks, "displacements");
}

void require_equal_counts(std::size_t own, std::size_t listed, const char* what) {
    if (own != listed) {
        refuse("this rank's " + std::string(what) + " count is " + std::to_string(own) +
               ", but the list says " + std::to_string(listed));
    }
}

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

}  // namespace

extern "C" {

trefoil_status_t trefoil_bcast(void* buffer, size_t count, trefoil_datatype_t datatype, int root,
                               trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm);
        Request request{.collective = Collective::bcast, .count = count};
        set_type(request, datatype);
        set_root(request, comm, root);
        require_vector({buffer, bytes_of(request, count), "broadcast"});
        entry->run(request, buffer, buffer);
    });
}

trefoil_status_t trefoil_allgather(const void* send, void* recv, size_t count,
                                   trefoil_datatype_t datatype, trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm);
        Request request{.collective = Collective::allgather, .count = count};
        set_type(request, datatype);
        run_checked(entry, request, comm, send, recv);
    });
}

trefoil_status_t trefoil_allgatherv(const void* send, size_t send_count, void* recv,
                                    const size_t* counts, const size_t* displacements,
                                    trefoil_datatype_t datatype, trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm);
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

trefoil_status_t trefoil_gather(const void* send, void* recv, size_t count,
                                trefoil_datatype_t datatype, int root, trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm);
        Request request{.collective = Collective::gather, .count = count};
        set_type(request, datatype);
        set_root(request, comm, root);
        run_checked(entry, request, comm, send, recv);
    });
}

trefoil_status_t trefoil_gatherv(const void* send, size_t send_count, void* recv,
                                 const size_t* counts, const size_t* displacements,
                                 trefoil_datatype_t datatype, int root, trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm);
        Request request{.collective = Collective::gather};
        set_type(request, datatype);
        set_root(request, comm, root);
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

trefoil_status_t trefoil_scatter(const void* send, void* recv, size_t count,
                                 trefoil_datatype_t datatype, int root, trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm);
        Request request{.collective = Collective::scatter, .count = count};
        set_type(request, datatype);
        set_root(request, comm, root);
        run_checked(entry, request, comm, send, recv);
    });
}

trefoil_status_t trefoil_scatterv(const void* send, const size_t* counts,
                                  const size_t* displacements, void* recv, size_t recv_count,
                                  trefoil_datatype_t datatype, int root, trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm);
        Request request{.collective = Collective::scatter};
        set_type(request, datatype);
        set_root(request, comm, root);
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

trefoil_status_t trefoil_alltoall(const void* send, void* recv, size_t count,
                                  trefoil_datatype_t datatype, trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm);
        Request request{.collective = Collective::alltoall, .count = count};
        set_type(request, datatype);
        run_checked(entry, request, comm, send, recv);
    });
}

trefoil_status_t trefoil_alltoallv(const void* send, const size_t* send_counts,
                                   const size_t* send_displacements, void* recv,
                                   const size_t* recv_counts, const size_t* recv_displacements,
                                   trefoil_datatype_t datatype, trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm);
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

}  // extern "C"
