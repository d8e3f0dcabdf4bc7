// SPDX-License-Identifier: BSD-3-Clause
// `trefoil perf`: measures and checks a collective; starts its own ranks unless it is one.
#include <fmt/format.h>

#include <fstream>
#include <memory>

#include "bench/command.hpp"
#include "bench/perf_run.hpp"
#include "comm/environment.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

/// Who has started this process as one of the ranks, if anybody has: "pmi: PMI_FD is set".
std::string launcher_text() {
    const LauncherChoice choice = choose_launcher(launcher_request(settings_from_environment()));
    return choice.launcher == Launcher::single
               ? std::string()
               : fmt::format("{}: {}", to_string(choice.launcher), choice.reason);
}

/// Before anything runs: a result that cannot be kept is found out now, not in the end.
void require_writable(const std::string& file) {
    if (!file.empty() && !std::ofstream(file, std::ios::app)) {
        throw Error(Status::invalid_argument,
                    "cannot write --json " + file + "; give a file in a directory that exists");
    }
}

int perf(const PerfOptions& options, const std::vector<std::string>& arguments) {
    const Campaign campaign = make_campaign(options);
    const Rank ranks = asked_ranks(options);
    if (const std::string launcher = launcher_text(); !launcher.empty()) {
        if (options.launch == "threads") {
            throw Error(Status::invalid_argument,
                        "--launch threads starts ranks itself; it cannot be used under a launcher "
                        "(" +
                            launcher + "); TREFOIL_LAUNCHER=single ignores it");
        }
        return perf_rank(options, campaign, configuration(options));
    }
    require_writable(options.json);
    if (ranks == 0) {
        throw Error(Status::invalid_argument,
                    "perf needs ranks: --torus 3x3 starts nine, --ranks 9 a ring of nine");
    }
    return options.launch == "threads" ? perf_threads(options, campaign, ranks)
                                       : perf_processes(options, arguments, ranks);
}

void add_size_options(CLI::App& command, PerfOptions& o) {
    command
        .add_option("-b,--minbytes", o.min_bytes, "Smallest vector; K, M, G allowed (default: 8)")
        ->group("Sizes");
    command
        .add_option("-e,--maxbytes", o.max_bytes,
                    "Largest vector (default: 1M, or --minbytes if that is more)")
        ->group("Sizes");
    command.add_option("-f,--stepfactor", o.step_factor, "Factor between sizes (default: 8)")
        ->group("Sizes")
        ->check(CLI::Range(2, 1 << 20));
    command.add_option("-i,--stepbytes", o.step_bytes, "Fixed difference between sizes instead")
        ->group("Sizes");
    command
        .add_option("--counts", o.counts, "Numbers of elements instead of bytes: 0,1,7,1000,1Mi")
        ->group("Sizes");
}

void add_call_options(CLI::App& command, PerfOptions& o) {
    command
        .add_option("-a,--algorithm", o.algorithms,
                    "Names (comma list), all, or auto (default); `trefoil info` lists them")
        ->group("Calls");
    command
        .add_option("-d,--datatype", o.datatypes,
                    "float (default), double, int32, bfloat16 ...: a comma list, or all")
        ->group("Calls");
    command
        .add_option("-o,--op", o.operations,
                    "sum (default), prod, min, max ...: a comma list, or all")
        ->group("Calls");
    command.add_option("--in-place", o.placement, "both (default), out or in")->group("Calls");
    command.add_option("-n,--iters", o.iterations, "Timed calls per row (default: 20)")
        ->group("Calls")
        ->check(CLI::Range(1, 10'000'000));
    command.add_option("-w,--warmup_iters", o.warmup, "Calls before them (default: 5)")
        ->group("Calls")
        ->check(CLI::Range(0, 10'000'000));
    command
        .add_option("-c,--check", o.check,
                    "1: check every element on every rank; -c alone means 1 (default: 0)")
        ->group("Calls");
}

void add_job_options(CLI::App& command, PerfOptions& o) {
    command
        .add_option("-t,--torus", o.torus, "Sizes of the torus, e.g. 3x3: its ranks are started")
        ->group("Ranks");
    command.add_option("--ranks", o.ranks, "Ranks of a ring, instead of --torus")
        ->group("Ranks")
        ->check(CLI::Range(1, 1 << 16));
    command
        .add_option("--launch", o.launch,
                    "processes (default), or threads: all ranks in one process")
        ->group("Ranks");
    command.add_option("--backend", o.backend, "memory, ofi or ucx (default: automatic)")
        ->group("Ranks");
    command
        .add_option("--provider", o.provider,
                    "Of ofi: net, tcp;ofi_rxm, shm ...; of ucx: what UCX_TLS takes")
        ->group("Ranks");
    command.add_option("--nics", o.nics, "eth0, or per direction +0=eth1,-0=eth2")->group("Ranks");
    command
        .add_option("--port-threads", o.port_threads,
                    "Threads that drive a rank's ports; 0: the calling thread (default: automatic)")
        ->group("Ranks")
        ->check(CLI::Range(0, 1024));
    command
        .add_option("--timeout", o.timeout,
                    "Seconds that a call may wait for a peer (default: TREFOIL_TIMEOUT)")
        ->group("Ranks")
        ->check(CLI::Range(0.0, 1e6));
    command.add_option("--json", o.json, "Also write everything to this file");
}

}  // namespace

void add_perf(CLI::App& app, const Invocation& invocation, Action& action) {
    auto options = std::make_shared<PerfOptions>();
    CLI::App* command = app.add_subcommand("perf", "Measure and check a collective");
    command->add_option("collective", options->collective, "allreduce or barrier")->required();
    add_size_options(*command, *options);
    add_call_options(*command, *options);
    add_job_options(*command, *options);
    command->footer(
        "Under `trefoil run`, mpirun, srun, or with TREFOIL_RANK, TREFOIL_SIZE and TREFOIL_STORE "
        "the\n"
        "ranks are given; otherwise perf starts them. A row is as slow as its slowest rank: p50 "
        "and p99 over the\n"
        "calls, min and max over the ranks' means. algbw is bytes / p50; busbw is algbw * "
        "2(N-1)/N,\n"
        "what the links would carry at best. #wrong counts elements, over all ranks, that differ\n"
        "from the exact result; for floats it also counts a case whose bits differ between ranks\n"
        "although the algorithm promises identical results. With `all`, algorithms that do not "
        "suit\n"
        "the torus are named below the table.\n"
        "Exit code: 0, 1 when anything was wrong, 2 for bad input, 3 when the run failed.\n"
        "Example: trefoil perf allreduce --torus 3x3 --algorithm all -b 8 -e 4M -c --json "
        "out.json");
    command->callback([options, &invocation, &action] {
        action = [options, &invocation] { return perf(*options, invocation.arguments); };
    });
}

}  // namespace trefoil::tool
