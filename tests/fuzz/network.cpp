// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes networks as JSON: what is read is written and read again as the same.
#include "algorithms/json/network.hpp"

#include <nlohmann/json.hpp>

#include "tests/fuzz/target.hpp"

FUZZ_TARGET(network) {
    using namespace trefoil;
    const std::string_view text = fuzz::text_of(data, size);
    fuzz::refuses([&] {
        const Fabric fabric = read_network(text);
        fuzz::require(read_network(network_json(fabric).dump()) == fabric, "another network");
        fuzz::require(Fabric::parse(fabric.name()) == fabric, "a text of another network");
    });
    return 0;
}
