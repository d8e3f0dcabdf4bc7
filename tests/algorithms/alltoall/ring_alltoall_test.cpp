// SPDX-License-Identifier: BSD-3-Clause
// Alltoalls on one ring: every pair arrives, on the way that is claimed, with the steps,
// loads and peaks that are known.
#include "algorithms/alltoall/ring_alltoall.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "algorithms/alltoall/parted_ring.hpp"
#include "algorithms/alltoall/ring_kinds.hpp"
#include "algorithms/alltoall/tabulated_ring.hpp"

namespace trefoil::ring_alltoall_test {
namespace {

std::int64_t total_load(const RingAlltoall& ring) {
    std::int64_t total = 0;
    for (const RingTraffic& step : traffic_of(ring)) {
        total += step.load;
    }
    return total;
}

/// Runs the steps as everybody's sends say; checks that receives say the same.
class Simulation {
  public:
    explicit Simulation(std::shared_ptr<const RingAlltoall> ring)
        : ring_(std::move(ring)), at_(ring_->size()) {
        for (Rank s = 0; s < ring_->size(); ++s) {
            for (Rank t = 0; t < ring_->size(); ++t) {
                at_[s].insert({{t, s}, -1});
            }
        }
        note();
        for (int step = 0; step < ring_->steps(); ++step) {
            run(step);
        }
    }

    void expect_delivery() const {
        for (Rank c = 0; c < ring_->size(); ++c) {
            ASSERT_EQ(at_[c].size(), static_cast<std::size_t>(ring_->size()));
            for (const HeldPair& held : at_[c]) {
                ASSERT_EQ(held.pair.target, c);
            }
        }
    }

    std::size_t most_hops = 0;      ///< of a pair
    std::size_t most_messages = 0;  ///< sent or received by a coordinate in a step
    std::size_t most_held = 0;      ///< pairs at a coordinate between steps, without its own (c, c)

  private:
    void note() {
        for (Rank c = 0; c < ring_->size(); ++c) {
            most_held = std::max(most_held, at_[c].size() - 1);
        }
    }

    void run(int step) {
        std::vector<std::vector<RingHandover>> arriving(ring_->size());
        std::size_t moved = 0;
        for (Rank c = 0; c < ring_->size(); ++c) {
            const std::vector<HeldPair> held = ring_->held(c, step);
            ASSERT_TRUE(std::equal(held.begin(), held.end(), at_[c].begin(), at_[c].end()));
            const std::vector<RingHandover> sends = ring_->sends(c, step);
            most_messages = std::max(most_messages, sends.size());
            for (const RingHandover& h : sends) {
                ASSERT_EQ(h.holder, c);
                ASSERT_TRUE(std::is_sorted(h.pairs.begin(), h.pairs.end()));
                ASSERT_FALSE(h.pairs.empty());
                moved += h.pairs.size();
                for (const HeldPair& leaving : h.pairs) {
                    ASSERT_NE(leaving.pair.source, leaving.pair.target);
                    ASSERT_EQ(at_[c].erase(leaving), 1U) << "not there, or not since that step";
                    travelled_[leaving.pair] += std::abs(h.hop);
                    most_hops = std::max<std::size_t>(most_hops, travelled_[leaving.pair]);
                }
                arriving[ring_->wrapped(std::int64_t{c} + h.hop)].push_back(h);
            }
        }
        ASSERT_GT(moved, 0U) << "step " << step << " is empty";
        for (Rank c = 0; c < ring_->size(); ++c) {
            expect_receives(c, step, arriving[c]);
        }
        note();
    }

    void expect_receives(Rank c, int step, std::vector<RingHandover>& arriving) {
        std::vector<RingHandover> receives = ring_->receives(c, step);
        most_messages = std::max(most_messages, receives.size());
        const auto earlier = [](const RingHandover& a, const RingHandover& b) {
            return a.hop < b.hop;
        };
        std::sort(arriving.begin(), arriving.end(), earlier);
        std::sort(receives.begin(), receives.end(), earlier);
        ASSERT_EQ(receives.size(), arriving.size());
        for (std::size_t i = 0; i < receives.size(); ++i) {
            ASSERT_EQ(receives[i].holder, arriving[i].holder);
            ASSERT_EQ(receives[i].hop, arriving[i].hop);
            ASSERT_EQ(receives[i].pairs, arriving[i].pairs);
            for (const HeldPair& arrived : receives[i].pairs) {
                at_[c].insert({arrived.pair, step});
            }
        }
    }

