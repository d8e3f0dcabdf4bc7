// SPDX-License-Identifier: BSD-3-Clause
// Bytes that a process offers and their target fetches: how a put gets into memory of the user's
// that no other process maps.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "backend/ports/notification_queue.hpp"
#include "topo/cache_line.hpp"

namespace trefoil::memory {

/// What becomes of an offer. The sender claims, offers, revokes and frees; the target reads and
/// says how it went. Changes by one side where the other could act, too, are compare-exchanges.
enum class OfferState : std::uint8_t {
    free = 0,
    claimed,
    offered,  ///< the source must stay as it is
    reading,  ///< the target copies
    read,     ///< the sender may use the source again
    refused,  ///< the target has deregistered that memory; nothing was read
    failed,   ///< the kernel does not let the target read
    revoked   ///< the sender has gone; whatever was read is thrown away, and the target frees
};

/// All zeros is free. A cache line, so that two senders do not meet in one.
struct alignas(cache_line) PullOffer {
    std::atomic<std::uint64_t> word;  ///< number << 8 | OfferState; the number of the offer's use
    std::uint64_t source;             ///< an address of the sender's process
    std::uint64_t bytes;
    std::int32_t sender;  ///< its process
};

/// In memory that the target and its senders map; shared by all senders.
struct PullOffers {
    static constexpr std::uint32_t count = 256;
    PullOffer all[count];
};

/// What a sender remembers of its offer. Made and used by the sender's thread.
struct OfferTicket {
    PullOffers* offers = nullptr;
    std::uint32_t place = 0;
    std::uint64_t number = 0;

    explicit operator bool() const { return offers != nullptr; }
    OfferState state() const;
    /// After read, refused or failed: others may use the place.
    void free() const;
    /// Ends an offer whatever has become of it; the target no longer takes the bytes for whole.
    void revoke() const;
};

/// Offers `bytes` at `source`, which stay until the ticket's state says so; false: no place is
/// free. The notification that carries to_entry() follows.
OfferTicket offer(PullOffers& offers, const void* source, std::size_t bytes);

/// In the queue: an entry whose `bytes` say that it is an offer.
constexpr std::uint32_t offer_mark = 0x80000000;
struct OfferEntry {
    std::uint32_t place;
    std::uint32_t unused;
    std::uint64_t number;
};
static_assert(sizeof(OfferEntry) <= SmallPut::most_bytes);

/// The target's side of an offer. take() is false where it was revoked, or is none.
class TakenOffer {
  public:
    bool take(PullOffers& offers, const SmallPut& entry);
    std::uint64_t bytes() const { return offer_->bytes; }
    pid_t sender() const { return offer_->sender; }
    /// Ends it without reading.
    void refuse() { offer_->word.store(word(OfferState::refused), std::memory_order_release); }
    enum class Result : std::uint8_t { whole, revoked, gone, forbidden };
    /// Copies all bytes to `place` and tells the sender.
    Result read_to(std::byte* place);

  private:
    std::uint64_t word(OfferState state) const {
        return number_ << 8 | static_cast<std::uint64_t>(state);
    }
    PullOffer* offer_ = nullptr;
    std::uint64_t number_ = 0;
};

}  // namespace trefoil::memory
