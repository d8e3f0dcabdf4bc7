// SPDX-License-Identifier: BSD-3-Clause
// The dissemination barrier. Hensgen, Finkel and Manber, "Two algorithms for barrier
// synchronization" (1988).
//
// In step k rank r signals r + 2^k and waits for r - 2^k: before step k it has heard, directly or
// through others, from r - 2^k + 1 ... r. ceil(log2 p) steps, no data.
#include "algorithms/latency/dissemination.hpp"

#include "algorithms/latency/builders.hpp"

namespace trefoil {

void write_dissemination(const Torus& torus, Rank rank, ScheduleWriter& writer) {
    const std::int64_t n = torus.ranks();
    for (std::int64_t distance = 1; distance < n; distance *= 2) {
        const Rank to = static_cast<Rank>((rank + distance) % n);
        const Rank from = static_cast<Rank>((rank - distance + n) % n);
        writer.step();
        writer.send(to, torus.first_port(rank, to), {});
        writer.receive(from, torus.first_port(from, rank).opposite());
    }
}

Schedule build_barrier(const Torus& torus, Rank rank) {
    ScheduleWriter writer(rank);
    writer.part(1);
    write_dissemination(torus, rank, writer);
    return writer.take();
}

}  // namespace trefoil
