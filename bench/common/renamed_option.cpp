// SPDX-License-Identifier: BSD-3-Clause
// A hidden option for each, which only throws.
#include "bench/common/renamed_option.hpp"

#include "topo/error.hpp"

namespace trefoil::tool {

void refuse_option(CLI::App& command, const std::string& option, const std::string& advice) {
    command
        .add_option_function<std::string>(option,
                                          [option, advice](const std::string&) {
                                              throw Error(Status::invalid_argument,
                                                          option + " " + advice);
                                          })
        ->expected(0, 1)
        ->group("");  // not listed
}

}  // namespace trefoil::tool
