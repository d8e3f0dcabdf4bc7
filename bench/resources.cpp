// SPDX-License-Identifier: BSD-3-Clause
// Reads /proc/self and the communicator's own account.
#include "bench/resources.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

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

double open_descriptors() {
    double count = -1;  // the directory's own
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        count += entry.path().empty() ? 0 : 1;
    }
    return count;
}

double mebibytes(double bytes) {
    return bytes / (1024 * 1024);
}

}  // namespace

ProcessUse process_use() {
    return {proportional_set(), open_descriptors()};
}

ResourceUse gather_resources(Session& session, const ProcessUse& before) {
    const trefoil_resources_t own = session.resources();  // before the reductions below add to it
    const ProcessUse now = process_use();
    const double memory = now.memory_bytes - before.memory_bytes;
    std::vector<double> most{static_cast<double>(own.peers),
                             static_cast<double>(own.connections_in + own.connections_out),
                             static_cast<double>(own.landing_bytes),
                             static_cast<double>(own.staging_bytes),
                             memory,
                             now.descriptors - before.descriptors};
    session.maximize(most);
    ResourceUse use{most[0], most[1], most[2], most[3], most[4], most[5], 0, 0};
    use.total_landing_bytes =
        static_cast<double>(session.total(static_cast<std::int64_t>(own.landing_bytes)));
    use.total_memory_bytes = static_cast<double>(session.total(static_cast<std::int64_t>(memory)));
    return use;
}

std::vector<std::string> resource_lines(const ResourceUse& use) {
    return {fmt::format("most of any rank: {} peers, {} connections, {} descriptors", use.peers,
                        use.connections, use.descriptors),
            fmt::format("most of any rank: {:.1f} MiB of memory in use, {:.1f} MiB landing memory "
                        "allocated, {:.1f} MiB staging",
                        mebibytes(use.memory_bytes), mebibytes(use.landing_bytes),
                        mebibytes(use.staging_bytes)),
            fmt::format("all ranks: {:.1f} MiB of memory in use, {:.1f} MiB landing memory "
                        "allocated",
                        mebibytes(use.total_memory_bytes), mebibytes(use.total_landing_bytes))};
}

nlohmann::ordered_json resource_json(const ResourceUse& use) {
    return {{"peers", use.peers},
            {"connections", use.connections},
            {"descriptors", use.descriptors},
            {"memory_bytes", use.memory_bytes},
            {"landing_bytes", use.landing_bytes},
            {"staging_bytes", use.staging_bytes},
            {"total_memory_bytes", use.total_memory_bytes},
            {"total_landing_bytes", use.total_landing_bytes}};
}

}  // namespace trefoil::tool
