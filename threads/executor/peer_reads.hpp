// SPDX-License-Identifier: BSD-3-Clause
// Who may read whose vectors, and until when: what keeps late readers from harm.
#pragma once

#include <cstdint>
#include <span>

#include "threads/executor/channels.hpp"
#include "threads/executor/failure.hpp"

namespace trefoil {

/// Both sides of backend/ports/read_guard.hpp: this rank's vectors, which peers read, and this
/// rank's reads of theirs. Calls are told apart by their hash, which is the same on all ranks.
class PeerReads {
  public:
    /// Both outlive this.
    PeerReads(const Channels& channels, Failure& failure)
        : channels_(channels), failure_(failure) {}

    // This rank's vectors; between calls, or before the first segment of one starts.
    /// Peers that are in the same call may read them.
    void open(std::uint64_t call_hash) noexcept;
    /// After a failure, while no worker runs: nobody reads them by addresses any more when it
    /// returns, and what is read by copies from now on is thrown away. Waits for readers by
    /// addresses, each for one step's operations.
    void withdraw() noexcept;

    // This rank's reads, by the worker that performs a step's operations. `peers`: the outgoing
    // channels to those that are read.
    /// False: a peer has withdrawn its vectors, the failure is set, and nothing may be read.
    bool begin(std::span<const std::uint32_t> peers) noexcept;
    /// After begin() has returned true. Sets the failure if what was read must be thrown away.
    void end(std::span<const std::uint32_t> peers) noexcept;

    /// The peer has ended its call with an error; or never was in this one.
    bool withdrawn(const OutChannel& peer) const noexcept;
    /// Such a peer is why this rank's call fails.
    void fail_with(const OutChannel& peer) noexcept;

  private:
    /// Of the peers that are threads of this process, or of the others.
    bool all_open(std::span<const std::uint32_t> peers, bool by_addresses) noexcept;
    void count(std::int32_t change) noexcept;

    const Channels& channels_;
    Failure& failure_;
    std::uint64_t call_ = 0;  ///< what guards say in this call; set while no worker runs
};

}  // namespace trefoil
