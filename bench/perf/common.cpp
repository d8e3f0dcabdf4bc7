// SPDX-License-Identifier: BSD-3-Clause
// Registers the common options of `trefoil perf` and `trefoil perf put`.
#include "bench/perf/common.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "backend/registry/transports.hpp"
#include "bench/common/names.hpp"
#include "bench/perf/launch.hpp"

namespace trefoil::tool {

void add_size_range(CLI::App& command, CommonOptions& o, const std::string& thing) {
    command
        .add_option("-b,--minbytes", o.min_bytes,
                    "Smallest " + thing + "; K, M, G allowed (default: 8)")
        ->group("Sizes");
    command
        .add_option("-e,--maxbytes", o.max_bytes,
                    "Largest (default: 1M, or --minbytes if that is more)")
        ->group("Sizes");
    command
        .add_option("-f,--stepfactor", o.step_factor,
                    fmt::format("Factor between sizes (default: {})", o.step_factor))
        ->group("Sizes")
        ->check(CLI::Range(2, 1 << 20));
}

void add_rank_options(CLI::App& command, CommonOptions& o) {
    command
        .add_option("--launch", o.launch,
                    "processes (default), or threads: all ranks in one process")
        ->group("Ranks");
    command
        .add_option("--backend", o.backend,
                    fmt::format("One of {} (default: {} on one host, else {})", backend_names(),
                                default_transport(true).name, default_transport(false).name))
        ->group("Ranks");
    command
        .add_option("--provider", o.provider,
                    "Of ofi: net, tcp;ofi_rxm, shm ...; of ucx: what UCX_TLS takes")
        ->group("Ranks");
    command
        .add_option("--nics", o.nics, "As TREFOIL_NICS: eth0, mlx5_*, +0=eth1,-0=eth2, ^docker0")
        ->group("Ranks");
    command
        .add_option("--timeout", o.timeout, "Seconds to wait for a peer (default: TREFOIL_TIMEOUT)")
        ->group("Ranks")
        ->check(CLI::Range(0.0, 1e6));
    command.add_option("--json", o.json, "Also write everything to this file");
}

void check_rank_options(const CommonOptions& options) {
    check_launch(options.launch);
    if (!options.backend.empty()) {
        check_backend(options.backend);
    }
}

}  // namespace trefoil::tool
