// SPDX-License-Identifier: BSD-3-Clause
// Options of changing circuits, what goes with them, and the list of runs.
#include "bench/sim/rewiring.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "bench/common/busy.hpp"
#include "bench/common/command.hpp"
#include "bench/common/names.hpp"
#include "bench/sim/page.hpp"
#include "bench/sim/report.hpp"
#include "bench/sim/rewiring_map.hpp"
#include "bench/sim/rewiring_report.hpp"
#include "bench/sim/rewiring_runs.hpp"
#include "bench/sim/units.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

/// What may be typed beside the options of the group.
constexpr std::array<std::string_view, 14> allowed{
    "--schedule", "--algorithm", "--torus", "--sizes",   "--machine", "--rate", "--alpha",
    "--hop",      "--json",      "--model", "--network", "--help",    "--html", "collective"};

void check_options(const CLI::App& command, const SimCommandLine& given) {
    const bool changing = !given.circuits.reconfigurable.empty();
    for (const CLI::Option* option : command.get_options()) {
        const bool ours = option->get_group() == circuits_group;
        if (option->count() == 0) {
            continue;
        }
        if (!changing && ours) {
            throw Error(Status::invalid_argument,
                        option->get_name() +
                            " is about circuits that change; add --reconfigurable TIME, what a "
                            "change takes");
        }
        const std::string name =
            option->get_lnames().empty() ? option->get_name() : "--" + option->get_lnames().front();
        if (changing && !ours && std::ranges::find(allowed, name) == allowed.end()) {
            throw Error(Status::invalid_argument,
                        name +
                            " does not go with --reconfigurable, which has a model of its own; "
                            "leave one of them out");
        }
    }
    if (changing && command.count("--model") > 0 && given.model != "step") {
        throw Error(Status::invalid_argument,
                    "circuits change between steps for which all ranks wait: give --model step, or "
                    "leave --model out");
    }
}

RewiringQuestion read(const SimCommandLine& given, std::vector<double>& hops) {
    SimCommandLine first = given;
    for (const std::string& hop : split_list(given.hop.empty() ? "0" : given.hop)) {
        hops.push_back(parse_time(hop));
    }
    if (hops.size() > 1) {
        first.hop = split_list(given.hop).front();
    }
    RewiringQuestion question;
    question.sim = read_sim_options(first);
    if (given.hop.empty()) {
        hops.front() = question.sim.machine.costs.hop;
    }
    if (question.sim.machine.network != "torus") {
        throw Error(Status::unsupported,
                    "circuits that change need a torus, not a " + question.sim.machine.network);
    }
    const Machine& machine = question.sim.machine;
    if (!machine.is_plain_torus() || question.sim.changes_links() || machine.costs.has_work()) {
        throw Error(Status::unsupported,
                    "circuits that change need links that are all alike, and copies and reductions "
                    "that take no time; use another machine");
    }
    question.circuits = read_circuits(given.circuits);
    question.single_port = given.map.single_port;
    if (given.map.fallback != "all" && given.map.fallback != "asked") {
        throw Error(Status::invalid_argument,
                    "--fallback is all or asked, not \"" + given.map.fallback + "\"");
    }
    question.fall_back_to_all = given.map.fallback == "all";
    if (given.map.files.empty() &&
        (hops.size() > 1 || question.circuits.reconfigurations.size() > 1)) {
        throw Error(Status::invalid_argument,
                    "lists of times for --hop and --reconfigurable are the axes of a map; add "
                    "--heatmap FILE, or give one time each");
    }
    return question;
}

nlohmann::ordered_json head_json(const RewiringQuestion& question,
                                 const std::vector<std::string>& left_out) {
    return {{"machine", json_of(question.sim.machine)},
            {"conventions", conventions_json(question.circuits)},
            {"single_port", question.single_port},
            {"runs", nlohmann::ordered_json::array()},
            {"left_out", left_out}};
}

void list_runs(const RewiringQuestion& question, const std::vector<RewiringField>& fields,
               const std::vector<std::string>& left_out) {
    const RewiringCosts costs = costs_of(question);
    nlohmann::ordered_json all = head_json(question, left_out);
    std::string text = rewiring_head(question);
    for (const RewiringField& field : fields) {
        for (const RewiringSubject& subject : field.subjects) {
            for (const std::size_t bytes : question.sim.sizes) {
                const RewiringRun run =
                    run_of(question, field, subject, costs, static_cast<double>(bytes));
                if (question.sim.json) {
                    all["runs"].push_back(json_of(question, subject, run, costs, bytes));
                } else {
                    text += line_of(subject, run, bytes);
                }
            }
            for (const Unwirable& one : subject.rewiring->unwirable()) {
                text += fmt::format("# {} on {} cannot have its own circuits: {}\n",
                                    to_string(subject.choice), subject.torus.name(), one.reason);
            }
        }
    }
    for (const std::string& reason : left_out) {
        text += "# left out: " + reason + "\n";
    }
    fmt::print("{}", question.sim.json ? all.dump() + "\n" : text);
}

}  // namespace

void add_rewiring_options(CLI::App& command, SimCommandLine& given) {
    add_circuits_options(command, given.circuits);
    const auto add = [&](const char* name, std::string& text, const std::string& help) {
        command.add_option(name, text, help)->group(circuits_group);
    };
    command
        .add_flag(
            "--single-port", given.map.single_port,
            "The variant that uses one port at a time, as published; also for what it is compared "
            "with")
        ->group(circuits_group);
    add("--fallback", given.map.fallback,
        "Compare with the cheapest static schedule of all algorithms of the collective (all, "
        "default) or of ring and the algorithms asked for (asked)");
    add("--heatmap", given.map.files,
        "Gain over times of --reconfigurable and --hop, which then are lists, a panel for each "
        "algorithm, torus and size: FILE.svg, FILE.png or FILE.json, or a list of them");
    add("--gain", given.map.gain,
        "With --heatmap: over the cheapest static schedule (static, default) or over ring (ring)");
}

bool asks_for_circuits(const CLI::App& command) {
    return std::ranges::any_of(command.get_options(), [](const CLI::Option* option) {
        return option->count() > 0 && option->get_group() == circuits_group;
    });
}

int sim_with_circuits(const CLI::App& command, const SimCommandLine& given) {
    check_options(command, given);
    std::vector<double> hops;
    const RewiringQuestion question = read(given, hops);
    check_map_options(given.map);
    std::vector<std::string> left_out;
    std::vector<RewiringField> fields;
    for (const std::string& name : question.sim.tori) {
        const Busy busy("looking for the best wirings of " + name);
        fields.push_back(rewiring_field(question, Torus::parse(name), left_out));
    }
    if (std::ranges::all_of(fields, [](const RewiringField& f) { return f.subjects.empty(); })) {
        throw Error(Status::unsupported,
                    fmt::format("none of the algorithms runs on these tori:\n  {}",
                                fmt::join(left_out, "\n  ")));
    }
    for (RewiringField& field : fields) {
        left_out.insert(left_out.end(), field.not_compared.begin(), field.not_compared.end());
    }
    if (command.count("--html") > 0) {
        if (!given.map.files.empty()) {
            throw Error(Status::invalid_argument, "--html and --heatmap exclude each other");
        }
        return write_rewiring_page(question, fields, given.html);
    }
    if (given.map.files.empty()) {
        list_runs(question, fields, left_out);
    } else {
        draw_map(question, fields, given.map, hops);
    }
    return exit_success;
}

}  // namespace trefoil::tool
