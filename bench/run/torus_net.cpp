// SPDX-License-Identifier: BSD-3-Clause
// Reads what scripts/torus_network/state.py has written.
#include "bench/run/torus_net.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "topo/error.hpp"
#include "topo/json_reason.hpp"

namespace trefoil::tool {

namespace {

/// ", but a, b", or nothing when there are none.
std::string others_text(const std::filesystem::path& folder) {
    std::vector<std::string> names;
    std::error_code ignored;  // no folder: nothing was ever brought up
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
        if (entry.path().extension() == ".json") {
            names.push_back(entry.path().stem());
        }
    }
    std::sort(names.begin(), names.end());
    return names.empty() ? "" : fmt::format(", but {}", fmt::join(names, ", "));
}

}  // namespace

TorusNet read_torus_net(const std::string& name, const std::filesystem::path& folder) {
    const auto path = folder / (name + ".json");
    std::ifstream file(path);
    if (name.find('/') != std::string::npos || !file) {
        throw Error(
            Status::not_found,
            fmt::format("there is no network \"{}\"{}; bring it up with scripts/torusnet up 3x3 "
                        "--name {}",
                        name, others_text(folder), name));
    }
    try {
        const auto json = nlohmann::json::parse(file);
        TorusNet net;
        json.at("torus").get_to(net.torus);
        json.at("nics").get_to(net.nics);
        json.at("namespaces").get_to(net.namespaces);
        if (!json.at("bits_per_second").is_null()) {
            json.at("bits_per_second").get_to(net.bits_per_second);
        }
        net.delay_us = json.value("delay_ns", 0.0) / 1e3;
        json.at("meeting_addresses").get_to(net.meeting_address);
        if (net.namespaces.empty() || net.meeting_address.size() != net.namespaces.size()) {
            throw Error(Status::system_error, "it lists no node, or not each with its address");
        }
        return net;
    } catch (const std::exception& error) {
        throw Error(Status::system_error,
                    fmt::format("{} cannot be understood ({}); take the network down and bring it "
                                "up again with scripts/torusnet of this version",
                                path.string(), json_reason(error)));
    }
}

}  // namespace trefoil::tool
