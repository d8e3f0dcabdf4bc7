// SPDX-License-Identifier: BSD-3-Clause
// The conformance suite over libfabric, with ranks as threads and as forked processes.
#include "tests/backend/ofi/providers.hpp"

namespace trefoil::conformance {

INSTANTIATE_TEST_SUITE_P(Ofi, Conformance, testing::ValuesIn(providers_to_test()), test_name);

TEST(OfiProviders, AllAreTested) {
    const std::vector<std::string> missing = missing_providers();
    if (!missing.empty()) {
        std::string text;
        for (const std::string& provider : missing) {
            text += " \"" + provider + "\"";
        }
        GTEST_SKIP() << "libfabric does not offer here, hence not tested:" << text;
    }
}

}  // namespace trefoil::conformance
