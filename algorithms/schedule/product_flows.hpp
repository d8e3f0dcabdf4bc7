// SPDX-License-Identifier: BSD-3-Clause
// What travels on a torus whose messages are those of a ring per dimension: enough to tell how all
// links are loaded, without a schedule.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

/// A message between two coordinates of a ring.
struct RingMessage {
    Rank from = 0, to = 0;
    int sign = 1;  ///< of the sender's port
    std::int64_t units = 0;
};

/// What the coordinates of one ring send, and what they stand for in the messages of others.
class RingFlow {
  public:
    RingFlow(Rank size, int steps) : size_(size), steps_(steps) {}
    virtual ~RingFlow() = default;

    Rank size() const { return size_; }
    int steps() const { return steps_; }
    /// Appends the messages of a step.
    virtual void messages(int step, std::vector<RingMessage>& out) const = 0;
    /// Appends by coordinate: by what the messages of other dimensions are multiplied before
    /// `step`; 0: there are none.
    virtual void held(int step, std::vector<std::int64_t>& out) const = 0;

  private:
    Rank size_;
    int steps_;
};

/// In step i the rings of dimension order[i] go on by one step (-1: none does). A message of ring j
/// is there for all other coordinates, times what each of them holds.
struct ProductPhase {
    std::vector<std::shared_ptr<const RingFlow>> rings;
    std::vector<int> order;
    bool backwards = false;  ///< in time: the last step first, every message from its other end
};

/// One part: its phases, one after the other.
using ProductFlow = std::vector<ProductPhase>;

/// All parts; their phases are equally long.
struct ProductFlows {
    std::int64_t blocks_of_part = 1;  ///< that the vector has in each part, in units
    std::vector<ProductFlow> parts;
};

}  // namespace trefoil
