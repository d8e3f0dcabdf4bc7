// SPDX-License-Identifier: BSD-3-Clause
// Figures from the schedules themselves: nothing here knows an algorithm.
#include "bench/plan/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "algorithms/analysis/cost.hpp"
#include "algorithms/registry/registry.hpp"
#include "bench/common/names.hpp"
#include "bench/common/text_table.hpp"

namespace trefoil::tool {

namespace {

using Json = nlohmann::ordered_json;

/// Through how many ports a rank sends in one step, at most; all parts together.
int ports_at_once(const Torus& torus, const Algorithm& algorithm, const BuildOptions& options) {
    std::ptrdiff_t most = 0;
    for (Rank r = 0; r < torus.ranks(); ++r) {
        const Schedule schedule = algorithm.build(torus, r, options);
        std::map<std::size_t, std::vector<bool>> used;  // by step
        for (const Part& part : schedule.parts) {
            const auto steps = schedule.of(part);
            for (std::size_t s = 0; s < steps.size(); ++s) {
                std::vector<bool>& ports = used[s];
                ports.resize(torus.ports());
                for (const Send& send : schedule.sends_of(steps[s])) {
                    ports[send.port.index] = true;
                }
                most = std::max(most, std::count(ports.begin(), ports.end(), true));
            }
        }
    }
    return static_cast<int>(most);
}

Json figures(const Torus& torus, const Algorithm& algorithm, const BuildOptions& options) {
    const std::string refusal = algorithm.refusal(torus, options);
    if (!refusal.empty()) {
        return {{"refusal", refusal}};
    }
    const CostSummary cost = summarize(torus, algorithm, options);
    return {{"parts", cost.parts},
            {"ports", ports_at_once(torus, algorithm, options)},
            {"messages_per_port", cost.max_sends_per_port_per_step},
            {"steps", cost.steps},
            {"bytes_sent_max", cost.bytes_sent_max},
            {"bytes_sent_total", cost.bytes_sent_total},
            {"sum_link_load", cost.sum_link_load}};
}

/// The options that an algorithm understands; the single-port variant has a row of its own.
Json option_groups(const Abilities& abilities) {
    Json list = Json::array();
    for (const Option& option : option_table()) {
        for (const OptionValue& value : option.values) {
            const bool known = !list.empty() && list.back() == value.group;
            if (abilities.*value.ability && !known && value.ability != &Abilities::single_port) {
                list.push_back(value.group);
            }
        }
    }
    return list;
}

Json entry(const Algorithm& a, bool single_port, const std::vector<std::string>& tori) {
    Json by_torus = Json::object();
    for (const std::string& name : tori) {
        by_torus[name] = figures(Torus::parse(name), a, {.single_port = single_port});
    }
    return {{"name", std::string(a.name) + (single_port ? ":single-port" : "")},
            {"single_port", single_port},
            {"summary", a.summary},
            {"source", a.paper},
            {"shapes", a.shapes},
            {"class", a.traits.cost_class == CostClass::latency ? "latency" : "bandwidth"},
            {"identical_results", a.traits.identical_results},
            {"rank_order", a.traits.order_preserving},
            {"modifiers", option_groups(a.abilities)},
            {"on", std::move(by_torus)}};
}

/// One figure on each torus, differing ones separated by commas: "2, 4, 6".
std::string over_tori(const Json& entry, const char* figure) {
    std::vector<int> values;
    for (const auto& [torus, figures] : entry["on"].items()) {
        if (figures.contains(figure)) {
            values.push_back(figures[figure].get<int>());
        }
    }
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return fmt::format("{}", fmt::join(values, ", "));
}

Json about_rows(const Json& collective) {
    Json rows = Json::array();
    for (const Json& a : collective["algorithms"]) {
        if (!a["single_port"].get<bool>()) {
            rows.push_back({{"algorithm", a["name"]},
                            {"what it does", a["summary"]},
                            {"source", a["source"]}});
        }
    }
    return rows;
}

Json trait_rows(const Json& collective, const Collective which) {
    Json rows = Json::array();
    for (const Json& a : collective["algorithms"]) {
        const auto yes = [&](const char* trait) { return a[trait].get<bool>() ? "yes" : "no"; };
        rows.push_back(
            {{"algorithm", a["name"]},
             {"shapes", a["shapes"]},
             {"parts", over_tori(a, "parts")},
             {"ports at once", over_tori(a, "ports")},
             {"messages per port", over_tori(a, "messages_per_port")},
             {"for", a["class"] == "latency" ? "small vectors" : "large vectors"},
             {"identical results", traits_of(which).reduces ? yes("identical_results") : ""},
             {"rank order", traits_of(which).reduces ? yes("rank_order") : ""},
             {"options", a["modifiers"]}});
    }
    return rows;
}

/// A row per algorithm, a column per torus.
template <typename Text>
Json figure_rows(const Json& collective, Text&& text) {
    Json rows = Json::array();
    for (const Json& a : collective["algorithms"]) {
        Json row{{"algorithm", a["name"]}};
        for (const auto& [torus, figures] : a["on"].items()) {
            row[torus] = figures.contains("refusal") ? "-" : text(figures);
        }
        rows.push_back(std::move(row));
    }
    return rows;
}

std::string steps_text(const Json& figures) {
    return std::to_string(figures["steps"].get<int>());
}

std::string volume_text(const Json& figures) {
    return fmt::format("{:.4g} / {:.4g}", figures["bytes_sent_max"].get<double>(),
                       figures["bytes_sent_total"].get<double>());
}

std::string load_text(const Json& figures) {
    return fmt::format("{:.4g}", figures["sum_link_load"].get<double>());
}

std::vector<std::string> figure_columns(const Json& collective) {
    std::vector<std::string> columns{"algorithm"};
    for (const Json& torus : collective["tori"]) {
        columns.push_back(torus.get<std::string>());
    }
    return columns;
}

/// One line for each algorithm and reason that is not the torus's own.
std::vector<std::string> refusals(const Json& collective) {
    std::vector<std::string> lines;
    for (const Json& a : collective["algorithms"]) {
        for (const auto& [torus, figures] : a["on"].items()) {
            if (figures.contains("refusal")) {
                lines.push_back(fmt::format("{} on {}: {}", a["name"].get<std::string>(), torus,
                                            figures["refusal"].get<std::string>()));
            }
        }
    }
    return lines;
}

/// One table, under its title.
std::string titled(const char* title, const Json& rows, const std::vector<std::string>& columns) {
    return fmt::format("\n{}{}{}", title, *title == '\0' ? "" : "\n", text_table(rows, columns));
}

/// The tables of one collective.
std::string sections(const Json& collective) {
    const Collective which = find_collective(collective["collective"].get<std::string>());
    std::vector<std::string> traits{"algorithm",         "shapes", "parts", "ports at once",
                                    "messages per port", "for"};
    if (traits_of(which).reduces) {
        traits.insert(traits.end(), {"identical results", "rank order"});
    }
    traits.emplace_back("options");
    const std::vector<std::string> columns = figure_columns(collective);
    std::string text = titled("", about_rows(collective), {"algorithm", "what it does", "source"});
    text += titled("", trait_rows(collective, which), traits);
    text += titled("Steps", figure_rows(collective, steps_text), columns);
    if (traits_of(which).has_data()) {
        text += titled("Sent by the busiest rank / by all ranks, in vectors",
                       figure_rows(collective, volume_text), columns);
        text += titled("Largest load of a link, summed over the steps, in vectors",
                       figure_rows(collective, load_text), columns);
    }
    return text;
}

}  // namespace

std::vector<std::string> standard_tori() {
    return {"8", "9", "4x4", "3x3", "8x8", "9x9", "4x4x4", "3x3x3"};
}

Json algorithm_table(std::optional<Collective> only, const std::vector<std::string>& tori) {
    Json table = Json::array();
    for (const Collective c : collectives()) {
        if (only && *only != c) {
            continue;
        }
        Json entries = Json::array();
        for (const Algorithm& a : algorithms()) {
            if (a.collective != c) {
                continue;
            }
            entries.push_back(entry(a, false, tori));
            if (a.abilities.single_port) {
                entries.push_back(entry(a, true, tori));
            }
        }
        table.push_back(
            {{"collective", to_string(c)}, {"tori", tori}, {"algorithms", std::move(entries)}});
    }
    return table;
}

std::string algorithm_list(Collective collective, const std::string& torus) {
    const bool judge = !torus.empty();
    const Torus shape = Torus::parse(judge ? torus : "1");
    std::string text;
    for (const Algorithm& a : algorithms()) {
        if (a.collective != collective) {
            continue;
        }
        text += fmt::format("{:<24} {}\n{:<24} shapes: {}; {}\n", a.name, a.summary, "", a.shapes,
                            traits_text(a));
        const std::string refusal = judge ? a.refusal(shape) : "";
        if (!refusal.empty()) {
            text += fmt::format("{:<24} not on {}: {}\n", "", shape.name(), refusal);
        }
    }
    return text;
}

std::string algorithm_table_text(const Json& table) {
    std::string text;
    for (const Json& collective : table) {
        text += fmt::format("{}{}\n", text.empty() ? "" : "\n",
                            collective["collective"].get<std::string>());
        text += sections(collective);
        for (const std::string& line : refusals(collective)) {
            text += fmt::format("\n  - {}", line);
        }
    }
    return text;
}

}  // namespace trefoil::tool
