// SPDX-License-Identifier: BSD-3-Clause
// What tests of other rooms run over: every transport of this build, without knowing their names.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "backend/registry/transports.hpp"

namespace trefoil::test {

struct TransportToTest {
    std::string name;  ///< of the test: letters and digits
    std::string backend;
    std::string provider;
    friend void PrintTo(const TransportToTest& transport, std::ostream* out) {
        *out << transport.name;
    }
};

/// Whether this build has it, and it is not one that tests add for those that ask for it.
inline bool is_to_test(const Transport& transport) {
    return transport.usable() && transport.name != "strict" && transport.name != "smallest";
}

/// For INSTANTIATE_TEST_SUITE_P.
inline std::string name_of_transport(const testing::TestParamInfo<TransportToTest>& info) {
    return info.param.name;
}

/// Those with providers are tested with ones that every machine has; all others with their default.
inline std::vector<TransportToTest> transports_to_test() {
    const std::vector<TransportToTest> with_providers{{"net", "ofi", "net"},
                                                      {"rxm", "ofi", "tcp;ofi_rxm"},
                                                      {"shm", "ofi", "shm"},
                                                      {"posix", "ucx", "posix"},
                                                      {"tcp", "ucx", "tcp"}};
    std::vector<TransportToTest> all;
    for (const Transport& transport : transports()) {
        if (!is_to_test(transport)) {
            continue;
        }
        const std::size_t before = all.size();
        std::copy_if(with_providers.begin(), with_providers.end(), std::back_inserter(all),
                     [&](const TransportToTest& each) { return each.backend == transport.name; });
        if (all.size() == before) {
            all.push_back({std::string(transport.name), std::string(transport.name), ""});
        }
    }
    return all;
}

/// Each transport of this build once.
inline std::vector<std::string> backends_to_test() {
    std::vector<std::string> names;
    for (const Transport& transport : transports()) {
        if (is_to_test(transport)) {
            names.emplace_back(transport.name);
        }
    }
    return names;
}

/// For tests of what one transport alone has.
inline bool is_built(std::string_view name) {
    const auto all = backends_to_test();
    return std::find(all.begin(), all.end(), name) != all.end();
}

}  // namespace trefoil::test
