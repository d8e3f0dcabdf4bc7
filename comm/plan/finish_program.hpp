// SPDX-License-Identifier: BSD-3-Clause
// What follows from a program's lists, once all of them are there.
#pragma once

#include "threads/executor/program.hpp"

namespace trefoil {

/// Operations know their arrivals by the number that these have in their channel; from now on by
/// that in the program. Where messages are stores (`are_stored`), steps have their order, and what
/// each of them awaits. The lists keep no room to grow, as programs are kept.
void finish_program(Program& program, bool are_stored);

}  // namespace trefoil
