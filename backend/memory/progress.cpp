// SPDX-License-Identifier: BSD-3-Clause
// The data path of a port group in shared memory: puts, offers, arrivals.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "backend/memory/group.hpp"
#include "backend/memory/process_memory.hpp"
#include "backend/memory/target.hpp"

namespace trefoil::memory {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint32_t patience = 1024;  ///< polls, or refusals, between looks at a process

bool has_ended(pid_t process) {
    return kill(process, 0) != 0 && errno == ESRCH;
}

}  // namespace

Reach reach_of(const Region& region) {
    if (region.maker() == getpid()) {
        return Reach::addresses;
    }
    std::uint64_t word = 0;
    const bool copied = copy_from_process(region.maker(), &word, region.home(), sizeof word);
    return copied && word == region.first_word() ? Reach::copies : Reach::none;
}

PutResult MemoryGroup::put(const Put& put) {
    const RemoteMemory& target = put.target;
    Target& reached = target_of(put.peer);
    if (put.bytes > target.bytes || put.offset > target.bytes - put.bytes) {
        return fail(Failure::outside, reached);
    }
    if (!reached.writer.has_room()) {
        return refuse(reached);
    }
    if (put.bytes <= SmallPut::most_bytes) {
        if (!reached.writer.push(put.notification, target.key, put.offset, put.source, put.bytes)) {
            return refuse(reached);
        }
    } else if (is_registered(target)) {
        return target.base != 0 ? put_here(reached, put) : put_by_offer(reached, put);
    } else {
        std::byte* const place = reinterpret_cast<std::byte*>(target.base) + put.offset;
        if (place != put.source) {  // else the caller has gathered it there: landing()
            std::memcpy(place, put.source, put.bytes);
        }
        if (!reached.writer.push(put.notification)) {
            return refuse(reached);  // others took the room; copying once more does no harm
        }
    }
    reached.refusals = 0;
    return PutResult::done;
}

PutResult MemoryGroup::put_here(Target& target, const Put& put) {
    Registration& registration =
        **reinterpret_cast<std::shared_ptr<Registration>*>(put.target.base);
    if (!registration.write(put.offset, put.source, put.bytes)) {
        return fail(Failure::closed, target);
    }
    if (!target.writer.push(put.notification)) {
        return refuse(target);  // as in put()
    }
    target.refusals = 0;
    return PutResult::done;
}

PutResult MemoryGroup::put_by_offer(Target& target, const Put& put) {
    const OfferTicket ticket = offered_.size() < most_offered
                                   ? offer(target.offers(), put.source, put.bytes)
                                   : OfferTicket{};
    if (!ticket) {
        return refuse(target);
    }
    const OfferEntry entry{ticket.place, 0, ticket.number};
    if (!target.writer.push_marked(put.notification, put.target.key, put.offset, &entry,
                                   sizeof entry, offer_mark)) {
        ticket.free();
        return refuse(target);
    }
    target.refusals = 0;
    offered_.push_back({ticket, &target, put.cookie});
    return PutResult::queued;
}

/// The queue is full: will its reader ever come? A look at the process costs a system call, so it
/// is taken now and then only.
PutResult MemoryGroup::refuse(Target& target) {
    if (target.writer.closed()) {
        return fail(Failure::left, target);
    }
    if (++target.refusals % patience == 0 && has_ended(target.region->maker())) {
        return fail(Failure::ended, target);
    }
    return PutResult::again;
}

PutResult MemoryGroup::fail(Failure failure, const Target& target) {
    failure_ = failure;
    failed_process_ = target.region->maker();
    return PutResult::failed;
}

std::size_t MemoryGroup::poll(std::span<Event> events) {
    std::size_t count = offered_.empty() ? 0 : settle_offers(events);
    std::uint64_t notification = 0;
    while (count < events.size()) {
        Delivery delivery = Delivery::whole;
        if (!reader_.pop(notification, [&](const SmallPut& put) { delivery = deliver(put); })) {
            break;
        }
        if (delivery != Delivery::dropped) {
            const bool whole = delivery == Delivery::whole;
            events[count++] = {whole ? Event::Kind::arrived : Event::Kind::failed, notification, 0};
        }
    }
    return count;
}

