// SPDX-License-Identifier: BSD-3-Clause
// `trefoil plan`: an algorithm's schedule in words, its cost summary, and the list of algorithms.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "algorithms/json/network.hpp"
#include "algorithms/json/write.hpp"
#include "algorithms/registry/registry.hpp"
#include "bench/common/bounds.hpp"
#include "bench/common/busy.hpp"
#include "bench/common/command.hpp"
#include "bench/common/help.hpp"
#include "bench/common/names.hpp"
#include "bench/common/network_file.hpp"
#include "bench/common/per_node.hpp"
#include "bench/common/renamed_option.hpp"
#include "bench/common/schedule_file.hpp"
#include "bench/common/warnings.hpp"
#include "bench/plan/circuits.hpp"
#include "bench/plan/export.hpp"
#include "bench/plan/help.hpp"
#include "bench/plan/pages.hpp"
#include "bench/plan/play.hpp"
#include "bench/plan/summary.hpp"
#include "bench/plan/table.hpp"
#include "bench/plan/text.hpp"
#include "comm/plan/select.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

struct PlanOptions {
    std::string collective, algorithm, schedule, torus, bytes;
    Rank rank = 0, root = 0, per_node = 0;
    /// By row of option_table(): what is asked, empty for nothing.
    std::vector<std::string> asked = std::vector<std::string>(option_table().size());
    bool summary = false, json = false, skip_proof = false, list = false, all_ranks = false;
    bool table = false, bound = false;
    std::string described;     ///< the form of --describe
    std::string pages;         ///< the folder of the pages
    std::string html, beside;  ///< the page that plays, and what else it shows
    bool asks_for_html = false;
    std::vector<std::string> exported;  ///< form and file; empty: not asked for
    PlanCircuitsCommandLine circuits;
    bool asks_for_circuits = false;
};

int print_table(const PlanOptions& options) {
    std::optional<Collective> only;
    if (!options.collective.empty()) {
        only = find_collective(options.collective);
    }
    const bool pages = !options.pages.empty();
    if (pages && (only || options.json)) {
        throw Error(Status::invalid_argument,
                    fmt::format("--pages writes the pages of all collectives; leave {} out",
                                only ? options.collective : "--json"));
    }
    if (pages) {
        require_folder(options.pages);
    }
    const nlohmann::ordered_json table = [&] {
        const Busy busy("working out the figures of all algorithms");
        return algorithm_table(only,
                               options.torus.empty() ? standard_tori() : split_list(options.torus));
    }();
    if (pages) {
        write_pages(algorithm_pages(table), options.pages);
    } else {
        fmt::print("{}", options.json ? table.dump() + "\n" : algorithm_table_text(table));
    }
    return exit_success;
}

int print_schedules_of_all(const PlanOptions& options, const Torus& torus, const Choice& choice) {
    for (Rank r = 0; r < torus.ranks(); ++r) {
        const Schedule schedule = choice.algorithm->build(torus, r, choice.options);
        if (options.json) {
            fmt::print("{}\n",
                       schedule_json(torus, *choice.algorithm, choice.options, schedule).dump());
        } else {
            fmt::print("{}{}:\n{}", r == 0 ? "" : "\n", rank_text(torus, r),
                       schedule_text(torus, *choice.algorithm, schedule));
        }
    }
    return exit_success;
}

int print_schedule(const PlanOptions& options, const Torus& torus, const Choice& choice) {
    if (options.rank < 0 || options.rank >= torus.ranks()) {
        throw Error(Status::invalid_argument,
                    fmt::format("there is no rank {} on torus {}; its ranks are 0 to {}",
                                options.rank, torus.name(), torus.ranks() - 1));
    }
    const Schedule schedule = choice.algorithm->build(torus, options.rank, choice.options);
    if (options.json) {
        fmt::print("{}\n",
                   schedule_json(torus, *choice.algorithm, choice.options, schedule).dump());
        return exit_success;
    }
    fmt::print("{} by {} on torus {}, {} ranks: what {} does\n",
               to_string(choice.algorithm->collective), to_string(choice), torus.name(),
               torus.ranks(), rank_text(torus, options.rank));
    fmt::print("{}", schedule_text(torus, *choice.algorithm, schedule));
    return exit_success;
}

