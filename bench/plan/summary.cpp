// SPDX-License-Identifier: BSD-3-Clause
// The figures of the cost summary, in rows or as JSON, with the verdict of the proof.
#include "bench/plan/summary.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "algorithms/analysis/cost.hpp"
#include "algorithms/analysis/verify.hpp"
#include "bench/common/bounds.hpp"
#include "bench/common/busy.hpp"
#include "bench/common/command.hpp"
#include "bench/common/names.hpp"
#include "comm/plan/select.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

Verification proof_of(const Torus& torus, const Choice& choice) {
    try {
        const Busy busy(fmt::format("verifying the schedules of {} ranks", torus.ranks()));
        return verify(torus, *choice.algorithm, choice.options);
    } catch (const Error& error) {  // it needs too much memory
        throw Error(error.status(), std::string(error.what()) + "; use --no-verify");
    }
}

nlohmann::ordered_json summary_json(const Torus& torus, const Choice& choice,
                                    const CostSummary& cost, std::optional<bool> verified) {
    nlohmann::ordered_json all{
        {"collective", to_string(choice.algorithm->collective)},
        {"algorithm", choice.algorithm->name},
        {"used", to_string(choice)},
        {"torus", torus.name()},
        {"ranks", torus.ranks()},
        {"parts", cost.parts},
        {"steps", cost.steps},
        {"bytes_sent_max", cost.bytes_sent_max},
        {"bytes_sent_min", cost.bytes_sent_min},
        {"bytes_sent_total", cost.bytes_sent_total},
        {"step_max_link_load", cost.step_max_link_load},
        {"step_max_hops", cost.step_max_hops},
        {"sum_link_load", cost.sum_link_load},
        {"sum_hops", cost.sum_hops},
        {"max_sends_per_port_per_step", cost.max_sends_per_port_per_step},
        {"max_extents_per_message", cost.max_extents_per_message},
        {"pulled_mean", cost.pulled},
        {"pulled_max", cost.pulled_max},
        {"acknowledgements_mean", cost.acknowledgements},
        {"acknowledgements_max", cost.acknowledgements_max},
        {"verified", verified ? nlohmann::ordered_json(*verified) : nlohmann::ordered_json()}};
    if (choice.algorithm->collective == Collective::alltoall) {
        all.update({{"block_times", cost.block_times},
                    {"msg_block_times", cost.msg_block_times},
                    {"rank_block_times", cost.rank_block_times},
                    {"peak_blocks_held", cost.peak_blocks_held},
                    {"messages_per_rank", cost.messages_per_rank}});
    }
    return all;
}

/// What the times of a vector of so many bytes are by.
std::string model_text() {
    const CostModel model = settings_from_environment().cost_model.value_or(default_cost_model);
    return fmt::format("{:g} us a step, {:g} us a hop, {:g} Gbit/s a link", 1e6 * model.alpha,
                       1e6 * model.tau, 8e-9 / model.beta);
}

