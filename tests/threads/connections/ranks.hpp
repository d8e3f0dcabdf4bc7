// SPDX-License-Identifier: BSD-3-Clause
// A few ranks with one port group each, whose letters a test reads.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/threads/connections/station.hpp"

namespace trefoil::test {

/// All in the test's thread; a rank does something only when the test says so.
class Ranks {
  public:
    struct Letter {
        Rank from;
        Port own;
        std::uint64_t tag;
        std::string text;
    };

    explicit Ranks(Rank count, const MakeStationGroups& make = groups_of("memory")) {
        letters_.resize(count);
        wired_.resize(count);
        left_.resize(count);
        arrived_.resize(count);
        std::vector<std::vector<StationGroup*>> all;
        for (Rank r = 0; r < count; ++r) {
            const Wiring::Listeners listeners{
                [this, r](Wire& wire) { wired_[r].push_back(&wire); },
                [this, r](const ChannelKey& key) { left_[r].push_back(key); },
                [this, r](Rank from, Port own, std::uint64_t tag, std::string_view text) {
                    letters_[r].push_back({from, own, tag, std::string(text)});
                }};
            groups_.push_back(std::make_unique<StationGroup>(
                std::move(make(r, {{Port{0}, Port{1}}})[0]), r, count, listeners,
                [this, r](Landing& landing, std::uint32_t) { arrived_[r].push_back(landing.id); }));
            all.push_back({groups_.back().get()});
        }
        cards_ = exchange_cards(all);
    }

    StationGroup& operator[](Rank rank) { return *groups_[rank]; }
    std::vector<Letter>& letters(Rank rank) { return letters_[rank]; }
    std::vector<Wire*>& wired(Rank rank) { return wired_[rank]; }
    /// Channels of which the peer's communicator has ended.
    std::vector<ChannelKey>& left(Rank rank) { return left_[rank]; }
    std::vector<std::uint32_t>& arrived(Rank rank) { return arrived_[rank]; }
    const Cards& cards() const { return *cards_; }

    /// Lets some ranks go on until `done`; fails when that takes too long.
    void run(const std::vector<Rank>& ranks, const std::function<bool()>& done) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!done()) {
            for (const Rank rank : ranks) {
                groups_[rank]->progress();
            }
            ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "it never happens";
        }
    }
    /// So many rounds each.
    void run(const std::vector<Rank>& ranks, int rounds) {
        for (int i = 0; i < rounds; ++i) {
            for (const Rank rank : ranks) {
                groups_[rank]->progress();
            }
        }
    }
    /// Nothing is under way between them.
    void settle(const std::vector<Rank>& ranks) {
        run(ranks, [&] {
            return std::all_of(ranks.begin(), ranks.end(), [&](Rank rank) {
                PostOffice& post = groups_[rank]->post();
                return post.is_quiet() && post.unanswered().empty();
            });
        });
    }

  private:
    std::vector<std::vector<Letter>> letters_;
    std::vector<std::vector<Wire*>> wired_;
    std::vector<std::vector<ChannelKey>> left_;
    std::vector<std::vector<std::uint32_t>> arrived_;
    std::vector<std::unique_ptr<StationGroup>> groups_;
    std::unique_ptr<Cards> cards_;
};

}  // namespace trefoil::test
