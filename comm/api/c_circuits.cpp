// SPDX-License-Identifier: BSD-3-Clause
// The C interface's function for circuits that change during calls.
#include <vector>

#include "comm/api/c_guard.hpp"

using namespace trefoil;
using namespace trefoil::c_api;

extern "C" {

trefoil_status_t trefoil_comm_set_rewire(trefoil_comm_t comm, trefoil_rewire_fn rewire,
                                         void* context) {
    return guarded([&] {
        const Entry entry(comm);
        if (rewire == nullptr) {
            entry->set_rewire({});
            return;
        }
        entry->set_rewire([rewire, context](std::span<const JoinedPorts> circuits) {
            std::vector<trefoil_circuit_t> all;
            for (const JoinedPorts& one : circuits) {
                all.push_back({one.from, one.port.index, one.to});
            }
            return rewire(all.data(), static_cast<int>(all.size()), context);
        });
    });
}

}  // extern "C"
