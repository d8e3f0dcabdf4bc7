// SPDX-License-Identifier: BSD-3-Clause
// Opening and withdrawing vectors, and looking whether a peer has.
#include "threads/executor/peer_reads.hpp"

#include <thread>

#include "backend/ports/powers.hpp"
#include "backend/ports/read_guard.hpp"

namespace trefoil {

namespace {

ReadGuard* own_guard(const PortGroup& group, int place) noexcept {
    return group.pulling() == nullptr ? nullptr : group.pulling()->own_guard(place);
}

const ReadGuard* guard_of(const PortGroup& group, Peer peer, int place) noexcept {
    return group.pulling() == nullptr ? nullptr : group.pulling()->guard_of(peer, place);
}

}  // namespace

void PeerReads::open(std::uint64_t call_hash) noexcept {
    call_ = call_hash | 1;  // never 0
    for (const auto& group : channels_.groups) {
        if (ReadGuard* const guard = own_guard(*group, channels_.read_place)) {
            // The signal that tells a peer where the vectors lie publishes it.
            guard->call.store(call_, std::memory_order_relaxed);
        }
    }
}

void PeerReads::withdraw() noexcept {
    for (const auto& group : channels_.groups) {
        if (ReadGuard* const guard = own_guard(*group, channels_.read_place)) {
            guard->call.store(0, std::memory_order_seq_cst);
            // A load keeps the caller's later writes behind the store. No fence, which
            // ThreadSanitizer does not know.
            (void)guard->call.load(std::memory_order_seq_cst);
        }
    }
    for (const OutChannel& peer : channels_.out) {
        // Relaxed, and no test could need more: no worker runs, and who has all groups got them by
        // the turn, or as the workers parked, which order what those have done, `endpoint` as well.
        if (!peer.connected.load(std::memory_order_relaxed)) {
            continue;
        }
        const PortGroup& group = *channels_.groups[static_cast<std::size_t>(peer.group)];
        const ReadGuard* const guard = guard_of(group, peer.endpoint, channels_.read_place);
        // A thread of this process, so it goes on; it waits for nobody inside.
        while (guard != nullptr && reach_of(group, peer.endpoint) == Reach::addresses &&
               guard->readers.load(std::memory_order_seq_cst) != 0) {
            std::this_thread::yield();
        }
    }
}

void PeerReads::count(std::int32_t change) noexcept {
    for (const auto& group : channels_.groups) {  // a peer sees that of the group it talks to
        if (ReadGuard* const guard = own_guard(*group, channels_.read_place)) {
            guard->readers.fetch_add(static_cast<std::uint32_t>(change), std::memory_order_seq_cst);
        }
    }
}

bool PeerReads::withdrawn(const OutChannel& peer) const noexcept {
    const PortGroup& group = *channels_.groups[static_cast<std::size_t>(peer.group)];
    const ReadGuard* const guard = guard_of(group, peer.endpoint, channels_.read_place);
    return guard != nullptr && guard->call.load(std::memory_order_seq_cst) != call_;
}

void PeerReads::fail_with(const OutChannel& peer) noexcept {
    failure_.suspect(Status::peer_lost, peer.peer,
                     "has ended this call with an error before this rank had read its vector");
}

bool PeerReads::all_open(std::span<const std::uint32_t> peers, bool by_addresses) noexcept {
    for (const std::uint32_t number : peers) {
        const OutChannel& peer = channels_.out[number];
        const PortGroup& group = *channels_.groups[static_cast<std::size_t>(peer.group)];
        if ((reach_of(group, peer.endpoint) == Reach::addresses) == by_addresses &&
            withdrawn(peer)) {
            fail_with(peer);
            return false;
        }
    }
    return true;
}

bool PeerReads::begin(std::span<const std::uint32_t> peers) noexcept {
    count(1);
    if (all_open(peers, true)) {
        return true;
    }
    count(-1);
    return false;
}

void PeerReads::end(std::span<const std::uint32_t> peers) noexcept {
    count(-1);  // releases: what was copied was copied before the look
    (void)all_open(peers, false);
}

}  // namespace trefoil
