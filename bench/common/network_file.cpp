// SPDX-License-Identifier: BSD-3-Clause
// The file's text in place of its name, before anybody sees the option.
#include "bench/common/network_file.hpp"

#include "algorithms/json/network.hpp"
#include "bench/common/schedule_file.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

namespace {

std::string network_text(const std::string& file) {
    const std::string text = read_text_file(file);
    try {
        return read_network(text).name();
    } catch (const Error& error) {
        throw Error(error.status(), file + ": " + error.what());
    }
}

/// An empty entry stays: whoever splits the list refuses it.
std::string with_texts(std::string_view tori) {
    std::string all;
    while (true) {
        const std::size_t comma = tori.find(',');
        const std::string entry(tori.substr(0, comma));
        all += entry.ends_with(".json") ? network_text(entry) : entry;
        if (comma == std::string_view::npos) {
            return all;
        }
        all += ',';
        tori.remove_prefix(comma + 1);
    }
}

}  // namespace

CLI::Option* take_network_files(CLI::Option* torus) {
    return torus->transform(CLI::Validator(
        [](std::string& text) {
            text = with_texts(text);
            return std::string();
        },
        ""));
}

}  // namespace trefoil::tool
