// SPDX-License-Identifier: BSD-3-Clause
// Offers that their target fetches: what it reads is what was offered, and a place that is used
// again is nobody's any more.
#include "tests/weak_order/checked_atomics.hpp"
#include "tests/weak_order/proof.hpp"

namespace trefoil::weak {
namespace {

/// In place of getpid(): an offer's plain words have just been written.
pid_t words_are_written();
constexpr pid_t of_nobody = std::numeric_limits<pid_t>::max();

}  // namespace
}  // namespace trefoil::weak

#define getpid trefoil::weak::words_are_written
// The product's files, over them.
#include "backend/memory/pull_offers.cpp"

namespace trefoil::weak {
namespace {

using memory::OfferEntry;
using memory::OfferState;
using memory::OfferTicket;
using memory::PullOffer;
using memory::PullOffers;
using memory::SmallPut;
using memory::TakenOffer;

struct Shared {
    PullOffers offers;
    int sources[2] = {};
    std::atomic<std::uint64_t> told[2];  ///< 1 + number << 8 | place; orders nothing
    bool senders_are_gone = false;
};
Shared* of_this_run = nullptr;

std::shared_ptr<Shared> make_shared_offers() {
    auto shared = std::make_shared<Shared>();
    of_this_run = shared.get();
    return shared;
}

/// The offer of this source.
const PullOffer* offer_of(const void* source) {
    for (const PullOffer& each : of_this_run->offers.all) {
        if (each.source == reinterpret_cast<std::uintptr_t>(source)) {
            return &each;
        }
    }
    return nullptr;
}

/// The first thread offers the first source, the last one the other.
pid_t words_are_written() {
    note_write(&offer_of(&of_this_run->sources[this_thread() == 0 ? 0 : 1])->bytes);
    return of_nobody;
}

OfferTicket make_offer(Shared& shared, std::size_t own) {
    note_write(&shared.sources[own]);
    const OfferTicket ticket = offer(shared.offers, &shared.sources[own], sizeof(int));
    shared.told[own].store(1 + (ticket.number << 8 | ticket.place), std::memory_order_relaxed);
    return ticket;
}

/// What the target does with a notification that has come.
void fetch(Shared& shared, std::size_t from, bool refuses = false) {
    const std::uint64_t told = shared.told[from].load(std::memory_order_relaxed);
    if (told == 0) {
        return;
    }
    const OfferEntry named{static_cast<std::uint32_t>((told - 1) & 0xff), 0, (told - 1) >> 8};
    SmallPut entry{};
    std::copy_n(reinterpret_cast<const std::byte*>(&named), sizeof named, entry.data);
    int target = 0;
    if (TakenOffer taken; !taken.take(shared.offers, entry)) {
        return;
    } else if (refuses) {
        note_read(&offer_of(&shared.sources[from])->bytes);
        taken.refuse();
    } else {
        taken.read_to(reinterpret_cast<std::byte*>(&target));
    }
}

Threads source_is_used_again() {
    const auto shared = make_shared_offers();
    return {[shared] {
                const OfferTicket ticket = make_offer(*shared, 0);
                if (ticket.state() == OfferState::read) {
                    note_write(&shared->sources[0]);
                    ticket.free();
                }
            },
            [shared] { fetch(*shared, 0); }};
}

/// `gives_up`: the first sender revokes what the target may have in hand.
Threads place_is_used_again(bool gives_up) {
    const auto shared = make_shared_offers();
    return {[shared, gives_up] {
                const OfferTicket ticket = make_offer(*shared, 0);
                if (gives_up) {
                    ticket.revoke();
                } else if (ticket.state() == OfferState::read) {
                    ticket.free();
                }
            },
            [shared] { fetch(*shared, 0); }, [shared] { make_offer(*shared, 1); }};
}

/// The target has deregistered the memory.
Threads place_is_used_again_after_a_refusal() {
    const auto shared = make_shared_offers();
    return {[shared] {
                const OfferTicket ticket = make_offer(*shared, 0);
                if (ticket.state() == OfferState::refused) {
                    ticket.free();
                }
            },
            [shared] { fetch(*shared, 0, true); }, [shared] { make_offer(*shared, 1); }};
}

/// The first sender has ended, which the kernel tells the target: so the target frees the place.
Threads place_of_the_dead_is_used_again() {
    const auto shared = make_shared_offers();
    shared->senders_are_gone = true;
    return {[shared] { make_offer(*shared, 0); }, [shared] { fetch(*shared, 0); },
            [shared] { make_offer(*shared, 1); }};
}

TEST(PullOffers, EveryOrderingIsNeeded) {
    prove({"backend/memory/pull_offers.hpp", "backend/memory/pull_offers.cpp"},
          {{"a source is used again", source_is_used_again},
           {"a place is used again", [] { return place_is_used_again(false); }, {.preemptions = 3}},
           {"a place is used again after a revocation",
            [] { return place_is_used_again(true); },
            {.preemptions = 3}},
           {"a place is used again after a refusal", place_is_used_again_after_a_refusal},
           {"a place of the dead is used again", place_of_the_dead_is_used_again}},
          {{"pull_offers.cpp",
            "word.compare_exchange_weak(seen, word_of(number, OfferState::revoked)",
            "gcc 12 wants no order where it fails that is stronger than where it succeeds"}});
}

}  // namespace
}  // namespace trefoil::weak

namespace trefoil::memory {

bool copy_from_process(pid_t, void*, std::uint64_t address, std::size_t) {
    const auto* const source = reinterpret_cast<const void*>(address);
    weak::note_read(source);
    weak::note_read(&weak::offer_of(source)->bytes);
    errno = ESRCH;
    return !weak::of_this_run->senders_are_gone;
}

}  // namespace trefoil::memory
