// SPDX-License-Identifier: BSD-3-Clause
// What ranks of tests know of their job's secret.
#pragma once

#include <cstdint>
#include <string_view>

#include "backend/system/secrets.hpp"

namespace trefoil::test {

inline std::uint64_t prove(std::string_view text) {
    return number_of(keyed_hash("the secret of a test", text));
}

}  // namespace trefoil::test
