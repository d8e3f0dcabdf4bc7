// SPDX-License-Identifier: BSD-3-Clause
// A rank with connections over port groups of its own, and what it puts through its channels: what
// an executor would be, without schedules.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/registry/transports.hpp"
#include "tests/threads/connections/prove.hpp"
#include "threads/connections/wiring.hpp"

namespace trefoil::test {

/// One port group of a rank with all that belongs to it.
class StationGroup {
  public:
    /// A message that has come: its number on the channel.
    using Arrival = std::function<void(Landing&, std::uint32_t index)>;

    StationGroup(std::unique_ptr<PortGroup> group, Rank rank, Rank ranks,
                 Wiring::Listeners listeners, Arrival arrival)
        : group_(std::move(group)),
          arena_([this](std::size_t bytes) { return group_->allocate(bytes); }),
          post_(*group_, arena_, rank, ranks),
          wiring_(post_, arena_, channel_limit(), std::move(listeners)),
          arrival_(std::move(arrival)) {}

    PortGroup& group() { return *group_; }
    LandingArena& arena() { return arena_; }
    PostOffice& post() { return post_; }
    Wiring& wiring() { return wiring_; }

    /// What carries messages here: 13 bits of index, the channel, where there is room the proof.
    std::uint32_t channel_limit() const {
        return group_->traits().notification_bits == 64 ? 1U << 18 : 1U << 10;
    }
    /// Puts `text` into slot `index` of the wire, as soon as may be.
    void put(Wire& wire, std::uint32_t index, const std::string& text) {
        Message message;
        message.source = arena_.take(text.size());
        std::memcpy(message.source.data, text.data(), text.size());
        message.wire = &wire;
        message.bytes = text.size();
        message.index = index;
        to_put_.push_back(message);
    }
    /// Messages for communicators that have ended.
    std::size_t late() const { return late_; }
    /// All messages have left.
    bool idle() const { return to_put_.empty() && leaving_.empty(); }
    /// Whether a message still has to be put through it.
    bool uses(const Wire& wire) const {
        return std::any_of(to_put_.begin(), to_put_.end(),
                           [&](const Message& message) { return message.wire == &wire; });
    }

    bool progress() {
        bool moved = wiring_.progress();
        for (std::size_t i = to_put_.size(); i > 0; --i) {
            const Message message = to_put_.front();
            to_put_.pop_front();
            moved |= put(message);
        }
        Event events[16];
        const std::size_t count = group_->poll(events);
        for (std::size_t i = 0; i < count; ++i) {
            take(events[i]);
        }
        return moved || count > 0;
    }

  private:
    struct Message {
        ArenaSlice source;
        Wire* wire = nullptr;
        std::size_t bytes = 0;
        std::uint32_t index = 0;
    };

    bool put(const Message& message) {
        Wire& wire = *message.wire;
        const std::uint64_t notification =
            std::uint64_t{wire.proof} << 32 | (message.index | wire.id << 13);
        const PutResult result =
            group_->put({.port = wire.key.port,
                         .peer = wire.endpoint,
                         .source = message.source.data,
                         .descriptor = arena_.chunk(message.source.chunk).descriptor,
                         .target = wire.memory,
                         .offset = wire.offset + message.index * wire.slot_bytes,
                         .bytes = message.bytes,
                         .notification = notification,
                         .cookie = next_cookie_});
        EXPECT_NE(result, PutResult::failed) << group_->error_text();
        if (result == PutResult::again) {
            to_put_.push_back(message);
            return false;
        }
        ++wire.puts;
        if (result == PutResult::queued) {
            leaving_[next_cookie_++] = message.source;
        } else {
            arena_.give_back(message.source);
        }
        return true;
    }

    void take(const Event& event) {
        if (event.kind == Event::Kind::arrived) {
            if (post_.take(event.notification)) {
                return;
            }
            const auto low = static_cast<std::uint32_t>(event.notification);
            Landing* const landing = wiring_.arrived(low >> 13);
            if (landing == nullptr) {
                ++late_;
                return;
            }
            if (group_->traits().notification_bits == 64) {
                EXPECT_EQ(event.notification >> 32, landing->proof);
            }
            arrival_(*landing, low & 0x1fff);
        } else if (event.kind == Event::Kind::sent) {
            if (!post_.sent(event.cookie)) {
                const auto found = leaving_.find(event.cookie);
                ASSERT_NE(found, leaving_.end());
                arena_.give_back(found->second);
                leaving_.erase(found);
            }
        } else {
            ADD_FAILURE() << group_->error_text();
        }
    }

    std::unique_ptr<PortGroup> group_;
    LandingArena arena_;
    PostOffice post_;
    Wiring wiring_;
    Arrival arrival_;
    std::deque<Message> to_put_;
    std::map<std::uint64_t, ArenaSlice> leaving_;
    std::uint64_t next_cookie_ = 1;
    std::size_t late_ = 0;
};

/// Makes the groups of a rank; each entry of `ports` is one.
using MakeStationGroups = std::function<std::vector<std::unique_ptr<PortGroup>>(
    Rank, const std::vector<std::vector<Port>>& ports)>;

inline MakeStationGroups groups_of(const std::string& backend, const std::string& provider = "") {
    return [=](Rank rank, const std::vector<std::vector<Port>>& ports) {
        BackendConfig config;
        config.provider = provider;
        config.groups = ports;
        config.rank = rank;
        return open_backend(backend, config);
    };
}

/// Gives all ranks the cards of all. `groups[rank]` are those of a rank.
inline std::unique_ptr<Cards> exchange_cards(
    const std::vector<std::vector<StationGroup*>>& groups) {
    std::vector<std::string> encoded;
    for (const auto& of_rank : groups) {
        Card card;
        card.host = "here";
        for (StationGroup* const group : of_rank) {
            card.groups.push_back(group->post().card());
        }
        encoded.push_back(encode(card));
    }
    auto cards = std::make_unique<Cards>(std::move(encoded));
    for (const auto& of_rank : groups) {
        for (StationGroup* const group : of_rank) {
            group->post().open(*cards, prove);
        }
    }
    return cards;
}

}  // namespace trefoil::test
