// SPDX-License-Identifier: BSD-3-Clause
// Reads cores, interfaces and machine data from the kernel: affinity mask, getifaddrs, /proc, /sys.
#include "topo/host.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <memory>
#include <numeric>
#include <system_error>

#include "topo/cpu_quota.hpp"
#include "topo/error.hpp"

namespace trefoil {

namespace {

constexpr int largest_core_set = 1 << 16;

[[noreturn]] void fail(const std::string& what) {
    throw Error(Status::system_error,
                what + ": " + std::error_code(errno, std::system_category()).message());
}

/// The address as text, or "" for families that ranks cannot connect to.
std::string address_text(const sockaddr* address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* bytes = nullptr;
    if (address != nullptr && address->sa_family == AF_INET) {
        bytes = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
    } else if (address != nullptr && address->sa_family == AF_INET6) {
        bytes = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
    }
    if (bytes == nullptr || inet_ntop(address->sa_family, bytes, text.data(),
                                      static_cast<socklen_t>(text.size())) == nullptr) {
        return {};
    }
    return text.data();
}

int numa_node_of(const std::string& interface) {
    std::ifstream file("/sys/class/net/" + interface + "/device/numa_node");
    int node = -1;
    return file >> node ? node : -1;
}

std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos) {
            return line.substr(colon + 2);
        }
    }
    utsname names{};  // not every architecture names its processor
    return uname(&names) == 0 ? names.machine : "unknown processor";
}

}  // namespace

std::vector<int> allowed_cores() {
    // The kernel refuses a mask that is shorter than its own, so grow until it fits.
    for (int size = CPU_SETSIZE; size <= largest_core_set; size *= 2) {
        const auto free_set = [](cpu_set_t* set) { CPU_FREE(set); };
        const std::unique_ptr<cpu_set_t, decltype(free_set)> set(CPU_ALLOC(size), free_set);
        if (set == nullptr) {
            throw Error(Status::out_of_memory, "cores: no memory for an affinity mask");
        }
        const std::size_t bytes = CPU_ALLOC_SIZE(size);
        if (sched_getaffinity(0, bytes, set.get()) == 0) {
            std::vector<int> cores;
            for (int core = 0; core < size; ++core) {
                if (CPU_ISSET_S(core, bytes, set.get())) {
                    cores.push_back(core);
                }
            }
            return cores;
        }
        if (errno != EINVAL) {
            break;
        }
    }
    // Denied in some sandboxes. Then any core may be allowed; pinning to one says if it is not.
    std::vector<int> cores(static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))));
    std::iota(cores.begin(), cores.end(), 0);
    return cores;
}

std::vector<NetworkInterface> network_interfaces() {
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0) {
        fail("interfaces: the kernel does not list them");
    }
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
    std::vector<NetworkInterface> interfaces;
    for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
        std::string address = address_text(entry->ifa_addr);
        if (!address.empty()) {
            const std::string name = interface_of_label(entry->ifa_name);
            interfaces.push_back({.name = name,
                                  .address = std::move(address),
                                  .loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0,
                                  .up = (entry->ifa_flags & IFF_UP) != 0,
                                  .numa_node = numa_node_of(name)});
        }
    }
    return interfaces;
}

std::string interface_of_label(std::string_view label) {
    return std::string(label.substr(0, label.find(':')));
}

std::string host_name() {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) != 0) {
        fail("the kernel does not report the host name");
    }
    return name.data();
}

std::string machine_text() {
    const std::size_t cores = allowed_cores().size();
    const double bytes =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
    const auto gibibytes = static_cast<long>(bytes / (1024.0 * 1024.0 * 1024.0) + 0.5);
    const double in_time = cores_for_each({cpu_quotas()}, 0);
    return std::to_string(cores) + (cores == 1 ? " core" : " cores") +
           (in_time < static_cast<double>(cores) ? " with time for " + core_time_text(in_time)
                                                 : "") +
           ", " + std::to_string(gibibytes) + " GiB, " + processor_name();
}

}  // namespace trefoil
