// SPDX-License-Identifier: BSD-3-Clause
// How much time of cores the control groups of this process allow: a container may see 64 cores and
// have time for two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace trefoil {

/// The limit of one control group, which all processes in it share.
struct CpuQuota {
    std::uint64_t device = 0, inode = 0;  ///< of the group's folder: equal for one group of a host
    double cores = 0;                     ///< above 0

    bool is_same_group(const CpuQuota& other) const {
        return device == other.device && inode == other.inode;
    }
};

/// "2 cores", "1.5 cores".
std::string core_time_text(double cores);

/// Of this process's control group and those around it, as far as this process sees them: those
/// that have a limit (cgroup versions 1 and 2). `root`: the folder that has proc and sys.
std::vector<CpuQuota> cpu_quotas(const std::string& root = "/");

/// For how many cores process `self` has time when all of `processes`, of one host and each with
/// its quotas, work at once; infinity where nothing limits it.
double cores_for_each(const std::vector<std::vector<CpuQuota>>& processes, std::size_t self);

}  // namespace trefoil
