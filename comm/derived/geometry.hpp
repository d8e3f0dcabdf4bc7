// SPDX-License-Identifier: BSD-3-Clause
// The torus of a communicator that is made from another one: what of the machine's torus its
// members are. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/schedule/schedule.hpp"
#include "comm/setup/torus_map.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// Where the ranks of a communicator are. All communicators of a job come from a first one, whose
/// torus is the machine's and whose ports all of them use; so everything here is told in its terms.
/// All ranks that compute a geometry from the same arguments get the same.
struct Geometry {
    /// The communicator's own torus, in its own ranks; `map.source` says in words what it is.
    TorusMap map;
    /// By own rank, the rank in the first communicator.
    std::vector<Rank> first_rank;
    /// By own dimension, the dimension of the first torus whose ports serve it; all different.
    std::vector<int> port_dimension;
    /// By own dimension: it is a ring. If not it is a line, as in `map.torus`: the way from its
    /// last place to its first one leads back through the members, or on through other nodes, and
    /// is longer than all others.
    std::vector<bool> wraps;
    /// By own dimension: links from a place to the next one; 0: not the same everywhere.
    std::vector<Rank> stride;
    /// The members form a box of the first torus, at even distances along each dimension. If not,
    /// the shape is logical: neighbours may be any number of hops apart, along any dimension.
    bool box = true;

    /// The port of the first torus that serves an own one.
    Port port_of(Port own) const {
        const int dimension = port_dimension[static_cast<std::size_t>(own.dimension())];
        return own.sign() > 0 ? Port::plus(dimension) : Port::minus(dimension);
    }
    /// Replaces the ports of the own torus by those of the first one that serve them.
    void use_ports(Schedule& schedule) const;
};

/// The geometry of the first communicator.
Geometry first_geometry(const TorusMap& map);

/// The geometry of any ranks of the first communicator; `members` has them by own rank.
/// - All of it in its own order: the same. A damaged or twisted torus stays what it is in any
/// order.
/// - A box of it, in any order of the ranks: a torus or mesh of those dimensions of the box that
///   are larger than 1, in the order of the first torus (at least one dimension).
/// - Anything else: see logical_shape.hpp.
/// Takes O(n log n) for n members. Throws Error(invalid_argument) for no member, a rank that does
/// not exist and one that is named twice.
Geometry geometry_of(const Geometry& first, const std::vector<Rank>& members);

/// What is left of `parent` when only the dimensions with a flag in `keep` stay: the row, plane or
/// the like that rank `me` is in; ranks go row by row. Of a logical shape the rows are logical,
/// too. All flags set: the parent again, in its own order. Throws Error(invalid_argument) where a
/// flag is missing or none is set.
Geometry sub_geometry(const Geometry& first, const Geometry& parent, const std::vector<bool>& keep,
                      Rank me);

/// Hops in the first torus from all ranks to their next ones along all their dimensions, in sum:
/// what a logical shape is chosen by. Dimensions of size 1 have no next ones.
std::int64_t neighbour_hops(const Geometry& first, const Geometry& geometry);

}  // namespace trefoil
