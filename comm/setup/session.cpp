// SPDX-License-Identifier: BSD-3-Clause
// What follows from the secret of a communicator.
#include "comm/setup/session.hpp"

#include "backend/system/secrets.hpp"
#include "topo/blob.hpp"

namespace trefoil {

Session::Session(const std::string& contributions)
    : secret_(bytes_of(keyed_hash("session of a communicator", contributions))) {}

std::string Session::contribution() {
    return random_bytes(16);
}

std::uint32_t Session::proof(Rank sender, Rank receiver, std::uint64_t group,
                             std::uint32_t id) const {
    BlobWriter channel;
    channel.text("channel");
    channel.number(sender);
    channel.number(receiver);
    channel.number(group);
    channel.number(id);
    return static_cast<std::uint32_t>(number_of(keyed_hash(secret_, channel.bytes())));
}

std::uint64_t Session::proof(std::string_view text) const {
    return number_of(keyed_hash(secret_, text));
}

std::uint64_t Session::of_calls() const {
    return number_of(keyed_hash(secret_, "calls"));
}

}  // namespace trefoil
