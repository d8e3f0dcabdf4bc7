// SPDX-License-Identifier: BSD-3-Clause
// The cells of the maps, as data and as pictures.
#include "bench/sim/rewiring_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/common/names.hpp"
#include "bench/common/plot.hpp"
#include "bench/sim/report.hpp"
#include "bench/sim/rewiring_report.hpp"
#include "bench/sim/units.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

using Json = nlohmann::ordered_json;

bool is_json(const std::string& file) {
    return std::filesystem::path(file).extension() == ".json";
}

bool all_have_thresholds(const std::vector<RewiringField>& fields) {
    return std::ranges::all_of(fields, [](const RewiringField& field) {
        return std::ranges::all_of(field.subjects,
                                   [](const RewiringSubject& s) { return s.phase.has_value(); });
    });
}

struct Map {
    Figure figure;
    Json panels = Json::array();
};

void add_panel(Map& map, const RewiringQuestion& question, const RewiringField& field,
               const RewiringSubject& subject, std::size_t bytes, bool over_ring,
               const std::vector<double>& hops, bool thresholds) {
    HeatPanel panel;
    panel.title = fmt::format("{} on {}, {} bytes", to_string(subject.choice), subject.torus.name(),
                              size_text(bytes));
    panel.x_label = "reconfiguration";
    panel.y_label = "time per hop";
    panel.centre = std::nan("");
    for (const double change : question.circuits.reconfigurations) {
        panel.columns.push_back(time_text(change));
    }
    Json cells = Json::array();
    for (const double hop : hops) {
        panel.rows.push_back(time_text(hop));
        panel.values.emplace_back();
        panel.texts.emplace_back();
        for (const double change : question.circuits.reconfigurations) {
            RewiringCosts costs = costs_of(question);
            costs.hop = hop;
            costs.reconfiguration = change;
            const RewiringRun run =
                run_of(question, field, subject, costs, static_cast<double>(bytes));
            const double base = over_ring ? run.ring_seconds : run.best_static_seconds;
            const double gain = run.with_fallback() > 0 ? base / run.with_fallback() : 1;
            panel.values.back().push_back(gain);
            const int number =
                thresholds && run.threshold ? run.threshold->steps : run.sequence.changes;
            panel.texts.back().push_back(fmt::format("{} ({:.2f})", number, gain));
            Json cell = json_of(question, subject, run, costs, bytes);
            cell["gain"] = gain;
            cell.erase("cannot_be_wired");
            cells.push_back(std::move(cell));
        }
    }
    map.panels.push_back({{"algorithm", to_string(subject.choice)},
                          {"torus", subject.torus.name()},
                          {"bytes", bytes},
                          {"cells", std::move(cells)}});
    map.figure.panels.emplace_back(std::move(panel));
}

void write_json(const std::string& file, const Json& json) {
    const std::string draft = file + ".part";
    std::ofstream stream(draft);
    stream << json.dump(1) << "\n";
    stream.close();
    std::error_code failed;
    if (stream) {
        std::filesystem::rename(draft, file, failed);
    }
    if (!stream || failed) {
        throw Error(Status::system_error, "\"" + file + "\" cannot be written");
    }
}

}  // namespace

void check_map_options(const RewiringMapCommandLine& given) {
    if (given.gain != "static" && given.gain != "ring") {
        throw Error(Status::invalid_argument,
                    "--gain is static or ring, not \"" + given.gain + "\"");
    }
    if (given.files.empty()) {
        return;
    }
    for (const std::string& file : split_list(given.files)) {
        if (!is_json(file)) {
            check_figure_file(file);
            continue;
        }
        const std::filesystem::path folder = std::filesystem::path(file).parent_path();
        if (!folder.empty() && !std::filesystem::is_directory(folder)) {
            throw Error(Status::invalid_argument, "\"" + file +
                                                      "\" cannot be written: there is no "
                                                      "folder " +
                                                      folder.string());
        }
    }
}

void draw_map(const RewiringQuestion& question, const std::vector<RewiringField>& fields,
              const RewiringMapCommandLine& given, const std::vector<double>& hops) {
    const bool over_ring = given.gain == "ring";
    Map map;
    map.figure.title =
        fmt::format("{}: {}, and in brackets the gain over {}", to_string(question.sim.collective),
                    all_have_thresholds(fields) ? "threshold T" : "how often circuits change",
                    over_ring ? "ring" : "the best static schedule");
    for (const RewiringField& field : fields) {
        for (const RewiringSubject& subject : field.subjects) {
            for (const std::size_t bytes : question.sim.sizes) {
                add_panel(map, question, field, subject, bytes, over_ring, hops,
                          all_have_thresholds(fields));
            }
        }
    }
    const Json all{{"machine", json_of(question.sim.machine)},
                   {"conventions", conventions_json(question.circuits)},
                   {"single_port", question.single_port},
                   {"gain_over", over_ring ? "ring" : "best_static"},
                   {"reconfigurable", question.circuits.reconfigurations},
                   {"hops", hops},
                   {"panels", std::move(map.panels)}};
    map.figure.columns = static_cast<int>(question.sim.sizes.size());
    for (const std::string& file : split_list(given.files)) {
        if (is_json(file)) {
            write_json(file, all);
        } else {
            write_figure(file, map.figure);
        }
    }
    if (question.sim.json) {
        fmt::print("{}\n", all.dump());
    } else {
        fmt::print("# {} panels of {} x {} cells in {}\n", map.figure.panels.size(), hops.size(),
                   question.circuits.reconfigurations.size(), given.files);
    }
}

}  // namespace trefoil::tool
