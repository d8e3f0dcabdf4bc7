// SPDX-License-Identifier: BSD-3-Clause
// BuildOptions in which one field after the other is set: to show that none is lost on the way.
#pragma once

#include <type_traits>
#include <vector>

#include "algorithms/schedule/algorithm.hpp"

namespace trefoil::test {

/// For each field of BuildOptions, the options in which it alone is not its default. A new field
/// does not compile until it is listed here. What is only priced (sizes_only) is in no call.
inline std::vector<BuildOptions> options_with_one_field_set() {
    std::vector<BuildOptions> list;
    const auto set = [](auto& field) {
        field = static_cast<std::remove_reference_t<decltype(field)>>(1);
    };
    const auto number_of_fields = [&](BuildOptions& options, std::size_t chosen) {
        auto& [root, layout, single_port, pieces, radix, ports, rotation, binary, sync, by_node,
               sizes_only] = options;
        static_cast<void>(sizes_only);
        std::size_t number = 0;
        const auto visit = [&](auto&... fields) {
            ((number++ == chosen ? set(fields) : void()), ...);
        };
        visit(root, layout, single_port, pieces, radix, ports, rotation, binary, sync, by_node);
        return number;
    };
    BuildOptions first;
    const std::size_t fields = number_of_fields(first, 0);
    for (std::size_t chosen = 0; chosen < fields; ++chosen) {
        number_of_fields(list.emplace_back(), chosen);
    }
    return list;
}

}  // namespace trefoil::test
