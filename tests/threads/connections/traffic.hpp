// SPDX-License-Identifier: BSD-3-Clause
// Random communicators on some ranks: who begins them when, which channels they have, and whether
// what comes through them is right.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/threads/connections/station.hpp"

namespace trefoil::test {

struct TrafficPlan {
    Rank ranks = 2;
    int ports = 4;
    bool group_per_port = false;
    int communicators = 100;
    unsigned seed = 1;
    std::size_t largest_slot = 256;
    bool threads = false;  ///< one for each rank; else one drives all ranks in turns
};

/// A channel of a communicator, as both ends know it beforehand.
struct PlannedChannel {
    Rank sender = 0, receiver = 0;
    Port senders_port;
    std::uint64_t slot_bytes = 64;
    std::uint32_t messages = 1;  ///< all into slots of their own; 0: the sender ends without any
    bool hasty = false;          ///< nobody waits for them, as after a failure
};

struct PlannedCommunicator {
    std::uint64_t id = 0;
    std::vector<PlannedChannel> channels;
    std::set<Rank> absent;  ///< never begin it; no messages for them or of them
};

inline std::vector<PlannedCommunicator> make_communicators(const TrafficPlan& plan) {
    std::minstd_rand random(plan.seed);
    std::vector<PlannedCommunicator> all;
    for (int c = 0; c < plan.communicators; ++c) {
        PlannedCommunicator communicator;
        communicator.id = number_of(keyed_hash("communicator", std::to_string(c)));
        if (random() % 8 == 0) {
            communicator.absent.insert(static_cast<Rank>(random() % plan.ranks));
        }
        std::set<std::tuple<Rank, Rank, int>> seen;
        for (auto i = 1 + random() % 4 * plan.ranks; i > 0; --i) {
            PlannedChannel channel;
            channel.sender = static_cast<Rank>(random() % plan.ranks);
            channel.receiver = static_cast<Rank>(random() % plan.ranks);
            channel.senders_port = Port{static_cast<int>(random() % plan.ports)};
            channel.slot_bytes = 64 + random() % plan.largest_slot;
            channel.messages = static_cast<std::uint32_t>(random() % 4);
            channel.hasty = random() % 8 == 0;
            const bool has_ends = !communicator.absent.contains(channel.sender) &&
                                  !communicator.absent.contains(channel.receiver);
            channel.messages = has_ends ? channel.messages : 0;
            if (channel.sender != channel.receiver &&
                seen.insert({channel.sender, channel.receiver, channel.senders_port.index})
                    .second) {
                communicator.channels.push_back(channel);
            }
        }
        all.push_back(communicator);
    }
    return all;
}

inline std::string text_of(std::uint64_t communicator, const PlannedChannel& channel,
                           std::uint32_t index) {
    std::string text = std::to_string(communicator) + ":" + std::to_string(channel.sender) + ">" +
                       std::to_string(channel.receiver) + to_string(channel.senders_port) + "." +
                       std::to_string(index);
    while (text.size() < channel.slot_bytes) {
        text += text;
    }
    text.resize(channel.slot_bytes);
    return text;
}

/// One rank with its part of all communicators. It begins them in an order of its own.
class TrafficRank {
  public:
    TrafficRank(const TrafficPlan& plan, Rank rank, const MakeStationGroups& make,
                const std::vector<PlannedCommunicator>& communicators)
        : rank_(rank), random_(plan.seed + static_cast<unsigned>(rank) * 7919 + 1) {
        std::vector<std::vector<Port>> ports(plan.group_per_port ? plan.ports : 1);
        for (int p = 0; p < plan.ports; ++p) {
            ports[plan.group_per_port ? p : 0].push_back(Port{p});
            group_of_port_.push_back(plan.group_per_port ? p : 0);
        }
        for (auto& group : make(rank, ports)) {
            groups_.push_back(std::make_unique<StationGroup>(
                std::move(group), rank, plan.ranks,
                Wiring::Listeners{[this](Wire& wire) { wired(wire); }, {}, {}},
                [this](Landing& landing, std::uint32_t index) { arrived(landing, index); }));
        }
        for (const PlannedCommunicator& planned : communicators) {
            parts_[planned.id].planned = &planned;
            if (!planned.absent.contains(rank)) {
                waiting_.push_back(planned.id);
            }
        }
        for (std::size_t i = 0; i < waiting_.size(); ++i) {  // not too far from the others' order
            std::swap(waiting_[i], waiting_[std::min(waiting_.size() - 1, i + random_() % 16)]);
        }
    }

