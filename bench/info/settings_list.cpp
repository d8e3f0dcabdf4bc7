// SPDX-License-Identifier: BSD-3-Clause
// Looks at the environment and at what the command line overrides.
#include "bench/info/settings_list.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "backend/registry/transports.hpp"

namespace trefoil::tool {

namespace {

using Json = nlohmann::ordered_json;

/// What the command line has put in the place of a variable.
std::string overridden(std::string_view name, const Settings& settings) {
    return name == "TREFOIL_TORUS"      ? settings.torus
           : name == "TREFOIL_BACKEND"  ? settings.backend
           : name == "TREFOIL_PROVIDER" ? settings.provider
                                        : settings.nics;
}

/// What people paste into reports must not let others in.
std::string shown(std::string_view name, const char* value) {
    return name == "TREFOIL_TOKEN" ? "(a secret)" : value;
}

}  // namespace

Json settings_list(const InfoSettings& in_force) {
    Json list = Json::array();
    for (const EnvironmentVariable& v : environment_variables()) {
        const char* set = std::getenv(std::string(v.name).c_str());
        const std::vector<std::string>& given = in_force.command_line;
        const bool by_command_line = std::find(given.begin(), given.end(), v.name) != given.end();
        const bool by_environment = !by_command_line && set != nullptr && *set != '\0';
        const std::string by_default(v.default_value.empty() ? "-" : v.default_value);
        list.push_back({{"name", v.name},
                        {"type", v.type},
                        {"default", by_default},
                        {"value", by_command_line  ? overridden(v.name, in_force.settings)
                                  : by_environment ? shown(v.name, set)
                                                   : by_default},
                        {"from", by_command_line  ? "command line"
                                 : by_environment ? "environment"
                                                  : "default"},
                        {"help", v.help}});
    }
    return list;
}

Json foreign_variables() {
    Json list = Json::array();
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::size_t equals = std::min(text.find('='), text.size() - 1);
        const bool of_a_library =
            std::any_of(transports().begin(), transports().end(), [text](const Transport& each) {
                return !each.variables.empty() && text.starts_with(each.variables);
            });
        if (of_a_library) {
            list.push_back({{"name", std::string(text.substr(0, equals))},
                            {"value", std::string(text.substr(equals + 1))}});
        }
    }
    return list;
}

}  // namespace trefoil::tool
