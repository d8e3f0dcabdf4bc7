// SPDX-License-Identifier: BSD-3-Clause
// The alltoall on one ring as data: the piece from which alltoalls on all tori are
// composed (algorithms/alltoall/product_alltoall.hpp).
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

/// What `source` has for `target`: coordinates of a ring, or ranks of a torus. Ordered by target,
/// then source.
struct AlltoallPair {
    Rank target = 0;
    Rank source = 0;
    friend constexpr auto operator<=>(const AlltoallPair&, const AlltoallPair&) = default;
};

/// A pair at a coordinate, and the step in which it came there; -1: it began there.
struct HeldPair {
    AlltoallPair pair;
    int since = -1;
    friend constexpr auto operator<=>(const HeldPair&, const HeldPair&) = default;
};

/// One message of a ring step: the pairs that `holder` hands to holder + hop, in order, and since
/// when it has had them.
struct RingHandover {
    Rank holder = 0;
    int hop = 0;  ///< never 0; > 0 travels towards larger coordinates
    std::vector<HeldPair> pairs;
};

/// What the messages of one step do, of all coordinates together.
struct RingTraffic {
    std::int64_t load = 0;   ///< the most pairs that cross one directed link
    int hops = 0;            ///< the longest way
    int through_port = 0;    ///< the most messages that leave a coordinate one way round
    std::int64_t pairs = 0;  ///< that move
    /// Of these, in messages of pairs that lie together: all of them begin there, and their targets
    /// are neighbours.
    std::int64_t straight = 0;
    std::int64_t onward = 0;  ///< in messages of pairs none of which begins there
    std::int64_t messages = 0;
    friend bool operator==(const RingTraffic&, const RingTraffic&) = default;
};

/// `from` tells from + hop that it need not wait any longer.
struct RingSignal {
    Rank from = 0;
    int hop = 0;
    friend constexpr auto operator<=>(const RingSignal&, const RingSignal&) = default;
};

/// Every coordinate begins with the pairs (itself, t) for all t and ends with (s, itself) for all
/// s. Each pair is at one coordinate at a time, and never again at one that it left; (s, s) does
/// not move. All of a step is sent before any of it arrives. No step is empty. Immutable,
/// thread-safe.
class RingAlltoall {
  public:
    RingAlltoall(Rank size, int steps) : size_(size), steps_(steps) {}
    virtual ~RingAlltoall() = default;

    Rank size() const { return size_; }
    int steps() const { return steps_; }

    /// What `coordinate` sends in `step`: one handover for each hop.
    virtual std::vector<RingHandover> sends(Rank coordinate, int step) const = 0;
    /// What `coordinate` receives in `step`, from which holders.
    virtual std::vector<RingHandover> receives(Rank coordinate, int step) const = 0;

    /// What is to be heard before `step` begins, and told as soon as the step before is complete,
    /// if messages of the two are not to meet on a link. None: nothing is known.
    virtual std::vector<RingSignal> signals(int /*step*/) const { return {}; }

    /// By step. As traffic_of(), which follows all messages; rings that know a formula need not.
    virtual std::vector<RingTraffic> traffic() const;

    /// The pairs that are at `coordinate` before `step` (after all, at step == steps()), in order.
    std::vector<HeldPair> held(Rank coordinate, int step) const;

    /// `coordinate` brought into [0, size).
    Rank wrapped(std::int64_t coordinate) const {
        const auto rest = static_cast<Rank>(coordinate % size_);
        return rest < 0 ? rest + size_ : rest;
    }

  private:
    /// Sets since when what ends at `coordinate` is there.
    void note_arrivals(Rank coordinate, std::vector<HeldPair>& by_source) const;
    /// Turns what is held before `step` into what is held after it.
    void pass(Rank coordinate, int step, std::vector<HeldPair>& here) const;

    Rank size_;
    int steps_;
};

/// By step. Takes time in proportion to all pairs.
std::vector<RingTraffic> traffic_of(const RingAlltoall& ring);

/// The most pairs that one coordinate receives from another by one hop, over all steps.
std::int64_t largest_channel(const RingAlltoall& ring);

}  // namespace trefoil
