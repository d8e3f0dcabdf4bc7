// SPDX-License-Identifier: BSD-3-Clause
// Reading the kernel's identifier of its start, and links of /proc/self/ns.
#include "topo/process_space.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>

namespace trefoil {

const std::string& boot_text() {
    static const auto& text = *new std::string([] {
        std::string line;
        std::ifstream("/proc/sys/kernel/random/boot_id") >> line;
        return line;
    }());
    return text;
}

// Asked each time: a child may be put into other namespaces than its parent.
std::string own_namespace(const std::string& kind) {
    char name[64] = {};
    const ssize_t length = readlink(("/proc/self/ns/" + kind).c_str(), name, sizeof name - 1);
    return {name, static_cast<std::size_t>(std::max<ssize_t>(0, length))};
}

std::string process_space() {
    return boot_text() + own_namespace("pid");
}

}  // namespace trefoil
