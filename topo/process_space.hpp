// SPDX-License-Identifier: BSD-3-Clause
// Which host and which namespaces this process lives in: where its number and its files mean what
// they mean to others.
#pragma once

#include <cstdint>
#include <string>

namespace trefoil {

/// Random, one per process; a child after fork() draws its own. Throws Error(system_error).
std::uint64_t process_number();

/// Of the running kernel: the same on one host only. Up to 39 characters; empty: it does not tell.
const std::string& boot_text();

/// Names one of this process's namespaces ("net", "pid"); empty where there is no such thing.
std::string own_namespace(const std::string& kind);

// Texts that are equal for processes that share something. Where the kernel does not tell, a
// process has one of its own: what cannot be seen is equal to nothing. They throw what
// process_number() throws.

/// The running kernel. Hosts may share a name, so it is the boot that tells them apart.
std::string boot_space();

/// The network namespace: those with the same one reach each other's loopback interface.
std::string network_space();

/// Processes with the same one know each other by the same numbers, and see the same times.
std::string process_space();

}  // namespace trefoil
