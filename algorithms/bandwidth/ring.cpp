// SPDX-License-Identifier: BSD-3-Clause
// The ring allreduce over all ranks in row-major order, and its halves. Patarasuk and Yuan,
// "Bandwidth optimal all-reduce algorithms for clusters of workstations" (2009).
//
// n ranks, n blocks, two parts: one travels from r to r+1, the other, its mirror image, from r to
// r-1. Reduce-scatter, step k: r sends block r-1-k, a partial sum that it has just extended. After
// n-1 steps r owns block r. Allgather, step k: r sends block r-k, which it has just received.
// 2(n-1) steps, 2(n-1)/n vectors sent by each rank. Single-port: the first part alone, with all of
// the vector.
//
//     0 --> 1 --> 2 --> ... --> n-1 --+
//     ^                               |
//     +-------------------------------+
#include "algorithms/bandwidth/builders.hpp"

namespace trefoil {

namespace {

struct RingPart {
    Rank ranks;
    Rank rank;
    int sense;  // +1: travels towards larger ranks

    /// The rank, or block, `offset` further in the sense of travel.
    Rank at(Rank offset) const {
        const std::int64_t r = (rank + static_cast<std::int64_t>(sense) * offset) % ranks;
        return static_cast<Rank>(r < 0 ? r + ranks : r);
    }
};

void write_step(ScheduleWriter& writer, const RingPart& ring, Port out, Port in, Action action,
                Rank sent) {
    const Extent source{static_cast<Block>(ring.at(sent)), 1};
    const Extent target{static_cast<Block>(ring.at(sent - 1)), 1};
    writer.step();
    writer.send(ring.at(1), out, {&source, 1});
    writer.receive(ring.at(-1), in, action, {&target, 1});
}

Schedule build(const Torus& torus, Rank rank, Collective collective, bool single_port) {
    const Rank n = torus.ranks();
    ScheduleWriter writer(rank);
    if (n == 1) {
        writer.part(1);
        return writer.take();
    }
    const bool reduces = collective != Collective::allgather;
    const bool gathers = collective != Collective::reduce_scatter;
    writer.reserve((reduces && gathers ? 2 : 1) * (single_port ? 1 : 2) *
                   static_cast<std::size_t>(n - 1));
    // The mirrored part uses the links of the plain one backwards, also where both ways are
    // equally long.
    const Rank next = RingPart{n, rank, 1}.at(1);
    const Rank previous = RingPart{n, rank, 1}.at(-1);
    const Port forwards = torus.first_port(rank, next);
    const Port backwards = torus.first_port(previous, rank).opposite();
    for (const int sense : single_port ? std::vector{1} : std::vector{1, -1}) {
        const RingPart ring{n, rank, sense};
        const Port out = sense > 0 ? forwards : backwards;
        const Port in = sense > 0 ? backwards : forwards;
        writer.part(static_cast<Block>(n));
        for (Rank k = 0; reduces && k < n - 1; ++k) {
            write_step(writer, ring, out, in, Action::reduce, -1 - k);
        }
        for (Rank k = 0; gathers && k < n - 1; ++k) {
            write_step(writer, ring, out, in, Action::replace, -k);
        }
    }
    return writer.take();
}

}  // namespace

template <Collective collective>
Schedule build_ring(const Torus& torus, Rank rank, const BuildOptions& options) {
    return build(torus, rank, collective, options.single_port);
}

template Schedule build_ring<Collective::allreduce>(const Torus&, Rank, const BuildOptions&);
template Schedule build_ring<Collective::reduce_scatter>(const Torus&, Rank, const BuildOptions&);
template Schedule build_ring<Collective::allgather>(const Torus&, Rank, const BuildOptions&);

}  // namespace trefoil
