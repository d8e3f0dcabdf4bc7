// SPDX-License-Identifier: BSD-3-Clause
// Why ranks of an algorithm do the same: the translations of its entry (Algorithm::alike).
#pragma once

#include <vector>

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

}  // namespace trefoil::table
