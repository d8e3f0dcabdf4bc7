// SPDX-License-Identifier: BSD-3-Clause
// Makes backend "smallest" known to the program that this is linked into.
#include "backend/registry/transports.hpp"
#include "tests/backend/smallest/smallest.hpp"

namespace {

[[maybe_unused]] const bool registered = [] {
    trefoil::register_transport(trefoil::smallest::smallest_transport());
    return true;
}();

}  // namespace
