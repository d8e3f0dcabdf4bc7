// SPDX-License-Identifier: BSD-3-Clause
// The torus of a job, and which position of it each rank takes.
#pragma once

#include <string>
#include <vector>

#include "algorithms/schedule/schedule.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// A position is a number of a place in the torus, row-major: what algorithms call a rank. Ranks
/// are the job's own numbers, which users know and messages name. Nothing but this map knows both:
/// algorithms see positions only, and channels, programs and executor ranks only.
struct TorusMap {
    Torus torus{{1}};
    std::string source;             ///< where it comes from, for people: "TREFOIL_TORUS"
    std::vector<Rank> position_of;  ///< by rank
    std::vector<Rank> rank_at;      ///< by position
    /// No rank has the coordinates of some places, and nobody has said that nodes are missing
    /// there.
    bool has_free_places = false;

    /// Replaces positions by ranks in what a builder made for position_of[rank]; on a fabric
    /// messages leave through the ports behind which their ways begin.
    void renumber(Schedule& schedule) const;
    /// The port of `from` for what goes to `to`, both by position, which are different; what comes
    /// from there uses the same.
    Port port_between(Rank from, Rank to) const;
};

/// What a job is asked to look like; equal on all ranks. The first that is given counts:
/// coordinates, then text, then a balanced torus.
struct TorusRequest {
    std::string source;
    /// Sizes ("3x3"), or "2d": balanced with that many dimensions; may be empty.
    std::string torus;
    /// By rank; empty: ranks are row-major. Without sizes they are the largest coordinates + 1.
    std::vector<std::vector<Rank>> coordinates;
    std::vector<bool> lines{};   ///< with coordinates and without sizes: Torus::is_line()
    bool may_have_node = false;  ///< the last of the sizes is a node's ranks, if hosts say so
};

/// Throws Error(invalid_argument) when the torus has another number of places than there are ranks,
/// or when coordinates are out of range or taken twice: it names the ranks.
TorusMap make_torus_map(const TorusRequest& request, Rank ranks);

/// The torus for a job that says nothing: the most square one of two dimensions, a ring for 1, 2, 3
/// and other primes.
Torus default_torus(Rank ranks);

/// "3x3" as it is, "2d" as a balanced torus of `ranks`. Throws Error(invalid_argument).
Torus torus_named(const std::string& text, Rank ranks);

}  // namespace trefoil
