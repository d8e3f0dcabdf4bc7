// SPDX-License-Identifier: BSD-3-Clause
// JSON, lines, and wirings in words.
#include "bench/sim/rewiring_report.hpp"

#include <fmt/format.h>

#include "bench/common/names.hpp"
#include "bench/sim/units.hpp"

namespace trefoil::tool {

namespace {

using Json = nlohmann::ordered_json;

double ratio(double over, double under) {
    return under > 0 ? over / under : 1;
}

Json unwirable_json(const Rewiring& rewiring) {
    Json all = Json::array();
    for (const Unwirable& one : rewiring.unwirable()) {
        all.push_back({{"step", one.step}, {"dimension", one.dimension}, {"reason", one.reason}});
    }
    return all;
}

Json threshold_json(const Threshold& threshold, Phase phase) {
    Json steps;
    if (phase != Phase::allgather) {
        steps["reduce_scatter"] = threshold.steps;
    }
    if (phase != Phase::reduce_scatter) {
        steps["allgather"] = threshold.steps;
    }
    return {{"thresholds", std::move(steps)},
            {"seconds", threshold.seconds},
            {"ring_seconds", threshold.ring},
            {"seconds_with_fallback", threshold.with_fallback()},
            {"fallback", threshold.falls_back() ? Json("ring") : Json()}};
}

}  // namespace

std::string wiring_text(const Rewiring& rewiring, int dimensions, std::size_t wiring) {
    if (wiring == 0) {
        return dimensions == 1 ? "ring" : "torus";
    }
    std::string text;
    for (int j = 0; j < dimensions; ++j) {
        text += (j == 0 ? "" : " | ") + to_string(rewiring.wiring(wiring, j));
    }
    return text;
}

std::string wirings_text(const RewiringSubject& subject, const WiringSequence& sequence) {
    const auto& wirings = sequence.wirings;
    std::string text;
    for (std::size_t i = 0; i < wirings.size();) {
        std::size_t end = i;
        while (end < wirings.size() && wirings[end] == wirings[i]) {
            ++end;
        }
        text += fmt::format("{}{} x{}", i == 0 ? "" : ", ",
                            wiring_text(*subject.rewiring, subject.torus.dimensions(), wirings[i]),
                            end - i);
        i = end;
    }
    return text;
}

Json circuits_json(const RewiringSubject& subject, const RewiringRun& run,
                   const RewiringCosts& costs, double bytes) {
    const Rewiring& rewiring = *subject.rewiring;
    Json all = Json::array();
    std::size_t before = costs.free_start && !run.sequence.wirings.empty()
                             ? run.sequence.wirings.front()
                             : std::size_t{0};
    for (std::size_t i = 0; i < rewiring.steps(); ++i) {
        const std::size_t wiring = run.sequence.wirings[i];
        const WiringLoad load = rewiring.load(i, wiring);
        Json strides = Json::array();
        for (int j = 0; j < subject.torus.dimensions(); ++j) {
            const DimensionWiring& one = rewiring.wiring(wiring, j);
            strides.push_back(one.is_shifted() ? Json(one.stride) : Json());
        }
        all.push_back({{"step", rewiring.step(i).step},
                       {"wiring", wiring_text(rewiring, subject.torus.dimensions(), wiring)},
                       {"strides", std::move(strides)},
                       {"changed", wiring != before},
                       {"hops", load.hops},
                       {"load", load.load},
                       {"seconds", rewiring.seconds(i, wiring, costs, bytes)}});
        before = wiring;
    }
    return all;
}

Json json_of(const RewiringQuestion& question, const RewiringSubject& subject,
             const RewiringRun& run, const RewiringCosts& costs, std::size_t bytes) {
    Json all{
        {"collective", to_string(question.sim.collective)},
        {"algorithm", to_string(subject.choice)},
        {"asked", subject.asked},
        {"torus", subject.torus.name()},
        {"ranks", subject.torus.ranks()},
        {"bytes", bytes},
        {"model", "step"},
        {"reconfigurable", costs.reconfiguration},
        {"hop", costs.hop},
        {"alpha", costs.alpha},
        {"seconds", run.seconds},
        {"static_seconds", run.static_seconds},
        {"ring_seconds", run.ring_seconds},
        {"best_static", {{"algorithm", run.best_static}, {"seconds", run.best_static_seconds}}},
        {"fallback", run.falls_back() ? Json(run.best_static) : Json()},
        {"seconds_with_fallback", run.with_fallback()},
        {"speedup_over_static", ratio(run.static_seconds, run.seconds)},
        {"speedup_over_ring", ratio(run.ring_seconds, run.seconds)},
        {"speedup_over_best_static", ratio(run.best_static_seconds, run.seconds)},
        {"changes", run.sequence.changes},
        {"circuits", circuits_json(subject, run, costs, static_cast<double>(bytes))},
        {"cannot_be_wired", unwirable_json(*subject.rewiring)}};
    if (run.threshold) {
        const Json mine = threshold_json(*run.threshold, *subject.phase);
        all["thresholds"] = mine["thresholds"];
        all["threshold_seconds"] = mine["seconds"];
        all["published"] = threshold_json(*run.published, *subject.phase);
    }
    return all;
}

std::string rewiring_head(const RewiringQuestion& question) {
    const Machine& machine = question.sim.machine;
    return fmt::format(
        "# {} on links of {}, {} a step, {} a hop, {} a change of circuits ({})\n"
        "# step model: all ranks wait for all after every step{}\n# {}\n#\n"
        "#{:>9} {:<26} {:>6} {:>10} {:>10} {:>10} {:>6} {:>7} {:>2}  {}\n",
        to_string(question.sim.collective), rate_text(machine.rates.front()),
        time_text(machine.costs.alpha), time_text(machine.costs.hop),
        time_text(question.circuits.costs.reconfiguration), machine.name,
        question.single_port ? "; one message at a time" : "", conventions_text(question.circuits),
        "torus", "algorithm", "bytes", "ring", "static", "optimum", "gain", "changes", "T",
        "wirings");
}

std::string line_of(const RewiringSubject& subject, const RewiringRun& run, std::size_t bytes) {
    std::string text = fmt::format(
        "{:>10} {:<26} {:>6} {:>10} {:>10} {:>10} {:>6.2f} {:>7} {:>2}  {}\n", subject.torus.name(),
        to_string(subject.choice), size_text(bytes), time_text(run.ring_seconds),
        time_text(run.static_seconds), time_text(run.seconds),
        ratio(run.best_static_seconds, run.seconds), run.sequence.changes,
        run.threshold ? std::to_string(run.threshold->steps) : "-",
        wirings_text(subject, run.sequence));
    if (run.falls_back()) {
        text += fmt::format("{:>10} {} without a change is cheaper: {}\n", "", run.best_static,
                            time_text(run.best_static_seconds));
    }
    return text;
}

}  // namespace trefoil::tool
