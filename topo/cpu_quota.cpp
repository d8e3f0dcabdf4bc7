// SPDX-License-Identifier: BSD-3-Clause
// Reads /proc/self/cgroup, and the limits below /sys/fs/cgroup.
#include "topo/cpu_quota.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

namespace trefoil {

namespace {

/// Microseconds of cores in each period of microseconds; 0 where there is no limit.
double cores_of(const std::string& folder) {
    double quota = 0, period = 0;
    if (std::ifstream file(folder + "/cpu.max"); file >> quota >> period) {  // or "max 100000"
        return quota > 0 && period > 0 ? quota / period : 0;
    }
    std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;  // or -1
    std::ifstream(folder + "/cpu.cfs_period_us") >> period;
    return quota > 0 && period > 0 ? quota / period : 0;
}

/// Where the hierarchy that counts the time of cores is mounted; empty: `controllers` do not.
std::string mount_of(const std::string& root, const std::string& controllers) {
    const std::string all = root + "sys/fs/cgroup";
    if (controllers.empty()) {
        return all;  // version 2
    }
    std::istringstream names(controllers);
    for (std::string name; std::getline(names, name, ',');) {
        if (name == "cpu") {
            return all + "/cpu";
        }
    }
    return "";
}

}  // namespace

// A container may see its own group as the root of what is mounted: folders that are not there are
// passed over.
std::vector<CpuQuota> cpu_quotas(const std::string& root) {
    std::vector<CpuQuota> quotas;
    std::ifstream groups(root + "proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {  // "4:cpu,cpuacct:/job/rank"
        const std::size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) {
            continue;
        }
        const std::string mount = mount_of(root, line.substr(first + 1, second - first - 1));
        std::string group = line.substr(second + 1);
        for (bool inside = !mount.empty(); inside;) {
            inside = group.size() > 1;
            const std::string folder = mount + group;
            struct stat status {};
            const double cores = cores_of(folder);
            if (cores > 0 && stat(folder.c_str(), &status) == 0) {
                quotas.push_back({status.st_dev, status.st_ino, cores});
            }
            group.resize(group.empty() ? 0 : group.rfind('/', group.size() - 1));
        }
    }
    return quotas;
}

std::string core_time_text(double cores) {
    const auto tenths = static_cast<long>(cores * 10 + 0.5);  // with a point in any locale
    return std::to_string(tenths / 10) +
           (tenths % 10 != 0 ? "." + std::to_string(tenths % 10) : "") +
           (tenths == 10 ? " core" : " cores");
}

double cores_for_each(const std::vector<std::vector<CpuQuota>>& processes, std::size_t self) {
    double least = std::numeric_limits<double>::infinity();
    for (const CpuQuota& mine : processes[self]) {
        const auto sharers = std::ranges::count_if(processes, [&](const auto& quotas) {
            return std::ranges::any_of(
                quotas, [&](const CpuQuota& other) { return mine.is_same_group(other); });
        });
        least = std::min(least, mine.cores / static_cast<double>(sharers));
    }
    return least;
}

}  // namespace trefoil
