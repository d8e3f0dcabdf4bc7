// SPDX-License-Identifier: BSD-3-Clause
// Which host and which namespaces this process lives in: where its number and its files mean what
// they mean to others.
#pragma once

#include <string>

namespace trefoil {

/// Of the running kernel: the same on one host only. Up to 39 characters; empty: it does not tell.
const std::string& boot_text();

/// Names one of this process's namespaces ("net", "pid"); empty where there is no such thing.
std::string own_namespace(const std::string& kind);

/// Processes with the same one know each other by the same numbers. Hosts may share a name, so it
/// is the host's boot that tells them apart.
std::string process_space();

}  // namespace trefoil
