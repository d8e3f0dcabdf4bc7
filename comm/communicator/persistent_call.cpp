// SPDX-License-Identifier: BSD-3-Clause
// Beginning and end of a persistent call.
#include "comm/communicator/persistent_call.hpp"

#include <string>

namespace trefoil {

PersistentCall::PersistentCall(UserMemory& memory, const Request& request, const Torus& torus,
                               Rank rank, const void* send, const void* recv)
    : memory_(memory) {
    const BufferBytes bytes = buffer_bytes(request, torus, rank);
    const std::string name = "a persistent " + std::string(request.traits().name);
    uses_.reserve(2);
    if (send != nullptr && bytes.send > 0) {
        uses_.push_back(memory_.use(send, bytes.send, name));
    }
    if (recv != nullptr && bytes.recv > 0) {
        uses_.push_back(memory_.use(recv, bytes.recv, name));
    }
}

PersistentCall::~PersistentCall() {
    for (const std::uint64_t use : uses_) {
        memory_.end_use(use);
    }
}

}  // namespace trefoil
