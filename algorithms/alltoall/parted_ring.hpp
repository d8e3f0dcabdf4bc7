// SPDX-License-Identifier: BSD-3-Clause
// A ring in interleaved smaller rings: a first phase that leads each pair to its target's ring,
// then an alltoall in every one of them.
#pragma once

#include <memory>

#include "algorithms/alltoall/ring_alltoall.hpp"

namespace trefoil {

/// Which coordinate modulo `ways` the target has decides about the first phase. By ones: in step j
/// pairs that are at least j short of it move +1, ways - 1 steps. Binary, for 4 ways: pairs that
/// are two or three short move +2 from even sources, -2 from odd ones; then pairs that are one
/// short move +1.
class PartedRing final : public RingAlltoall {
  public:
    /// `ways` divides the ring's size; `part` is the alltoall among size / ways nodes that are
    /// `ways` apart.
    PartedRing(Rank ways, bool binary, std::shared_ptr<const RingAlltoall> part);

    /// Of the first phase.
    int first_steps() const { return first_steps_; }
    const RingAlltoall& part() const { return *part_; }

    std::vector<RingHandover> sends(Rank coordinate, int step) const override;
    std::vector<RingHandover> receives(Rank coordinate, int step) const override;
    /// Those of the smaller rings, and one within the binary first phase.
    std::vector<RingSignal> signals(int step) const override;

  private:
    /// The only handover of a step of the first phase; no pairs: none.
    RingHandover first_handover(Rank coordinate, int step) const;
    RingHandover widened(const RingHandover& handover, Rank residue) const;
    /// The sources whose pairs the first phase brings to `coordinate`, if the target is in its
    /// ring, and the step of their last move.
    struct Gathered {
        Rank source;
        int since;
    };
    std::vector<Gathered> gathered(Rank coordinate) const;

    Rank ways_;
    bool binary_;
    int first_steps_;
    std::shared_ptr<const RingAlltoall> part_;
};

}  // namespace trefoil
