// SPDX-License-Identifier: BSD-3-Clause
// Lists of the collectives, and look-up by name.
#include "algorithms/schedule/collective.hpp"

#include <algorithm>
#include <vector>

#include "algorithms/schedule/nearest_names.hpp"
#include "topo/error.hpp"

namespace trefoil {

std::span<const Collective> collectives() {
    static constexpr auto all = [] {
        std::array<Collective, collective_count> list{};
        std::ranges::transform(detail::collective_rows, list.begin(),
                               &CollectiveTraits::collective);
        return list;
    }();
    return all;
}

std::string collective_names() {
    std::string names;
    for (const CollectiveTraits& row : detail::collective_rows) {
        names += (names.empty() ? "" : ", ") + std::string(row.name);
    }
    return names;
}

Collective find_collective(std::string_view name) {
    std::vector<std::string> known;
    for (const CollectiveTraits& row : detail::collective_rows) {
        if (row.name == name) {
            return row.collective;
        }
        known.emplace_back(row.name);
    }
    std::string offer;
    for (const std::string& near : nearest_names(name, known)) {
        offer += (offer.empty() ? "did you mean " : " or ") + near;
    }
    throw Error(Status::not_found,
                "there is no collective \"" + std::string(name) + "\"; " +
                    (offer.empty() ? "there are " + collective_names() : offer + "?"));
}

}  // namespace trefoil
