// SPDX-License-Identifier: BSD-3-Clause
// The buffers of a call, checked as the collective's row of traits wants them.
#pragma once

#include "comm/api/c_arguments.hpp"

namespace trefoil::c_api {

/// As the communicator wants them: in place spelt out, null where the rank brings or takes nothing.
struct Buffers {
    const void* send = nullptr;
    void* recv = nullptr;
};

/// Throws when a buffer that this rank needs is missing, when buffers or blocks overlap, or when
/// they cannot fit the address space. Sets in_place of an alltoall.
Buffers checked_buffers(Request& request, trefoil_comm_t comm, const void* send, void* recv);

/// Checks the buffers, then runs the call.
inline void run_checked(const Entry& entry, Request& request, trefoil_comm_t comm, const void* send,
                        void* recv) {
    const Buffers b = checked_buffers(request, comm, send, recv);
    entry.run(request, b.send, b.recv);
}

}  // namespace trefoil::c_api
