// SPDX-License-Identifier: BSD-3-Clause
// `trefoil perf put`: what one put with its notification costs between two ranks.
#include "bench/put/put.hpp"

#include <algorithm>
#include <memory>

#include "bench/common/help.hpp"
#include "bench/common/names.hpp"
#include "bench/common/renamed_option.hpp"
#include "bench/common/warnings.hpp"
#include "bench/perf/launch.hpp"
#include "bench/perf/options.hpp"
#include "bench/put/link.hpp"
#include "bench/put/measure.hpp"
#include "bench/put/report.hpp"
#include "comm/setup/environment.hpp"
#include "topo/error.hpp"
#include "topo/host.hpp"

namespace trefoil::tool {

namespace {

constexpr Rank ranks = 2;
constexpr std::size_t largest_put = std::size_t{1} << 30;

/// 4 MiB under way, as much as a channel of a communicator has room for by default.
std::size_t usual_window(std::size_t bytes) {
    constexpr std::size_t under_way = std::size_t{4} << 20;
    return std::clamp<std::size_t>(under_way / std::max<std::size_t>(bytes, 1), 2, 64);
}

int usual_iterations(std::size_t bytes) {
    constexpr std::size_t volume = std::size_t{256} << 20;
    return static_cast<int>(
        std::clamp<std::size_t>(volume / std::max<std::size_t>(bytes, 1), 20, 20'000));
}

std::vector<PutCase> cases_of(const PutOptions& options) {
    std::vector<std::size_t> sizes;
    if (options.sizes.empty()) {
        sizes = byte_sizes(options.min_bytes, options.max_bytes, 0, options.step_factor);
    } else {
        for (const std::string& size : split_list(options.sizes)) {
            sizes.push_back(parse_size(size));
        }
    }
    std::vector<PutCase> cases;
    for (const std::size_t bytes : sizes) {
        if (bytes > largest_put) {
            throw Error(Status::invalid_argument,
                        "perf put takes sizes up to 1G, not " + size_text(bytes));
        }
        PutCase what;
        what.bytes = bytes;
        what.iterations = options.iterations > 0 ? options.iterations : usual_iterations(bytes);
        what.warmup = options.warmup >= 0 ? options.warmup : what.iterations / 10 + 1;
        what.repetitions = options.repetitions;
        what.window =
            options.window > 0 ? static_cast<std::size_t>(options.window) : usual_window(bytes);
        if (!options.direct) {
            cases.push_back(what);
            continue;
        }
        for (const PutInto into : {PutInto::copied, PutInto::direct}) {
            what.into = into;
            cases.push_back(what);
        }
    }
    return cases;
}

PutTransport transport_of(const PutOptions& options) {
    const Settings settings = settings_from_environment();
    const auto first = [](const std::string& a, const std::string& b) { return a.empty() ? b : a; };
    PutTransport transport;
    transport.backend = first(options.backend, settings.backend);
    transport.provider = first(options.provider, settings.provider);
    transport.nics = first(options.nics, settings.nics);
    transport.pin = settings.pin;
    transport.plain = options.direct;
    transport.timeout = options.timeout > 0
                            ? std::chrono::milliseconds(static_cast<long>(options.timeout * 1000))
                            : settings.timeout;
    return transport;
}

int put_rank(const PutOptions& options, const std::vector<PutCase>& cases, Bootstrap& bootstrap) {
    std::size_t memory = 0;
    for (const PutCase& what : cases) {
        memory = std::max(memory, what.memory());
    }
    const std::string machine = host_name() + ", " + machine_text();  // before a rank is pinned
    PutLink link(bootstrap, transport_of(options), memory);
    PutReport report(link, options, machine, link.rank() != 0);
    PutMeter meter(link, options.check);
    for (const PutCase& what : cases) {
        report.add(meter.measure(what));
    }
    report.finish();
    return report.wrong() == 0 ? exit_success : exit_wrong;
}

int perf_put(const PutOptions& options, const std::vector<std::string>& arguments) {
    const std::vector<PutCase> cases = cases_of(options);
    check_rank_options(options);
    if (const std::string launcher = launcher_text(); !launcher.empty()) {
        if (options.launch == "threads") {
            refuse_threads(launcher);
        }
        const auto bootstrap =
            make_launcher_bootstrap(launcher_request(settings_from_environment()));
        return put_rank(options, cases, *bootstrap);
    }
    warn_of_unknown_variables();
    require_writable("--json-file", options.json);
    if (options.launch == "processes") {
        return launch_processes("trefoil perf put", ranks, {}, arguments);
    }
    return launch_threads(ranks, [&](const ThreadRank& me) {
        const auto bootstrap = make_callback_bootstrap(me.rank, me.ranks, me.allgather, me.context);
        return put_rank(options, cases, *bootstrap);
    });
}

void add_measuring_options(CLI::App& command, PutOptions& o) {
    add_size_range(command, o, "put");
    command.add_option("--sizes", o.sizes, "Sizes in bytes, instead of a range: 8,64K,1M")
        ->group("Sizes")
        ->excludes("--minbytes")
        ->excludes("--maxbytes")
        ->excludes("--stepfactor");
    command
        .add_option("--iters", o.iterations,
                    "How many are timed: round trips, and then puts of a stream, per repetition "
                    "(default: 256 MiB, but 20 to 20000)")
        ->group("Puts")
        ->check(number_in(1, 10'000'000));
    command
        .add_option("-w,--warmup_iters", o.warmup,
                    "How many go before them and are not timed (default: a tenth)")
        ->group("Puts")
        ->check(number_in(0, 10'000'000));
    command
        .add_option("--repetitions", o.repetitions,
                    "How often all of that is measured (default: 5)")
        ->group("Puts")
        ->check(number_in(1, 10'000));
    command
        .add_option("--window", o.window,
                    "Puts of a stream under way, each to a place of its own (default: 4 MiB, but 2 "
                    "to 64)")
        ->group("Puts")
        ->check(number_in(1, 1 << 14));
    command
        .add_flag("--direct", o.direct,
                  "Each size twice: put into landing memory and copied on to plain memory by the "
                  "receiver, and put straight into plain memory that is registered")
        ->group("Puts");
    command
        .add_option("-c,--check", o.check,
                    "Check the data: every byte of further messages, which are not timed; -c alone "
                    "means -c 1 (default: 0)")
        ->group("Puts");
    refuse_iterations_as_ranks(command);
    refuse_option(command, "-r", "is a rank in trefoil plan; write --repetitions");
}

}  // namespace

void add_perf_put(CLI::App& perf, const Invocation& invocation, CommandBody& body) {
    auto options = std::make_shared<PutOptions>();
    CLI::App* command =
        perf.add_subcommand("put", "Measure and check puts with notification between two ranks");
    add_measuring_options(*command, *options);
    add_rank_options(*command, *options);
    command->footer(
        "Latency: rank 0 puts, rank 1 answers with a put of as many bytes; half of a round trip, "
        "p50,\n"
        "p99, min and mean over all of them. A put counts once its notification was polled and its "
        "last "
        "bytes\n"
        "were read. Bandwidth: rank 0 puts, rank 1 acknowledges every half window; from the first "
        "put to\n"
        "the last acknowledgement: median, lowest and highest of the repetitions. Both ranks poll "
        "without\n"
        "pause, each pinned to a core of its own where there are two (TREFOIL_PIN=none: not).\n"
        "#wrong counts messages with wrong bytes; each ends in its number, which is always "
        "compared.\n"
        "Rank 0 puts through its port +0, rank 1 through its port -0; --nics can give each its "
        "NIC.\n"
        "Ranks are started here, or by a launcher that starts two: trefoil run -n 2 -- trefoil "
        "perf put.\n"
        "Exit code: 0, 1 when anything was wrong, 2 for bad input, 3 when the run failed.\n"
        "Example: trefoil perf put --sizes 8,64K,1M --backend ofi --provider net -c");
    command->callback([options, &invocation, &body] {
        body = [options, &invocation] { return perf_put(*options, invocation.arguments); };
    });
}

}  // namespace trefoil::tool
