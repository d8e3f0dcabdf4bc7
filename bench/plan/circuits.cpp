// SPDX-License-Identifier: BSD-3-Clause
// The cheapest wirings of a schedule, port by port, and their proof.
#include "bench/plan/circuits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "algorithms/rewiring/port_circuits.hpp"
#include "algorithms/rewiring/rewiring.hpp"
#include "bench/common/command.hpp"
#include "bench/common/names.hpp"
#include "bench/plan/wired_schedules.hpp"
#include "bench/sim/units.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

using Json = nlohmann::ordered_json;
constexpr const char* machine_group = "Machine of the circuits";
constexpr const char* default_bytes = "1M";

struct Answer {
    Circuits circuits;
    RewiringCosts costs;
    std::size_t bytes = 0;
    WiringSequence sequence;
};

std::vector<PortCircuit> circuits_of_wiring(const Torus& torus, const Rewiring& rewiring,
                                            std::size_t wiring, const WiringLimits& limits) {
    std::vector<PortCircuit> all;
    for (int j = 0; j < torus.dimensions(); ++j) {
        const auto one = port_circuits(torus, j, rewiring.wiring(wiring, j), limits);
        all.insert(all.end(), one.begin(), one.end());
    }
    return all;
}

std::string wiring_name(const Torus& torus, const Rewiring& rewiring, std::size_t wiring) {
    std::string text;
    for (int j = 0; j < torus.dimensions(); ++j) {
        text += (j == 0 ? "" : " | ") + to_string(rewiring.wiring(wiring, j));
    }
    return text;
}

Json step_json(const Torus& torus, const Rewiring& rewiring, const Answer& answer, std::size_t i,
               bool changed, const std::vector<PortCircuit>& circuits) {
    const std::size_t wiring = answer.sequence.wirings[i];
    const WiringLoad load = rewiring.load(i, wiring);
    Json list = Json::array();
    for (const PortCircuit& c : circuits) {
        list.push_back(
            {{"from", c.from}, {"out", to_string(c.out)}, {"to", c.to}, {"in", to_string(c.in)}});
    }
    return {
        {"step", rewiring.step(i).step},
        {"wiring", wiring_name(torus, rewiring, wiring)},
        {"changed", changed},
        {"hops", load.hops},
        {"load", load.load},
        {"seconds", rewiring.seconds(i, wiring, answer.costs, static_cast<double>(answer.bytes))},
        {"circuits", std::move(list)}};
}

std::string step_line(const Json& step) {
    return fmt::format("  {:>4}   {:<7} {:>4}   {:>10.6g}   {:>10}   {:>8}   {}\n",
                       step["step"].get<int>(), step["changed"].get<bool>() ? "yes" : "no",
                       step["hops"].get<int>(), step["load"].get<double>(),
                       time_text(step["seconds"].get<double>()), step["circuits"].size(),
                       step["wiring"].get<std::string>());
}

void refuse_unwirable(const Rewiring& rewiring, const RewiringOptions& options) {
    if (options.candidates == Candidates::own && !rewiring.unwirable().empty()) {
        throw Error(Status::unsupported,
                    rewiring.unwirable().front().reason +
                        "; so the step cannot have circuits of its own. --circuits shifted finds "
                        "others that carry it");
    }
}

Answer answer_of(const PlanCircuitsCommandLine& given, const std::string& bytes) {
    Answer answer;
    CircuitsCommandLine circuits = given.circuits;
    circuits.reconfigurable = circuits.reconfigurable.empty() ? "0" : circuits.reconfigurable;
    answer.circuits = read_circuits(circuits);
    if (answer.circuits.reconfigurations.size() > 1) {
        throw Error(Status::invalid_argument, "--reconfigurable is one time in trefoil plan");
    }
    answer.costs = answer.circuits.costs;
    answer.costs.alpha = parse_time(given.alpha.empty() ? "0" : given.alpha);
    answer.costs.hop = parse_time(given.hop.empty() ? "500ns" : given.hop);
    answer.costs.byte = 1 / parse_rate(given.rate.empty() ? "800Gbit" : given.rate);
    answer.bytes = parse_size(bytes.empty() ? default_bytes : bytes);
    return answer;
}

}  // namespace

