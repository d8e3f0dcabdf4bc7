// SPDX-License-Identifier: BSD-3-Clause
// Proofs over nonces, and where a process comes from.
#include "backend/bootstrap/store_admission.hpp"

#include <unistd.h>

#include "topo/process_space.hpp"

namespace trefoil::store {

Digest server_proof(std::string_view token, const Nonces& nonces) {
    return keyed_hash(token, "trefoil store server" + nonces.client + nonces.server);
}

Digest client_proof(std::string_view token, const Nonces& nonces, std::string_view claim) {
    std::string text = "trefoil store client" + nonces.server + nonces.client;
    return keyed_hash(token, text.append(claim));
}

std::uint64_t origin_of_this_process() {
    return number_of(keyed_hash(process_space(), std::to_string(getsid(0))));
}

}  // namespace trefoil::store
