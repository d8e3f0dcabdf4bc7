// SPDX-License-Identifier: BSD-3-Clause
// What belongs to one port group, whatever communicators use it: landing memory, connections,
// channels, and letters that other threads send.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "threads/connections/letter_box.hpp"
#include "threads/connections/wiring.hpp"

namespace trefoil {

/// Whom a group's links speak to: the group's worker. Called in take() and progress().
class LinkUser {
  public:
    virtual ~LinkUser() = default;
    /// See Wiring::Listeners.
    virtual void wired(Wire& wire) = 0;
    virtual void peer_left(const ChannelKey& key) = 0;
    virtual void letter(Rank from, Port own, std::uint64_t tag, std::string_view text) = 0;
    virtual void broken(const BrokenConnection& connection) = 0;
};

/// By the group's owner, but for send().
class Links : public LetterBox {
  public:
    /// `rank` of `ranks`, as the cards number them. `channel_limit`: see Wiring. Takes the mailbox
    /// from the group; throws what the group throws. All outlive this.
    Links(PortGroup& group, Rank rank, Rank ranks, std::uint32_t channel_limit, LinkUser& user);

    PostOffice& post() { return post_; }
    Wiring& wiring() { return wiring_; }
    LandingArena& arena() { return arena_; }

    /// Moves what can be moved, and tells what is broken. True: something has moved.
    bool progress() {
        const bool sent = has_outbox_.load(std::memory_order_relaxed) && send_outbox();
        const bool moved = wiring_.progress();
        if (post_.has_broken()) {
            tell_broken();
        }
        return sent || moved;
    }
    /// A put has been refused, or a letter is to be sent: whoever sleeps meanwhile sleeps short.
    bool has_work() const {
        return wiring_.has_work() || has_outbox_.load(std::memory_order_relaxed);
    }
    /// Nothing waits for its put, or for its completion.
    bool is_quiet() const {
        return post_.is_quiet() && !has_outbox_.load(std::memory_order_relaxed);
    }

    bool has_peers_left() const { return post_.has_peers_left(); }

    /// The peer has answered all that was said to it through `own`, or never will. A put that is
    /// accepted may wait in the transport until the connection is there; an answer shows that it
    /// is.
    bool was_heard(Rank to, Port own) {
        const Connection* const connection = post_.find(to, own);
        return !has_outbox_.load(std::memory_order_relaxed) &&
               (connection == nullptr || connection->was_heard());
    }

    bool letter(Rank to, Port own, std::uint64_t tag, std::string_view text,
                Urgency urgency) noexcept override;
    /// A letter, from any thread; the owner sends it with its next progress(). What cannot be sent
    /// shows as a broken connection.
    void send(Rank to, Port own, std::uint64_t tag, std::string text);

  private:
    struct Outgoing {
        Rank to = 0;
        Port own;
        std::uint64_t tag = 0;
        std::string text;
    };
    bool send_outbox();
    void tell_broken();

    LinkUser& user_;
    LandingArena arena_;
    PostOffice post_;
    Wiring wiring_;
    std::atomic<bool> has_outbox_{false};  ///< its release pairs with the owner's look
    std::mutex mutex_;                     ///< guards the outbox
    std::vector<Outgoing> outbox_;
};

}  // namespace trefoil
