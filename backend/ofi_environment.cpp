// SPDX-License-Identifier: BSD-3-Clause
// Defaults for libfabric's variables, and the sweep of /dev/shm.
#include "backend/ofi_environment.hpp"

#include <cstdlib>
#include <mutex>

namespace trefoil::ofi {

void prepare_environment() {
    static std::once_flag once;
    std::call_once(once, [] {
        // An rxm endpoint allocates thousands of buffers for two-sided messages, which puts do not
        // use: 71 MB with the default of 16 KiB, 6 MB with this.
        setenv("FI_OFI_RXM_BUFFER_SIZE", "256", 0);
    });
}

}  // namespace trefoil::ofi