/// The algorithm of that name with what the options add; with --bytes, auto and the number of
/// pieces are settled as a call of that size would.
Choice chosen(const PlanOptions& options, const std::string& name, Collective collective,
              const Torus& torus) {
    Choice choice = parse_choice(collective, name);
    const bool sized = !options.bytes.empty();
    if (choice.algorithm == nullptr) {
        if (!sized) {
            throw Error(Status::invalid_argument,
                        "which algorithm auto takes depends on the vector; add --bytes 1M");
        }
        choice = choose_algorithm(collective, torus, parse_size(options.bytes), {},
                                  selection_basis(settings_from_environment()))
                     .choice;
    }
    choice.options.root = options.root;
    for (std::size_t i = 0; i < options.asked.size(); ++i) {
        const Option& option = option_table()[i];
        const std::string reason =
            options.asked[i].empty() ? "" : set_option(choice.options, option, options.asked[i]);
        if (!reason.empty()) {
            throw Error(Status::invalid_argument, fmt::format("--{}: {}", option.name, reason));
        }
    }
    if (sized && choice.options.pieces == 0) {
        choice.options.pieces = pieces_for(choice, torus, parse_size(options.bytes),
                                           selection_basis(settings_from_environment()));
    }
    const std::string reason = refusal(choice, torus);
    if (!reason.empty()) {
        throw Error(Status::unsupported, reason);
    }
    return choice;
}

int play(const PlanOptions& options, const Torus& torus, const Choice& choice) {
    PlayOptions asked{options.html, std::nullopt, options.skip_proof};
    if (!options.beside.empty()) {
        asked.beside = chosen(options, options.beside, choice.algorithm->collective, torus);
    }
    return write_playing_page(asked, torus, choice);
}

int show(const PlanOptions& options, const Torus& torus, const Choice& choice) {
    if (options.asks_for_html) {
        return play(options, torus, choice);
    }
    if (!options.exported.empty()) {
        return write_export(
            {options.exported[0], options.exported[1], options.bytes, options.skip_proof}, torus,
            choice);
    }
    if (options.asks_for_circuits) {
        const CircuitsForm form = options.all_ranks ? CircuitsForm::schedules
                                  : options.json    ? CircuitsForm::json
                                                    : CircuitsForm::text;
        return print_circuits(options.circuits, torus, choice, options.bytes, form,
                              prove(options.skip_proof, torus, choice));
    }
    if (options.summary) {
        return print_plan_summary(torus, choice, {options.bytes, options.json, options.skip_proof});
    }
    return options.all_ranks ? print_schedules_of_all(options, torus, choice)
                             : print_schedule(options, torus, choice);
}

/// A schedule of the user's: what it is for stands in the file.
int plan_of_file(const PlanOptions& options, Collective collective) {
    const bool asked = std::ranges::any_of(options.asked, [](const auto& a) { return !a.empty(); });
    if (!options.algorithm.empty() || options.root != 0 || asked) {
        throw Error(Status::invalid_argument,
                    "--schedule has everything: leave --algorithm, its options and "
                    "--root out");
    }
    const auto schedule = read_schedule(collective, options.schedule);
    if (!options.torus.empty() && !(Torus::parse(options.torus) == schedule->torus())) {
        throw Error(Status::unsupported,
                    fmt::format("the schedule was made for the torus {}, not for {}",
                                schedule->torus().name(), options.torus));
    }
    return show(options, schedule->torus(), {&schedule->algorithm(), {.root = schedule->root()}});
}

void require_one_output(const PlanOptions& options) {
    if (!options.beside.empty() && !options.asks_for_html) {
        throw Error(Status::invalid_argument,
                    "--beside is for the page that --html writes: add --html FILE");
    }
    if (options.asks_for_html && (options.summary || options.list || options.table ||
                                  options.all_ranks || options.json || options.asks_for_circuits)) {
        throw Error(Status::invalid_argument,
                    "--html writes a page with all ranks' steps; leave --summary, --json, --list, "
                    "--table, --all-ranks and --circuits out");
    }
}

