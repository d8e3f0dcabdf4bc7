// SPDX-License-Identifier: BSD-3-Clause
// Names, static schedules to compare with, and the figures of one run.
#include "bench/sim/rewiring_runs.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>

#include "algorithms/analysis/cost.hpp"
#include "algorithms/registry/registry.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

/// What the short-circuiting paper and others call one algorithm has a name per collective here.
struct Family {
    std::string_view name;
    std::array<std::string_view, 3> members;  ///< of allreduce, reduce_scatter, allgather
};
constexpr Family families[] = {
    {"recursive-doubling", {"recursive-doubling-b", "recursive-halving", "recursive-doubling"}},
    {"recursive-halving", {"recursive-doubling-b", "recursive-halving", "recursive-doubling"}},
    {"swing", {"swing-b", "swing", "swing"}},
    {"trivance", {"trivance-b", "trivance", "trivance"}},
    {"bine", {"bine-large", "bine", "bine"}},
};

/// Above so many ranks only those asked are compared: schedules in which all send to all are large.
constexpr Rank most_compared = 1024;

std::string member_of(Collective collective, const std::string& asked) {
    const std::size_t colon = asked.find(':');
    const std::string name = asked.substr(0, colon);
    for (const Family& family : families) {
        if (family.name == name) {
            const std::size_t index = collective == Collective::allreduce        ? 0
                                      : collective == Collective::reduce_scatter ? 1
                                                                                 : 2;
            return std::string(family.members[index]) +
                   (colon == std::string::npos ? "" : asked.substr(colon));
        }
    }
    return asked;
}

Phase phase_of(Collective collective) {
    switch (collective) {
        case Collective::allreduce:
            return Phase::allreduce;
        case Collective::reduce_scatter:
            return Phase::reduce_scatter;
        case Collective::allgather:
            return Phase::allgather;
        default:
            throw Error(Status::unsupported,
                        "circuits change during allreduce, reduce_scatter and allgather only; " +
                            std::string(to_string(collective)) + " has no ring to compare with");
    }
}

/// With --single-port where the algorithm has it.
Choice with_ports(const RewiringQuestion& question, Choice choice) {
    choice.options.single_port |= question.single_port;
    return choice;
}

/// The cost summary of `trefoil plan`, which needs little memory, sends ties both ways.
StaticSchedule static_schedule(const RewiringQuestion& question, const Torus& torus,
                               const Choice& choice) {
    StaticSchedule result{.name = to_string(choice)};
    if (question.circuits.options.tie == Tie::both) {
        const CostSummary cost = summarize(torus, *choice.algorithm, choice.options);
        result.steps = cost.steps;
        result.hops = static_cast<double>(cost.sum_hops);
        result.load = cost.sum_link_load;
        return result;
    }
    RewiringOptions options = question.circuits.options;
    options.candidates = Candidates::none;
    const Rewiring rewiring(torus, *choice.algorithm, choice.options, options);
    for (std::size_t i = 0; i < rewiring.steps(); ++i) {
        const WiringLoad load = rewiring.load(i, 0);
        result.steps += 1;
        result.hops += load.hops;
        result.load += load.load;
    }
    return result;
}

bool is_halving(const Choice& choice, const Torus& torus) {
    const std::string_view name = choice.algorithm->name;
    return (name == "recursive-halving" || name == "recursive-doubling" ||
            name == "recursive-doubling-b") &&
           torus.dimensions() == 1 && torus.ranks() > 1 &&
           std::has_single_bit(static_cast<std::uint32_t>(torus.ranks()));
}

void add_statics(const RewiringQuestion& question, const Torus& torus, RewiringField& field) {
    const auto add = [&](const Choice& choice) {
        const std::string name = to_string(choice);
        for (const StaticSchedule& known : field.statics) {
            if (known.name == name) {
                return;
            }
        }
        field.statics.push_back(static_schedule(question, torus, choice));
    };
    const Collective collective = question.sim.collective;
    add(with_ports(question, {&find_algorithm(collective, "ring"), {}}));
    for (const RewiringSubject& subject : field.subjects) {
        add(subject.choice);
    }
    if (!question.fall_back_to_all) {
        return;
    }
    if (torus.ranks() > most_compared) {
        field.not_compared.push_back(
            fmt::format("{}: above {} ranks only the algorithms asked are compared with",
                        torus.name(), most_compared));
        return;
    }
    for (const Algorithm& algorithm : algorithms()) {
        const Choice choice = with_ports(question, {&algorithm, {}});
        const Selection& selection = algorithm.selection;
        if (algorithm.collective == collective && !algorithm.traits.reads_peers &&
            !selection.only_by_name_on(torus) && selection.most_ranks >= torus.ranks() &&
            refusal(choice, torus).empty()) {
            add(choice);
        }
    }
}

