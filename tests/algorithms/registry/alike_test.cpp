// SPDX-License-Identifier: BSD-3-Clause
// Algorithm::alike against all ranks' schedules: what it promises holds on every small torus.
#include <gtest/gtest.h>

#include <set>

#include "algorithms/registry/registry.hpp"

namespace trefoil {
namespace {

struct Message {
    Rank distance;  ///< the peer, carried back to where rank 0 would have it
    Port port;
    std::uint64_t blocks;
    friend bool operator==(const Message&, const Message&) = default;
};

/// What a rank does as it looks from its own place: by part and step its messages, then what it
/// receives.
std::vector<std::vector<Message>> behaviour(const Torus& torus, const Schedule& schedule) {
    std::vector<std::vector<Message>> all;
    for (const Part& part : schedule.parts) {
        for (const Step& step : schedule.of(part)) {
            all.emplace_back();
            for (const Send& send : schedule.sends_of(step)) {
                all.back().push_back({torus.translated(send.peer, schedule.rank, -1), send.port,
                                      block_count(schedule.extents_of(send))});
            }
            all.back().push_back({-1, Port{}, step.receives.count});
        }
        all.push_back({{-2, Port{}, part.vector_blocks}});
    }
    return all;
}

std::vector<std::string> tori() {
    std::vector<std::string> all;
    for (int n = 1; n <= 18; ++n) {
        all.push_back(std::to_string(n));
    }
    for (int a = 1; a <= 4; ++a) {
        for (int b = 1; b <= 6; ++b) {
            all.push_back(std::to_string(a) + "x" + std::to_string(b));
        }
    }
    for (const char* more :
         {"32", "8x4", "6x3", "8x8", "2x2x2", "4x2x3", "3x3x3", "1x4x6", "5x1x4", "2x3x2x4"}) {
        all.emplace_back(more);
    }
    return all;
}

TEST(Alike, ranks_that_are_carried_over_into_each_other_do_the_same) {
    std::set<std::string_view> named;
    for (const std::string& name : tori()) {
        const Torus torus = Torus::parse(name);
        for (const Algorithm& algorithm : algorithms()) {
            if (algorithm.alike == nullptr || !algorithm.refusal(torus).empty()) {
                continue;
            }
            named.insert(algorithm.name);
            const std::vector<Rank> translations = algorithm.alike(torus);
            if (translations.empty()) {
                continue;
            }
            std::vector<std::vector<std::vector<Message>>> ranks;
            for (Rank r = 0; r < torus.ranks(); ++r) {
                ranks.push_back(behaviour(torus, algorithm.build(torus, r)));
            }
            for (const Rank translation : translations) {
                ASSERT_NE(0, translation);
                for (Rank r = 0; r < torus.ranks(); ++r) {
                    const Rank there = torus.translated(r, translation, +1);
                    ASSERT_EQ(ranks[static_cast<std::size_t>(r)],
                              ranks[static_cast<std::size_t>(there)])
                        << to_string(algorithm.collective) << " " << algorithm.name << " on "
                        << name << ": ranks " << r << " and " << there;
                }
            }
        }
    }
    EXPECT_LE(24U, named.size());
}

}  // namespace

}  // namespace trefoil
