// SPDX-License-Identifier: BSD-3-Clause
// The option, and what it makes of a list of tori.
#include "bench/common/per_node.hpp"

#include "bench/common/help.hpp"
#include "bench/common/names.hpp"
#include "topo/error.hpp"

namespace trefoil::tool {

void add_per_node(CLI::App& command, Rank& per_node) {
    command
        .add_option("--per-node", per_node,
                    "How many ranks a node has, at each place of the torus: 3x3 with 4 is 3x3x4h")
        ->check(number_in(1, 1 << 16));
}

std::string with_nodes(std::string_view tori, Rank per_node) {
    if (per_node == 0) {
        return std::string(tori);
    }
    std::string list;
    for (const std::string& text : split_list(tori)) {
        const Torus torus = Torus::parse(text);
        if (torus.has_nodes()) {
            throw Error(Status::invalid_argument, "the torus " + text +
                                                      " says how many ranks a node has; leave "
                                                      "--per-node out");
        }
        list += (list.empty() ? "" : ",") + Torus::of_nodes(torus, per_node).name();
    }
    return list;
}

}  // namespace trefoil::tool
