// SPDX-License-Identifier: BSD-3-Clause
// Aligns cells, or separates them.
#include "bench/common/text_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace trefoil::tool {

namespace {

using Json = nlohmann::ordered_json;

std::string cell_text(const Json& cell) {
    return cell.is_array()
               ? fmt::format("{}", fmt::join(cell.get<std::vector<std::string>>(), ", "))
               : cell.get<std::string>();
}

/// "| a | b |": what would end a cell early is escaped.
std::string markdown_line(const std::vector<std::string>& cells) {
    std::string line = "|";
    for (const std::string& cell : cells) {
        line += ' ';
        for (const char c : cell) {
            line += c == '|' ? "\\|" : std::string(1, c);
        }
        line += cell.empty() ? "|" : " |";
    }
    return line + "\n";
}

}  // namespace

std::string text_table(const Json& rows, const std::vector<std::string>& columns) {
    std::vector<std::size_t> widths;
    for (const std::string& column : columns) {
        std::size_t width = column.size();
        for (const Json& row : rows) {
            width = std::max(width, cell_text(row[column]).size());
        }
        widths.push_back(width);
    }
    std::string result;
    const auto line = [&](const auto& cell) {
        std::string text = " ";
        for (std::size_t i = 0; i < columns.size(); ++i) {
            text += fmt::format(" {:<{}} ", cell(columns[i]), widths[i]);
        }
        result += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
    };
    line([](const std::string& column) { return column; });
    for (const Json& row : rows) {
        line([&](const std::string& column) { return cell_text(row[column]); });
    }
    return result;
}

std::string markdown_table(const Json& rows, const std::vector<std::string>& columns) {
    std::string result = markdown_line(columns);
    result += markdown_line(std::vector<std::string>(columns.size(), "---"));
    for (const Json& row : rows) {
        std::vector<std::string> cells;
        for (const std::string& column : columns) {
            cells.push_back(cell_text(row[column]));
        }
        result += markdown_line(cells);
    }
    return result;
}

}  // namespace trefoil::tool