void add_plan_circuits(CLI::App& command, PlanCircuitsCommandLine& given) {
    add_circuits_options(command, given.circuits);
    const auto add = [&](const char* name, std::string& text, const std::string& help) {
        command.add_option(name, text, help)->group(machine_group);
    };
    add("--alpha", given.alpha,
        "Start-up of a message, or of a step: 1.5us; with --circuits (default: 0)");
    add("--hop", given.hop,
        "Time for each link that a message crosses; with --circuits (default: 500ns)");
    add("--rate", given.rate,
        "Rate of each link and direction; with --circuits (default: 800Gbit)");
}

bool asks_for_plan_circuits(const CLI::App& command) {
    const bool any = std::ranges::any_of(command.get_options(), [](const CLI::Option* option) {
        return option->count() > 0 &&
               (option->get_group() == circuits_group || option->get_group() == machine_group);
    });
    if (any && command.count("--circuits") == 0) {
        throw Error(Status::invalid_argument,
                    "options about circuits need --circuits own or --circuits shifted");
    }
    return any;
}

int print_circuits(const PlanCircuitsCommandLine& given, const Torus& torus, const Choice& choice,
                   const std::string& bytes, CircuitsForm form,
                   std::optional<bool> schedules_proved) {
    Answer answer = answer_of(given, bytes);
    const RewiringOptions& options = answer.circuits.options;
    const Rewiring rewiring(torus, *choice.algorithm, choice.options, options);
    refuse_unwirable(rewiring, options);
    answer.sequence = rewiring.optimum(answer.costs, static_cast<double>(answer.bytes));
    const auto& wirings = answer.sequence.wirings;
    bool proved = schedules_proved.value_or(true);
    std::size_t stands = answer.costs.free_start && !wirings.empty() ? wirings.front() : 0;
    Json steps = Json::array();
    for (std::size_t i = 0; i < rewiring.steps(); ++i) {
        const auto circuits = circuits_of_wiring(torus, rewiring, wirings[i], options.limits);
        const std::string why = circuits_refusal(torus, rewiring.step(i), circuits);
        if (!why.empty()) {
            fmt::print(stderr, "trefoil: {} on {}: {}\n", to_string(choice), torus.name(), why);
            proved = false;
        }
        steps.push_back(step_json(torus, rewiring, answer, i, wirings[i] != stands, circuits));
        stands = wirings[i];
    }
    if (form == CircuitsForm::schedules) {
        fmt::print("{}", proved ? wired_schedules(torus, choice, rewiring, answer.sequence) : "");
        return proved ? exit_success : exit_wrong;
    }
    const double unchanged =
        rewiring.static_seconds(answer.costs, static_cast<double>(answer.bytes));
    if (form == CircuitsForm::json) {
        const Json all{{"collective", to_string(choice.algorithm->collective)},
                       {"algorithm", choice.algorithm->name},
                       {"used", to_string(choice)},
                       {"torus", torus.name()},
                       {"ranks", torus.ranks()},
                       {"bytes", answer.bytes},
                       {"alpha", answer.costs.alpha},
                       {"hop", answer.costs.hop},
                       {"rate", 1 / answer.costs.byte},
                       {"reconfigurable", answer.costs.reconfiguration},
                       {"conventions", conventions_json(answer.circuits)},
                       {"seconds", answer.sequence.seconds},
                       {"static_seconds", unchanged},
                       {"changes", answer.sequence.changes},
                       {"schedules_proved", schedules_proved ? Json(*schedules_proved) : Json()},
                       {"proved", proved},
                       {"steps", std::move(steps)}};
        fmt::print("{}\n", all.dump());
        return proved ? exit_success : exit_wrong;
    }
    fmt::print(
        "{} by {} on torus {}, {} ranks: circuits of each step\n{} bytes, {} a step, {} a hop, {}, "
        "{} a change\n{}\n\n  step   changes hops   largest load   time       circuits   wiring\n",
        to_string(choice.algorithm->collective), to_string(choice), torus.name(), torus.ranks(),
        size_text(answer.bytes), time_text(answer.costs.alpha), time_text(answer.costs.hop),
        rate_text(1 / answer.costs.byte), time_text(answer.costs.reconfiguration),
        conventions_text(answer.circuits));
    for (const Json& step : steps) {
        fmt::print("{}", step_line(step));
    }
    fmt::print("\n  {} with changes: {}; {} without; circuits that carry their steps: {}\n",
               time_text(answer.sequence.seconds), answer.sequence.changes, time_text(unchanged),
               proved ? "proved" : "NO");
    return proved ? exit_success : exit_wrong;
}

}  // namespace trefoil::tool
