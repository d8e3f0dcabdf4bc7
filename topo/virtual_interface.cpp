// SPDX-License-Identifier: BSD-3-Clause
// Reads the kernel's directory of interfaces; falls back on names.
#include "topo/virtual_interface.hpp"

#include <array>
#include <fstream>
#include <string_view>
#include <system_error>

namespace trefoil {

namespace {

namespace fs = std::filesystem;

struct Kind {
    std::string_view sign;  ///< DEVTYPE, or how the name begins
    std::string_view kind;
};

constexpr std::array<Kind, 8> device_types{{{"bridge", "bridge"},
                                            {"wireguard", "tunnel"},
                                            {"vxlan", "tunnel"},
                                            {"geneve", "tunnel"},
                                            {"gre", "tunnel"},
                                            {"ipip", "tunnel"},
                                            {"sit", "tunnel"},
                                            {"dummy", "dummy"}}};

constexpr std::array<Kind, 16> names{{{"docker", "container network"},
                                      {"podman", "container network"},
                                      {"br-", "container network"},
                                      {"virbr", "bridge"},
                                      {"lxcbr", "container network"},
                                      {"lxdbr", "container network"},
                                      {"cni", "container network"},
                                      {"flannel", "container network"},
                                      {"cali", "container network"},
                                      {"tun", "tunnel"},
                                      {"tap", "tunnel"},
                                      {"wg", "tunnel"},
                                      {"tailscale", "tunnel"},
                                      {"zt", "tunnel"},
                                      {"vpn", "tunnel"},
                                      {"dummy", "dummy"}}};

bool is_there(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

std::string device_type(const fs::path& entry) {
    constexpr std::string_view key = "DEVTYPE=";
    std::ifstream file(entry / "uevent");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(key)) {
            return line.substr(key.size());
        }
    }
    return {};
}

bool holds_hardware(const fs::path& classes, const fs::path& bridge) {
    std::error_code error;
    for (const auto& port : fs::directory_iterator(bridge / "brif", error)) {
        if (is_there(classes / port.path().filename() / "device")) {
            return true;
        }
    }
    return false;
}

}  // namespace

std::string virtual_kind(const std::string& interface, const fs::path& classes) {
    const fs::path entry = classes / interface;
    if (is_there(entry / "device") || holds_hardware(classes, entry)) {
        return {};
    }
    const std::string type = device_type(entry);
    for (const auto& [sign, kind] : device_types) {
        if (type == sign) {
            return std::string(kind);
        }
    }
    if (is_there(entry / "bridge")) {
        return "bridge";
    }
    if (is_there(entry / "tun_flags")) {
        return "tunnel";
    }
    if (is_there(entry / "brport")) {
        return "port of a bridge";
    }
    for (const auto& [sign, kind] : names) {
        if (interface.starts_with(sign)) {
            return std::string(kind);
        }
    }
    return {};
}

}  // namespace trefoil
