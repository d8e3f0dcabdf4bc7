// SPDX-License-Identifier: BSD-3-Clause
// The list of runs and the JSON object.
#include "bench/sim/report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "bench/common/names.hpp"
#include "bench/sim/engines.hpp"
#include "bench/sim/units.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

Baseline baseline_of(const SimOptions& options, const SimResult& result) {
    Baseline times;
    for (const SimRun& run : result.runs) {
        if (run.algorithm == options.baseline) {
            times[{run.torus, run.bytes}] = run.seconds;
        }
    }
    if (!options.baseline.empty() && times.empty()) {
        throw Error(Status::invalid_argument,
                    "the baseline " + options.baseline + " is not among the algorithms that ran");
    }
    return times;
}

double gain(const Baseline& baseline, const SimRun& run) {
    const auto base = baseline.find({run.torus, run.bytes});
    return base == baseline.end() || run.seconds <= 0 ? std::nan("")
                                                      : base->second / run.seconds - 1;
}

std::string goodput_text(const SimRun& run) {
    return run.seconds > 0 ? rate_text(static_cast<double>(run.bytes) / run.seconds) : "-";
}

nlohmann::ordered_json json_of(const Machine& machine) {
    nlohmann::ordered_json json{{"name", machine.name},
                                {"network", machine.network},
                                {"rate", machine.rates},
                                {"alpha", machine.costs.alpha},
                                {"hop", machine.costs.hop},
                                {"closing_barrier", machine.closing_barrier},
                                {"copy", machine.costs.copy_rate},
                                {"reduce", machine.costs.reduce_rate},
                                {"links_per_pair", machine.links_per_pair},
                                {"host", nullptr},
                                {"down", machine.down},
                                {"slow", nlohmann::ordered_json::object()}};
    if (machine.rates.size() == 1) {
        json["rate"] = machine.rates.front();
    }
    if (machine.host) {
        json["host"] = {{"dimension", machine.host->dimension},
                        {"rate", machine.host->rate},
                        {"latency", machine.host->latency_of(machine.costs)}};
    }
    for (const auto& [link, share] : machine.slow) {
        json["slow"][link] = share;
    }
    return json;
}

nlohmann::ordered_json json_of(const SimOptions& options, const SimRun& run) {
    return {{"collective", to_string(options.collective)},
            {"algorithm", run.algorithm},
            {"torus", run.torus},
            {"ranks", run.ranks},
            {"bytes", run.bytes},
            {"model", options.model == Model::flow ? "flow" : "step"},
            {"sync", options.flow.step_sync},
            {"engine", row_of(options.engine).name},
            {"seconds", run.seconds},
            {"of_bound",
             run.of_bound > 0 ? nlohmann::ordered_json(run.of_bound) : nlohmann::ordered_json()}};
}

nlohmann::ordered_json json_of(const SimOptions& options, const SimResult& result) {
    nlohmann::ordered_json all{{"machine", json_of(options.machine)},
                               {"messages_per_port", options.flow.per_port},
                               {"gap", options.flow.gap},
                               {"complete_sends", options.flow.sends_complete},
                               {"jitter", options.flow.jitter},
                               {"seed", options.flow.seed},
                               {"runs", nlohmann::ordered_json::array()},
                               {"left_out", result.left_out}};
    for (const SimRun& run : result.runs) {
        all["runs"].push_back(json_of(options, run));
    }
    return all;
}

namespace {

std::string rates_text(const Machine& machine) {
    std::vector<std::string> rates;
    for (const double rate : machine.rates) {
        rates.push_back(rate_text(rate));
    }
    return fmt::format("{}", fmt::join(rates, ", "));
}

/// What is beside the usual: empty, or a line.
std::string extras_text(const SimOptions& options) {
    const Machine& machine = options.machine;
    std::vector<std::string> all;
    if (machine.costs.copy_rate > 0) {
        all.push_back(rate_text(machine.costs.copy_rate) + " copied");
    }
    if (machine.costs.reduce_rate > 0) {
        all.push_back(rate_text(machine.costs.reduce_rate) + " reduced");
    }
    if (machine.host) {
        all.push_back(fmt::format("dimension {} inside the nodes, {}, {}", machine.host->dimension,
                                  rate_text(machine.host->rate),
                                  time_text(machine.host->latency_of(machine.costs))));
    }
    if (machine.links_per_pair == 1) {
        all.emplace_back("one link per pair in rings of 2");
    }
    if (options.flow.step_sync) {
        all.emplace_back("parts go on together");
    }
    if (options.flow.per_port > 0) {
        all.push_back(fmt::format("{} messages per port at a time", options.flow.per_port));
    }
    if (options.flow.jitter > 0) {
        all.push_back(fmt::format("jitter up to {}, seed {}", time_text(options.flow.jitter),
                                  options.flow.seed));
    }
    if (options.changes_links()) {
        all.push_back(
            fmt::format("links down: {}, slow: {}", machine.down.size(), machine.slow.size()));
    }
    return all.empty() ? "" : fmt::format("# {}\n", fmt::join(all, "; "));
}

}  // namespace

std::string table_head(const SimOptions& options) {
    const Machine& machine = options.machine;
    const bool flow = options.model == Model::flow;
    return fmt::format("# {} on a {} of {} links, {} a {}, {} a hop ({}){}\n# {}\n{}",
                       to_string(options.collective), machine.network, rates_text(machine),
                       time_text(machine.costs.alpha), flow ? "message" : "step",
                       time_text(machine.costs.hop), machine.name,
                       machine.closing_barrier > 0 ? ", with a closing barrier" : "",
                       flow ? "flow model: ranks go on as soon as they can, links are shared fairly"
                            : "step model: all ranks wait for all after every step",
                       extras_text(options));
}

std::string list_of(const SimOptions& options, const SimResult& result) {
    const Baseline baseline = baseline_of(options, result);
    std::string text = table_head(options) + "#\n";
    text += fmt::format("#{:>11} {:<28} {:>9} {:>12} {:>14} {:>9}{}\n", "torus", "algorithm",
                        "bytes", "time", "goodput", "of bound",
                        baseline.empty() ? "" : fmt::format("  over {}", options.baseline));
    for (const SimRun& run : result.runs) {
        const double faster = gain(baseline, run);
        const std::string of_bound =
            run.of_bound > 0 ? fmt::format("{:.1f} %", 100 * run.of_bound) : "-";
        text +=
            fmt::format("{:>12} {:<28} {:>9} {:>12} {:>14} {:>9}{}\n", run.torus, run.algorithm,
                        size_text(run.bytes), time_text(run.seconds), goodput_text(run), of_bound,
                        std::isnan(faster) ? "" : fmt::format("  {:+.1f} %", 100 * faster));
    }
    for (const std::string& reason : result.left_out) {
        text += fmt::format("# left out: {}\n", reason);
    }
    return text;
}

}  // namespace trefoil::tool
