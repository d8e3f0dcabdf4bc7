// SPDX-License-Identifier: BSD-3-Clause
// The NICs of this rank's ports: what the backend offers, joined with the host, then chosen.
#pragma once

#include <string>
#include <vector>

#include "backend/ports/transport.hpp"
#include "comm/setup/nic_choice.hpp"
#include "topo/nic.hpp"

namespace trefoil {

/// What the transport offers, sorted by name (mlx5_2 before mlx5_10), and the host's other NICs
/// with what is in their way. Where the transport has devices that are no interfaces, interfaces
/// are a reserve. Pure.
std::vector<NicCandidate> nic_candidates(const NicOffers& offers, const std::vector<Nic>& host);

/// What a rank asks for.
struct NicWish {
    std::string backend, provider;
    NicRequest request;
    std::vector<Port> ports;                  ///< those that lead somewhere
    std::vector<std::vector<Port>> groups{};  ///< that one thread drives; empty: not known
    Rank peers = 0;                           ///< ranks of the job; 0: not known
    std::vector<Port> may_lack{};             ///< whose NIC may have no link
};

/// Looks at this machine and chooses. When nothing is asked, a setting of the library that already
/// chooses keeps its meaning, and ranks that reach each other by shared memory get no NIC. Errors
/// as choose_nics() and Transport::nics.
NicChoice choose_nics_here(const NicWish& wish, const NicSharing& sharing);

/// What the backend is told: a selector per port index.
std::vector<std::string> selectors(const NicChoice& choice);

/// "eth0 (default: nearest, in turn, shared by 2 ports)", or why there is none: for people.
std::string nic_text(const PortNic& port);

}  // namespace trefoil