/// The network itself: no collective is needed.
int describe(const PlanOptions& options) {
    if (options.torus.empty() || !options.collective.empty() || !options.algorithm.empty()) {
        throw Error(Status::invalid_argument,
                    "--describe prints a network: give --torus alone, without a collective");
    }
    const Fabric fabric(Torus::parse(options.torus));
    fmt::print("{}\n", options.described == "json" ? network_json(fabric).dump(2) : fabric.name());
    return exit_success;
}

int plan(const PlanOptions& options) {
    require_one_output(options);
    if (!options.bytes.empty()) {
        warn_of_unknown_variables();
    }
    if (!options.exported.empty()) {
        require_form(options.exported[0]);
        if (options.asks_for_html || options.summary || options.list || options.table ||
            options.all_ranks || options.json || options.asks_for_circuits) {
            throw Error(Status::invalid_argument,
                        "--export writes a file with all ranks' steps; leave --summary, --json, "
                        "--list, --table, --all-ranks, --circuits and --html out");
        }
    }
    if (options.asks_for_circuits && (options.summary || options.list || options.table ||
                                      (options.all_ranks && !options.json))) {
        throw Error(
            Status::invalid_argument,
            "--circuits shows all ranks' steps at once; leave --summary, --list and --table "
            "out, and --all-ranks unless it comes with --json");
    }
    if (!options.table && !options.pages.empty()) {
        throw Error(Status::invalid_argument, "--pages is for --table");
    }
    if (options.table) {
        return print_table(options);
    }
    if (!options.described.empty()) {
        return describe(options);
    }
    if (options.collective.empty()) {
        throw Error(Status::invalid_argument,
                    "plan needs a collective, e.g. trefoil plan allreduce --list; only --table and "
                    "--describe do without");
    }
    const bool asks_for_one = !options.schedule.empty() || options.summary || options.json ||
                              options.all_ranks || options.asks_for_html ||
                              !options.exported.empty() || options.asks_for_circuits;
    if (options.bound) {
        if (options.torus.empty() || !options.algorithm.empty() || !options.schedule.empty()) {
            throw Error(
                Status::invalid_argument,
                "--bound applies to all algorithms: give a collective and --torus, and leave "
                "--algorithm and --schedule out");
        }
        const Torus torus = Torus::parse(options.torus);
        if (options.root < 0 || options.root >= torus.ranks()) {
            throw Error(Status::invalid_argument,
                        fmt::format("there is no rank {} on torus {}; its ranks are 0 to {}",
                                    options.root, torus.name(), torus.ranks() - 1));
        }
        return print_bound(torus, find_collective(options.collective), options.root, options.json);
    }
    if (options.list || (options.algorithm.empty() && !asks_for_one)) {
        fmt::print("{}", algorithm_list(find_collective(options.collective), options.torus));
        return exit_success;
    }
    const Collective collective = find_collective(options.collective);
    if (!options.schedule.empty()) {
        return plan_of_file(options, collective);
    }
    if (options.algorithm.empty() || options.torus.empty()) {
        throw Error(Status::invalid_argument,
                    "plan needs --algorithm NAME and --torus SIZES, e.g. trefoil plan allreduce "
                    "--algorithm ring --torus 3x3; --list names the algorithms");
    }
    if (options.root != 0 && !traits_of(collective).rooted()) {
        throw Error(Status::invalid_argument,
                    fmt::format("{} has no root; leave --root out", to_string(collective)));
    }
    const Torus torus = Torus::parse(options.torus);
    const Choice choice = chosen(options, options.algorithm, collective, torus);
    return show(options, torus, choice);
}

/// One for each row of the table.
void add_algorithm_options(CLI::App& command, const std::shared_ptr<PlanOptions>& options) {
    for (std::size_t i = 0; i < option_table().size(); ++i) {
        const Option& option = option_table()[i];
        const std::string name = "--" + std::string(option.name);
        const std::string help(option.help);
        std::string& asked = options->asked[i];
        if (option.is_flag()) {
            command.add_flag_callback(
                name, [options, i] { options->asked[i] = option_table()[i].values.front().text; },
                help);
        } else if (option.is_number()) {
            command.add_option(name, asked, help)->type_name("NUMBER");
        } else {
            command.add_option(name, asked,
                               fmt::format("{}: {}", help, fmt::join(words_of(option), ", ")));
        }
    }
}

}  // namespace

