// SPDX-License-Identifier: BSD-3-Clause
// What is said when NICs cannot be chosen, or when ranks have chosen different numbers of them.
#pragma once

#include <string>
#include <vector>

#include "comm/setup/nic_choice.hpp"

namespace trefoil {

/// The candidate's name, alias or address that `pattern` matches first; empty when none does.
std::string matched_name(const NicCandidate& candidate, const std::string& pattern);

/// Throws Error(not_found) for a pattern that leaves nothing.
[[noreturn]] void refuse_pattern(const std::string& pattern, const NicRequest& request,
                                 const std::vector<NicCandidate>& candidates);

/// Throws Error(not_found): all there is has to be asked for.
[[noreturn]] void refuse_default(const std::vector<NicCandidate>& candidates);

/// What a rank tells the others about its choice.
struct NicReport {
    std::string host;
    std::vector<std::string> names;  ///< each NIC once
};

/// By rank. Throws Error(mismatch) when the numbers of NICs differ: it names ranks, hosts and NICs.
void require_equal_counts(const std::vector<NicReport>& reports);

}  // namespace trefoil
