// SPDX-License-Identifier: BSD-3-Clause
// Pictures of results: lines, and tables whose cells are coloured, drawn by gnuplot.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace trefoil::tool {

/// Curves over a common x axis.
struct LinePanel {
    struct Line {
        std::string name;
        std::vector<std::pair<double, double>> points;  ///< x, y; on a log axis above 0
    };
    std::string title, x_label, y_label;
    bool log_x = true, log_y = true;
    std::vector<Line> lines;
    /// Places on the x axis and what is written there; empty: numbers.
    std::vector<std::pair<double, std::string>> x_ticks;
};

/// A table of numbers, each written into its cell, which is coloured by it.
struct HeatPanel {
    std::string title, x_label, y_label;
    std::vector<std::string> columns, rows;       ///< names; rows from the top
    std::vector<std::vector<double>> values;      ///< by row and column; NaN: the cell stays empty
    std::vector<std::vector<std::string>> texts;  ///< of the cells; empty: the values
    /// The colour turns here: red below, blue above. A centre of NaN: from white to blue alone.
    double centre = 0;
    bool has_scale = true;  ///< false: colours only tell the cells apart
};

struct Figure {
    std::string title;  ///< may be empty
    std::vector<std::variant<LinePanel, HeatPanel>> panels;
    int columns = 0;  ///< panels beside each other; 0: as fits
};

/// What is wrong with the name of a file for a picture, or missing to draw it: throws
/// Error(invalid_argument) unless it ends in .svg or .png and its folder exists, and
/// Error(unsupported) that names the package when there is no gnuplot. For use before long work.
void check_figure_file(const std::string& file);

/// Draws. The file is there as a whole, or as it was before: Error says why.
void write_figure(const std::string& file, const Figure& figure);

/// What gnuplot is told; the picture comes out of its standard output. `kind`: "svg" or "png".
std::string figure_script(const Figure& figure, const std::string& kind);

}  // namespace trefoil::tool
