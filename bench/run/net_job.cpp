// SPDX-License-Identifier: BSD-3-Clause
// Places ranks in the nodes of a network, and tells them what its links do.
#include "bench/run/net_job.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "backend/registry/transports.hpp"
#include "bench/common/per_node.hpp"
#include "bench/run/torus_net.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

/// Unless the user has said it.
void set_by_default(Job& job, const std::string& name, const std::string& value) {
    if (std::getenv(name.c_str()) == nullptr) {
        job.environment.emplace_back(name, value);
    }
}

/// Beside what ranks that share cores take, which every rank knows. Measured with 9 and 16 ranks on
/// 2 cores. The nodes forward by the same cores.
constexpr double step_us_in_net = 3, hop_us_in_net = 1, forward_us_in_net = 6.5;
/// Links this slow are busy for milliseconds with each step of a smaller segment already.
constexpr const char* segment_in_net = "256K";

}  // namespace

void place_in_net(Job& job, const std::string& name, Rank per_node) {
    const TorusNet net = read_torus_net(name);
    if (geteuid() != 0) {
        throw Error(Status::system_error,
                    "--net starts ranks in network namespaces, which needs root; run it as root");
    }
    job.torus = with_nodes(net.torus, per_node);
    for (const std::string& space : net.namespaces) {
        for (Rank i = 0; i < std::max<Rank>(1, per_node); ++i) {
            job.prefixes.push_back({"ip", "netns", "exec", space});  // shows its NICs in /sys, too
        }
    }
    job.ranks = static_cast<Rank>(job.prefixes.size());
    // A port of its own for each job, since ranks of the one before may not all have ended.
    job.store = fmt::format("{}:{}", net.meeting_address[0], 20000 + getpid() % 10000);
    set_by_default(job, "TREFOIL_NICS", net.nics);
    if (net.bits_per_second > 0) {
        set_by_default(job, "TREFOIL_MODEL",
                       fmt::format("step={:g}us,hop={:g}us,rate={:g}kbit,forward={:g}us",
                                   step_us_in_net, hop_us_in_net + net.delay_us,
                                   net.bits_per_second / 1e3, forward_us_in_net));
        set_by_default(job, "TREFOIL_SEGMENT_BYTES", segment_in_net);
    }
    // Ranks of one host would choose shared memory.
    set_by_default(job, "TREFOIL_BACKEND", std::string(default_transport(false).name));
}

}  // namespace trefoil::tool
