// SPDX-License-Identifier: BSD-3-Clause
// The handles by which users of C know communicators.
#pragma once

#include <memory>

#include "comm/api/c_guard.hpp"

namespace trefoil::c_api {

/// Null for null. Any thread.
trefoil_comm_t new_handle(std::unique_ptr<Communicator> communicator);

/// Ends the communicator. The handle is known as one that was destroyed until many others were,
/// too; then it stands for another communicator.
void end_handle(trefoil_comm_t comm) noexcept;

}  // namespace trefoil::c_api
