// SPDX-License-Identifier: BSD-3-Clause
// Whether the ranks get at each other's memory, as single copy needs it.
#pragma once

#include <functional>
#include <optional>

namespace trefoil {

/// Invariant: all ranks hold the same of it. What the transport offers is known at once; whether
/// the kernel lets every rank reach every other one is tried out with the first call that would
/// gain by it, because that takes connections among all of them.
class SingleCopyAccess {
  public:
    /// `offered`: the transport may let ranks get at each other's memory.
    explicit SingleCopyAccess(bool offered = false) : offered_(offered) {}

    /// As far as is known.
    bool expected() const { return offered_ && granted_.value_or(true); }
    /// Collective the first time: `reaches_all` tells on all ranks whether all of them do.
    bool settle(const std::function<bool()>& reaches_all) {
        if (offered_ && !granted_) {
            granted_ = reaches_all();
        }
        return expected();
    }

  private:
    bool offered_;
    std::optional<bool> granted_;  ///< nothing: not tried yet
};

}  // namespace trefoil
