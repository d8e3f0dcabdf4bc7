// SPDX-License-Identifier: BSD-3-Clause
// The names in TREFOIL_MODEL.
#include "bench/common/model_variable.hpp"

#include "bench/common/names.hpp"
#include "topo/variable.hpp"

namespace trefoil::tool {

std::vector<std::string> names_in_model_variable() {
    std::vector<std::string> names;
    const auto text = environment_variable("TREFOIL_MODEL");
    for (const std::string& entry : text ? split_list(*text) : std::vector<std::string>()) {
        names.push_back(entry.substr(0, entry.find('=')));
    }
    return names;
}

}  // namespace trefoil::tool
