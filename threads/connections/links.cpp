// SPDX-License-Identifier: BSD-3-Clause
// Letters of other threads, and what is broken.
#include "threads/connections/links.hpp"

#include <exception>
#include <utility>

namespace trefoil {

Links::Links(PortGroup& group, Rank rank, Rank ranks, std::uint32_t channel_limit, LinkUser& user)
    : user_(user),
      arena_([&group](std::size_t bytes) { return group.allocate(bytes); }),
      post_(group, arena_, rank, ranks),
      wiring_(post_, arena_, channel_limit,
              {[this](Wire& wire) { user_.wired(wire); },
               [this](const ChannelKey& key) { user_.peer_left(key); },
               [this](Rank from, Port own, std::uint64_t tag, std::string_view text) {
                   user_.letter(from, own, tag, text);
               }}) {}

bool Links::letter(Rank to, Port own, std::uint64_t tag, std::string_view text,
                   Urgency urgency) noexcept {
    try {
        const Connection& connection = post_.connection(to, own);
        const bool idle = connection.may_write_record() && connection.outgoing.empty();
        if (connection.closed || (!idle && urgency == Urgency::dropped)) {
            return false;
        }
        wiring_.letter(to, own, tag, text, !idle && urgency == Urgency::urgent);
        return true;
    } catch (const std::exception&) {  // no connection, or no memory
        return false;
    }
}

void Links::send(Rank to, Port own, std::uint64_t tag, std::string text) {
    const std::lock_guard lock(mutex_);
    outbox_.push_back({to, own, tag, std::move(text)});
    has_outbox_.store(true, std::memory_order_relaxed);  // the mutex orders
}

bool Links::send_outbox() {
    std::vector<Outgoing> letters;
    {
        const std::lock_guard lock(mutex_);
        letters = std::exchange(outbox_, {});
        has_outbox_.store(false, std::memory_order_relaxed);
    }
    for (const Outgoing& out : letters) {
        try {
            wiring_.letter(out.to, out.own, out.tag, out.text);
        } catch (const CannotConnect& error) {
            user_.broken(error.connection());
        } catch (const Error& error) {
            user_.broken(post_.broken(out.to, out.own, error.status(), error.what()));
        } catch (const std::exception& error) {
            user_.broken(post_.broken(out.to, out.own, Status::out_of_memory, error.what()));
        }
    }
    return !letters.empty();
}

void Links::tell_broken() {
    for (const BrokenConnection& connection : post_.take_broken()) {
        user_.broken(connection);
    }
}

}  // namespace trefoil
