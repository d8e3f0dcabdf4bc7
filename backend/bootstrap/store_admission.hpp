// SPDX-License-Identifier: BSD-3-Clause
// How the two ends of a connection to the store prove to each other that they know the job's token.
#pragma once

#include <string>
#include <string_view>

#include "backend/system/secrets.hpp"

namespace trefoil::store {

/// What each end has drawn for this connection alone, so that no proof is good for another one. The
/// token itself never travels: a stranger who listens, or who serves a store of his own at the
/// place of the job's, learns nothing that lets him in.
struct Nonces {
    static constexpr std::size_t bytes = 16;
    std::string client, server;
};

/// The server's, sent before the client says who it is.
Digest server_proof(std::string_view token, const Nonces& nonces);
/// The client's; `claim` is all that it says of itself.
Digest client_proof(std::string_view token, const Nonces& nonces, std::string_view claim);

/// Alike for the processes of one session of one host: those that one terminal or batch script has
/// started. A hint, no proof.
std::uint64_t origin_of_this_process();

}  // namespace trefoil::store
