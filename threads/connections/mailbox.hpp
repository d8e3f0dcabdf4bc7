// SPDX-License-Identifier: BSD-3-Clause
// The mailbox of a port group: where each port of each rank that may write to it has a place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "threads/connections/signal.hpp"
#include "topo/cache_line.hpp"
#include "topo/error.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// A place belongs to one rank and one port of the mailbox's group: to the rank's opposite port,
/// from which it writes. It has room for an answer, a record and a single urgent one. Whatever
/// needs more has landing memory of its own, which is told in records: some transports provide a
/// mailbox's memory at once. Elsewhere only what was written takes memory. Alike on all ranks, but
/// for `ports`, which the receiver's card tells. Its owner only reads it, so an answer and a record
/// may share a line of 256 bytes. Behind the places is room for trials, which nobody reads: all
/// ranks write there.
class MailboxLayout {
  public:
    static constexpr std::size_t answer_bytes = 64;
    static constexpr std::size_t record_bytes = 448;
    static constexpr std::size_t urgent_bytes = 512;
    static constexpr std::size_t place_bytes = answer_bytes + record_bytes + urgent_bytes;
    static_assert(place_bytes % cache_line == 0, "two writers never share a line");
    /// More than a frame of any Ethernet: a trial shows whether frames are lost for their length.
    static constexpr std::size_t trial_bytes = 12288;

    /// `ports`: of the group that owns the mailbox. Throws Error(unsupported) when there are more
    /// places than a signal can name.
    MailboxLayout(Rank ranks, std::size_t ports)
        : ports_(ports), places_(static_cast<std::size_t>(ranks) * ports) {
        if (places_ > Signal::place_limit) {
            throw Error(Status::unsupported,
                        std::to_string(ranks) + " ranks with " + std::to_string(ports) +
                            " ports for each thread are more than Trefoil can distinguish; use "
                            "more port threads");
        }
    }

    std::size_t places() const { return places_; }
    std::uint32_t place_of(Rank rank, std::size_t port_index) const {
        return static_cast<std::uint32_t>(static_cast<std::size_t>(rank) * ports_ + port_index);
    }
    Rank rank_of(std::uint32_t place) const { return static_cast<Rank>(place / ports_); }
    std::size_t port_index_of(std::uint32_t place) const { return place % ports_; }

    std::size_t answer_at(std::uint32_t place) const { return place * place_bytes; }
    std::size_t record_at(std::uint32_t place) const { return answer_at(place) + answer_bytes; }
    std::size_t urgent_at(std::uint32_t place) const { return record_at(place) + record_bytes; }
    std::size_t trial_at() const { return places_ * place_bytes; }
    /// Of the whole mailbox.
    std::size_t bytes() const { return trial_at() + trial_bytes; }

  private:
    std::size_t ports_, places_;
};

}  // namespace trefoil
