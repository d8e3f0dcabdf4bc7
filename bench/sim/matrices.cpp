// SPDX-License-Identifier: BSD-3-Clause
// Algorithms beside sizes: the tables for people, and the pictures.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "bench/common/names.hpp"
#include "bench/sim/report.hpp"
#include "bench/sim/units.hpp"

namespace trefoil::tool {

namespace {

/// The runs on one torus.
struct Matrix {
    std::string torus;
    std::vector<std::string> algorithms;
    std::vector<std::size_t> sizes;
    std::vector<std::vector<const SimRun*>> runs;  ///< by algorithm and size
};

// Runs come by torus, algorithm and size, so the order of what is met first is theirs.
std::vector<Matrix> matrices(const SimResult& result) {
    std::vector<Matrix> all;
    for (const SimRun& run : result.runs) {
        if (all.empty() || all.back().torus != run.torus) {
            all.push_back({run.torus, {}, {}, {}});
        }
        Matrix& matrix = all.back();
        if (matrix.algorithms.empty() || matrix.algorithms.back() != run.algorithm) {
            matrix.algorithms.push_back(run.algorithm);
            matrix.runs.emplace_back();
        }
        if (matrix.algorithms.size() == 1) {
            matrix.sizes.push_back(run.bytes);
        }
        matrix.runs.back().push_back(&run);
    }
    return all;
}

std::string rows_of(const Matrix& matrix, const std::string& what,
                    const std::function<std::string(const SimRun&)>& cell) {
    std::size_t names = what.size();
    for (const std::string& name : matrix.algorithms) {
        names = std::max(names, name.size());
    }
    std::string text = fmt::format("#{:>{}}", what, names);
    for (const std::size_t size : matrix.sizes) {
        text += fmt::format(" {:>13}", size_text(size));
    }
    text += "\n";
    for (std::size_t a = 0; a < matrix.algorithms.size(); ++a) {
        text += fmt::format(" {:>{}}", matrix.algorithms[a], names);
        for (const SimRun* run : matrix.runs[a]) {
            text += fmt::format(" {:>13}", cell(*run));
        }
        text += "\n";
    }
    return text;
}

std::string gain_text(double gain) {
    return std::isnan(gain) ? "-" : fmt::format("{:+.1f} %", 100 * gain);
}

LinePanel lines_of(const Matrix& matrix) {
    LinePanel panel;
    panel.title = matrix.torus;
    panel.x_label = "bytes";
    panel.y_label = "goodput, Gbit/s";
    for (std::size_t a = 0; a < matrix.algorithms.size(); ++a) {
        panel.lines.push_back({matrix.algorithms[a], {}});
        for (const SimRun* run : matrix.runs[a]) {
            if (run->bytes > 0 && run->seconds > 0) {
                const auto bytes = static_cast<double>(run->bytes);
                panel.lines.back().points.emplace_back(bytes, bytes * 8e-9 / run->seconds);
            }
        }
        if (panel.lines.back().points.empty()) {  // nothing that a log axis could show
            panel.lines.pop_back();
        }
    }
    for (const std::size_t size : matrix.sizes) {
        if (size > 0) {
            panel.x_ticks.emplace_back(size, size_text(size));
        }
    }
    return panel;
}

HeatPanel gains_of(const Matrix& matrix, const Baseline& baseline, const std::string& name) {
    HeatPanel panel;
    panel.title = matrix.torus + ": faster than " + name + ", %";
    panel.x_label = "bytes";
    for (const std::size_t size : matrix.sizes) {
        panel.columns.push_back(size_text(size));
    }
    for (std::size_t a = 0; a < matrix.algorithms.size(); ++a) {
        if (matrix.algorithms[a] == name) {
            continue;
        }
        panel.rows.push_back(matrix.algorithms[a]);
        panel.values.emplace_back();
        panel.texts.emplace_back();
        for (const SimRun* run : matrix.runs[a]) {
            const double percent = 100 * gain(baseline, *run);
            panel.values.back().push_back(percent);
            panel.texts.back().push_back(std::isnan(percent) ? ""
                                                             : fmt::format("{:+.0f}", percent));
        }
    }
    return panel;
}

}  // namespace

std::string table_of(const SimOptions& options, const SimResult& result) {
    const Baseline baseline = baseline_of(options, result);
    std::string text = table_head(options);
    for (const Matrix& matrix : matrices(result)) {
        text += fmt::format("#\n# {}\n#\n", matrix.torus);
        text += rows_of(matrix, "time", [](const SimRun& run) { return time_text(run.seconds); });
        text += "#\n" + rows_of(matrix, "goodput", goodput_text);
        if (!baseline.empty()) {
            text +=
                "#\n" + rows_of(matrix, "gain over " + options.baseline,
                                [&](const SimRun& run) { return gain_text(gain(baseline, run)); });
        }
    }
    for (const std::string& reason : result.left_out) {
        text += fmt::format("# left out: {}\n", reason);
    }
    return text;
}

Figure figure_of(const SimOptions& options, const SimResult& result) {
    const Baseline baseline = baseline_of(options, result);
    Figure figure;
    figure.title =
        fmt::format("{} on {}, {} model", to_string(options.collective), options.machine.name,
                    options.model == Model::flow ? "flow" : "step");
    for (const Matrix& matrix : matrices(result)) {
        figure.panels.emplace_back(lines_of(matrix));
        if (!baseline.empty()) {
            figure.panels.emplace_back(gains_of(matrix, baseline, options.baseline));
        }
    }
    figure.columns = baseline.empty() ? 0 : 2;
    return figure;
}

}  // namespace trefoil::tool
