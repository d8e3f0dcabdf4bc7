// SPDX-License-Identifier: BSD-3-Clause
// What a transport's folder hands to the registry: its name, how its groups are opened, and what
// others may ask about it. Nobody compares names.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/ports/port_group.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// The groups that a rank asks a transport to open. They partition the ports.
struct BackendConfig {
    std::string provider;                   ///< ofi: "net", "tcp;ofi_rxm", "shm" ...; empty: best
    std::vector<std::vector<Port>> groups;  ///< one entry per owner thread
    std::vector<std::string> nics;          ///< per port index: address or name; empty: any
    Rank rank = 0;                          ///< for messages
    /// All peers share this host's network: a NIC that is not named may be the loopback interface,
    /// which is preferred then, so that nothing leaves the host.
    bool one_host = true;
    Rank peers = 0;  ///< that each port will be connected to, at most; 0: nobody has counted them
    /// No other rank of the job is in this process: what serves one thread only may be used.
    bool alone_in_process = false;
};

/// Something that can be chosen as provider and NIC, for `trefoil info` and errors.
struct ProviderInfo {
    std::string provider;
    std::string nic;      ///< interface or device name; may be empty
    std::string address;  ///< printable address; may be empty
    std::string pci{};    ///< "0000:3b:00.0" where the library tells it; may be empty
};

/// The NICs among which a transport can bind ports, with the provider that a configuration asks
/// for.
struct NicOffers {
    std::string source;              ///< who offers them, for messages: "libfabric provider net"
    std::vector<ProviderInfo> nics;  ///< one per (NIC, address); shared memory is no NIC
    /// Ranks of this host are reached without a NIC where that is possible.
    bool uses_shared_memory = false;
    bool one_per_group = false;  ///< all ports of a group are on one NIC
    /// A setting of the library that already chooses ("UCX_NET_DEVICES"); empty: none.
    std::string settled_by;
};

/// A library that this build uses, or would if it had been there.
struct LibraryInfo {
    std::string_view name;  ///< "libfabric"
    std::string version;    ///< "1.17.0", as the library itself tells; empty: not there
    std::string note;       ///< why it is not there, or what is particular
};

/// The torus that ranks make by where their nodes lie in the machine.
struct MachineTorus {
    std::vector<std::vector<Rank>> coordinates;  ///< by rank; empty: they make none
    std::vector<bool> lines;                     ///< by dimension: Torus::is_line()
    std::string why_not;                         ///< where they make none
};

/// Something small that a rank holds for others to try whether they reach its memory.
struct Sample {
    std::shared_ptr<const void> held;
    std::string description;
};

/// A row of the registry. The functions are thread-safe.
struct Transport {
    std::string_view name;     ///< what users call it: "memory"
    std::string_view summary;  ///< one line for `trefoil info`

    /// It reaches ranks of the same host only.
    bool one_host_only = false;
    /// A put costs what a store into memory costs: the cost model begins with other figures.
    bool puts_by_stores = false;
    /// Its groups may let a rank touch the plain memory of a peer: Pulling::reach() tells.
    bool single_copy = false;
    /// Bytes of a vector from which on it pays that messages of persistent calls land in the user's
    /// memory, by default; the largest number: never. Over shared memory the copies of the kernel,
    /// and over UCX the words that go with each put, took longer than the copy from landing memory
    /// that they save.
    std::size_t direct_from = ~std::size_t{0};
    /// How the variables of its library begin ("FI_"); they keep their meaning. Empty: none.
    std::string_view variables{};

    /// How many ranks the job has, before anything else is asked: what a library sizes by that it
    /// sizes once in a process. Null: there is no such thing.
    void (*expect_peers)(Rank peers) = nullptr;
    /// Opens one group per entry of config.groups. Throws Error(not_found) for a provider or NIC
    /// that does not exist (naming those that do), Error(unsupported) for one that cannot put with
    /// a notification, Error(system_error) when the library refuses.
    std::vector<std::unique_ptr<PortGroup>> (*open)(const BackendConfig& config) = nullptr;
    /// Whether ranks of a host reach each other is found out by trying, before a job takes it by
    /// itself. Each throws an Error that says why not. Null: nobody needs to try.
    Sample (*sample)() = nullptr;
    void (*try_sample)(std::string_view description) = nullptr;
    /// All that could be chosen here, best first.
    std::vector<ProviderInfo> (*providers)() = nullptr;
    /// What open() would bind ports to. Throws as open() does for a provider that does not exist.
    NicOffers (*nics)(const std::string& provider) = nullptr;
    /// Removes what a process of this host that has ended left behind in its file system; null:
    /// nothing outlives a process.
    void (*clean_up_after)(int process) = nullptr;
    /// Null: it uses no library.
    LibraryInfo (*library)() = nullptr;
    /// Tries out what its library does where that is not documented, and tells question and answer
    /// one by one; takes seconds. Throws as open() does. Null: there is nothing to ask.
    void (*probe)(const std::function<void(std::string_view, const std::string&)>& tell) = nullptr;
    /// Where this node lies in a machine that is a torus itself, as torus_of() understands it;
    /// empty: that is not known. Null: of such a machine it knows nothing.
    std::vector<Rank> (*place)() = nullptr;
    /// `places`: by rank. A function of them alone. Null where place() is.
    MachineTorus (*torus_of)(const std::vector<std::vector<Rank>>& places) = nullptr;
    /// For one that few machines have: why this one does not have it; empty: it has. Null: all do.
    std::string (*machine_lacks)() = nullptr;

    /// Why it is not in this build, and how to get it; empty: it is. What is absent has a name, and
    /// that of its library.
    std::string absence{};
    std::string_view absent_library{};

    bool built() const { return absence.empty(); }
    /// In this build and on this machine.
    bool usable() const { return built() && (machine_lacks == nullptr || machine_lacks().empty()); }
};

}  // namespace trefoil
