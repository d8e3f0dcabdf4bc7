// SPDX-License-Identifier: BSD-3-Clause
// direct: neighbor_allgather and neighbor_alltoall in one step, on any torus.
//
// One part, one step. Each port carries one message, to the neighbour behind it, over one link. So
// all 2D links of a rank are busy both ways, and no link carries anything twice. In a dimension of
// size 2 both ports lead to the same rank, and the ports tell its two messages apart. In one of
// size 1 a rank is its own neighbour, and what it sends in one direction comes back to it from the
// other.
#include "algorithms/neighbours/exchange.hpp"

namespace trefoil {

Schedule build_neighbour_exchange(Collective collective, const Torus& torus, Rank rank) {
    const CollectiveTraits& row = traits_of(collective);
    const Block sent = row.sent_blocks(torus);
    const auto outgoing = [&](int slot) {
        return Extent{sent == 1 ? 0 : static_cast<Block>(slot), 1};
    };
    const auto incoming = [&](int slot) { return Extent{sent + static_cast<Block>(slot), 1}; };
    ScheduleWriter writer(rank);
    writer.part(row.vector_blocks(torus));
    writer.step();
    for (int slot = 0; slot < torus.ports(); ++slot) {
        const Port port = port_of_slot(slot);
        const Rank peer = torus.neighbour(rank, port);
        const Extent out = outgoing(slot), in = incoming(slot);
        if (peer == rank) {
            writer.move(Action::replace, out, incoming(opposite_slot(slot)).first);
        } else {
            writer.send(peer, port, {&out, 1});
            writer.receive(peer, port, Action::replace, {&in, 1});
        }
    }
    return writer.take();
}

}  // namespace trefoil
