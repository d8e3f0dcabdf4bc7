// SPDX-License-Identifier: BSD-3-Clause
// Which NIC each port takes: a pure function of what is asked, what there is, and who shares it.
#pragma once

#include <string>
#include <vector>

#include "comm/setup/nic_request.hpp"
#include "topo/nic.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// A NIC as the transport and the host know it.
struct NicCandidate {
    Nic nic;                           ///< its name is the transport's
    std::vector<std::string> aliases;  ///< other names that users may know ("mlx5_0", "ib0")
    bool reserve = false;  ///< slower than other NICs of the transport: only for those who ask
    std::string obstacle;  ///< why it cannot be used ("is down"); empty: it can
    /// Names and addresses of interfaces that lead through this device, and that the transport does
    /// not know: they mean it by its own name.
    std::vector<std::string> interfaces{};
};

/// Whom a rank shares the NICs with.
struct NicSharing {
    /// Cores in the mask of each rank that sees the same NICs (same host and network namespace), in
    /// the order of ranks; this rank is number `self` of them.
    std::vector<std::vector<int>> ranks{{}};
    int self = 0;
    /// The most ranks that share NICs anywhere in the job: all ranks then get equally many NICs,
    /// even if hosts have different numbers of ranks.
    int most = 1;
    /// All ranks of the job reach each other by loopback.
    bool all_here = false;
    /// Ports that can only use one NIC together, where nothing else is asked for; empty: each can
    /// use its own.
    std::vector<std::vector<Port>> together{};
};

/// What one port is attached to.
struct PortNic {
    std::string name;      ///< the NIC; empty: the transport chooses
    std::string selector;  ///< what the backend is told: the name, or an address that was asked for
    std::string why;       ///< "asked for by TREFOIL_NICS", "default: nearest", ...
    std::vector<int> cores;     ///< near it; empty: unknown
    int sharing = 0;            ///< ports of this rank that share this NIC, itself included
    std::string lacking;        ///< the NIC asked for, which has no link: this is another port's
    std::int64_t megabits = 0;  ///< a second of its link; 0: unknown
};

/// By port index; ports that lead nowhere have no NIC.
using NicChoice = std::vector<PortNic>;

/// Chooses for `ports` (those that lead somewhere, of `by_port.size()` of the request).
///
/// What is asked for by name is taken as it is, also loopback and virtual interfaces. A pattern
/// with a wildcard stands for the NICs that lead to other hosts and match, or, if none does, for
/// those others that match. What a wildcard or nothing at all leaves open is divided among the
/// ranks of the host: everybody gets equally many, nearest to its cores first, and takes them in
/// turn, one for all ports that are `together`. By default loopback is used if all ranks are here;
/// else interfaces that are down, virtual, loopback or have link-local addresses only are left out.
///
/// Throws Error(not_found) when a name or pattern matches nothing that can be used, or when nothing
/// is left: it offers the nearest names and lists what exists. Nothing to choose from and nothing
/// asked: all is left to the transport.
///
/// Ports that `may_lack` a link and are given a NIC of their own that is down, or hears nothing,
/// take the one of the next port, so that messages still get to them some way.
NicChoice choose_nics(const NicRequest& request, const std::vector<NicCandidate>& candidates,
                      const std::vector<Port>& ports, const NicSharing& sharing,
                      const std::vector<Port>& may_lack = {});

/// How many NICs a choice uses.
int count_nics(const NicChoice& choice);

}  // namespace trefoil
