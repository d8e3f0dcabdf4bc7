// SPDX-License-Identifier: BSD-3-Clause
// single-copy: reductions among ranks that read each other's memory; own.
//
// Rank r has share r of the vector, a block. All tell all where their vectors lie (step 0). Rank r
// reads share r of what every rank began with, in the order of the ranks, and tells all when the
// sum is there (step 1). With a reduce_scatter that is all. Else the other shares' sums are read,
// by all ranks or by the root, who tell when they have them (step 2). Each rank reads (p-1)/p of a
// vector to reduce it, and as much to copy it.
//
//     rank    0   1   2           0   1   2           0   1   2
//     share 0 # <-a- -a           A                   A--->A-->A
//           1                         B               B<---B-->B     ...
//           2                             C           C<---C<--C
//           began with            sums                results
//
// Where input and output are the same memory: share r of rank r is overwritten by rank r alone,
// when it has read all; share s by rank r in step 2, when rank s has told that it has read it. So
// the sum is made in scratch, but for rank 0, whose contribution is the first. The output of a
// reduce_scatter is one block; in place it lies where the input has another rank's. So there the
// sum leaves the scratch when all have read.
//
// Or the root of a reduce reads all of every rank's vector, one after the other in the order of the
// ranks, and the others wait: fewer signals, but p-1 vectors at the speed of one rank.
//
// All go by rank, so that all ranks' sums are associated alike, and in rank order; but they copy
// the sums of the next ranks first.
#include <numeric>
#include <vector>

#include "algorithms/single_copy/builders.hpp"
#include "algorithms/single_copy/rounds.hpp"

namespace trefoil {

namespace {

/// Steps 0 and 1, of a part of one block per rank; the signals of step 1 are still to come. Where
/// the own sum is: its block, or the scratch.
void sum_own_share(SignalRounds& rounds, Block sum) {
    ScheduleWriter& writer = rounds.writer;
    const auto own = static_cast<Block>(rounds.rank());
    const auto ranks = static_cast<Block>(rounds.ranks());
    writer.part(ranks, sum == own ? 0 : 1, own);
    writer.keep_input_apart();
    writer.step();
    rounds.open_to_all();
    writer.step();
    for (Rank r = 0; r < rounds.ranks(); ++r) {
        writer.pull_initial(r == 0 ? Action::replace : Action::reduce, r, {own, 1}, sum);
    }
}

/// The sum in the own block of the vector, whose other blocks peers still read.
void sum_in_its_place(SignalRounds& rounds) {
    const auto own = static_cast<Block>(rounds.rank());
    const Block sum = rounds.rank() == 0 ? own : static_cast<Block>(rounds.ranks());
    sum_own_share(rounds, sum);
    if (sum != own) {
        rounds.writer.move(Action::replace, {sum, 1}, own);
    }
    rounds.tell_all();
}

void pull_sum(SignalRounds& rounds, Rank peer) {
    const auto block = static_cast<Block>(peer);
    rounds.writer.pull(Action::replace, peer, {block, 1}, block);
}

}  // namespace

template <>
Schedule build_single_copy<Collective::allreduce>(const Torus& torus, Rank rank,
                                                  const BuildOptions&) {
    SignalRounds rounds(torus, rank);
    sum_in_its_place(rounds);
    rounds.writer.step();
    rounds.for_peers([&](Rank peer) { pull_sum(rounds, peer); });
    rounds.tell_all();
    return rounds.writer.take();
}

template <>
Schedule build_single_copy<Collective::reduce>(const Torus& torus, Rank rank,
                                               const BuildOptions& options) {
    SignalRounds rounds(torus, rank);
    sum_in_its_place(rounds);
    rounds.writer.step();
    if (rank != options.root) {
        rounds.hear(options.root);
        return rounds.writer.take();
    }
    rounds.for_peers([&](Rank peer) {
        pull_sum(rounds, peer);
        rounds.tell(peer);
    });
    return rounds.writer.take();
}

Schedule build_single_copy_root(const Torus& torus, Rank rank, const BuildOptions& options) {
    SignalRounds rounds(torus, rank);
    ScheduleWriter& writer = rounds.writer;
    const bool is_root = rank == options.root;
    // In its place only where the root's contribution, which may lie there, is the first.
    const Block sum = is_root && rank != 0 ? 1 : 0;
    writer.part(1, sum);
    writer.keep_input_apart();
    Rank added = 0;
    const auto add_until = [&](Rank end) {
        for (; added < end; ++added) {
            writer.pull_initial(added == 0 ? Action::replace : Action::reduce, added, {0, 1}, sum);
        }
    };
    std::vector<Rank> peers(static_cast<std::size_t>(torus.ranks()));
    std::iota(peers.begin(), peers.end(), 0);
    std::erase(peers, options.root);
    rounds.in_turn(options.root, peers, [&](Rank peer) { add_until(peer + 1); });
    if (is_root) {
        add_until(torus.ranks());
        if (sum != 0) {
            writer.move(Action::replace, {sum, 1}, 0);
        }
    }
    return writer.take();
}

template <>
Schedule build_single_copy<Collective::reduce_scatter>(const Torus& torus, Rank rank,
                                                       const BuildOptions&) {
    SignalRounds rounds(torus, rank);
    const auto sum = static_cast<Block>(torus.ranks());
    sum_own_share(rounds, sum);
    rounds.tell_all();
    rounds.writer.step();
    rounds.writer.move(Action::replace, {sum, 1}, static_cast<Block>(rank));
    return rounds.writer.take();
}

}  // namespace trefoil
