// SPDX-License-Identifier: BSD-3-Clause
// One decision for each size and shape, as a table and as a picture.
#include "bench/explain/crossovers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "bench/common/names.hpp"
#include "bench/common/plot.hpp"
#include "bench/common/text_table.hpp"
#include "comm/plan/chooser.hpp"

namespace trefoil::tool {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* usual_sizes = "8,64,512,4K,32K,256K,1M,4M,16M,64M";

std::vector<std::size_t> sizes_of(const ExplainOptions& options) {
    std::vector<std::size_t> sizes;
    for (const std::string& text :
         split_list(options.sizes.empty() ? usual_sizes : options.sizes)) {
        sizes.push_back(parse_size(text));
    }
    return sizes;
}

}  // namespace

Json crossovers(const ExplainOptions& options) {
    const std::vector<std::size_t> sizes = sizes_of(options);
    Json rows = Json::array();
    for (const std::string& torus : split_list(options.torus)) {
        const ExplainedJob job = explained_job(options, torus);
        Chooser chooser(job.map, job.settings);
        chooser.force_list(job.settings.algorithm);
        Json cells = Json::array();
        for (const std::size_t bytes : sizes) {
            const Request request = explained_request(options, job.map.torus, bytes);
            const Decision decision = chooser.decide(request, job.access);
            // Pieces change with each size, and would hide where the algorithm does.
            cells.push_back({{"bytes", chooser.bytes_of(request)},
                             {"algorithm", decision.choice.algorithm->name},
                             {"choice", to_string(decision.choice)},
                             {"reason", decision.reason()}});
        }
        rows.push_back({{"torus", job.map.torus.name()}, {"cells", std::move(cells)}});
    }
    Json names = Json::array();
    for (const std::size_t bytes : sizes) {
        names.push_back(size_text(bytes));
    }
    return {{"collective", traits_of(find_collective(options.collective)).name},
            {"sizes", std::move(names)},
            {"rows", std::move(rows)}};
}

std::string crossovers_text(const Json& map) {
    std::vector<std::string> columns{"torus"};
    Json rows = Json::array();
    for (const Json& row : map["rows"]) {
        Json texts{{"torus", row["torus"]}};
        for (std::size_t i = 0; i < map["sizes"].size(); ++i) {
            texts[map["sizes"][i].get<std::string>()] = row["cells"][i]["algorithm"];
        }
        rows.push_back(std::move(texts));
    }
    for (const Json& size : map["sizes"]) {
        columns.push_back(size);
    }
    return text_table(rows, columns);
}

void draw_crossovers(const Json& map, const std::string& file) {
    HeatPanel panel;
    panel.title =
        fmt::format("Algorithms that auto picks for {}", map["collective"].get<std::string>());
    panel.x_label = "bytes of the vector";
    panel.y_label = "torus";
    panel.centre = std::nan("");
    panel.has_scale = false;
    panel.columns = map["sizes"].get<std::vector<std::string>>();
    std::vector<std::string> known;
    for (const Json& row : map["rows"]) {
        panel.rows.push_back(row["torus"]);
        panel.values.emplace_back();
        panel.texts.emplace_back();
        for (const Json& cell : row["cells"]) {
            const std::string name = cell["algorithm"];
            auto place = std::ranges::find(known, name);
            if (place == known.end()) {
                place = known.insert(known.end(), name);
            }
            panel.values.back().push_back(static_cast<double>(place - known.begin()));
            panel.texts.back().push_back(name);
        }
    }
    write_figure(file, {"", {panel}, 1});
}

}  // namespace trefoil::tool