    std::vector<StationGroup*> groups() {
        std::vector<StationGroup*> all;
        for (const auto& group : groups_) {
            all.push_back(group.get());
        }
        return all;
    }
    /// One round. True: something has happened.
    bool step() {
        bool moved = false;
        for (const auto& group : groups_) {
            moved |= group->progress();
        }
        if (running_.size() < 24 && !waiting_.empty() && random_() % 4 == 0) {
            begin(waiting_.front());
            waiting_.erase(waiting_.begin());
            moved = true;
        }
        for (std::size_t i = running_.size(); i > 0; --i) {
            moved |= advance(running_[i - 1]);
        }
        return moved;
    }
    /// Everything has ended, and nothing is in use any more.
    bool is_clean() {
        return waiting_.empty() && running_.empty() &&
               std::all_of(groups_.begin(), groups_.end(), [](const auto& group) {
                   const Wiring::Numbers numbers = group->wiring().numbers();
                   return group->idle() && numbers.landings + numbers.waiting == 0 &&
                          numbers.wires == 0 && group->post().is_quiet() &&
                          group->post().unanswered().empty();
               });
    }
    std::size_t early() const { return early_; }
    std::string state() {
        std::string text = "rank " + std::to_string(rank_) + ": " +
                           std::to_string(waiting_.size()) + " to begin, " +
                           std::to_string(running_.size()) + " running;";
        for (const auto& group : groups_) {
            const Wiring::Numbers numbers = group->wiring().numbers();
            text += " landings " + std::to_string(numbers.landings) + "+" +
                    std::to_string(numbers.waiting) + ", wires " + std::to_string(numbers.wires) +
                    ", unanswered " + std::to_string(group->post().unanswered().size());
        }
        return text;
    }

  private:
    struct Part {
        const PlannedCommunicator* planned = nullptr;
        bool begun = false;
        std::uint32_t to_want = 0;  ///< receivers' ends before this one are there
        std::uint32_t to_put = 0, to_come = 0;
        std::map<ChannelKey, std::uint32_t> seen;  ///< bits of the messages that have come
        int patience = 0;                          ///< rounds before the end
    };

    StationGroup& group_at(Port port) { return *groups_[group_of_port_[port.index]]; }
    ChannelKey key_of(std::uint64_t id, const PlannedChannel& channel) const {
        return channel.sender == rank_
                   ? ChannelKey{id, channel.receiver, channel.senders_port}
                   : ChannelKey{id, channel.sender, channel.senders_port.opposite()};
    }
    const PlannedChannel& channel_of(const ChannelKey& key, bool sends) {
        for (const PlannedChannel& channel : parts_[key.communicator].planned->channels) {
            if ((sends ? channel.sender : channel.receiver) == rank_ &&
                key_of(key.communicator, channel) == key) {
                return channel;
            }
        }
        throw std::runtime_error("a channel that nobody has planned");
    }

    void begin(std::uint64_t id) {
        Part& part = parts_[id];
        part.begun = true;
        part.patience = static_cast<int>(random_() % 30);
        for (const PlannedChannel& channel : part.planned->channels) {
            part.to_put += channel.sender == rank_ && !channel.hasty ? channel.messages : 0;
            part.to_come += channel.receiver == rank_ && !channel.hasty ? channel.messages : 0;
        }
        running_.push_back(id);
        for (const auto& group : groups_) {
            early_ += group->wiring().numbers().early;
            group->wiring().begin(id);
        }
    }

    void wired(Wire& wire) {
        Part& part = parts_[wire.key.communicator];
        ASSERT_TRUE(part.begun);
        const PlannedChannel& channel = channel_of(wire.key, true);
        EXPECT_EQ(wire.slot_bytes, channel.slot_bytes);
        EXPECT_EQ(group_at(wire.key.port).wiring().wire_of(wire.key), &wire);
        for (std::uint32_t i = 0; i < channel.messages; ++i) {
            group_at(wire.key.port).put(wire, i, text_of(wire.key.communicator, channel, i));
        }
        part.to_put -= channel.hasty ? 0 : channel.messages;
    }

