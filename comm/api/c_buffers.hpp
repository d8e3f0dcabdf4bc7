// SPDX-License-Identifier: BSD-3-Clause
// The buffers of a call, checked as the collective's row of traits wants them.
#pragma once

#include "comm/api/c_arguments.hpp"

namespace trefoil::c_api {

/// Throws when a buffer that this rank needs is missing, when buffers or blocks overlap, or when
/// they cannot fit the address space. Sets in_place of an alltoall.
Buffers checked_buffers(Request& request, trefoil_comm_t comm, const void* send, void* recv);

/// Checks the buffers, then runs the call.
inline void run_checked(const Entry& entry, Request& request, trefoil_comm_t comm, const void* send,
                        void* recv) {
    const Buffers b = checked_buffers(request, comm, send, recv);
    entry.run(request, b.send, b.recv);
}

/// A call without lists: `set` checks the rest of the request and `check` the buffers, which it
/// returns, unless the blocking call before was the same one.
template <typename Set, typename Check>
void run_repeatable(const Entry& entry, trefoil_comm_t comm, const Arguments& asked, Set&& set,
                    Check&& check) {
    RepeatedCall& before = comm->repeated;
    if (entry.blocks()) {
        if (const Request* const known = before.find(asked)) {
            entry.run(*known, before.buffers().send, before.buffers().recv, &before.plan());
            return;
        }
    }
    Request request{.collective = asked.collective, .count = asked.count};
    set(request);
    const Buffers b = check(request);
    if (entry.blocks()) {
        before.keep(asked, request, b);
    }
    entry.run(request, b.send, b.recv);
}

/// The same with a send and a receive buffer.
template <typename Set>
void run_repeatable(const Entry& entry, trefoil_comm_t comm, const Arguments& asked, void* recv,
                    Set&& set) {
    run_repeatable(entry, comm, asked, set, [&](Request& request) {
        return checked_buffers(request, comm, asked.send, recv);
    });
}

}  // namespace trefoil::c_api
