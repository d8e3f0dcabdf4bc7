// SPDX-License-Identifier: BSD-3-Clause
// Owners of UCX objects, and UCX's status as an error.
#pragma once

#include <memory>
#include <string>

#include "backend/ucx/library.hpp"
#include "topo/error.hpp"

namespace trefoil::ucx {

/// Gives a UCX object to one of the library's functions.
template <auto release>
struct Release {
    template <typename Object>
    void operator()(Object* object) const {
        (library().*release)(object);
    }
};
using Config = std::unique_ptr<ucp_config_t, Release<&Library::config_release>>;
using Context = std::unique_ptr<ucp_context, Release<&Library::cleanup>>;
using Worker = std::unique_ptr<ucp_worker, Release<&Library::worker_destroy>>;
using RemoteKey = std::unique_ptr<ucp_rkey, Release<&Library::rkey_destroy>>;

/// `what` completes "UCX could not ...".
/// `meaning`: what an error of UCX's means, but for a lack of memory.
inline void check(ucs_status_t result, const std::string& what,
                  Status meaning = Status::system_error) {
    if (result == UCS_OK) {
        return;
    }
    const Status status = result == UCS_ERR_NO_MEMORY ? Status::out_of_memory : meaning;
    throw Error(status, "UCX could not " + what + ": " + library().status_string(result) +
                            "; UCX_LOG_LEVEL=info shows its own words");
}

}  // namespace trefoil::ucx
