// SPDX-License-Identifier: BSD-3-Clause
// The few functions of libpmix that Trefoil uses, found when the library is loaded at run time.
#pragma once

#include <pmix.h>

#include <string>

namespace trefoil::pmix {

struct Library {
    decltype(&PMIx_Init) init = nullptr;
    decltype(&PMIx_Finalize) finalize = nullptr;
    decltype(&PMIx_Put) put = nullptr;
    decltype(&PMIx_Commit) commit = nullptr;
    decltype(&PMIx_Fence_nb) fence = nullptr;
    decltype(&PMIx_Get_nb) get = nullptr;
    decltype(&PMIx_Error_string) error_string = nullptr;
    decltype(&PMIx_Get_version) get_version = nullptr;
};

/// Loads libpmix once; it stays until the process ends, because it has threads of its own. Throws
/// Error(not_found) that says what is missing.
const Library& library();

}  // namespace trefoil::pmix
