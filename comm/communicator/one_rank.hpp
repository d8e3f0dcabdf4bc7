// SPDX-License-Identifier: BSD-3-Clause
// Collectives of a rank alone.
#pragma once

#include "comm/plan/request.hpp"

namespace trefoil {

/// The result of any collective among one rank is its own block, which is copied if need be; of
/// exscan there is none.
void run_alone(const Request& request, const Torus& torus, const void* send, void* recv);

}  // namespace trefoil
