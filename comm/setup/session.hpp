// SPDX-License-Identifier: BSD-3-Clause
// The secret of one communicator, by which its ranks know each other's messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "topo/torus.hpp"

namespace trefoil {

/// Made of what all ranks have contributed, so that no rank chooses it alone; equal on all of them.
/// It travels only where the ranks meet. One without contributions is no secret.
class Session {
  public:
    Session() = default;
    /// `contributions`: of all ranks, in the order of the ranks.
    explicit Session(const std::string& contributions);

    /// Random bytes. Throws Error(system_error).
    static std::string contribution();

    /// What control messages carry on the channel to `receiver` that its port group `group` calls
    /// `id`.
    std::uint32_t proof(Rank sender, Rank receiver, std::uint64_t group, std::uint32_t id) const;
    /// The same for any text: what follows from the secret and it (Prove of threads/connections).
    std::uint64_t proof(std::string_view text) const;
    /// Part of the hash of each call.
    std::uint64_t of_calls() const;

  private:
    std::string secret_;
};

}  // namespace trefoil