void add_plan(CLI::App& app, CommandBody& body) {
    auto options = std::make_shared<PlanOptions>();
    CLI::App* command =
        app.add_subcommand("plan", "Show what an algorithm does on a torus, and what it costs");
    command->add_option("collective", options->collective,
                        "allreduce, reduce_scatter, allgather, bcast, reduce, gather, scatter, "
                        "alltoall or barrier");
    command->add_option(
        "-a,--algorithm", options->algorithm,
        "Name of an algorithm, as --list shows it, with modifiers or without (swing:send); "
        "with --bytes also auto");
    command->add_option(
        "--schedule", options->schedule,
        "A file with the schedules of all ranks, as --all-ranks --json prints them, instead "
        "of an algorithm; it is verified first");
    take_network_files(command->add_option(
        "-t,--torus", options->torus,
        "Sizes of the torus, such as 9, 3x3, 2x3x4; 4mx3m: lines, as in a mesh; with --table "
        "several: 9,3x3; 3x3x4h: nodes of 4 ranks; a colon before each thing that is missing or "
        "slow: 4x4:node=5:cable=+0@4=0.5, or FILE.json"));
    add_per_node(*command, options->per_node);
    command->add_option("-r,--rank", options->rank, "Whose schedule (default: 0)");
    command->add_flag("--all-ranks", options->all_ranks,
                      "The schedules of all ranks; with --json one object per line");
    command->add_option("--root", options->root,
                        "Root of bcast, reduce, gather and scatter (default: 0)");
    add_algorithm_options(*command, options);
    command->add_option(
        "--bytes", options->bytes,
        "Bytes of the vector; gives as many pieces as a call would take, and with --summary "
        "the time that the model of auto expects");
    command->add_flag(
        "--summary", options->summary,
        "The cost over all ranks instead of one rank's schedule, and whether it is verified");
    command->add_flag("--json", options->json, "Print JSON: one object");
    command
        ->add_option(
            "--html", options->html,
            "Write a page that plays in any browser: the schedules of all ranks, step by step; "
            "one file of at most 5 MiB that needs no network")
        ->type_name("FILE");
    command->add_option("--beside", options->beside,
                        "With --html: a second algorithm, played beside the first one");
    command
        ->add_option("--export", options->exported,
                     "Write the schedules of all ranks for other tools: goal (LogGOPSim; sizes are "
                     "those of --bytes, 1M by default) or dot (Graphviz), and a file")
        ->expected(2)
        ->type_name("FORM FILE");
    command->add_flag("--no-verify", options->skip_proof,
                      "With --summary, --circuits, --html and --export: do not verify the "
                      "schedules, which takes long on large tori");
    command->add_flag(
        "--list", options->list,
        "List the collective's algorithms (so does plan without --algorithm); with --torus, show "
        "which refuse it and why");
    command->add_flag("--bound", options->bound,
                      "Instead of an algorithm: the least time that any algorithm needs on this "
                      "network, and which links are the reason; --json has the proof");
    command
        ->add_option("--describe", options->described,
                     "Print the network of --torus: as text, for --torus and TREFOIL_TORUS, or as "
                     "json, for a file")
        ->check(one_of({"text", "json"}));
    command->add_flag(
        "--table", options->table,
        "Print tables: all algorithms of the collective, or of all, with their properties "
        "and their figures on a list of tori");
    command
        ->add_option("--pages", options->pages,
                     "Write pages into this folder, with --table: an index and one per collective")
        ->type_name("DIR");
    refuse_option(*command, "--markdown", "is called --pages, as in trefoil manual");
    command->footer(plan_footer);
    add_plan_circuits(*command, options->circuits);
    command->callback([command, options, &body] {
        options->torus = with_nodes(options->torus, options->per_node);
        body = [command, options] {
            options->asks_for_circuits = asks_for_plan_circuits(*command);
            options->asks_for_html = command->count("--html") > 0;
            return plan(*options);
        };
    });
}

}  // namespace trefoil::tool
