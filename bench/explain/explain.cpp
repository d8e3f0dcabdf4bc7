// SPDX-License-Identifier: BSD-3-Clause
// The command line of `trefoil explain`.
#include "bench/explain/explain.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "bench/common/busy.hpp"
#include "bench/common/names.hpp"
#include "bench/common/network_file.hpp"
#include "bench/common/per_node.hpp"
#include "bench/common/plot.hpp"
#include "bench/common/renamed_option.hpp"
#include "bench/common/warnings.hpp"
#include "bench/explain/crossovers.hpp"
#include "bench/explain/explanation.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

constexpr const char* explain_footer =
    R"(The choice is made by the code that a communicator runs, for a vector of SIZE bytes in all
(of all blocks, rounded up to whole elements). TREFOIL_ALGORITHM, TREFOIL_MODEL,
TREFOIL_TUNING, TREFOIL_REPRODUCIBLE, TREFOIL_SINGLE_COPY, TREFOIL_SEGMENT_BYTES and
TREFOIL_LANDING_BYTES count as in a job.

Shown for each candidate: the modelled time, that as a multiple of the least one, steps, hops of the
longest routes, the load of the busiest link summed over the steps and what a rank sends (both
in vectors), and what each term of the model adds in microseconds. The cost of reducing is in
the model only where ranks share cores ("bytes"). Below them: the algorithms that were not
considered, and the origin of each number of the model.

The bound of throughput is what no algorithm can beat on this network, start-up times and hops
left out (trefoil plan --bound).

--map shows which algorithm is picked for many sizes and shapes; --plot draws that.

Examples:
  trefoil explain allreduce 64K --torus 4x4 --datatype int32 --op max
  trefoil explain bcast --map --torus 8,9,3x3,4x4 --sizes 64,4K,256K,16M --plot bcast.svg)";

void require_sensible(const ExplainOptions& options) {
    if (options.collective.empty() || options.torus.empty() ||
        (options.size.empty() && !options.map)) {
        throw Error(Status::invalid_argument,
                    "explain needs a collective, a size and --torus SIZES, e.g. trefoil explain "
                    "allreduce 64K --torus 4x4; or --map for many sizes");
    }
    if (options.map && !options.size.empty()) {
        throw Error(Status::invalid_argument,
                    "--map has many sizes: give them as --sizes " + options.size + ",...");
    }
    if (!options.map && (!options.sizes.empty() || !options.plot.empty())) {
        throw Error(Status::invalid_argument, "--sizes and --plot belong to --map");
    }
}

int explain(const ExplainOptions& options) {
    require_sensible(options);
    warn_of_unknown_variables();
    if (settings_from_environment().learn) {
        fmt::print(stderr,
                   "trefoil: TREFOIL_LEARN is set: a job may change this choice once it has timed "
                   "the alternatives\n");
    }
    if (!options.map) {
        const ExplainedJob job = explained_job(options, options.torus);
        const Request request = explained_request(options, job.map.torus, parse_size(options.size));
        const auto found = [&] {
            const Busy busy("pricing the algorithms");
            return explanation(job, request);
        }();
        fmt::print("{}", options.json ? found.dump() + "\n" : explanation_text(found));
        return exit_success;
    }
    if (!options.plot.empty()) {
        check_figure_file(options.plot);
    }
    const auto map = [&] {
        const Busy busy("pricing the algorithms of all sizes and shapes");
        return crossovers(options);
    }();
    fmt::print("{}", options.json ? map.dump() + "\n" : crossovers_text(map));
    if (!options.plot.empty()) {
        draw_crossovers(map, options.plot);
    }
    return exit_success;
}

}  // namespace

void add_explain(CLI::App& app, CommandBody& body) {
    auto options = std::make_shared<ExplainOptions>();
    CLI::App* command =
        app.add_subcommand("explain", "Explain which algorithm auto picks, and why");
    command->add_option("collective", options->collective, "allreduce, bcast, ...");
    command->add_option("size", options->size, "Bytes of the whole vector, such as 64K");
    take_network_files(command->add_option(
        "-t,--torus", options->torus,
        "Sizes of the torus, such as 3x3; with --map several: 8,3x3; with what it lacks: "
        "3x3:cable=+0@4, or FILE.json"));
    add_per_node(*command, options->per_node);
    command->add_option("-d,--datatype", options->type, "Type of the elements (default: float)");
    command->add_option("-o,--op", options->operation, "Operation of reductions (default: sum)");
    command->add_option("--root", options->root,
                        "Root of bcast, reduce, gather and scatter (default: 0)");
    command->add_option("--backend", options->backend,
                        "The transport: " + backend_names() + " (default: the one between hosts)");
    command->add_option("--ranks-per-core", options->ranks_per_core,
                        "More than 1: ranks share cores (default: 1)");
    command->add_option(
        "--ranks-per-node", options->ranks_per_node,
        "Ranks of one host, by which the tuning file is read (default: --per-node; with shared "
        "memory all)");
    command->add_flag("--map", options->map, "Which algorithm is picked, by size and shape");
    command->add_option("--sizes", options->sizes, "Sizes in bytes, for --map, such as 64,4K,1M");
    command
        ->add_option("--plot", options->plot, "Draw a figure in this file (.svg or .png): the map")
        ->type_name("FILE");
    command->add_flag("--json", options->json, "Print JSON: one object");
    refuse_option(*command, "--type", "is called --datatype, as in trefoil perf");
    command->footer(explain_footer);
    command->callback([options, &body] {
        options->torus = with_nodes(options->torus, options->per_node);
        body = [options] { return explain(*options); };
    });
}

}  // namespace trefoil::tool
