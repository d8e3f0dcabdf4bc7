// SPDX-License-Identifier: BSD-3-Clause
// The dissemination barrier. Hensgen, Finkel and Manber, "Two algorithms for barrier
// synchronization" (1988).
//
// In step k rank r signals r + 2^k and waits for r - 2^k: before step k it has heard, directly or
// through others, from r - 2^k + 1 ... r. ceil(log2 p) steps, no data.
#include "algorithms/latency/dissemination.hpp"

#include <algorithm>
#include <array>

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

// In linear order the coordinates of a sum follow from the last dimension on, with a carry or
// without one: the longest way of a step is that of some rank, with as many carries as suit it.
LinkSteps barrier_link_steps(const Torus& torus) {
    LinkSteps result{1, {}, 0};
    const std::int64_t n = torus.ranks();
    for (std::int64_t distance = 1; distance < n; distance *= 2) {
        constexpr std::int64_t impossible = -1;
        std::array<std::int64_t, 2> hops{0, impossible};  // by carry, of the dimensions so far
        for (int j = torus.dimensions() - 1; j >= 0; --j) {
            const Rank size = torus.size(j);
            std::array<std::int64_t, 2> longer{impossible, impossible};
            for (const int carry : {0, 1}) {
                if (hops[carry] == impossible) {
                    continue;
                }
                const Rank ahead = torus.coordinate(static_cast<Rank>(distance), j) + carry;
                const std::int64_t sum =
                    hops[carry] + std::min<std::int64_t>(ahead % size, size - ahead);
                if (ahead < size) {  // coordinate 0 has no carry
                    longer[0] = std::max(longer[0], sum);
                }
                if (ahead > 0) {  // the last one has
                    longer[1] = std::max(longer[1], sum);
                }
            }
            hops = longer;
        }
        result.steps.push_back({0, std::max(hops[0], hops[1]), 1});
    }
    return result;
}

}  // namespace trefoil
