// SPDX-License-Identifier: BSD-3-Clause
// A random number per process, and the kernel's identifier of its start.
#include "backend/memory/host_identity.hpp"

#include <fstream>

#include "backend/system/secrets.hpp"
#include "topo/error.hpp"

namespace trefoil::memory {

std::uint64_t this_process() {
    static const std::uint64_t number = random_number();
    return number;
}

const std::string& boot_text() {
    static const std::string text = [] {
        std::ifstream file("/proc/sys/kernel/random/boot_id");
        std::string line;
        std::getline(file, line);
        return line;
    }();
    return text;
}

void require_this_host(const char* boot, int maker) {
    if (boot_text() != boot) {
        throw Error(Status::unsupported,
                    "backend memory: the memory of process " + std::to_string(maker) +
                        " lives on another host; use the ofi backend between hosts");
    }
}

}  // namespace trefoil::memory
