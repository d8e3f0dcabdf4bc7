// SPDX-License-Identifier: BSD-3-Clause
// A torus for members that form no box: the most cubic one, placed so that neighbours are near.
#pragma once

#include <vector>

#include "comm/derived/geometry.hpp"
#include "comm/derived/spacing.hpp"

namespace trefoil {

/// The shape has as many dimensions as the members differ in, at most: a port of another dimension
/// leads to no member. Among these it is the most cubic torus (a ring for a prime), which has the
/// fewest steps and uses the most ports.
///
/// Who sits where: the members are cut into slabs of equal number along one dimension of the first
/// torus, each slab into rows along the next one, and each row is walked through to and fro, so
/// that who follows is near. This is done for several orders of the dimensions, and compared with
/// the members' own order. The least sum of hops between neighbours wins.
///
/// `spacings` by dimension of the first torus; two of them at least have several places.
Geometry logical_shape(const Geometry& first, const std::vector<Rank>& members,
                       const std::vector<Spacing>& spacings);

}  // namespace trefoil
