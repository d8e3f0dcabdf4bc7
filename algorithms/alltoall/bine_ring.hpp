// SPDX-License-Identifier: BSD-3-Clause
// The alltoall on a ring of a power of two along Bine's butterfly.
#pragma once

#include "algorithms/alltoall/ring_alltoall.hpp"

namespace trefoil {

class BineRing final : public RingAlltoall {
  public:
    /// `size` is a power of two.
    explicit BineRing(Rank size);

    std::vector<RingHandover> sends(Rank coordinate, int step) const override;
    std::vector<RingHandover> receives(Rank coordinate, int step) const override;
    std::vector<RingTraffic> traffic() const override;

  private:
    /// By which `coordinate` gets to its partner in `step`.
    int hop(Rank coordinate, int step) const;
    Rank partner(Rank coordinate, int step) const {
        return wrapped(std::int64_t{coordinate} + hop(coordinate, step));
    }
};

}  // namespace trefoil
