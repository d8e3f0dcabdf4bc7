// SPDX-License-Identifier: BSD-3-Clause
// The life of an offer, from both sides.
#include "backend/memory/pull_offers.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "backend/memory/process_memory.hpp"
#include "topo/process_state.hpp"

namespace trefoil::memory {

namespace {

constexpr std::uint64_t word_of(std::uint64_t number, OfferState state) {
    return number << 8 | static_cast<std::uint64_t>(state);
}
constexpr OfferState state_of(std::uint64_t word) {
    return static_cast<OfferState>(word & 0xff);
}

}  // namespace

OfferTicket offer(PullOffers& offers, const void* source, std::size_t bytes) {
    for (std::uint32_t place = 0; place < PullOffers::count; ++place) {
        PullOffer& each = offers.all[place];
        std::uint64_t word = each.word.load(std::memory_order_relaxed);
        const std::uint64_t number = (word >> 8) + 1;
        // Acquire: pairs with the release of whoever freed it.
        if (state_of(word) != OfferState::free ||
            !each.word.compare_exchange_strong(word, word_of(number, OfferState::claimed),
                                               std::memory_order_acquire)) {
            continue;
        }
        each.source = reinterpret_cast<std::uintptr_t>(source);
        each.bytes = bytes;
        each.sender = getpid();
        // Pairs with the acquire in take().
        each.word.store(word_of(number, OfferState::offered), std::memory_order_release);
        return {&offers, place, number};
    }
    return {};
}

// Acquire: pairs with the target's release; the source may be written again.
OfferState OfferTicket::state() const {
    const std::uint64_t word = offers->all[place].word.load(std::memory_order_acquire);
    return word >> 8 == number ? state_of(word) : OfferState::free;
}

void OfferTicket::free() const {
    offers->all[place].word.store(word_of(number, OfferState::free), std::memory_order_release);
}

void OfferTicket::revoke() const {
    std::atomic<std::uint64_t>& word = offers->all[place].word;
    std::uint64_t seen = word.load(std::memory_order_acquire);
    while (seen == word_of(number, OfferState::offered) ||
           seen == word_of(number, OfferState::reading)) {
        // Acquire where it fails. The target learns nothing by it that offer() has not told.
        if (word.compare_exchange_weak(seen, word_of(number, OfferState::revoked),
                                       std::memory_order_acquire)) {
            return;  // the target frees it
        }
    }
    if (seen >> 8 == number && state_of(seen) != OfferState::free) {
        free();
    }
}

bool TakenOffer::take(PullOffers& offers, const SmallPut& entry) {
    OfferEntry named{};
    std::memcpy(&named, entry.data, sizeof named);
    if (named.place >= PullOffers::count) {
        return false;
    }
    offer_ = &offers.all[named.place];
    number_ = named.number;
    std::uint64_t seen = word(OfferState::offered);
    // Acquire: pairs with the release in offer(). From here on a sender that gives up is noticed
    // after the copy.
    if (offer_->word.compare_exchange_strong(seen, word(OfferState::reading),
                                             std::memory_order_acquire)) {
        return true;
    }
    if (seen == word(OfferState::revoked)) {
        offer_->word.store(word(OfferState::free), std::memory_order_release);
    }
    return false;
}

TakenOffer::Result TakenOffer::read_to(std::byte* place) {
    const bool copied = copy_from_process(offer_->sender, place, offer_->source, offer_->bytes);
    const int error = errno;
    std::uint64_t reading = word(OfferState::reading);
    const OfferState end = copied ? OfferState::read : OfferState::failed;
    // Release: pairs with the acquire in state(). Fails where the sender has revoked it: then the
    // bytes may be others than it had offered.
    if (!offer_->word.compare_exchange_strong(reading, word(end), std::memory_order_release,
                                              std::memory_order_relaxed)) {
        offer_->word.store(word(OfferState::free), std::memory_order_release);
        return Result::revoked;
    }
    if (copied) {
        return Result::whole;
    }
    // The kernel says the same of a process whose first thread has ended, and of another namespace.
    if (error == ESRCH && process_state(offer_->sender).ended()) {  // nobody will free it
        offer_->word.store(word(OfferState::free), std::memory_order_release);
        return Result::gone;
    }
    return Result::forbidden;
}

}  // namespace trefoil::memory
