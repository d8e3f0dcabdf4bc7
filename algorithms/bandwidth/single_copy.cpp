// SPDX-License-Identifier: BSD-3-Clause
// single-copy: allreduce among ranks that read each other's memory; own.
//
// Rank r has share r of the vector, a block. All tell all where their vectors lie (step 0). Rank r
// reads share r of what every rank began with, in the order of the ranks, and tells all when the
// sum is there (step 1). Then it reads the other shares' sums and tells all that it has them (step
// 2). Three rounds of signals; each rank reads (p-1)/p of a vector to reduce it and as much to copy
// it.
//
//     rank    0   1   2           0   1   2           0   1   2
//     share 0 # <-a- -a           A                   A--->A-->A
//           1                         B               B<---B-->B     ...
//           2                             C           C<---C<--C
//           began with            sums                results
//
// Where input and output are the same memory: share r of rank r is overwritten by rank r alone,
// when it has read all; share s by rank r in step 2, when rank s has told that it has read it. So
// the sum is made in scratch, but for rank 0, whose contribution is the first.
//
// All go by rank, so that all ranks' sums are associated alike, and in rank order; but they copy
// the sums of the next ranks first, so that no two begin with the same one.
#include "algorithms/bandwidth/builders.hpp"
#include "algorithms/schedule/minimal_port.hpp"

namespace trefoil {

namespace {

class SingleCopyWriter {
  public:
    SingleCopyWriter(const Torus& torus, Rank rank) : torus_(torus), rank_(rank), writer_(rank) {}

    Schedule write() {
        const auto own = static_cast<Block>(rank_);
        const auto ranks = static_cast<Block>(torus_.ranks());
        writer_.part(ranks, rank_ == 0 ? 0 : 1, own);
        writer_.keep_input_apart();
        writer_.step();
        for_peers([&](Rank peer, Port to, Port from) {
            writer_.open(peer, to);
            writer_.receive_opening(peer, from);
        });
        writer_.step();
        const Block sum = rank_ == 0 ? own : ranks;
        for (Rank r = 0; r < torus_.ranks(); ++r) {
            writer_.pull_initial(r == 0 ? Action::replace : Action::reduce, r, {own, 1}, sum);
        }
        if (sum != own) {
            writer_.move(Action::replace, {sum, 1}, own);
        }
        tell_all();
        writer_.step();
        for_peers([&](Rank peer, Port, Port) {
            const auto block = static_cast<Block>(peer);
            writer_.pull(Action::replace, peer, {block, 1}, block);
        });
        tell_all();
        return writer_.take();
    }

  private:
    void tell_all() {
        for_peers([&](Rank peer, Port to, Port from) {
            writer_.send(peer, to, {});
            writer_.receive(peer, from);
        });
    }

    /// do_for(peer, port to it, port from it), the next rank first.
    template <typename DoFor>
    void for_peers(DoFor&& do_for) {
        for (Rank i = 1; i < torus_.ranks(); ++i) {
            const Rank peer = (rank_ + i) % torus_.ranks();
            do_for(peer, minimal_port(torus_, rank_, peer, 0),
                   minimal_port(torus_, peer, rank_, 0).opposite());
        }
    }

    const Torus& torus_;
    Rank rank_;
    ScheduleWriter writer_;
};

}  // namespace

Schedule build_single_copy(const Torus& torus, Rank rank) {
    return SingleCopyWriter(torus, rank).write();
}

}  // namespace trefoil
