// SPDX-License-Identifier: BSD-3-Clause
// Prints an inventory.
#include "bench/info/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/common/text_table.hpp"

namespace trefoil::tool {

namespace {

using Json = nlohmann::ordered_json;

/// Rows of an array of objects as an aligned table of the named members.
void print_table(const char* title, const Json& rows, const std::vector<std::string>& columns) {
    fmt::print("\n{}\n{}", title, text_table(rows, columns));
}

void print_line(const char* title, const std::string& text) {
    fmt::print("  {:<10} {}\n", title, text);
}

std::string text_at(const Json& all, const char* section, const char* key) {
    return all[section][key].get<std::string>();
}

std::string libraries_text(const Json& all) {
    std::vector<std::string> texts;
    for (const Json& library : all["libraries"]) {
        const auto version = library["version"].get<std::string>();
        texts.push_back(library["name"].get<std::string>() + " " +
                        (version.empty() ? "none" : version));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

std::string backends_text(const Json& all) {
    std::vector<std::string> texts;
    for (const Json& backend : all["backends"]) {
        const bool present = backend["present"] == "yes";
        texts.push_back(backend["name"].get<std::string>() +
                        (present ? "" : " (no: " + backend["about"].get<std::string>() + ")"));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

/// "libfabric's net", each once, in the order of preference.
std::string providers_text(const Json& all) {
    std::vector<std::string> texts;
    for (const Json& row : all["providers"]) {
        const auto provider = row["provider"].get<std::string>();
        const std::string text = row["backend"].get<std::string>() + ":" + provider;
        if (!provider.empty() && std::find(texts.begin(), texts.end(), text) == texts.end()) {
            texts.push_back(text);
        }
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

/// A row for each collective: "bine-dh to 4K, bine-large to 1M, spanning-trees", without pieces.
Json automatic_ranges(const Json& rows) {
    Json ranges = Json::array();
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto name = [&](std::size_t row) {
            auto text = rows[row]["algorithm"].get<std::string>();
            const std::size_t pieces = text.find(":pieces-");
            return pieces == std::string::npos
                       ? text
                       : text.erase(pieces, text.find(':', pieces + 1) - pieces);
        };
        const auto same = [&](std::size_t row, const auto& what) {
            return row < rows.size() && what(row) == what(i);
        };
        const auto collective = [&](std::size_t row) { return rows[row]["collective"]; };
        if (i == 0 || !same(i - 1, collective)) {
            ranges.push_back({{"collective", collective(i)}, {"algorithms", Json::array()}});
        }
        const bool more = same(i + 1, collective);
        if (!more || !same(i + 1, name)) {
            ranges.back()["algorithms"].push_back(
                name(i) + (more ? " to " + rows[i]["bytes"].get<std::string>() : ""));
        }
    }
    return ranges;
}

void print_choices(const Json& all) {
    print_line("torus",
               fmt::format("{}, {} ranks ({})", all["torus"].get<std::string>(),
                           all["ranks"].get<int>(), all["torus_source"].get<std::string>()));
    print_line("backend", fmt::format("{} ({})", text_at(all, "transport", "backend"),
                                      text_at(all, "transport", "reason")));
    if (const std::string provider = text_at(all, "transport", "provider"); !provider.empty()) {
        print_line("provider",
                   fmt::format("{} ({})", provider, text_at(all, "transport", "provider_reason")));
    }
    print_line("threads", all["threads"].get<std::string>());
    print_table("Ports of rank 0", all["ports"],
                {"port", "neighbour", "nic", "numa_node", "near_cores", "driven_by"});
    if (!all["node"].empty()) {
        const std::string title =
            fmt::format("A node: {} ranks, which share its NICs and exchange data through memory",
                        all["ranks_per_node"].get<int>());
        print_table(title.c_str(), all["node"], {"numa_node", "cores", "ranks", "nics", "ports"});
    }
    if (!all["automatic"].empty()) {
        print_table("Algorithms that auto picks, by bytes of the whole vector and the cost model",
                    automatic_ranges(all["automatic"]), {"collective", "algorithms"});
        if (all["automatic"].front()["collective"] == all["automatic"].back()["collective"]) {
            fmt::print("  others: trefoil plan COLLECTIVE --algorithm auto --torus {} --bytes 1M\n",
                       all["torus"].get<std::string>());
        }
    }
}

/// What differs from the defaults.
Json settings_made(const Json& all) {
    Json rows = Json::array();
    for (const Json& row : all["environment"]) {
        if (row["from"] != "default") {
            rows.push_back(row);
        }
    }
    for (const Json& row : all["libraries_environment"]) {
        rows.push_back(row);
        rows.back()["from"] = "environment";
    }
    return rows;
}

void print_algorithms(const Json& rows) {
    fmt::print("\nAlgorithms\n");
    for (const Json& a : rows) {
        const auto text = [&](const char* key) { return a[key].get<std::string>(); };
        fmt::print("  {:<10} {:<24} {}\n", text("collective"), text("name"), text("summary"));
        fmt::print("  {:<35} shapes: {}; {}\n", "", text("shapes"), text("traits"));
        fmt::print("  {:<35} {}\n", "", text("paper"));
        if (!a["modifiers"].empty()) {
            fmt::print("  {:<35} modifiers: {}\n", "",
                       fmt::join(a["modifiers"].get<std::vector<std::string>>(), ", "));
        }
        if (a.contains("refusal") && !text("refusal").empty()) {
            fmt::print("  {:<35} not on this torus: {}\n", "", text("refusal"));
        }
    }
}

std::string memory_text(const std::string& access) {
    return access == "yes" ? "ranks of this host can read each other's memory"
                           : fmt::format(
                                 "ranks of this host cannot read each other's memory ({}): "
                                 "long vectors are copied twice",
                                 access);
}

void print_head(const Json& all) {
    fmt::print("Trefoil {} ({}, {}, sanitizers: {})\n", all["trefoil"].get<std::string>(),
               text_at(all, "build", "compiler"), text_at(all, "build", "type"),
               text_at(all, "build", "sanitizers"));
    print_line("host", fmt::format("{}, {}", text_at(all, "machine", "host"),
                                   text_at(all, "machine", "description")));
    print_line("cores",
               fmt::format("{} in this process's mask",
                           fmt::join(all["machine"]["cores"].get<std::vector<int>>(), " ")));
    print_line("memory", memory_text(text_at(all, "machine", "memory_of_others")));
    print_line("libraries", libraries_text(all));
    print_line("backends", backends_text(all));
    print_line("providers", providers_text(all));
    print_line("launcher", fmt::format("{} ({})", text_at(all, "launcher", "name"),
                                       text_at(all, "launcher", "reason")));
    if (all.contains("torus")) {
        print_choices(all);
    }
}

void print_warnings(const Json& all) {
    for (const Json& message : all["warnings"]) {
        fmt::print("\nwarning: {}\n", message.get<std::string>());
    }
}

}  // namespace

void print_summary(const Json& all) {
    print_head(all);
    const Json made = settings_made(all);
    if (made.empty()) {
        fmt::print("\nAll settings have their defaults; -v lists them");
    } else {
        print_table("Settings that are not defaults", made, {"name", "value", "from"});
        fmt::print("\n-v lists all settings");
    }
    fmt::print(", algorithms, types and NICs{}.\n",
               all.contains("torus") ? "" : "; --torus 3x3 shows ports and choices");
    print_warnings(all);
}

void print_variables(const Json& all) {
    fmt::print(
        "Settings: environment variables, under what a call or the command line says\n{}",
        text_table(all["environment"], {"name", "type", "default", "value", "from", "help"}));
}

void print_everything(const Json& all) {
    print_head(all);
    if (all.contains("ports")) {
        print_table("Why these NICs", all["ports"], {"port", "direction", "chosen"});
        print_table("Algorithms that auto picks, with modelled times and the next best",
                    all["automatic"],
                    {"collective", "bytes", "algorithm", "modelled_us", "next", "next_us"});
    }
    print_table("Libraries", all["libraries"], {"name", "version", "note"});
    print_table("Backends", all["backends"], {"name", "present", "about"});
    print_table("Providers and their NICs", all["providers"],
                {"backend", "provider", "nic", "addresses"});
    print_table("Network interfaces and devices", all["interfaces"],
                {"name", "addresses", "state", "pci", "numa_node", "cores"});
    print_algorithms(all["algorithms"]);
    print_table("Types, and the operations that reduce them", all["datatypes"],
                {"name", "bytes", "operations"});
    fmt::print("\n");
    print_variables(all);
    if (!all["libraries_environment"].empty()) {
        print_table("Variables of the network libraries; they keep their meaning",
                    all["libraries_environment"], {"name", "value"});
    }
    print_warnings(all);
}

}  // namespace trefoil::tool
