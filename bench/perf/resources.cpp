// SPDX-License-Identifier: BSD-3-Clause
// Reads /proc/self and the communicator's own account.
#include "bench/perf/resources.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>

namespace trefoil::tool {

namespace {

double proportional_set() {
    std::ifstream file("/proc/self/smaps_rollup");
    for (std::string word; file >> word;) {
        if (double kibibytes = 0; word == "Pss:" && file >> kibibytes) {
            return kibibytes * 1024;
        }
    }
    return 0;
}

/// Not a number: without /proc nobody can tell.
double open_descriptors() {
    double count = -1;  // the directory's own
    std::error_code error;
    for (std::filesystem::directory_iterator each("/proc/self/fd", error), end;
         !error && each != end; each.increment(error)) {
        ++count;
    }
    return error ? std::numeric_limits<double>::quiet_NaN() : count;
}

double mebibytes(double bytes) {
    return bytes / (1024 * 1024);
}

/// Before any reduction adds to it.
std::vector<trefoil_port_t> own_ports(const Session& session) {
    std::vector<trefoil_port_t> ports;
    for (int index = 0; index < session.torus().ports(); ++index) {
        ports.push_back(session.sent(Port{index}));
    }
    return ports;
}

std::vector<PortTraffic> gather_ports(Session& session, const std::vector<trefoil_port_t>& own) {
    std::vector<PortTraffic> ports;
    std::vector<double> most;
    for (const trefoil_port_t& port : own) {
        most.push_back(static_cast<double>(port.bytes));
    }
    session.maximize(most);
    for (std::size_t i = 0; i < own.size(); ++i) {
        ports.push_back({to_string(Port{static_cast<int>(i)}), own[i].nic,
                         session.total(static_cast<std::int64_t>(own[i].puts)),
                         session.total(static_cast<std::int64_t>(own[i].bytes)), most[i]});
    }
    return ports;
}

}  // namespace

ProcessUse process_use() {
    return {proportional_set(), open_descriptors()};
}

ResourceUse gather_resources(Session& session, const ProcessUse& before) {
    const trefoil_resources_t own = session.resources();  // before the reductions below add to it
    const std::vector<trefoil_port_t> ports = own_ports(session);
    const ProcessUse now = process_use();
    const double memory = now.memory_bytes - before.memory_bytes;
    std::vector<double> most{static_cast<double>(own.peers),
                             static_cast<double>(own.connections_in + own.connections_out),
                             static_cast<double>(own.landing_bytes),
                             static_cast<double>(own.staging_bytes),
                             static_cast<double>(own.plan_bytes),
                             memory,
                             now.descriptors - before.descriptors};
    session.maximize(most);
    ResourceUse use{most[0], most[1], most[2], most[3], most[4], most[5], most[6], 0, 0, {}};
    use.total_landing_bytes =
        static_cast<double>(session.total(static_cast<std::int64_t>(own.landing_bytes)));
    use.total_memory_bytes = static_cast<double>(session.total(static_cast<std::int64_t>(memory)));
    use.ports = gather_ports(session, ports);
    return use;
}

std::vector<std::string> traffic_lines(const ResourceUse& use) {
    std::vector<std::string> lines;
    for (const PortTraffic& port : use.ports) {
        lines.push_back(fmt::format(
            "port {}: all ranks sent {:.3f} MiB in {} puts, at most {:.3f} MiB of one rank{}",
            port.port, mebibytes(static_cast<double>(port.bytes)), port.puts,
            mebibytes(port.most_bytes),
            port.nic.empty() ? "" : "; rank 0 through NIC " + port.nic));
    }
    return lines;
}

std::vector<std::string> resource_lines(const ResourceUse& use) {
    return {fmt::format("most of any rank: {} peers, {} connections, {} descriptors", use.peers,
                        use.connections, use.descriptors),
            fmt::format("most of any rank: {:.1f} MiB of memory in use, {:.1f} MiB landing memory "
                        "allocated, {:.1f} MiB staging, {:.1f} MiB of plans",
                        mebibytes(use.memory_bytes), mebibytes(use.landing_bytes),
                        mebibytes(use.staging_bytes), mebibytes(use.plan_bytes)),
            fmt::format("all ranks: {:.1f} MiB of memory in use, {:.1f} MiB landing memory "
                        "allocated",
                        mebibytes(use.total_memory_bytes), mebibytes(use.total_landing_bytes))};
}

nlohmann::ordered_json resource_json(const ResourceUse& use) {
    auto ports = nlohmann::ordered_json::array();
    for (const PortTraffic& port : use.ports) {
        ports.push_back({{"port", port.port},
                         {"nic", port.nic},
                         {"puts", port.puts},
                         {"bytes", port.bytes},
                         {"bytes_most", static_cast<std::int64_t>(port.most_bytes)}});
    }
    return {{"peers", use.peers},
            {"connections", use.connections},
            {"descriptors", use.descriptors},
            {"memory_bytes", use.memory_bytes},
            {"landing_bytes", use.landing_bytes},
            {"staging_bytes", use.staging_bytes},
            {"plan_bytes", use.plan_bytes},
            {"total_memory_bytes", use.total_memory_bytes},
            {"total_landing_bytes", use.total_landing_bytes},
            {"ports", ports}};
}

}  // namespace trefoil::tool