/// All of the collective's for "all".
std::vector<std::string> names_of(const RewiringQuestion& question) {
    std::vector<std::string> names;
    for (const std::string& asked : question.sim.algorithms) {
        if (asked != "all") {
            names.push_back(asked);
            continue;
        }
        for (const Algorithm& algorithm : algorithms()) {
            if (algorithm.collective == question.sim.collective) {
                names.emplace_back(algorithm.name);
            }
        }
    }
    return names;
}

}  // namespace

RewiringField rewiring_field(const RewiringQuestion& question, const Torus& torus,
                             std::vector<std::string>& left_out) {
    const Phase phase = phase_of(question.sim.collective);
    RewiringField field;
    const auto add = [&](const std::string& asked, const Choice& choice, bool registered) {
        const std::string refused = refusal(choice, torus);
        if (!refused.empty() || choice.algorithm->traits.reads_peers) {
            left_out.push_back(torus.name() + ": " +
                               (refused.empty() ? std::string(choice.algorithm->name) +
                                                      " reads its peers' memory and sends nothing"
                                                : refused));
            return;
        }
        auto rewiring = std::make_unique<const Rewiring>(torus, *choice.algorithm, choice.options,
                                                         question.circuits.options);
        RewiringSubject subject{asked, choice, torus, std::move(rewiring), {}};
        if (registered && is_halving(choice, torus)) {
            subject.phase = phase;
        }
        field.subjects.push_back(std::move(subject));
    };
    if (question.sim.schedule) {
        const Choice choice{&question.sim.schedule->algorithm(), {}};
        add(to_string(choice), choice, false);
    }
    for (const std::string& asked : names_of(question)) {
        const Choice choice =
            parse_choice(question.sim.collective, member_of(question.sim.collective, asked));
        if (choice.algorithm == nullptr) {
            throw Error(Status::invalid_argument,
                        "auto chooses by its own model; name algorithms, or all");
        }
        add(asked, with_ports(question, choice), true);
    }
    if (!field.subjects.empty()) {
        add_statics(question, torus, field);
    }
    return field;
}

RewiringCosts costs_of(const RewiringQuestion& question) {
    RewiringCosts costs = question.circuits.costs;
    costs.alpha = question.sim.machine.costs.alpha;
    costs.hop = question.sim.machine.costs.hop;
    costs.byte = 1 / question.sim.machine.rates.front();
    return costs;
}

RewiringRun run_of(const RewiringQuestion& question, const RewiringField& field,
                   const RewiringSubject& subject, const RewiringCosts& costs, double bytes) {
    RewiringRun run;
    run.sequence = subject.rewiring->optimum(costs, bytes);
    run.seconds = run.sequence.seconds;
    run.static_seconds = subject.rewiring->static_seconds(costs, bytes);
    run.ring_seconds = field.statics.front().seconds(costs, bytes);
    run.best_static_seconds = run.ring_seconds;
    run.best_static = field.statics.front().name;
    for (const StaticSchedule& one : field.statics) {
        const double seconds = one.seconds(costs, bytes);
        if (seconds < run.best_static_seconds) {
            run.best_static_seconds = seconds;
            run.best_static = one.name;
        }
    }
    if (subject.phase && !costs.free_start) {
        ThresholdModel model{.nodes = subject.torus.ranks(),
                             .alpha = costs.alpha,
                             .hop = costs.hop,
                             .vector = bytes * costs.byte,
                             .change = costs.reconfiguration + costs.barrier,
                             .mirrored = !subject.choice.options.single_port,
                             .tie = question.circuits.options.tie,
                             .give_back = costs.give_back};
        run.threshold = best_threshold(model, *subject.phase);
        model.tie = Tie::one;
        run.published = best_threshold(model, *subject.phase);
    }
    return run;
}

}  // namespace trefoil::tool
