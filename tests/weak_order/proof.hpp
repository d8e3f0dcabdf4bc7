// SPDX-License-Identifier: BSD-3-Clause
// Scenarios hold as the product is written, and some of them fails for each ordering in it that is
// made weaker.
//
// docs/weak-order.md lists what is proved, by which scenario, and what is not.
#pragma once

#include <string>
#include <vector>

#include "tests/weak_order/machine.hpp"

namespace trefoil::weak {

struct Named {
    const char* name;
    Scenario scenario;
    Bounds bounds = {};
};

/// An ordering that is stronger than these scenarios need, or that they do not come to, and why.
struct Excuse {
    const char* file;       ///< the end of its path
    const char* statement;  ///< part of its line in the source
    const char* why;
};

/// Expects all that of the orderings in these files (by their paths in the repository), that the
/// scenarios come to each of them, and that no excuse is in vain.
void prove(const std::vector<const char*>& files, const std::vector<Named>& scenarios,
           const std::vector<Excuse>& excuses = {});

}  // namespace trefoil::weak
