// SPDX-License-Identifier: BSD-3-Clause
// On which NUMA node the pages of shared memory come to be.
//
// Every process of a job asks when it makes its first connection, so the kernel's own lists are
// read, in microseconds; hwloc, which tells the tools of NUMA nodes (locality.hpp), takes 10 ms.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace trefoil {

/// The NUMA node that has all of `cores`, as the kernel's `directory` tells; -1: they are on
/// several, or it does not tell.
int numa_node_of(const std::vector<int>& cores,
                 const std::string& directory = "/sys/devices/system/node");

/// The NUMA node of all cores that the calling thread may run on, or -1. The kernel's directory is
/// read once in a process.
int own_numa_node();

/// Pages of this shared mapping that nobody has touched yet are taken from NUMA node `node` if it
/// has room, whichever process touches them first. Without this they come from where the first
/// writer runs, which for landing memory is a peer. `start` is the begin of a page. False when the
/// system refuses; pages then come from anywhere, and nothing else changes.
bool prefer_numa_node(void* start, std::size_t bytes, int node) noexcept;

}  // namespace trefoil
