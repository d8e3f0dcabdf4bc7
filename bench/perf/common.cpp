// SPDX-License-Identifier: BSD-3-Clause
// Registers the common options of `trefoil perf` and `trefoil perf put`.
#include "bench/perf/common.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "backend/registry/transports.hpp"
#include "bench/common/help.hpp"
#include "bench/common/names.hpp"
#include "bench/common/renamed_option.hpp"
#include "bench/perf/launch.hpp"

namespace trefoil::tool {

void add_size_range(CLI::App& command, CommonOptions& o, const std::string& thing) {
    command
        .add_option("-b,--minbytes", o.min_bytes,
                    "Smallest size: bytes of a " + thing + "; K, M, G allowed (default: 8)")
        ->group("Sizes");
    command
        .add_option("-e,--maxbytes", o.max_bytes,
                    "Largest size (default: 1M, or --minbytes if that is more)")
        ->group("Sizes");
    command
        .add_option("-f,--stepfactor", o.step_factor,
                    fmt::format("Factor between sizes (default: {})", o.step_factor))
        ->group("Sizes")
        ->check(number_in(2, 1 << 20));
}

void add_rank_options(CLI::App& command, CommonOptions& o) {
    command
        .add_option("--launch", o.launch,
                    "processes (default), or threads: all ranks in one process")
        ->group("Ranks");
    command
        .add_option("--backend", o.backend,
                    fmt::format("The transport: {} (default: {} on one host, {} otherwise)",
                                backend_names(), default_transport(true).name,
                                default_transport(false).name))
        ->group("Ranks");
    command
        .add_option("--provider", o.provider,
                    "Provider of the transport: of ofi net, tcp;ofi_rxm, shm ...; of ucx a value "
                    "of UCX_TLS")
        ->group("Ranks");
    command
        .add_option("--nics", o.nics,
                    "NICs to use, as TREFOIL_NICS: eth0, mlx5_*, +0=eth1,-0=eth2, ^docker0")
        ->group("Ranks");
    command
        .add_option("--timeout", o.timeout,
                    "Seconds that a rank waits for a peer (default: TREFOIL_TIMEOUT)")
        ->group("Ranks")
        ->check(number_in(0.0, 1e6));
    command.add_option("--json-file", o.json, "Also write everything to this file, as JSON");
    refuse_option(command, "--json",
                  "would print JSON; to write it to a file use --json-file FILE");
}

void refuse_iterations_as_ranks(CLI::App& command) {
    refuse_option(command, "-n",
                  "is the number of ranks in every other subcommand; write --iters for the number "
                  "of timed calls, or --ranks");
}

void check_rank_options(const CommonOptions& options) {
    check_launch(options.launch);
    if (!options.backend.empty()) {
        check_backend(options.backend);
    }
}

}  // namespace trefoil::tool
