// SPDX-License-Identifier: BSD-3-Clause
// A figure in gnuplot's words. Texts stand in single quotes, in which nothing is expanded.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/common/plot.hpp"

namespace trefoil::tool {

namespace {

std::string in_quotes(const std::string& text) {
    std::string result = "'";
    for (const char c : text) {
        result += c == '\'' ? "''" : std::string(1, static_cast<unsigned char>(c) < ' ' ? ' ' : c);
    }
    return result + "'";
}

struct Size {
    std::size_t width = 0, height = 0;
};

Size size_of(const LinePanel&) {
    return {760, 460};
}

Size size_of(const HeatPanel& panel) {
    std::size_t longest = 4;
    for (const std::string& row : panel.rows) {
        longest = std::max(longest, row.size());
    }
    std::size_t cell = 62;
    for (const std::vector<std::string>& row : panel.texts) {
        for (const std::string& text : row) {
            cell = std::max(cell, 14 + 7 * text.size());
        }
    }
    return {190 + 8 * longest + cell * panel.columns.size(), 150 + 34 * panel.rows.size()};
}

std::string labels(const std::string& title, const std::string& x, const std::string& y) {
    return fmt::format("set title {}\nset xlabel {}\nset ylabel {}\n", in_quotes(title),
                       in_quotes(x), in_quotes(y));
}

/// "'a' 1, 'b' 2"
std::string ticks(const std::vector<std::pair<double, std::string>>& places) {
    std::vector<std::string> all;
    for (const auto& [place, name] : places) {
        all.push_back(fmt::format("{} {}", in_quotes(name), place));
    }
    return fmt::format("({})", fmt::join(all, ", "));
}

std::string script_of(const LinePanel& panel, std::size_t number) {
    std::string text = labels(panel.title, panel.x_label, panel.y_label);
    text += panel.log_x ? "set logscale x 2\n" : "unset logscale x\n";
    text += panel.log_y ? "set logscale y\n" : "unset logscale y\n";
    text +=
        "set grid xtics ytics lt 1 lc rgb '#cccccc'\nset key outside right top\nset autoscale\n";
    text += panel.x_ticks.empty()
                ? "set xtics autofreq norotate\n"
                : fmt::format("set xtics rotate by -45 {}\n", ticks(panel.x_ticks));
    std::vector<std::string> plots;
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (std::size_t i = 0; i < panel.lines.size(); ++i) {
        text += fmt::format("$lines_{}_{} << end_of_data\n", number, i);
        for (const auto& [x, y] : panel.lines[i].points) {
            text += fmt::format("{} {}\n", x, y);
            least = std::min(least, x);
            most = std::max(most, x);
        }
        text += "end_of_data\n";
        plots.push_back(fmt::format("$lines_{}_{} using 1:2 with linespoints lw 2 title {}", number,
                                    i, in_quotes(panel.lines[i].name)));
    }
    if (panel.lines.empty()) {
        return text +
               "unset xtics\nset xrange [1:2]\nset yrange [1:2]\nplot NaN notitle\n"
               "set xtics\nunset xrange\nunset yrange\n";
    }
    // A little wider than the points, so that the outermost ticks are written.
    const double margin = panel.log_x ? 0 : 0.02 * (most - least) + (most > least ? 0 : 1);
    const double factor = panel.log_x ? 1.15 : 1;
    text += fmt::format("set xrange [{}:{}]\n", least / factor - margin, most * factor + margin);
    return text + fmt::format("plot {}\nunset xrange\n", fmt::join(plots, ", "));
}

/// From red through white to blue, or the half of it that the values need.
std::string palette(const HeatPanel& panel, double least, double most) {
    if (std::isnan(panel.centre)) {
        return fmt::format("set palette defined (0 '#ffffff', 1 '#6baed6')\nset cbrange [{}:{}]\n",
                           least, most > least ? most : least + 1);
    }
    const double below = std::max(0.0, panel.centre - least);
    const double above = std::max(0.0, most - panel.centre);
    if (below == 0 && above == 0) {
        return fmt::format("set palette defined (0 '#ffffff', 1 '#ffffff')\nset cbrange [{}:{}]\n",
                           panel.centre, panel.centre + 1);
    }
    std::vector<std::string> stops;
    if (below > 0) {
        stops.push_back(fmt::format("{} '#fb6a4a'", -below));
    }
    stops.emplace_back("0 '#ffffff'");
    if (above > 0) {
        stops.push_back(fmt::format("{} '#6baed6'", above));
    }
    return fmt::format("set palette defined ({})\nset cbrange [{}:{}]\n", fmt::join(stops, ", "),
                       panel.centre - below, panel.centre + above);
}

std::string script_of(const HeatPanel& panel, std::size_t number) {
    std::string data, cells;
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (std::size_t r = 0; r < panel.values.size(); ++r) {
        for (std::size_t c = 0; c < panel.values[r].size(); ++c) {
            const double value = panel.values[r][c];
            if (std::isnan(value)) {
                continue;
            }
            least = std::min(least, value);
            most = std::max(most, value);
            data += fmt::format("{} {} {}\n", c, r, value);
            cells += fmt::format(
                "set label {} at {}, {} center front\n",
                in_quotes(panel.texts.empty() ? fmt::format("{:.3g}", value) : panel.texts[r][c]),
                c, r);
        }
    }
    std::vector<std::pair<double, std::string>> columns, rows;
    for (std::size_t c = 0; c < panel.columns.size(); ++c) {
        columns.emplace_back(c, panel.columns[c]);
    }
    for (std::size_t r = 0; r < panel.rows.size(); ++r) {
        rows.emplace_back(r, panel.rows[r]);
    }
    std::string text = labels(panel.title, panel.x_label, panel.y_label);
    text += "unset logscale\nunset grid\nunset key\nset style fill solid noborder\n";
    text += panel.has_scale ? "set colorbox\n" : "unset colorbox\n";
    text += fmt::format("set xtics norotate scale 0 {}\nset ytics scale 0 {}\n", ticks(columns),
                        ticks(rows));
    text += fmt::format("set xrange [-0.5:{}]\nset yrange [{}:-0.5]\n",
                        static_cast<double>(panel.columns.size()) - 0.5,
                        static_cast<double>(panel.rows.size()) - 0.5);
    if (data.empty()) {  // all cells stay empty
        return text + "plot NaN notitle\n";
    }
    return text + palette(panel, least, most) + cells +
           fmt::format(
               "$heat_{0} << end_of_data\n{1}end_of_data\n"
               "plot $heat_{0} using 1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5):3 with boxxyerror lc "
               "palette notitle\nunset label\nset ytics autofreq\nunset xrange\nunset yrange\n",
               number, data);
}

}  // namespace

std::string figure_script(const Figure& figure, const std::string& kind) {
    Size panel;
    for (const auto& one : figure.panels) {
        const Size size = std::visit([](const auto& it) { return size_of(it); }, one);
        panel = {std::max(panel.width, size.width), std::max(panel.height, size.height)};
    }
    const std::size_t count = std::max<std::size_t>(1, figure.panels.size());
    const std::size_t columns =
        figure.columns > 0 ? static_cast<std::size_t>(figure.columns)
                           : std::min(count, std::max<std::size_t>(
                                                 1, 1600 / std::max<std::size_t>(1, panel.width)));
    const std::size_t rows = (count + columns - 1) / columns;
    const std::size_t title = figure.title.empty() ? 0 : 40;
    std::string text = fmt::format(
        "set terminal {} noenhanced size {},{} font 'sans,11' background '#ffffff'\n"
        "set encoding utf8\n",
        kind == "png" ? "pngcairo" : "svg", panel.width * columns, panel.height * rows + title);
    text += fmt::format("set multiplot layout {},{}{}\n", rows, columns,
                        title > 0 ? " title " + in_quotes(figure.title) : "");
    for (std::size_t i = 0; i < figure.panels.size(); ++i) {
        text += std::visit([i](const auto& it) { return script_of(it, i); }, figure.panels[i]);
    }
    return text + "unset multiplot\n";
}

}  // namespace trefoil::tool
