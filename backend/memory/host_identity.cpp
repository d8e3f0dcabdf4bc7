// SPDX-License-Identifier: BSD-3-Clause
// The refusal of memory of other hosts and containers.
#include "backend/memory/host_identity.hpp"

#include <string>

#include "topo/error.hpp"
#include "topo/process_space.hpp"

namespace trefoil::memory {

void MakersSpace::fill() {
    text[process_space().copy(text, sizeof text - 1)] = '\0';
}

void require_same_space(MakersSpace& space, int maker) {
    space.text[sizeof space.text - 1] = '\0';
    if (process_space() != space.text) {
        throw Error(Status::unsupported,
                    "backend memory: the memory of process " + std::to_string(maker) +
                        " lives on another host or in another container (process namespace), or "
                        "a process does not see /proc; use the ofi backend there");
    }
}

}  // namespace trefoil::memory