    std::shared_ptr<const RingAlltoall> ring_;
    std::vector<std::set<HeldPair>> at_;
    std::map<AlltoallPair, int> travelled_;
};

TEST(RingAlltoall, DeliversEveryPairOnItsShortestWay) {
    for (Rank n = 1; n <= 33; ++n) {
        for (const RingKind kind :
             {RingKind::tree, RingKind::tree_one_port, RingKind::passed_on, RingKind::direct}) {
            SCOPED_TRACE("kind " + std::to_string(static_cast<int>(kind)) + " of " +
                         std::to_string(n));
            const Simulation simulation(ring_alltoall(kind, n));
            simulation.expect_delivery();
            EXPECT_LE(simulation.most_hops, static_cast<std::size_t>(n / 2));
            if (kind == RingKind::tree_one_port) {
                EXPECT_LE(simulation.most_messages, 1U);
            }
        }
        for (const int radix : {2, 3, 4, 7}) {
            SCOPED_TRACE("radix " + std::to_string(radix) + " of " + std::to_string(n));
            const Simulation simulation(ring_alltoall(RingKind::digits, n, radix));
            simulation.expect_delivery();
            EXPECT_LE(simulation.most_hops, static_cast<std::size_t>(n / 2));
        }
    }
}

TEST(RingAlltoall, BineDeliversOnPowersOfTwo) {
    for (const Rank n : {1, 2, 4, 8, 16, 32, 64}) {
        const std::shared_ptr<const RingAlltoall> ring = ring_alltoall(RingKind::bine, n);
        const Simulation simulation(ring);
        simulation.expect_delivery();
        EXPECT_EQ(Rank{1} << ring->steps(), n);
        EXPECT_LE(simulation.most_messages, 1U);
        EXPECT_EQ(simulation.most_held, static_cast<std::size_t>(n - 1));
    }
}

TEST(PartedRing, DeliversAfterTheFirstPhase) {
    for (const Rank ways : {1, 2, 3, 4}) {
        for (Rank part = 1; part <= 12; ++part) {
            for (const bool binary : {false, true}) {
                SCOPED_TRACE(std::to_string(part) + " nodes in " + std::to_string(ways) + " ways");
                const auto parted = std::make_shared<const PartedRing>(
                    ways, binary, ring_alltoall(RingKind::tree_one_port, part));
                const PartedRing& ring = *parted;
                const Simulation simulation(parted);
                simulation.expect_delivery();
                EXPECT_LE(simulation.most_messages, 1U);
                EXPECT_EQ(ring.first_steps(), binary && ways == 4 ? 2 : ways - 1);
                for (const HeldPair& held : ring.held(ways - 1, ring.first_steps())) {
                    EXPECT_EQ(held.pair.target % ways, ways - 1);
                }
            }
        }
    }
}

struct Figures {
    Rank size;
    int steps;
    std::int64_t load;
};

void expect_figures(RingKind kind, const std::vector<Figures>& all) {
    for (const Figures& f : all) {
        const std::shared_ptr<const RingAlltoall> ring = ring_alltoall(kind, f.size);
        EXPECT_EQ(ring->steps(), f.steps) << f.size;
        EXPECT_EQ(total_load(*ring), f.load) << f.size;
    }
}

// Lemma 6 and Theorem 1 of the paper.
TEST(RingAlltoall, TreesMatchThePaper) {
    expect_figures(RingKind::tree, {{8, 4, 11}, {16, 6, 43}, {64, 10, 677}});
    expect_figures(RingKind::tree_one_port, {{8, 4, 14}, {16, 6, 45}, {64, 10, 679}});
}

TEST(RingAlltoall, ShortTreesGoStraight) {
    expect_figures(RingKind::tree, {{1, 0, 0}, {2, 1, 1}, {3, 1, 1}, {4, 2, 3}});
    expect_figures(RingKind::tree_one_port, {{1, 0, 0}, {2, 1, 1}, {3, 2, 2}, {4, 3, 3}});
}

// At the bound, where the size is odd.
TEST(RingAlltoall, NeighboursPassOnAllThatGoesTheirWay) {
    expect_figures(RingKind::passed_on,
                   {{2, 1, 1}, {3, 1, 1}, {4, 2, 2}, {5, 2, 3}, {9, 4, 10}, {10, 5, 15}});
    const std::shared_ptr<const RingAlltoall> ring = ring_alltoall(RingKind::passed_on, 9);
    for (int step = 0; step < ring->steps(); ++step) {
        for (const RingHandover& h : ring->sends(4, step)) {
            EXPECT_EQ(h.hop * h.hop, 1);
            EXPECT_EQ(h.pairs.size(), static_cast<std::size_t>(4 - step));
        }
    }
}

// What has been gathered lies at the hubs.
TEST(RingAlltoall, HubsHoldMuch) {
    const auto peak = [](Rank n) {
        return Simulation(ring_alltoall(RingKind::tree_one_port, n)).most_held;
    };
    EXPECT_EQ(peak(16), 17U);
    EXPECT_EQ(peak(32), 51U);
    EXPECT_EQ(peak(64), 183U);
    EXPECT_EQ(peak(128), 727U);
}

TEST(RingAlltoall, BinaryDigitsMeetTheBisectionBound) {
    for (std::int64_t n = 3; n <= 130; ++n) {
        const std::shared_ptr<const RingAlltoall> ring =
            ring_alltoall(RingKind::digits, static_cast<Rank>(n), 2);
        EXPECT_EQ(total_load(*ring), (n * n - n % 2 + 7) / 8) << n;
        int steps = 0;
        while ((std::int64_t{2} << steps) < n) {
            ++steps;
        }
        EXPECT_EQ(ring->steps(), std::max(1, steps)) << n;
    }
    expect_figures(RingKind::digits, {{8, 2, 8}, {16, 3, 32}, {64, 5, 512}});
}

TEST(RingAlltoall, StepsOfTreesAreCounted) {
    for (Rank n = 1; n <= 70; ++n) {
        EXPECT_EQ(count_tree_steps(n), ring_alltoall(RingKind::tree, n)->steps()) << n;
        EXPECT_EQ(count_one_port_tree_steps(n), ring_alltoall(RingKind::tree_one_port, n)->steps())
            << n;
    }
}

std::int64_t hops_of(RingKind kind, Rank n) {
    std::int64_t sum = 0;
    for (const RingTraffic& step : ring_alltoall(kind, n)->traffic()) {
        sum += step.hops;
    }
    return sum;
}

TEST(RingAlltoall, HopsOfTreesAreBounded) {
    for (Rank n = 1; n <= 70; ++n) {
        const std::int64_t hops = hops_of(RingKind::tree, n);
        const std::int64_t one_port = hops_of(RingKind::tree_one_port, n);
        EXPECT_LE(least_tree_hops(n), hops) << n;
        EXPECT_LE(least_one_port_tree_hops(n), one_port) << n;
        if ((n & (n - 1)) == 0) {
            EXPECT_EQ(least_tree_hops(n), hops) << n;
            EXPECT_EQ(least_one_port_tree_hops(n), one_port) << n;
        }
    }
}

TEST(RingAlltoall, FormulasOfTrafficAreRight) {
    for (Rank n = 1; n <= 70; ++n) {
        for (const int radix : {2, 3, 4, 71}) {
            const auto ring = ring_alltoall(RingKind::digits, n, radix);
            EXPECT_EQ(ring->traffic(), traffic_of(*ring)) << n << ", radix " << radix;
        }
        if ((n & (n - 1)) == 0) {
            const auto ring = ring_alltoall(RingKind::bine, n);
            EXPECT_EQ(ring->traffic(), traffic_of(*ring)) << n;
        }
    }
}

TEST(RingAlltoall, DirectIsOneStepWithAMessagePerTarget) {
    const std::shared_ptr<const RingAlltoall> ring = ring_alltoall(RingKind::direct, 9);
    EXPECT_EQ(ring->steps(), 1);
    EXPECT_EQ(ring->sends(4, 0).size(), 8U);
    EXPECT_EQ(largest_channel(*ring), 1);
}

TEST(RingAlltoall, LargestChannelAddsUpSteps) {
    // Both steps go to the neighbour: (0,1), (0,2) first, then what is passed on.
    const std::shared_ptr<const RingAlltoall> ring = ring_alltoall(RingKind::passed_on, 5);
    std::int64_t largest = 0;
    for (Rank c = 0; c < 5; ++c) {
        for (const int hop : {-2, -1, 1, 2}) {
            std::int64_t pairs = 0;
            for (int step = 0; step < ring->steps(); ++step) {
                for (const RingHandover& h : ring->receives(c, step)) {
                    pairs += h.hop == hop ? std::ssize(h.pairs) : 0;
                }
            }
            largest = std::max(largest, pairs);
        }
    }
    EXPECT_EQ(largest_channel(*ring), largest);
}

TEST(RingAlltoall, TablesAreMadeOnce) {
    EXPECT_EQ(ring_alltoall(RingKind::tree, 12), ring_alltoall(RingKind::tree, 12));
    EXPECT_NE(ring_alltoall(RingKind::tree, 12), ring_alltoall(RingKind::tree_one_port, 12));
}

}  // namespace
}  // namespace trefoil::ring_alltoall_test
