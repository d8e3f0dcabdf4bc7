// SPDX-License-Identifier: BSD-3-Clause
// The groups of micro-benchmarks; each registers its own under its first name.
#pragma once

namespace trefoil::micro {

void register_reductions();   ///< reduce/, joint/
void register_schedules();    ///< schedule/
void register_plans();        ///< plan/
void register_puts();         ///< put/
void register_connections();  ///< connections/

}  // namespace trefoil::micro
