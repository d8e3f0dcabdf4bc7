// SPDX-License-Identifier: BSD-3-Clause
// What a rank reads and writes in a call, and whether that may be.
#include "comm/api/c_buffers.hpp"

#include <algorithm>

namespace trefoil::c_api {

namespace {

int blocks_of(const Request& request, trefoil_comm_t comm) {
    return static_cast<int>(request.traits().blocks(comm->communicator->torus()));
}

/// Checks also on ranks that have no such buffer: all ranks refuse what one of them cannot hold.
std::size_t side_bytes(const Request& request, trefoil_comm_t comm, Data data, const char* block) {
    switch (data) {
        case Data::vector:
            return bytes_of(request, request.count);
        case Data::own_block:
            return bytes_of(request,
                            request.count_of(request.traits().with_neighbours() ? 0 : comm->rank));
        case Data::rank_blocks:
        case Data::neighbour_blocks:
            return span_of(request, blocks_of(request, comm), block);
        case Data::none:
            break;
    }
    return 0;
}

/// A rank's own block among all blocks; anywhere when there is nothing.
const void* own_block(const Request& request, trefoil_comm_t comm, const Vector& all) {
    return all.bytes == 0
               ? all.address
               : shifted(all.address, bytes_of(request, request.displacement_of(comm->rank)));
}

void require_equal(std::size_t sent, std::size_t received) {
    if (sent != received) {
        refuse("this rank's send count for itself is " + std::to_string(sent) +
               ", but its receive count is " + std::to_string(received));
    }
}

/// Where the lists are known in pairs; what goes to other ranks is for them to check. In a
/// dimension of size 1 a rank is its own neighbour.
void require_own_counts_equal(const Request& request, trefoil_comm_t comm) {
    if (!request.traits().with_neighbours()) {
        require_equal(request.send_counts[comm->rank], request.counts[comm->rank]);
        return;
    }
    const Torus& torus = comm->communicator->torus();
    const bool alike = request.send_counts.size() == 1;  // an allgather
    for (int slot = 0; slot < torus.ports(); ++slot) {
        if (torus.size(port_of_slot(slot).dimension()) == 1) {
            require_equal(request.send_counts[alike ? 0 : opposite_slot(slot)],
                          request.counts[slot]);
        }
    }
}

}  // namespace

Buffers checked_buffers(Request& request, trefoil_comm_t comm, const void* send, void* recv) {
    const CollectiveTraits& row = request.traits();
    const bool brings = row.in.held_by(comm->rank, request.root);
    const bool takes = row.out.held_by(comm->rank, request.root);
    const bool both_ways = row.blocks_both_ways();
    request.in_place = both_ways && row.in_place == InPlace::send && in_place(send);
    const Vector out{recv,
                     side_bytes(request, comm, row.out.data, both_ways ? "receive block" : "block"),
                     "receive"};
    if (takes && row.has_blocks() && row.out.data != Data::own_block) {
        require_separate_blocks(request, blocks_of(request, comm));
    }
    const Vector in{send,
                    both_ways ? side_bytes(request.sending(), comm, row.in.data, "send block")
                              : side_bytes(request, comm, row.in.data, "block"),
                    "send"};
    if (request.counts_in_pairs() && !request.in_place) {
        require_own_counts_equal(request, comm);
    }
    if (!takes) {
        require_vector(in);
        return {send, nullptr};
    }
    if (!brings) {
        require_vector(out);
        return {nullptr, recv};
    }
    // Reductions are in place, too, where both addresses are the same.
    if (row.in_place == InPlace::send && (in_place(send) || (row.reduces && send == recv))) {
        request.in_place = request.in_place || (row.reduces && !row.is_prefix());
        require_vector({recv, std::max(in.bytes, out.bytes), "receive"});
        return {row.in.data == Data::own_block ? own_block(request, comm, out) : recv, recv};
    }
    if (row.in_place == InPlace::receive && in_place(recv)) {
        require_vector(in);
        return {send, const_cast<void*>(own_block(request, comm, in))};
    }
    require_disjoint(in, out);
    return {send, recv};
}

}  // namespace trefoil::c_api
