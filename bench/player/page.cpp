// SPDX-License-Identifier: BSD-3-Clause
// Puts style, scripts and data into the frame of the page.
#include "bench/player/page.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/player/page_files.hpp"
#include "bench/player/schedule_data.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

void put_in_place(std::string& page, std::string_view mark, std::string_view text) {
    const std::size_t at = page.find(mark);
    if (at == std::string::npos) {
        throw Error(Status::internal, fmt::format("the page has no place {}", mark));
    }
    page.replace(at, mark.size(), text);
}

/// JSON in a script element: nothing in it may look like the element's end.
std::string safe_json(const nlohmann::ordered_json& value) {
    std::string safe;
    for (const char c : value.dump()) {
        if (c == '<') {
            safe += "\\u003c";
        } else {
            safe += c;
        }
    }
    return safe;
}

}  // namespace

std::string player_page(const nlohmann::ordered_json& plans) {
    std::string page(page_frame());
    put_in_place(page, "/*STYLE*/", page_style());
    put_in_place(page, "/*SCRIPT*/", page_script());
    put_in_place(page, "{DATA}", safe_json(plans));
    if (page.size() > largest_page) {
        throw Error(Status::unsupported,
                    fmt::format("the page would have {:.1f} MiB; the limit is {} MiB. Take a "
                                "smaller torus, or one algorithm instead of two",
                                static_cast<double>(page.size()) / (1 << 20), largest_page >> 20));
    }
    return page;
}

void require_place_for(const std::string& file) {
    const std::filesystem::path path(file);
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    std::error_code error;
    if (file.empty() || std::filesystem::is_directory(path, error)) {
        throw Error(
            Status::invalid_argument,
            fmt::format("--html: '{}' is not the name of a file; give one, e.g. --html ring.html",
                        file));
    }
    if (!std::filesystem::is_directory(folder, error)) {
        throw Error(Status::invalid_argument,
                    fmt::format("--html: there is no folder {} for {}; make it first",
                                folder.string(), path.filename().string()));
    }
}

void write_page(const std::string& file, const std::string& page) {
    std::ofstream stream(file, std::ios::binary | std::ios::trunc);
    stream << page;
    stream.close();
    if (!stream) {
        throw Error(Status::invalid_argument, "--html: cannot write " + file);
    }
}

}  // namespace trefoil::tool
