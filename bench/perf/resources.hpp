// SPDX-License-Identifier: BSD-3-Clause
// What one rank holds of memory, connections and file descriptors, and the most over all ranks.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/perf/session.hpp"

namespace trefoil::tool {

/// What this process uses now, as the kernel counts it.
struct ProcessUse {
    double memory_bytes = 0;  ///< proportional set: a page shared by n processes counts 1/n
    double descriptors = 0;
};
ProcessUse process_use();

/// What calls have sent through the same port of all ranks.
struct PortTraffic {
    std::string port, nic;  ///< the NIC of rank 0's; empty: the transport's choice
    std::int64_t puts = 0, bytes = 0;
    double most_bytes = 0;  ///< of any rank
};

/// Per rank the most of any rank; totals over all ranks.
struct ResourceUse {
    double peers = 0, connections = 0;  ///< connections: in and out
    double landing_bytes = 0;           ///< allocated; pages are touched when messages land
    double staging_bytes = 0;
    double plan_bytes = 0;
    double memory_bytes = 0;  ///< growth since before the communicator was created
    double descriptors = 0;   ///< likewise
    double total_landing_bytes = 0, total_memory_bytes = 0;
    std::vector<PortTraffic> ports;
};

/// Collective. `before`: this process, before its communicator was created.
ResourceUse gather_resources(Session& session, const ProcessUse& before);

/// Lines for people, without marks of comments.
std::vector<std::string> resource_lines(const ResourceUse& use);
std::vector<std::string> traffic_lines(const ResourceUse& use);
nlohmann::ordered_json resource_json(const ResourceUse& use);

}  // namespace trefoil::tool
