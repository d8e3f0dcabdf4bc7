// SPDX-License-Identifier: BSD-3-Clause
// The sweep of /dev/shm for UCX's segments.
#include "backend/ucx/leftovers.hpp"

#include <string_view>

#include "backend/system/shared_files.hpp"

namespace trefoil::ucx {

void remove_unused_segments() noexcept {
    remove_shared_files([](int folder, const char* name) {
        return std::string_view(name).starts_with("ucx_shm_posix_") && is_unused(folder, name);
    });
}

}  // namespace trefoil::ucx
