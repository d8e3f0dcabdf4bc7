// SPDX-License-Identifier: BSD-3-Clause
// What a call that went well returns, in tests that ask for it often.
#pragma once

#include "trefoil/trefoil.h"

namespace trefoil::test {

inline constexpr trefoil_status_t ok = TREFOIL_SUCCESS;

}  // namespace trefoil::test