/// Bytes that came with their notification go where the put wanted them.
MemoryGroup::Delivery MemoryGroup::deliver(const SmallPut& put) {
    if (put.bytes == offer_mark) {
        return fetch(put);
    }
    if (put.memory % 2 != 0) {
        const auto found = registered_.find(put.memory);
        if (found == registered_.end() || put.bytes > SmallPut::most_bytes ||
            !found->second->contains(put.offset, put.bytes)) {
            return Delivery::dropped;  // deregistered meanwhile
        }
        std::memcpy(found->second->data() + put.offset, put.data, put.bytes);
        return Delivery::whole;
    }
    for (const auto& region : own_) {
        if (region->token() == put.memory && put.bytes <= SmallPut::most_bytes &&
            put.bytes <= region->bytes() && put.offset <= region->bytes() - put.bytes) {
            std::memcpy(region->data() + put.offset, put.data, put.bytes);
            return Delivery::whole;
        }
    }
    failure_ = Failure::stray;
    return Delivery::failed;
}

/// Bytes that a peer offers.
MemoryGroup::Delivery MemoryGroup::fetch(const SmallPut& put) {
    TakenOffer taken;
    if (!taken.take(front_in(*front_).offers, put)) {
        return Delivery::dropped;
    }
    const auto found = registered_.find(put.memory);
    if (found == registered_.end() || !found->second->contains(put.offset, taken.bytes())) {
        taken.refuse();
        return Delivery::dropped;
    }
    const pid_t sender = taken.sender();
    switch (taken.read_to(found->second->data() + put.offset)) {
        case TakenOffer::Result::whole:
            return Delivery::whole;
        case TakenOffer::Result::forbidden:
            failure_ = Failure::forbidden;
            failed_process_ = sender;
            return Delivery::failed;
        case TakenOffer::Result::revoked:
        case TakenOffer::Result::gone:
            break;
    }
    return Delivery::dropped;
}

/// Whether an offer has come to its end, and how.
bool MemoryGroup::settle(const Offered& offered, Event& event) {
    const OfferState state = offered.ticket.state();
    event = {Event::Kind::sent, 0, offered.cookie};
    switch (state) {
        case OfferState::read:
            break;
        case OfferState::refused:
        case OfferState::failed:
            event.kind = Event::Kind::failed;
            fail(state == OfferState::failed ? Failure::forbidden : Failure::closed,
                 *offered.target);
            failed_process_ = state == OfferState::failed ? getpid() : failed_process_;
            break;
        default:
            if (!offered.target->writer.closed() &&
                (polls_ % patience != 0 || !has_ended(offered.target->region->maker()))) {
                return false;
            }
            event.kind = Event::Kind::failed;
            fail(offered.target->writer.closed() ? Failure::left : Failure::ended, *offered.target);
            offered.ticket.revoke();
            return true;
    }
    offered.ticket.free();
    return true;
}

std::size_t MemoryGroup::settle_offers(std::span<Event> events) {
    std::size_t count = 0;
    ++polls_;
    std::erase_if(offered_, [&](const Offered& offered) {
        return count < events.size() && settle(offered, events[count]) && ++count > 0;
    });
    return count;
}

bool MemoryGroup::any_settled() const {
    return std::any_of(offered_.begin(), offered_.end(), [](const Offered& offered) {
        const OfferState state = offered.ticket.state();
        return (state != OfferState::offered && state != OfferState::reading) ||
               offered.target->writer.closed();
    });
}

// Nobody rings when an offer was fetched, so while there are any, this sleeps in slices.
void MemoryGroup::wait(std::chrono::microseconds longest) {
    if (offered_.empty()) {
        reader_.wait(longest, watch_);
        return;
    }
    const Clock::time_point deadline = Clock::now() + longest;
    while (!any_settled() && reader_.empty()) {
        const auto left =
            std::chrono::duration_cast<std::chrono::microseconds>(deadline - Clock::now());
        if (left.count() <= 0 || reader_.wait(std::min(left, nap_slice(longest)), watch_)) {
            return;
        }
    }
}

// Peers that poll fetch what was offered to them; what is left is revoked.
void MemoryGroup::drain(std::chrono::milliseconds longest) noexcept {
    const Clock::time_point deadline = Clock::now() + longest;
    Event event;
    while (!offered_.empty() && Clock::now() < deadline) {
        if (settle_offers({&event, 1}) == 0) {
            std::this_thread::yield();
        }
    }
    for (const Offered& offered : offered_) {
        offered.ticket.revoke();
    }
    offered_.clear();
}

void MemoryGroup::abandon(std::chrono::milliseconds longest) noexcept {
    if (!abandoned_) {
        abandoned_ = true;
        drain(longest);
    }
}

}  // namespace trefoil::memory
