// SPDX-License-Identifier: BSD-3-Clause
// Makes backend "strict" known to the program that this is linked into.
#include "backend/registry/transports.hpp"
#include "tests/backend/strict/strict.hpp"

namespace {

[[maybe_unused]] const bool registered = [] {
    trefoil::register_transport(trefoil::strict::strict_transport());
    return true;
}();

}  // namespace
