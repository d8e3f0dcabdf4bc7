// SPDX-License-Identifier: BSD-3-Clause
// The C interface's collectives that move data without reducing it.
#include <limits>
#include <vector>

#include "comm/api/c_arguments.hpp"

using namespace trefoil;
using namespace trefoil::c_api;

namespace {

std::span<const std::size_t> displacements_of(const size_t* numbers, int ranks) {
    return numbers == nullptr ? std::span<const std::size_t>{}
                              : list(numbers, ranks, "displacements");
}

std::size_t own_offset(const Request& request, trefoil_comm_t comm) {
    return bytes_of(request, request.displacement_of(comm->rank));
}

/// One block here, all blocks there: `one` is this rank's, `all` those of every rank.
struct Buffers {
    const void* one = nullptr;
    std::size_t one_bytes = 0;
    const void* all = nullptr;
};

/// `one` as an address, checked: in place means its position among all.
const void* own_block(const Request& request, trefoil_comm_t comm, const Buffers& b,
                      const char* one_name, const char* all_name) {
    const std::size_t all_bytes = span_of(request, comm->ranks);
    require_vector({b.all, all_bytes, all_name});
    if (in_place(b.one)) {
        return all_bytes == 0 ? b.all : shifted(b.all, own_offset(request, comm));
    }
    require_disjoint({b.one, b.one_bytes, one_name}, {b.all, all_bytes, all_name});
    return b.one;
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
        } catch (const Error&) {
            entry->share_counts(request.root, {&refused, 1});
            throw;
        }
    }
    std::vector<std::size_t> counts = entry->share_counts(request.root, request.counts);
    if (counts[0] == refused) {
        refuse("rank " + std::to_string(request.root) +
               ", the root, has refused its arguments; its own message says why");
    }
    return counts;
}

void gather(const Entry& entry, const Request& request, trefoil_comm_t comm, const Buffers& b,
            void* recv) {
    if (comm->rank == request.root) {
        entry->run(request, own_block(request, comm, b, "send", "receive"), recv);
    } else {
        span_of(request, comm->ranks);  // all ranks refuse what the root cannot hold
        require_vector({b.one, b.one_bytes, "send"});
        entry->run(request, b.one, nullptr);
    }
}

void scatter(const Entry& entry, const Request& request, trefoil_comm_t comm, const Buffers& b) {
    const void* target = b.one;
    if (comm->rank == request.root) {
        target = own_block(request, comm, b, "receive", "send");
    } else {
        span_of(request, comm->ranks);
        require_vector({b.one, b.one_bytes, "receive"});
    }
    entry->run(request, comm->rank == request.root ? b.all : nullptr, const_cast<void*>(target));
}

/// Both vectors have a block for each rank; in place the one received has both.
void exchange(const Entry& entry, Request& request, trefoil_comm_t comm, const void* send,
              void* recv) {
    request.in_place = in_place(send);
    const Vector received{recv, span_of(request, comm->ranks, "receive block"), "receive"};
    require_separate_blocks(request, comm->ranks);
    if (request.in_place) {
        require_vector(received);
        send = recv;
    } else {
        const Request sending = request.sending();
        const Vector sent{send, span_of(sending, comm->ranks, "send block"), "send"};
        if (sending.count_of(comm->rank) != request.count_of(comm->rank)) {
            refuse("this rank's send count for itself is " +
                   std::to_string(sending.count_of(comm->rank)) + ", but its receive count is " +
                   std::to_string(request.count_of(comm->rank)));
        }
        require_disjoint(sent, received);
    }
    entry->run(request, send, recv);
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
        const Buffers b{send, bytes_of(request, count), recv};
        entry->run(request, own_block(request, comm, b, "send", "receive"), recv);
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
        span_of(request, comm->ranks);
        require_separate_blocks(request, comm->ranks);
        const Buffers b{send, bytes_of(request, request.counts[comm->rank]), recv};
        entry->run(request, own_block(request, comm, b, "send", "receive"), recv);
    });
}

trefoil_status_t trefoil_gather(const void* send, void* recv, size_t count,
                                trefoil_datatype_t datatype, int root, trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm);
        Request request{.collective = Collective::gather, .count = count};
        set_type(request, datatype);
        set_root(request, comm, root);
        gather(entry, request, comm, {send, bytes_of(request, count), recv}, recv);
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
        const auto block = [&](std::size_t count) {
            return Buffers{send, bytes_of(request, count), recv};
        };
        std::vector<std::size_t> agreed = shared_counts(entry, comm, request, [&] {
            request.counts = list(counts, comm->ranks, "counts");
            request.displacements = displacements_of(displacements, comm->ranks);
            if (!in_place(send)) {
                require_equal_counts(send_count, request.counts[root], "send");
            }
            span_of(request, comm->ranks);
            require_separate_blocks(request, comm->ranks);
            own_block(request, comm, block(request.counts[root]), "send", "receive");
        });
        if (comm->rank != root) {
            agreed[comm->rank] = send_count;  // if the root's list differs, the calls differ
        }
        request.counts = agreed;
        gather(entry, request, comm, block(request.counts[comm->rank]), recv);
    });
}

trefoil_status_t trefoil_scatter(const void* send, void* recv, size_t count,
                                 trefoil_datatype_t datatype, int root, trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm);
        Request request{.collective = Collective::scatter, .count = count};
        set_type(request, datatype);
        set_root(request, comm, root);
        scatter(entry, request, comm, {recv, bytes_of(request, count), send});
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
        const auto block = [&](std::size_t count) {
            return Buffers{recv, bytes_of(request, count), send};
        };
        std::vector<std::size_t> agreed = shared_counts(entry, comm, request, [&] {
            request.counts = list(counts, comm->ranks, "counts");
            request.displacements = displacements_of(displacements, comm->ranks);
            if (!in_place(recv)) {
                require_equal_counts(recv_count, request.counts[root], "receive");
            }
            span_of(request, comm->ranks);
            own_block(request, comm, block(request.counts[root]), "receive", "send");
        });
        if (comm->rank != root) {
            agreed[comm->rank] = recv_count;
        }
        request.counts = agreed;
        scatter(entry, request, comm, block(request.counts[comm->rank]));
    });
}

trefoil_status_t trefoil_alltoall(const void* send, void* recv, size_t count,
                                  trefoil_datatype_t datatype, trefoil_comm_t comm) {
    return guarded([&] {
        const Entry entry(comm);
        Request request{.collective = Collective::alltoall, .count = count};
        set_type(request, datatype);
        exchange(entry, request, comm, send, recv);
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
        exchange(entry, request, comm, send, recv);
    });
}

}  // extern "C"
