// SPDX-License-Identifier: BSD-3-Clause
// Loads of shifted rings, as runs of circuits whose ends are noted.
#include "algorithms/rewiring/wiring_load.hpp"

#include <algorithm>
#include <numeric>

#include "algorithms/rewiring/circuit_routes.hpp"

namespace trefoil {

namespace {

/// C(stride) on rows of `size` nodes: `rings` rings of `length` nodes. A node's place is its ring
/// and how many circuits in the sense of '+' it lies behind the ring's first node.
struct ShiftedRing {
    ShiftedRing(Rank size, Rank stride) : rings(std::gcd(size, stride)), length(size / rings) {
        const std::int64_t step = stride / rings;
        for (inverse = 1; length > 1 && inverse * step % length != 1; ++inverse) {
        }
    }
    /// Circuits in the sense of '+' to the node so much further; -1: on another ring.
    std::int64_t forward(Rank displacement) const {
        return displacement % rings == 0 ? displacement / rings * inverse % length : -1;
    }
    /// 0 .. size - 1, rings one after the other.
    std::int64_t place(Rank coordinate) const {
        return coordinate % rings * std::int64_t{length} + coordinate / rings * inverse % length;
    }

    Rank rings;
    Rank length;
    std::int64_t inverse = 1;  ///< of stride / rings modulo length
};

/// The loads of all circuits of one sense, as differences between a circuit and the one before in
/// its ring.
class Runs {
  public:
    Runs(Rank ranks, Rank length)
        : differences_(static_cast<std::size_t>(ranks)), length_(length) {}

    /// `count` circuits from the one at `first`; `begin` is the place where its ring begins.
    void add(std::int64_t begin, std::int64_t first, std::int64_t count, double load) {
        const std::int64_t end = first + count;
        difference(begin + first) += load;
        if (end < length_) {
            difference(begin + end) -= load;
        } else if (end > length_) {
            difference(begin) += load;
            difference(begin + end - length_) -= load;
        }
    }

    double largest() const {
        double largest = 0, load = 0;
        for (std::size_t place = 0; place < differences_.size(); ++place) {
            load =
                (place % static_cast<std::size_t>(length_) == 0 ? 0 : load) + differences_[place];
            largest = std::max(largest, load);
        }
        return largest;
    }

  private:
    double& difference(std::int64_t place) { return differences_[static_cast<std::size_t>(place)]; }
    std::vector<double> differences_;
    Rank length_;
};

/// Numbers nodes row by row.
std::int64_t row_begin(const Torus& torus, Rank rank, int dimension) {
    const Rank size = torus.size(dimension);
    const Rank first = torus.with_coordinate(rank, dimension, 0);
    const Rank stride = size > 1 ? torus.with_coordinate(first, dimension, 1) - first : 1;
    return (std::int64_t{first} / (std::int64_t{stride} * size) * stride + first % stride) * size;
}

WiringLoad load_on_stride(const Torus& torus, const StepLegs& step, int dimension, Rank stride) {
    const Rank size = torus.size(dimension);
    const ShiftedRing ring(size, stride);
    Runs forward(torus.ranks(), ring.length), backward(torus.ranks(), ring.length);
    std::int64_t hops = 0;
    for (const Leg& leg : step.legs[dimension]) {
        const Rank at = torus.coordinate(leg.from, dimension);
        const Rank apart = (torus.coordinate(leg.to, dimension) - at + size) % size;
        const std::int64_t count = ring.forward(apart);
        if (count < 0) {
            return {.hops = -1};
        }
        const std::int64_t place = ring.place(at);
        const std::int64_t within = place % ring.length;
        const std::int64_t begin = row_begin(torus, leg.from, dimension) + place - within;
        const std::int64_t back = ring.length - count;
        hops = std::max(hops, std::min(count, back));
        const bool tie = count == back;
        const bool plus = tie ? leg.split || leg.port.sign() > 0 : count < back;
        const bool minus = tie ? leg.split || leg.port.sign() < 0 : back < count;
        const double load = plus && minus ? leg.share / 2 : leg.share;
        if (plus) {
            forward.add(begin, within, count, load);
        }
        if (minus) {
            backward.add(begin, (within - back + 1 + ring.length) % ring.length, back, load);
        }
    }
    return {.hops = static_cast<int>(hops),
            .load = std::max(forward.largest(), backward.largest())};
}

}  // namespace

int stride_hops(Rank size, Rank stride, Rank displacement) {
    const ShiftedRing ring(size, stride);
    const std::int64_t count = ring.forward(displacement);
    return count < 0 ? -1 : static_cast<int>(std::min<std::int64_t>(count, ring.length - count));
}

WiringLoad load_on(const Torus& torus, const StepLegs& step, int dimension,
                   const DimensionWiring& wiring) {
    if (step.legs[dimension].empty()) {
        return {};
    }
    return wiring.is_shifted()
               ? load_on_stride(torus, step, dimension, wiring.stride)
               : load_on_circuits(torus.ranks(), step.legs[dimension], wiring.circuits);
}

}  // namespace trefoil