void print_summary(const Torus& torus, const Choice& choice, const CostSummary& cost,
                   std::optional<bool> verified, const std::string& time,
                   const std::optional<ThroughputBound>& bound) {
    fmt::print("{} by {} on torus {}, {} ranks ({})\n\n", to_string(choice.algorithm->collective),
               to_string(choice), torus.name(), torus.ranks(), choice.algorithm->paper);
    const auto row = [](std::string_view name, const std::string& value) {
        fmt::print("  {:<32} {}\n", name, value);
    };
    row("parts", std::to_string(cost.parts));
    row("steps", std::to_string(cost.steps));
    row("sent per rank, least to most",
        fmt::format("{:.6g} to {:.6g} vectors", cost.bytes_sent_min, cost.bytes_sent_max));
    row("sent by all ranks", fmt::format("{:.6g} vectors", cost.bytes_sent_total));
    row("sum of largest link loads", fmt::format("{:.6g} vectors", cost.sum_link_load));
    if (bound && cost.sum_link_load > 0) {
        row("bound of throughput", fmt::format("{}: {:.1f} % of it reached", bound_text(*bound),
                                               100 * bound->vectors() / cost.sum_link_load));
    }
    row("sum of longest routes", fmt::format("{} hops", cost.sum_hops));
    row("messages per port and step", fmt::format("at most {}", cost.max_sends_per_port_per_step));
    row("extents per message", fmt::format("at most {}", cost.max_extents_per_message));
    if (choice.algorithm->collective == Collective::alltoall) {
        row("the same in blocks", fmt::format("{:.6g}", cost.block_times));
        row("sum of largest messages", fmt::format("{:.6g} blocks", cost.msg_block_times));
        row("sum of most sent by a rank", fmt::format("{:.6g} blocks", cost.rank_block_times));
        row("most held by a rank", fmt::format("{:.6g} blocks", cost.peak_blocks_held));
        row("messages per rank", fmt::format("at most {}", cost.messages_per_rank));
    }
    if (cost.pulled_max > 0) {
        row("read from peers' memory",
            fmt::format("{:.6g} vectors a rank, at most {:.6g}", cost.pulled, cost.pulled_max));
    }
    row("acknowledgements", cost.acknowledgements_max == 0
                                ? "none: all ranks hear from all"
                                : fmt::format("{:.6g} a rank, at most {}", cost.acknowledgements,
                                              cost.acknowledgements_max));
    row("verified", !verified ? "not asked" : *verified ? "yes" : "NO");
    if (!time.empty()) {
        row("modelled time", time);
    }
    fmt::print("\n  step   largest link load   longest route\n");
    for (std::size_t i = 0; i < cost.step_max_link_load.size(); ++i) {
        fmt::print("  {:>4}   {:>17.6g}   {:>13}\n", i, cost.step_max_link_load[i],
                   cost.step_max_hops[i]);
    }
}

}  // namespace

std::optional<bool> prove(bool skip, const Torus& torus, const Choice& choice) {
    if (skip) {
        return std::nullopt;
    }
    const Algorithm& algorithm = *choice.algorithm;
    const Verification proof = proof_of(torus, choice);
    for (const std::string& error : proof.errors) {
        fmt::print(stderr, "trefoil: {} on {}: {}\n", algorithm.name, torus.name(), error);
    }
    bool proved = proof.ok();
    if (proved && algorithm.traits.identical_results && !proof.identical_results &&
        traits_of(algorithm.collective).replicates_results()) {
        fmt::print(stderr,
                   "trefoil: {} on {}: claims identical results, but its ranks associate sums "
                   "differently\n",
                   algorithm.name, torus.name());
        proved = false;
    }
    if (proved && algorithm.traits.order_preserving && traits_of(algorithm.collective).reduces &&
        !proof.order_preserving) {
        fmt::print(stderr, "trefoil: {} on {}: claims to reduce in rank order, but does not\n",
                   algorithm.name, torus.name());
        proved = false;
    }
    return proved;
}

int print_plan_summary(const Torus& torus, const Choice& choice,
                       const PlanSummaryOptions& options) {
    // First, since it says at once when it needs too much memory.
    const std::optional<bool> verified = prove(options.skip_proof, torus, choice);
    const CostSummary cost = [&] {
        const Busy busy(fmt::format("adding up the costs of {} ranks", torus.ranks()));
        return summarize(torus, *choice.algorithm, choice.options);
    }();
    std::optional<double> microseconds;
    if (!options.bytes.empty()) {
        microseconds = 1e6 * modelled(torus, choice, parse_size(options.bytes),
                                      selection_basis(settings_from_environment()))
                                 .price->sum();
    }
    const std::optional<ThroughputBound> bound =
        shown_bound(torus, choice.algorithm->collective, choice.options.root);
    if (options.json) {
        nlohmann::ordered_json all = summary_json(torus, choice, cost, verified);
        all["bound_vectors"] =
            bound ? nlohmann::ordered_json(bound->vectors()) : nlohmann::ordered_json();
        if (microseconds) {
            all["bytes"] = parse_size(options.bytes);
            all["modelled_us"] = *microseconds;
        }
        fmt::print("{}\n", all.dump());
    } else {
        print_summary(torus, choice, cost, verified,
                      microseconds ? fmt::format("{:.1f} us for {} ({})", *microseconds,
                                                 options.bytes, model_text())
                                   : "",
                      bound);
    }
    return verified.value_or(true) ? exit_success : exit_wrong;
}

}  // namespace trefoil::tool
