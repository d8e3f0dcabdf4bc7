// SPDX-License-Identifier: BSD-3-Clause
// `trefoil perf`: measures and checks a collective; starts its own ranks unless it is one.
#include <algorithm>
#include <cstdlib>
#include <memory>

#include "bench/common/command.hpp"
#include "bench/common/help.hpp"
#include "bench/common/network_file.hpp"
#include "bench/common/renamed_option.hpp"
#include "bench/perf/late.hpp"
#include "bench/perf/launch.hpp"
#include "bench/perf/run.hpp"
#include "bench/perf/session.hpp"
#include "bench/perf/trace.hpp"
#include "comm/setup/environment.hpp"
#include "topo/error.hpp"
#include "topo/host.hpp"

namespace trefoil::tool {

namespace {

/// A rank that is a process. Rank 0 joins the traces when all are written: when all ranks have come
/// to create another communicator.
int perf_process(const PerfOptions& options, const Campaign& campaign) {
    const trefoil_config_t config = configuration(options);
    if (options.trace.empty()) {
        return perf_rank(options, campaign, config);
    }
    begin_traces(options.trace);
    const int code = perf_rank(options, campaign, config);
    end_traces();
    const Session all_have_written(config);
    if (all_have_written.rank() == 0) {
        join_traces(options.trace, all_have_written.torus().ranks());
    }
    return code;
}

/// Those of TREFOIL_TORUS, else one for each core.
Rank ranks_by_default() {
    constexpr std::size_t most = 16;
    const Settings settings = settings_from_environment();
    if (!settings.torus.empty()) {
        return Torus::parse(settings.torus).ranks();
    }
    if (!settings.hostfile.empty()) {
        throw Error(Status::invalid_argument,
                    "TREFOIL_HOSTFILE places ranks, but how many are there? Give --ranks");
    }
    return static_cast<Rank>(std::clamp<std::size_t>(allowed_cores().size(), 2, most));
}

int perf(const PerfOptions& options, const std::vector<std::string>& arguments) {
    if (!options.port_threads_by.empty()) {
        setenv("TREFOIL_PORT_THREADS_BY", options.port_threads_by.c_str(),
               1);  // the library takes it from there alone
    }
    const Campaign campaign = make_campaign(options);
    if (const std::string launcher = launcher_text(); !launcher.empty()) {
        if (options.launch == "threads") {
            refuse_threads(launcher);
        }
        return perf_process(options, campaign);
    }
    require_writable("--json-file", options.json);
    require_writable("--trace", options.trace);
    const Rank asked = asked_ranks(options);
    const Rank ranks = asked != 0 ? asked : ranks_by_default();
    if (options.launch == "processes") {
        return launch_processes("trefoil perf", ranks, options.torus, arguments);
    }
    if (!options.trace.empty()) {
        begin_traces(options.trace);
    }
    const int code = launch_threads(ranks, [&](const ThreadRank& me) {
        return perf_rank(options, campaign, configuration(options, me));
    });
    if (!options.trace.empty()) {
        join_traces(options.trace, ranks);
    }
    return code;
}

/// The word is not marked as required, for `perf put` has none.
void require_collective(const PerfOptions& options) {
    if (options.collective.empty()) {
        throw Error(Status::invalid_argument,
                    "perf needs a collective (" + collective_names() + "), or put");
    }
}

/// An option before the name of a part of perf was read as perf's own, which is not looked at.
void refuse_options_before(const CLI::App& command, const CLI::App& part) {
    for (const CLI::Option* option : command.get_options()) {
        if (option->count() > 0) {
            throw CLI::ValidationError(option->get_name(),
                                       "has no place before \"" + part.get_name() +
                                           "\"; write trefoil perf " + part.get_name() +
                                           ", then its options");
        }
    }
}

void add_size_options(CLI::App& command, PerfOptions& o) {
    add_size_range(command, o, "vector, all blocks together");
    command.add_option("--sizes", o.sizes, "Sizes in bytes, instead of a range: 8,64K,1M")
        ->group("Sizes")
        ->excludes("--minbytes", "--maxbytes", "--stepfactor");
    command
        .add_option("-i,--stepbytes", o.step_bytes,
                    "Fixed difference between sizes, instead of a factor")
        ->group("Sizes");
    command
        .add_option(
            "--counts", o.counts,
            "Numbers of elements instead of bytes, of a block where ranks have blocks: 0,1,1Mi")
        ->group("Sizes");
}

void add_call_options(CLI::App& command, PerfOptions& o) {
    command
        .add_option("-a,--algorithm", o.algorithms,
                    "Name of an algorithm, or a comma list, or all, or auto (default; auto follows "
                    "TREFOIL_ALGORITHM); `trefoil info -v` lists them; modifiers as in "
                    "TREFOIL_ALGORITHM: swing:send, ring:single-port")
        ->group("Calls");
    command
        .add_option(
            "--schedule", o.schedule,
            "A file with the schedules of all ranks, as `trefoil plan --all-ranks --json` "
            "prints them; it is verified, then run, with --algorithm as well if that is given")
        ->group("Calls");
    command
        .add_option(
            "-d,--datatype", o.datatypes,
            "Type of the elements: float (default), double, int32, bfloat16, float-int ...; a "
            "comma list, or all")
        ->group("Calls");
    command
        .add_option(
            "-o,--op", o.operations,
            "Operation of reductions: sum (default), avg, prod, min, max, minloc ...; a comma "
            "list, "
            "or all; only for collectives that reduce. none: the same schedule without arithmetic, "
            "and without a result to check; all leaves it out")
        ->group("Calls");
    command
        .add_option("--in-place", o.placement,
                    "both (default), out or in; bcast has one buffer, which is in place")
        ->group("Calls");
    command
        .add_option(
            "--root", o.root,
            "Root of bcast, reduce, gather and scatter: 0 (default), a comma list, or all: the "
            "first, middle and last rank")
        ->group("Calls");
    command
        .add_option("--uneven", o.uneven,
                    "For alltoall: alltoallv instead, with random counts of this seed; many are "
                    "zero, some eight times the others")
        ->group("Calls");
    command.add_option("--iters", o.iterations, "How many are timed: calls per row (default: 20)")
        ->group("Calls")
        ->check(number_in(1, 10'000'000));
    command
        .add_option("-w,--warmup_iters", o.warmup,
                    "How many go before them and are not timed (default: 5)")
        ->group("Calls")
        ->check(number_in(0, 10'000'000));
    command
        .add_flag("--barriers", o.barriers,
                  "Also in stretches of calls back to back, and with a barrier before each call: "
                  "no rank runs ahead into the next stretch or call")
        ->group("Calls");
    command
        .add_option(
            "--late", o.late,
            "Also a barrier that one rank enters this many seconds late: the cost of waiting")
        ->group("Calls")
        ->check(number_in(least_late, 3600.0));
    command
        .add_option("-c,--check", o.check,
                    "Check the data: every element on every rank; -c alone means -c 1 (default: 0)")
        ->group("Calls");
}

void add_request_options(CLI::App& command, PerfOptions& o) {
    command
        .add_flag("--persistent", o.persistent,
                  "Also persistent calls (start and wait), alternately with blocking ones")
        ->group("Calls in flight");
    command
        .add_option("--in-flight", o.in_flight,
                    "Also this many calls begun together and waited for, alternately with as "
                    "many blocking ones")
        ->group("Calls in flight")
        ->check(number_in(1, 4096));
    command
        .add_flag("--overlap", o.overlap,
                  "Also a nonblocking call, a computation of about the same length, and both "
                  "together: how much of the shorter one is hidden")
        ->group("Calls in flight");
    command
        .add_option("--test-every", o.test_every,
                    "With --overlap: microseconds between two tests of the call by the computation "
                    "(default: never)")
        ->group("Calls in flight")
        ->check(number_in(1.0, 1e9));
}

void add_job_options(CLI::App& command, PerfOptions& o) {
    take_network_files(
        command.add_option("-t,--torus", o.torus,
                           "Sizes of the torus, such as 3x3, or FILE.json: its ranks are "
                           "started"))
        ->group("Ranks");
    command
        .add_option(
            "--ranks", o.ranks,
            "How many ranks, instead of --torus; TREFOIL_HOSTFILE or TREFOIL_TORUS may place them, "
            "otherwise the torus is balanced (default: one for each core, 2 to 16)")
        ->group("Ranks")
        ->check(number_in(1, 1 << 16));
    add_rank_options(command, o);
    command
        .add_option("--port-threads", o.port_threads,
                    "Threads that drive a rank's ports; 0: the calling thread (default: automatic)")
        ->group("Ranks")
        ->check(number_in(0, 1024));
    command
        .add_option("--port-threads-by", o.port_threads_by,
                    "Provider of those threads: dedicated, openmp or caller (default: "
                    "TREFOIL_PORT_THREADS_BY)")
        ->group("Ranks")
        ->check(one_of({"dedicated", "openmp", "caller"}));
    command.add_flag("--resources", o.resources,
                     "Also report what a rank holds: peers, connections, memory, descriptors; and "
                     "what went through each port");
    command.add_option("--trace", o.trace,
                       "Also write a timeline of all ranks to this file, for ui.perfetto.dev");
}

/// Not listed by --help.
void refuse_old_options(CLI::App& command) {
    refuse_iterations_as_ranks(command);
    for (const std::string_view name : old_names()) {
        if (name.starts_with("--")) {
            command
                .add_option_function<std::string>(
                    std::string(name), [name](const std::string&) { refuse_old_name(name); })
                ->group("");
        }
    }
}

}  // namespace

CLI::App& add_perf(CLI::App& app, const Invocation& invocation, CommandBody& body) {
    auto options = std::make_shared<PerfOptions>();
    CLI::App* command = app.add_subcommand(
        "perf", "Measure and check a collective, or the puts that it is made of");
    command->add_option("collective", options->collective, collective_names());
    command->require_subcommand(0, 1);
    add_size_options(*command, *options);
    add_call_options(*command, *options);
    add_request_options(*command, *options);
    add_job_options(*command, *options);
    refuse_old_options(*command);
    command->footer(
        "Under `trefoil run`, mpirun, srun, or with TREFOIL_RANK, TREFOIL_SIZE and TREFOIL_STORE "
        "the\n"
        "ranks are given; otherwise perf starts them. A row is as slow as its slowest rank: p50 "
        "and p99 over the\n"
        "calls, min and max over the ranks' means. bytes is the whole vector; in reduce_scatter, "
        "allgather, gather,\n"
        "scatter and alltoall all blocks together, each of count elements (--uneven: what a rank "
        "sends on average).\n"
        "algbw is bytes / p50; busbw is algbw times 2(N-1)/N for allreduce, (N-1)/N for those "
        "five, 1 for bcast\n"
        "and reduce: what the links would carry at best. %bound, where TREFOIL_MODEL has the rate "
        "of a link (`trefoil run --net` sets it),\n"
        "is what no algorithm can beat on this network (trefoil plan --bound), in per cent of p50. "
        "#wrong counts elements, over all ranks, "
        "that differ from the exact result or "
        "were written\n"
        "although the collective leaves them alone; for float allreduces it also counts a case "
        "whose bits differ\n"
        "between ranks although the algorithm promises identical results. With `all`, algorithms "
        "that do not\n"
        "suit the torus or do not fit the landing memory are named below the table. A barrier "
        "ignores sizes, types and placement.\n"
        "Exit code: 0, 1 when anything was wrong, 2 for bad input, 3 when the run failed.\n"
        "Example: trefoil perf allreduce --torus 3x3 --algorithm all -b 8 -e 4M -c --json-file "
        "out.json\n"
        "         trefoil perf bcast --torus 3x3 --algorithm all --root all -c");
    command->callback([options, command, &invocation, &body] {
        if (command->get_subcommands().empty()) {
            require_collective(*options);
            body = [options, &invocation] {
                load_schedule(*options);
                return perf(*options, invocation.arguments);
            };
        } else {
            refuse_options_before(*command, *command->get_subcommands().front());
        }
    });
    return *command;
}

}  // namespace trefoil::tool
