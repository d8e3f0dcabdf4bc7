// SPDX-License-Identifier: BSD-3-Clause
// Asks the chooser, and sets out its answer.
#include "bench/explain/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "backend/registry/transports.hpp"
#include "bench/common/bounds.hpp"
#include "bench/common/names.hpp"
#include "bench/common/text_table.hpp"
#include "comm/plan/chooser.hpp"
#include "topo/host.hpp"

namespace trefoil::tool {

namespace {

using Json = nlohmann::ordered_json;

/// The terms of a price in the order in which they are shown; a table leaves out what is nowhere.
std::vector<std::pair<const char*, double>> terms_of(const Price& price) {
    const CostTerms& t = price.terms;
    return {{"steps", t.steps},
            {"hops", t.hops},
            {"links", t.links},
            {"waits", t.waits},
            {"messages", t.messages},
            {"bytes", t.bytes},
            {"copies", t.copies},
            {"pulls", t.pulls},
            {"memory of nodes", t.inside},
            {"further messages", price.further_messages},
            {"reductions", price.reductions},
            {"idle links", price.idle}};
}

Json candidate(const Considered& one, const AlgorithmChoice& best) {
    Json terms;
    for (const auto& [name, seconds] : terms_of(*one.price)) {
        terms[name] = 1e6 * seconds;
    }
    const double seconds = one.price->sum();
    const double least = best.seconds.value_or(0);
    return {{"algorithm", to_string(one.choice)},
            {"modelled_us", 1e6 * seconds},
            {"times_the_best", least > 0 ? Json(seconds / least) : Json()},
            {"steps", one.cost.steps},
            {"hops", one.cost.sum_hops},
            {"link_load_vectors", one.cost.sum_link_load},
            {"sent_vectors", one.cost.links_only ? Json() : Json(one.cost.sent)},
            {"messages", one.cost.links_only ? Json() : Json(one.cost.messages)},
            {"gathered_vectors", one.cost.packed},
            {"terms_us", std::move(terms)}};
}

std::string_view name_of(DecidedBy by) {
    switch (by) {
        case DecidedBy::name:
            return "name";
        case DecidedBy::tuning:
            return "tuning file";
        case DecidedBy::learned:
            return "learned";
        case DecidedBy::single_copy:
            return "single copy";
        case DecidedBy::size:
            return "size";
        case DecidedBy::model:
            break;
    }
    return "model";
}

Json model_json(const std::vector<ModelNumber>& numbers) {
    Json model = Json::array();
    for (const ModelNumber& n : numbers) {
        model.push_back({{"name", n.name},
                         {"value", n.value},
                         {"unit", n.unit},
                         {"of", n.of},
                         {"from", n.from}});
    }
    return model;
}

std::string number(double value) {
    return fmt::format("{:.4g}", value);
}

std::string candidates_text(const Json& candidates) {
    std::vector<std::string> columns{"algorithm", "us",   "times", "in steps",
                                     "hops",      "load", "sent"};
    Json rows = Json::array();
    for (const Json& one : candidates) {
        const Json& times = one["times_the_best"];
        Json row{{"algorithm", one["algorithm"]},
                 {"us", fmt::format("{:.1f}", one["modelled_us"].get<double>())},
                 {"times", times.is_null() ? "-" : fmt::format("{:.2f}", times.get<double>())},
                 {"in steps", one["steps"].dump()},
                 {"hops", one["hops"].dump()},
                 {"load", number(one["link_load_vectors"])},
                 {"sent", one["sent_vectors"].is_null() ? "-" : number(one["sent_vectors"])}};
        for (const auto& [name, us] : one["terms_us"].items()) {
            row["us of " + name] = fmt::format("{:.1f}", us.get<double>());
            const std::string column = "us of " + name;
            const bool anywhere = std::ranges::any_of(candidates, [key = name](const Json& each) {
                return each["terms_us"][key].get<double>() > 0;
            });
            if (anywhere && std::ranges::count(columns, column) == 0) {
                columns.push_back(column);
            }
        }
        rows.push_back(std::move(row));
    }
    return rows.empty() ? "" : "\n" + text_table(rows, columns);
}

/// Where the ranks are supposed to be, and how to ask for those of one machine.
std::string job_text(const Json& e) {
    const auto backend = e["backend"].get<std::string>();
    const double per_core = e["ranks_per_core"], ranks = e["ranks"];
    std::string text = fmt::format("backend {}, {:g} rank{} per core", backend, per_core,
                                   per_core == 1 ? "" : "s");
    if (backend == default_transport(false).name) {
        const double here = ranks / static_cast<double>(allowed_cores().size());
        text += fmt::format("; for ranks on this machine add --backend {}{}",
                            default_transport(true).name,
                            here > 1 ? fmt::format(" --ranks-per-core {:g}", here) : "");
    }
    return text;
}

}  // namespace

Json explanation(const ExplainedJob& job, const Request& request) {
    Chooser chooser(job.map, job.settings);
    chooser.force_list(job.settings.algorithm);
    const Decision decision = chooser.decide(request, job.access);
    chooser.require_root(decision.choice);
    chooser.require_rank_order(request, decision.choice);
    std::vector<Considered> all = chooser.considered(request);
    std::ranges::stable_sort(all, {}, [](const Considered& one) {
        return one.price ? one.price->sum() : std::numeric_limits<double>::max();
    });
    const auto cheapest =
        std::ranges::find_if(all, [](const Considered& one) { return one.price.has_value(); });
    AlgorithmChoice best;
    if (cheapest != all.end()) {
        best.seconds = cheapest->price->sum();
    }
    Json candidates = Json::array(), excluded = Json::array();
    for (const Considered& one : all) {
        if (one.price) {
            candidates.push_back(candidate(one, best));
        } else if (!one.excluded.empty()) {
            excluded.push_back({{"algorithm", to_string(one.choice)}, {"reason", one.excluded}});
        }
    }
    const CollectiveTraits& traits = request.traits();
    Json bound;
    if (const auto known = shown_bound(job.map.torus, traits.collective, request.root)) {
        const double seconds = known->vectors() * static_cast<double>(chooser.bytes_of(request)) *
                               job.settings.cost_model.value_or(default_cost_model).beta;
        bound = {{"vectors", known->vectors()},
                 {"us", 1e6 * seconds},
                 {"reached", best.seconds ? Json(seconds / *best.seconds) : Json()}};
    }
    return {{"collective", traits.name},
            {"bytes", chooser.bytes_of(request)},
            {"type", to_string(request.type)},
            {"operation", traits.reduces ? Json(to_string(request.op)) : Json()},
            {"torus", job.map.torus.name()},
            {"ranks", job.map.torus.ranks()},
            {"backend", job.settings.backend},
            {"ranks_per_core", job.ranks_per_core},
            {"root", traits.rooted() ? Json(request.root) : Json()},
            {"algorithm", to_string(decision.choice)},
            {"decided_by", name_of(decision.by)},
            {"reason", decision.reason()},
            {"bound", std::move(bound)},
            {"candidates", std::move(candidates)},
            {"excluded", std::move(excluded)},
            {"model", model_json(job.model)}};
}

std::string explanation_text(const Json& e) {
    std::string text =
        fmt::format("{} of {} bytes of {}{} on torus {}, {} ranks: {}\n  because: {}\n  for: {}\n",
                    e["collective"].get<std::string>(), e["bytes"].get<std::size_t>(),
                    e["type"].get<std::string>(),
                    e["operation"].is_null() ? "" : ", " + e["operation"].get<std::string>(),
                    e["torus"].get<std::string>(), e["ranks"].get<Rank>(),
                    e["algorithm"].get<std::string>(), e["reason"].get<std::string>(), job_text(e));
    if (const Json& bound = e["bound"]; !bound.is_null()) {
        text += fmt::format("  bound of throughput: {} vectors, {:.1f} us",
                            number(bound["vectors"]), bound["us"].get<double>());
        text += bound["reached"].is_null()
                    ? "\n"
                    : fmt::format("; the best candidate reaches {:.0f} % of it\n",
                                  100 * bound["reached"].get<double>());
    }
    text += candidates_text(e["candidates"]);
    if (!e["excluded"].empty()) {
        text += "\nNo candidates:\n" + text_table(e["excluded"], {"algorithm", "reason"});
    }
    Json rows = Json::array();
    for (const Json& n : e["model"]) {
        rows.push_back({{"the model's", n["name"]},
                        {"value", number(n["value"]) + " " + n["unit"].get<std::string>() + " " +
                                      n["of"].get<std::string>()},
                        {"from", n["from"]}});
    }
    return text + "\n" + text_table(rows, {"the model's", "value", "from"});
}

}  // namespace trefoil::tool
