// SPDX-License-Identifier: BSD-3-Clause
// Owners of libfabric objects: each closes its own, in reverse order of declaration.
#pragma once

#include <memory>
#include <string>

#include "backend/ofi/library.hpp"
#include "topo/error.hpp"

namespace trefoil::ofi {

/// Closes any object that begins with a fid (fabric, domain, endpoint, queue, registration ...).
struct CloseFid {
    template <typename Object>
    void operator()(Object* object) const {
        fi_close(&object->fid);
    }
};
template <typename Object>
using Handle = std::unique_ptr<Object, CloseFid>;

struct FreeInfo {
    void operator()(fi_info* info) const { library().freeinfo(info); }
};
/// One fi_info, or a list of them.
using Info = std::unique_ptr<fi_info, FreeInfo>;

/// A copy of one fi_info; an empty one of nullptr. Throws Error(out_of_memory).
inline Info copy_of(const fi_info* info) {
    Info copy(library().dupinfo(info));
    if (!copy) {
        throw Error(Status::out_of_memory, "no memory for a copy of libfabric's offer");
    }
    return copy;
}

/// libfabric returns 0 or a negated error number; `what` completes "libfabric could not ...".
inline void check(long result, const std::string& what) {
    if (result >= 0) {
        return;
    }
    const Status status = result == -FI_ENOMEM ? Status::out_of_memory : Status::system_error;
    throw Error(status, "libfabric could not " + what + ": " +
                            library().strerror(static_cast<int>(-result)) +
                            "; FI_LOG_LEVEL=warn shows the provider's own words");
}

}  // namespace trefoil::ofi
