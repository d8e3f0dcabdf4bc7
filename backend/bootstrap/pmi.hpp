// SPDX-License-Identifier: BSD-3-Clause
// PMI-1: the text protocol that MPICH's hydra, and others like it, speak on the descriptor PMI_FD.
#pragma once

#include <memory>

#include "backend/bootstrap/launcher_rounds.hpp"

namespace trefoil {

/// Greets the process manager at the other end of `descriptor`, a connected stream socket. The link
/// says good-bye at its end, as the process manager expects of every process, and closes the
/// descriptor. Throws Error(system_error) when nobody sensible is there, Error(timeout) after
/// `until`.
std::unique_ptr<LauncherLink> make_pmi_link(int descriptor, Rank rank, Rank ranks,
                                            LauncherLink::Clock::time_point until);

}  // namespace trefoil
