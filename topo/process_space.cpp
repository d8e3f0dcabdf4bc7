// SPDX-License-Identifier: BSD-3-Clause
// Reading the kernel's identifier of its start, and links of /proc/thread-self/ns.
#include "topo/process_space.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <mutex>

#include "topo/random_bytes.hpp"

namespace trefoil {

namespace {

/// Equal for the threads of this process alone.
std::string space_of_its_own() {
    return "process " + std::to_string(getpid()) + " " + std::to_string(process_number());
}

}  // namespace

std::uint64_t process_number() {
    static std::mutex mutex;  // guards the two below
    static pid_t drawn_by = 0;
    static std::uint64_t number = 0;
    const std::scoped_lock lock(mutex);
    if (drawn_by != getpid()) {
        fill_randomly({reinterpret_cast<char*>(&number), sizeof number});
        drawn_by = getpid();
    }
    return number;
}

const std::string& boot_text() {
    static const std::string& text = *new std::string([] {  // also while statics are destroyed
        std::string line;
        std::ifstream("/proc/sys/kernel/random/boot_id") >> line;
        return line.substr(0, 39);
    }());
    return text;
}

// Asked each time: a child may be put into other namespaces than its parent. Of the thread that
// asks: where the main thread has ended, /proc/self has no namespaces.
std::string own_namespace(const std::string& kind) {
    char name[64] = {};
    const ssize_t length =
        readlink(("/proc/thread-self/ns/" + kind).c_str(), name, sizeof name - 1);
    return {name, static_cast<std::size_t>(std::max<ssize_t>(0, length))};
}

std::string boot_space() {
    return boot_text().empty() ? space_of_its_own() : boot_text();
}

std::string network_space() {
    const std::string network = own_namespace("net");
    return network.empty() ? space_of_its_own() : network;
}

std::string process_space() {
    const std::string numbers = own_namespace("pid");
    if (boot_text().empty() || numbers.empty()) {
        return space_of_its_own();
    }
    return boot_text() + numbers + own_namespace("time");  // older kernels have one time for all
}

}  // namespace trefoil
