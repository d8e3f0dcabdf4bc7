// SPDX-License-Identifier: BSD-3-Clause
// How a circuit switch may join the nodes along one dimension of a torus.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

/// `count` parallel circuits from one node to another. A circuit has one direction and the rate of
/// a link, and is one hop however long it is.
struct Circuit {
    Rank from = 0;
    Rank to = 0;
    int count = 1;
    friend bool operator==(const Circuit&, const Circuit&) = default;
};

/// The circuits of all rows of one dimension. Either a *shifted ring* C(stride): each node is
/// joined to those `stride` further and `stride` back, which makes gcd(stride, size) rings of equal
/// length (stride 1 is the torus itself; where the two are the same node there are two parallel
/// circuits), or any other list of circuits.
struct DimensionWiring {
    Rank stride = 1;                ///< 0: `circuits` tells
    std::vector<Circuit> circuits;  ///< ascending by (from, to), each pair once
    /// Of a list: the first step of which these are the own circuits.
    int step = 0;

    bool is_ring() const { return stride == 1; }
    bool is_shifted() const { return stride > 0; }
    /// Equal circuits; of whose step they are does not matter.
    bool same_as(const DimensionWiring& other) const {
        return stride == other.stride && circuits == other.circuits;
    }
};

/// What a step costs on a wiring.
struct WiringLoad {
    int hops = 0;     ///< of the longest way; -1: a message cannot get there
    double load = 0;  ///< vectors that cross the busiest circuit
    bool reaches() const { return hops >= 0; }
};

/// Ports of the nodes that wirings may use.
struct WiringLimits {
    /// A circuit's two directions are wired together: a node with a circuit to x and one from y
    /// uses two ports. Otherwise each port sends to one node and receives from another.
    bool paired = false;
};

/// The circuits of a shifted ring, along all rows of `dimension`.
std::vector<Circuit> circuits_of_stride(const Torus& torus, int dimension, Rank stride);

/// The circuits of either kind of wiring.
std::vector<Circuit> circuits_of(const Torus& torus, int dimension, const DimensionWiring& wiring);

/// The list as a shifted ring when it is one, else as it is.
DimensionWiring recognised(const Torus& torus, int dimension, std::vector<Circuit> circuits,
                           int step);

/// "ring", "stride 3", "own circuits of step 2"
std::string to_string(const DimensionWiring& wiring);

}  // namespace trefoil
