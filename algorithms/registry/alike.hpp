// SPDX-License-Identifier: BSD-3-Clause
// What an entry tells so that its price is found without building it for all ranks: why ranks do
// the same (Algorithm::alike), who tells of others, and how long it takes at least.
#pragma once

#include <vector>

#include "algorithms/schedule/algorithm.hpp"
#include "topo/torus.hpp"

namespace trefoil::table {

/// Peers and amounts depend on nothing but how far the peer is.
std::vector<Rank> everywhere(const Torus& torus);
/// Ranks in linear order follow one another as a ring. Along the first dimension with more than one
/// coordinate the order goes on round the torus; in others it leaves a row for the next one.
std::vector<Rank> along_the_line(const Torus& torus);
/// Products of rings in which even and odd coordinates of even sizes go opposite ways (Swing).
/// Coordinates of odd sizes all differ.
std::vector<Rank> by_parity(const Torus& torus);
/// Messages go the shorter way round; where both are equally long, even and odd coordinates go
/// opposite ways.
std::vector<Rank> by_parity_where_even(const Torus& torus);
/// The same of ranks in linear order, along the first dimension with more than one coordinate.
std::vector<Rank> along_the_line_by_parity(const Torus& torus);
/// As by_parity, where sizes that are no powers of two are folded, which makes their coordinates
/// differ.
std::vector<Rank> by_parity_of_powers(const Torus& torus);
/// Coordinates of powers of two exchange with the one whose bit s differs. The highest bit alone
/// does not matter: both ways are half the ring.
std::vector<Rank> by_halves_of_powers(const Torus& torus);
/// Rings on Hamiltonian cycles: a row of c steps on brings either cycle to one translation of it.
std::vector<Rank> along_the_cycles(const Torus& torus);

// Algorithm::witnesses.

/// Products of rings. Where a size is no power of two its ring is folded, and ranks whose data is
/// elsewhere sit other dimensions' steps out; or amounts differ.
Witnesses axes_of_powers(const Torus& torus);
/// Products of rings that tell what they send.
Witnesses flows_of_rings(const Torus& torus);
/// Everything comes from the root or goes there.
Witnesses only_root(const Torus& torus);
/// Alltoalls of which all lines of a dimension carry alike. (Of lines that are no rings messages go
/// the only way.)
Witnesses formula_of_rings(const Torus& torus);

// Algorithm::least_steps.

/// A message to or from each rank, one per port and step.
int one_per_port(const Torus& torus);
int one_per_port_twice(const Torus& torus);
/// Messages to all ranks, to up to 32 in a step.
int offsets_at_once(const Torus& torus);
/// Through each dimension from one to the next one, as many steps as in the longest.
int once_round(const Torus& torus);
int twice_round(const Torus& torus);
/// Each step doubles what is known of others.
int one_per_doubling(const Torus& torus);
/// A message to each rank or along a ring of all ranks.
int one_per_rank(const Torus& torus);
int one_per_rank_twice(const Torus& torus);

}  // namespace trefoil::table