    void arrived(Landing& landing, std::uint32_t index) {
        Part& part = parts_[landing.key.communicator];
        const PlannedChannel& channel = channel_of(landing.key, false);
        ASSERT_LT(index, channel.messages);
        EXPECT_EQ(part.seen[landing.key] & 1U << index, 0U) << "a message twice";
        part.seen[landing.key] |= 1U << index;
        part.to_come -= channel.hasty ? 0 : 1;
        check(landing, channel, index);
    }
    void check(const Landing& landing, const PlannedChannel& channel, std::uint32_t index) {
        const std::string expected = text_of(landing.key.communicator, channel, index);
        const auto* place =
            reinterpret_cast<const char*>(landing.data + index * landing.slot_bytes);
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), place))
            << "rank " << rank_ << " has not what rank " << channel.sender << " sent";
    }

    bool advance(std::uint64_t id) {
        Part& part = parts_[id];
        const auto& channels = part.planned->channels;
        if (part.to_want < channels.size()) {
            if (random_() % 2 == 0) {
                const PlannedChannel& channel = channels[part.to_want++];
                if (channel.receiver == rank_) {
                    want(id, channel);
                }
            }
            return true;
        }
        if (part.to_put > 0 || part.to_come > 0 || --part.patience > 0) {
            return false;
        }
        for (const PlannedChannel& channel : channels) {
            const ChannelKey key = key_of(id, channel);
            Wire* const wire =
                channel.sender == rank_ ? group_at(key.port).wiring().wire_of(key) : nullptr;
            if (wire != nullptr && group_at(key.port).uses(*wire)) {
                return false;
            }
        }
        for (const PlannedChannel& channel : channels) {  // untouched since they came
            if (channel.receiver == rank_ && !channel.hasty) {
                const ChannelKey key = key_of(id, channel);
                const Landing& landing =
                    group_at(key.port).wiring().want(key, channel.slot_bytes, 4);
                for (std::uint32_t i = 0; i < channel.messages; ++i) {
                    check(landing, channel, i);
                }
            }
        }
        for (const auto& group : groups_) {
            group->wiring().end(id);
        }
        running_.erase(std::find(running_.begin(), running_.end(), id));
        return true;
    }

    void want(std::uint64_t id, const PlannedChannel& channel) {
        const ChannelKey key = key_of(id, channel);
        const Landing& landing = group_at(key.port).wiring().want(key, channel.slot_bytes, 4);
        std::fill_n(landing.data, landing.memory.bytes, std::byte{0x5a});
    }

    Rank rank_;
    std::minstd_rand random_;
    std::vector<int> group_of_port_;
    std::vector<std::unique_ptr<StationGroup>> groups_;
    std::map<std::uint64_t, Part> parts_;
    std::vector<std::uint64_t> waiting_, running_;
    std::size_t early_ = 0;
};

/// What a run has met, of all ranks.
struct TrafficFigures {
    std::size_t early = 0, late = 0, connections = 0, records = 0, record_bytes = 0, repeated = 0;
    std::size_t held = 0, used = 0, wanted = 0, card_bytes = 0;
};

inline TrafficFigures run_traffic(const TrafficPlan& plan, const MakeStationGroups& make) {
    const auto communicators = make_communicators(plan);
    std::vector<std::unique_ptr<TrafficRank>> ranks;
    std::vector<std::vector<StationGroup*>> groups;
    for (Rank r = 0; r < plan.ranks; ++r) {
        ranks.push_back(std::make_unique<TrafficRank>(plan, r, make, communicators));
        groups.push_back(ranks.back()->groups());
    }
    const auto cards = exchange_cards(groups);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    std::atomic<Rank> unclean{plan.ranks};
    // A rank may be clean and be spoken to again, so the last one decides for all.
    const auto drive = [&](const std::vector<TrafficRank*>& mine) {
        std::vector<bool> clean(mine.size());
        while (unclean.load() > 0 && std::chrono::steady_clock::now() < deadline) {
            bool moved = false;
            for (std::size_t i = 0; i < mine.size(); ++i) {
                moved |= mine[i]->step();
                const bool is_clean = mine[i]->is_clean();
                unclean += clean[i] && !is_clean ? 1 : !clean[i] && is_clean ? -1 : 0;
                clean[i] = is_clean;
            }
            if (!moved) {
                std::this_thread::yield();
            }
        }
    };
    std::vector<std::thread> threads;
    if (plan.threads) {
        for (const auto& rank : ranks) {
            threads.emplace_back([&drive, &rank] { drive({rank.get()}); });
        }
    } else {
        std::vector<TrafficRank*> all;
        for (const auto& rank : ranks) {
            all.push_back(rank.get());
        }
        drive(all);
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    TrafficFigures figures;
    figures.card_bytes = cards->bytes();
    for (const auto& rank : ranks) {
        EXPECT_TRUE(rank->is_clean()) << rank->state();
        figures.early += rank->early();
        for (StationGroup* const group : rank->groups()) {
            for (const BrokenConnection& broken : group->post().take_broken()) {
                ADD_FAILURE() << broken.text;
            }
            const PostOffice::Statistics& statistics = group->post().statistics();
            EXPECT_EQ(statistics.refused, 0U);
            figures.late += group->late();
            figures.connections += group->post().connections();
            figures.records += statistics.records;
            figures.record_bytes += statistics.record_bytes;
            figures.repeated += statistics.repeated;
            figures.held += group->arena().bytes_held();
            figures.used += group->arena().bytes_used();
        }
    }
    for (const PlannedCommunicator& communicator : communicators) {
        for (const PlannedChannel& channel : communicator.channels) {
            figures.wanted +=
                communicator.absent.contains(channel.receiver) ? 0 : 4 * channel.slot_bytes;
        }
    }
    return figures;
}

}  // namespace trefoil::test
