// SPDX-License-Identifier: BSD-3-Clause
// Whether all ranks of a job have the layer. Each host of it knows a way to say so before MPI has
// begun, and to ask afterwards.
#pragma once

namespace trefoil::mpi {

/// Ranks can be asked for, alike on all that have the layer.
bool can_ask_for_presence();
/// Rank `rank` of MPI_COMM_WORLD has the layer. Local.
bool is_present(int rank);
/// Between two ranks that are present, in MPI's beginning: one says `value`, the other hears it.
void tell_presence(bool value, int to);
bool hear_presence(int from);
/// "Trefoil's layer", or whatever is lacking.
extern const char* const what_is_present;

/// Whether all ranks of MPI_COMM_WORLD have the layer, alike on all that have it; else one of them
/// warns. Where nobody can know, that is true.
bool all_take_part();

}  // namespace trefoil::mpi
