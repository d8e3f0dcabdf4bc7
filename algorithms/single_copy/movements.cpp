// SPDX-License-Identifier: BSD-3-Clause
// single-copy: collectives that move blocks, among ranks that read each other's memory; own.
//
// Who has something for others tells them where it lies (step 0). They read it and tell when they
// have it (step 1). So each byte is copied once, by the rank that wants it.
#include <vector>

#include "algorithms/single_copy/builders.hpp"
#include "algorithms/single_copy/rounds.hpp"

namespace trefoil {

namespace {

/// The block that a rank began with, to its place among all blocks.
void pull_block(ScheduleWriter& writer, Rank owner) {
    const auto block = static_cast<Block>(owner);
    writer.pull_initial(Action::replace, owner, {block, 1}, block);
}

/// Both steps of what the root has for the others: pull() reads it.
template <typename Pull>
void read_from_root(SignalRounds& rounds, Rank root, Pull&& pull) {
    const bool is_root = rounds.rank() == root;
    rounds.writer.step();
    if (is_root) {
        rounds.for_peers([&](Rank peer) { rounds.open(peer); });
    } else {
        rounds.receive_opening(root);
    }
    rounds.writer.step();
    pull();
    if (is_root) {
        rounds.for_peers([&](Rank peer) { rounds.hear(peer); });
    } else {
        rounds.tell(root);
    }
}

}  // namespace

template <>
Schedule build_single_copy<Collective::allgather>(const Torus& torus, Rank rank,
                                                  const BuildOptions&) {
    SignalRounds rounds(torus, rank);
    ScheduleWriter& writer = rounds.writer;
    writer.part(static_cast<Block>(torus.ranks()));
    writer.keep_input_apart();
    writer.step();
    rounds.open_to_all();
    writer.step();
    rounds.for_peers([&](Rank peer) { pull_block(writer, peer); });
    pull_block(writer, rank);
    rounds.tell_all();
    return writer.take();
}

template <>
Schedule build_single_copy<Collective::alltoall>(const Torus& torus, Rank rank,
                                                 const BuildOptions&) {
    SignalRounds rounds(torus, rank);
    ScheduleWriter& writer = rounds.writer;
    const auto ranks = static_cast<Block>(torus.ranks());
    const auto own = static_cast<Block>(rank);
    writer.part(2 * ranks);
    writer.step();
    writer.move(Action::replace, {own, 1}, ranks + own);
    rounds.open_to_all();
    writer.step();
    rounds.for_peers([&](Rank peer) {
        writer.pull(Action::replace, peer, {own, 1}, ranks + static_cast<Block>(peer));
    });
    rounds.tell_all();
    return writer.take();
}

template <>
Schedule build_single_copy<Collective::bcast>(const Torus& torus, Rank rank,
                                              const BuildOptions& options) {
    SignalRounds rounds(torus, rank);
    rounds.writer.part(1);
    read_from_root(rounds, options.root, [&] {
        if (rank != options.root) {
            rounds.writer.pull(Action::replace, options.root, {0, 1}, 0);
        }
    });
    return rounds.writer.take();
}

template <>
Schedule build_single_copy<Collective::scatter>(const Torus& torus, Rank rank,
                                                const BuildOptions& options) {
    SignalRounds rounds(torus, rank);
    rounds.writer.part(static_cast<Block>(torus.ranks()));
    rounds.writer.keep_input_apart();
    read_from_root(rounds, options.root, [&] {
        const auto own = static_cast<Block>(rank);
        rounds.writer.pull_initial(Action::replace, options.root, {own, 1}, own);
    });
    return rounds.writer.take();
}

/// The root reads the blocks one after the other, as their ranks come.
template <>
Schedule build_single_copy<Collective::gather>(const Torus& torus, Rank rank,
                                               const BuildOptions& options) {
    SignalRounds rounds(torus, rank);
    ScheduleWriter& writer = rounds.writer;
    writer.part(static_cast<Block>(torus.ranks()));
    writer.keep_input_apart();
    std::vector<Rank> peers;
    for (Rank i = 1; i < torus.ranks(); ++i) {
        peers.push_back((options.root + i) % torus.ranks());
    }
    rounds.in_turn(options.root, peers, [&](Rank peer) { pull_block(writer, peer); });
    if (rank == options.root) {
        pull_block(writer, rank);
    }
    return writer.take();
}

}  // namespace trefoil
