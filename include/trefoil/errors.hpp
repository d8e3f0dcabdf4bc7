// SPDX-License-Identifier: BSD-3-Clause
// The exception of the C++ wrapper, and versions.
#pragma once

#include <trefoil/trefoil.h>

#include <stdexcept>
#include <string>

namespace trefoil {

/// A call that did not succeed. what() is the library's message: what happened and what to do.
class CallFailed : public std::runtime_error {
  public:
    CallFailed(trefoil_status_t status, const std::string& message)
        : std::runtime_error(message), status_(status) {
        cause_.size = sizeof cause_;
        if (trefoil_last_cause(nullptr, &cause_) != TREFOIL_SUCCESS || cause_.status != status) {
            cause_ = {sizeof cause_, 0, status, -1, TREFOIL_EVIDENCE_NONE, -1, 0, 0};
        }
    }
    trefoil_status_t status() const noexcept { return status_; }
    /// Whose fault it is, as far as it is known.
    const trefoil_cause_t& cause() const noexcept { return cause_; }

  private:
    trefoil_status_t status_;
    trefoil_cause_t cause_{};
};

/// Throws CallFailed with this thread's last error unless `status` is success.
inline void check(trefoil_status_t status) {
    if (status != TREFOIL_SUCCESS) {
        const std::string message = trefoil_last_error(nullptr);
        throw CallFailed(status, message.empty() ? trefoil_status_string(status) : message);
    }
}

/// The loaded library's version, as TREFOIL_VERSION; and "0.1.0".
inline int version() {
    return trefoil_version();
}
inline std::string version_string() {
    return trefoil_version_string();
}

}  // namespace trefoil
