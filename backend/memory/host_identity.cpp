// SPDX-License-Identifier: BSD-3-Clause
// A random number per process, and the refusal of memory of other hosts.
#include "backend/memory/host_identity.hpp"

#include "backend/system/secrets.hpp"
#include "topo/error.hpp"
#include "topo/process_space.hpp"

namespace trefoil::memory {

std::uint64_t this_process() {
    static const std::uint64_t number = random_number();
    return number;
}

void require_this_host(const char* boot, int maker) {
    if (boot_text() != boot) {
        throw Error(Status::unsupported,
                    "backend memory: the memory of process " + std::to_string(maker) +
                        " lives on another host; use the ofi backend between hosts");
    }
}

}  // namespace trefoil::memory
