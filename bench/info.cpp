// SPDX-License-Identifier: BSD-3-Clause
// `trefoil info`: what this build and this machine offer.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "bench/command.hpp"
#include "bench/inventory.hpp"

namespace trefoil::tool {

namespace {

using Json = nlohmann::ordered_json;

struct Options {
    std::string torus;
    bool json = false;
};

/// A text as it is, an array of texts joined.
std::string cell_text(const Json& cell) {
    return cell.is_array()
               ? fmt::format("{}", fmt::join(cell.get<std::vector<std::string>>(), ", "))
               : cell.get<std::string>();
}

/// Rows of an array of objects as an aligned table of the named members.
void print_table(const Json& rows, const std::vector<std::string>& columns) {
    std::vector<std::size_t> widths;
    for (const std::string& column : columns) {
        std::size_t width = column.size();
        for (const Json& row : rows) {
            width = std::max(width, cell_text(row[column]).size());
        }
        widths.push_back(width);
    }
    const auto line = [&](const auto& cell) {
        std::string text = " ";
        for (std::size_t i = 0; i < columns.size(); ++i) {
            text += fmt::format(" {:<{}} ", cell(columns[i]), widths[i]);
        }
        fmt::print("{}\n", text.substr(0, text.find_last_not_of(' ') + 1));
    };
    line([](const std::string& column) { return column; });
    for (const Json& row : rows) {
        line([&](const std::string& column) { return cell_text(row[column]); });
    }
}

void print_algorithms(const Json& rows) {
    fmt::print("\nAlgorithms\n");
    for (const Json& a : rows) {
        const auto text = [&](const char* key) { return a[key].get<std::string>(); };
        fmt::print("  {:<10} {:<24} {}\n", text("collective"), text("name"), text("summary"));
        fmt::print("  {:<35} shapes: {}; {}\n", "", text("shapes"), text("traits"));
        fmt::print("  {:<35} {}\n", "", text("paper"));
        if (a.contains("refusal") && !text("refusal").empty()) {
            fmt::print("  {:<35} not on this torus: {}\n", "", text("refusal"));
        }
    }
}

void print_text(const Json& all) {
    const auto text = [&](const char* section, const char* key) {
        return all[section][key].get<std::string>();
    };
    fmt::print("Trefoil {}\n", all["trefoil"].get<std::string>());
    fmt::print("  build     {}, {}, sanitizers: {}\n", text("build", "compiler"),
               text("build", "type"), text("build", "sanitizers"));
    fmt::print("  machine   {} ({})\n", text("machine", "description"), text("machine", "host"));
    fmt::print("  cores     {}\n", fmt::join(all["machine"]["cores"].get<std::vector<int>>(), " "));
    fmt::print("\nBackends\n");
    print_table(all["backends"], {"name", "present", "about"});
    fmt::print("\nProviders and their NICs\n");
    print_table(all["providers"], {"backend", "provider", "nic", "addresses"});
    fmt::print("\nNetwork interfaces\n");
    print_table(all["interfaces"], {"name", "address", "state", "numa_node"});
    if (all.contains("ports")) {
        fmt::print("\nPorts of a rank on torus {}\n", all["torus"].get<std::string>());
        print_table(all["ports"], {"port", "direction", "neighbour", "driven_by", "nic"});
    }
    print_algorithms(all["algorithms"]);
    fmt::print("\nEnvironment variables (a setting in the call goes before them)\n");
    print_table(all["environment"], {"name", "type", "default", "value", "help"});
    for (const Json& message : all["warnings"]) {
        fmt::print("\nwarning: {}\n", message.get<std::string>());
    }
}

int info(const Options& options) {
    const Json all = inventory(options.torus);
    if (options.json) {
        fmt::print("{}\n", all.dump(2));
    } else {
        print_text(all);
    }
    return exit_success;
}

}  // namespace

void add_info(CLI::App& app, Action& action) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand(
        "info", "Show version, backends, NICs, cores, algorithms and environment variables");
    command->add_option(
        "-t,--torus", options->torus,
        "Also show the ports of a rank of this torus, and which algorithms refuse it");
    command->add_flag("--json", options->json, "As one JSON object");
    command->footer(
        "A backend that is not present says why, and what to install.\n"
        "Example: trefoil info --torus 3x3");
    command->callback([options, &action] { action = [options] { return info(*options); }; });
}

}  // namespace trefoil::tool
