// SPDX-License-Identifier: BSD-3-Clause
// Why a communicator has failed: whose fault it is, and how that was found.
#pragma once

#include <string>

#include "topo/error.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// Ranks pass a cause on as they heard it, so that all of them name the same culprit.
struct Cause {
    static constexpr Rank nobody = Blame::nobody;

    Status status = Status::success;
    Blame blame{};
    /// Who did what, and how which rank found it, the culprit first.
    std::string text{};
    /// What this rank adds for its own user. Not passed on.
    std::string own{};
    /// Only what was noticed first: the reason for it may be known soon (see Inquiry).
    bool tentative = false;
    /// The text names the calls of both the culprit and the finder.
    bool names_calls = false;
};

/// Several ranks may abort at once. Of what they say, that of the lowest rank stands.
inline bool precedes(const Cause& one, const Cause& other) {
    return one.status == Status::aborted && other.status == Status::aborted &&
           one.blame.culprit < other.blame.culprit;
}

}  // namespace trefoil
