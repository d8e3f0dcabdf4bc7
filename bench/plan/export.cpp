// SPDX-License-Identifier: BSD-3-Clause
// A table of forms; the text comes first, then the proof, then the file.
#include "bench/plan/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "algorithms/formats/formats.hpp"
#include "bench/common/command.hpp"
#include "bench/common/names.hpp"
#include "bench/plan/summary.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

struct Form {
    std::string_view name;
    std::string (*write)(const Torus&, const Choice&, double bytes);
};

constexpr std::array<Form, 2> forms{{
    {"goal",
     [](const Torus& torus, const Choice& choice, double bytes) {
         return goal_text(torus, *choice.algorithm, choice.options, bytes);
     }},
    {"dot", [](const Torus& torus, const Choice& choice,
               double) { return dot_text(torus, *choice.algorithm, choice.options); }},
}};

const Form& form_named(const std::string& name) {
    const auto* const found = std::ranges::find(forms, std::string_view(name), &Form::name);
    if (found == forms.end()) {
        throw Error(Status::invalid_argument,
                    fmt::format("--export: there is no form \"{}\"; give goal or dot, and a file: "
                                "--export goal ring.goal",
                                name));
    }
    return *found;
}

void require_folder_of(const std::string& file) {
    const std::filesystem::path path(file);
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    std::error_code error;
    if (file.empty() || std::filesystem::is_directory(path, error) ||
        !std::filesystem::is_directory(folder, error)) {
        throw Error(
            Status::invalid_argument,
            fmt::format("--export: '{}' is not the name of a file in a folder that exists", file));
    }
}

}  // namespace

void require_form(const std::string& form) {
    (void)form_named(form);
}

int write_export(const ExportOptions& options, const Torus& torus, const Choice& choice) {
    const Form& form = form_named(options.form);
    require_folder_of(options.file);
    const std::size_t bytes = parse_size(options.bytes.empty() ? "1M" : options.bytes);
    const std::string text = form.write(torus, choice, static_cast<double>(bytes));
    const std::optional<bool> proved = prove(options.skip_proof, torus, choice);
    if (proved && !*proved) {
        fmt::print(stderr, "{} is wrong on torus {}; nothing was written\n", to_string(choice),
                   torus.name());
        return exit_wrong;
    }
    std::ofstream stream(options.file, std::ios::binary | std::ios::trunc);
    stream << text;
    stream.close();
    if (!stream) {
        throw Error(Status::invalid_argument, "--export: cannot write " + options.file);
    }
    fmt::print("{} by {} on torus {}: {} ({}, {:.0f} KiB)\n",
               to_string(choice.algorithm->collective), to_string(choice), torus.name(),
               options.file, form.name, static_cast<double>(text.size()) / 1024);
    return exit_success;
}

}  // namespace trefoil::tool
