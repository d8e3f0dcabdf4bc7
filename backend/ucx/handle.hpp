// SPDX-License-Identifier: BSD-3-Clause
// Owners of UCX objects, and UCX's status as an error.
#pragma once

#include <ucp/api/ucp.h>

#include <memory>
#include <string>

#include "topo/error.hpp"

namespace trefoil::ucx {

/// Calls `release` on a UCX object.
template <auto release>
struct Release {
    template <typename Object>
    void operator()(Object* object) const {
        release(object);
    }
};
using Config = std::unique_ptr<ucp_config_t, Release<ucp_config_release>>;
using Context = std::unique_ptr<ucp_context, Release<ucp_cleanup>>;
using Worker = std::unique_ptr<ucp_worker, Release<ucp_worker_destroy>>;
using RemoteKey = std::unique_ptr<ucp_rkey, Release<ucp_rkey_destroy>>;

/// `what` completes "UCX could not ...".
/// `meaning`: what an error of UCX's means, but for a lack of memory.
inline void check(ucs_status_t result, const std::string& what,
                  Status meaning = Status::system_error) {
    if (result == UCS_OK) {
        return;
    }
    const Status status = result == UCS_ERR_NO_MEMORY ? Status::out_of_memory : meaning;
    throw Error(status, "UCX could not " + what + ": " + ucs_status_string(result) +
                            "; UCX_LOG_LEVEL=info shows its own words");
}

}  // namespace trefoil::ucx
