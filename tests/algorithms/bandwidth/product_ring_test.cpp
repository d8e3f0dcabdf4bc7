// SPDX-License-Identifier: BSD-3-Clause
// The contract of ring reduce-scatters, checked ring by ring before any torus is built from them.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/bandwidth/product.hpp"
#include "algorithms/rings/halving_ring.hpp"
#include "algorithms/rings/odd_ring.hpp"
#include "algorithms/rings/swing_ring.hpp"

namespace trefoil::product_ring_test {
namespace {

using Ring = std::shared_ptr<const RingScatter>;
using Set = std::vector<bool>;

Set to_set(const std::vector<Extent>& extents, Rank size) {
    Set set(size, false);
    for (const Extent& e : extents) {
        for (Block p = e.first; p < e.first + e.count; ++p) {
            set.at(p) = true;
        }
    }
    return set;
}

bool overlap(const Set& a, const Set& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] && b[i]) {
            return true;
        }
    }
    return false;
}

/// Each coordinate sends what it gives up, once, to somebody who keeps it.
void expect_step_hands_over(const RingScatter& ring, int step) {
    const Rank size = ring.size();
    for (Rank c = 0; c < size; ++c) {
        Set left = to_set(ring.held(c, step), size);
        std::vector<RingTransfer> sends;
        ring.sends(c, step, sends);
        for (const RingTransfer& t : sends) {
            ASSERT_NE(t.peer, c);
            const Set kept_there = to_set(ring.held(t.peer, step + 1), size);
            for (const Extent& e : t.positions) {
                for (Block p = e.first; p < e.first + e.count; ++p) {
                    ASSERT_TRUE(left[p]) << c << " sends " << p << ", which it does not hold";
                    ASSERT_TRUE(kept_there[p]) << t.peer << " does not keep " << p;
                    left[p] = false;
                }
            }
        }
        ASSERT_EQ(left, to_set(ring.held(c, step + 1), size)) << "coordinate " << c;
    }
}

/// What x sends to y is what y receives from x, by the same way round.
void expect_step_matches(const RingScatter& ring, int step) {
    std::vector<std::string> sent;
    std::vector<std::string> received;
    const auto text = [](Rank from, Rank to, const RingTransfer& t) {
        std::string line =
            std::to_string(from) + "->" + std::to_string(to) + (t.sign > 0 ? " +" : " -");
        for (const Extent& e : t.positions) {
            line += " " + std::to_string(e.first) + ":" + std::to_string(e.count);
        }
        return line;
    };
    for (Rank c = 0; c < ring.size(); ++c) {
        std::vector<RingTransfer> transfers;
        ring.sends(c, step, transfers);
        for (const RingTransfer& t : transfers) {
            sent.push_back(text(c, t.peer, t));
        }
        transfers.clear();
        ring.receives(c, step, transfers);
        for (const RingTransfer& t : transfers) {
            received.push_back(text(t.peer, c, t));
        }
    }
    std::sort(sent.begin(), sent.end());
    std::sort(received.begin(), received.end());
    ASSERT_EQ(sent, received);
}

void expect_scatter(const RingScatter& ring) {
    const Rank size = ring.size();
    for (Rank c = 0; c < size; ++c) {
        ASSERT_EQ(to_set(ring.held(c, 0), size), Set(size, true));
    }
    for (int step = 0; step < ring.steps(); ++step) {
        SCOPED_TRACE("step " + std::to_string(step));
        ASSERT_NO_FATAL_FAILURE(expect_step_hands_over(ring, step));
        ASSERT_NO_FATAL_FAILURE(expect_step_matches(ring, step));
    }
    Set owned(size, false);
    for (Rank c = 0; c < size; ++c) {
        const Set own = to_set(ring.held(c, ring.steps()), size);
        ASSERT_FALSE(overlap(owned, own));
        for (Rank p = 0; p < size; ++p) {
            owned[p] = owned[p] || own[p];
        }
    }
    ASSERT_EQ(owned, Set(size, true));
}

/// Cuts partition their cell, and end with single positions.
void expect_cuts(const RingScatter& ring) {
    std::vector<Extent> cells{{0, static_cast<Block>(ring.size())}};
    for (int step = 0; step < ring.steps(); ++step) {
        std::vector<Extent> next;
        for (const Extent& cell : cells) {
            std::vector<Block> sizes;
            ring.cut(cell, step, sizes);
            Block at = cell.first;
            for (const Block count : sizes) {
                if (count > 0) {
                    next.push_back({at, count});
                }
                at += count;
            }
            ASSERT_EQ(at, cell.first + cell.count);
        }
        cells = next;
    }
    ASSERT_EQ(cells.size(), static_cast<std::size_t>(ring.size()));
}

void expect_ring(const Ring& ring) {
    SCOPED_TRACE("size " + std::to_string(ring->size()));
    ASSERT_NO_FATAL_FAILURE(expect_scatter(*ring));
    ASSERT_NO_FATAL_FAILURE(expect_cuts(*ring));
    for (const Rank centre : {0, ring->size() - 1}) {
        ASSERT_NO_FATAL_FAILURE(expect_scatter(*mirrored(ring, centre)));
    }
}

TEST(HalvingRing, ScattersOnEverySize) {
    for (Rank size = 1; size <= 70; ++size) {
        for (const Halving pattern : {Halving::swing, Halving::doubling}) {
            ASSERT_NO_FATAL_FAILURE(expect_ring(std::make_shared<HalvingRing>(pattern, size)));
        }
    }
    for (const Rank size : {1, 2, 4, 8, 16, 32, 64}) {
        ASSERT_NO_FATAL_FAILURE(
            expect_ring(std::make_shared<HalvingRing>(Halving::doubling_mirrored, size)));
    }
}

TEST(HalvingRing, PowersOfTwoFixOneDigitPerStep) {
    for (const Rank size : {2, 8, 64}) {
        const HalvingRing ring(Halving::swing, size);
        EXPECT_EQ(ring.digits(), std::vector<Rank>(ring.steps(), 2));
        for (int step = 0; step <= ring.steps(); ++step) {
            const Block count = static_cast<Block>(size) >> step;
            for (Rank c = 0; c < size; ++c) {
                const std::vector<Extent> held = ring.held(c, step);
                ASSERT_EQ(held.size(), 1U);
                EXPECT_EQ(held[0].count, count);
                EXPECT_EQ(held[0].first % count, 0U);
            }
        }
    }
}

TEST(HalvingRing, SwingDistancesAreThePapers) {
    const std::vector<std::int64_t> expected{1, -1, 3, -5, 11, -21, 43};
    for (std::size_t s = 0; s < expected.size(); ++s) {
        EXPECT_EQ(swing_distance(static_cast<int>(s)), expected[s]);
    }
}

TEST(HalvingRing, DoublingMirrorsAbsoluteDistances) {
    const HalvingRing plain(Halving::doubling, 16);
    const HalvingRing mirror(Halving::doubling_mirrored, 16);
    for (int step = 0; step < 4; ++step) {
        for (Rank c = 0; c < 16; ++c) {
            std::vector<RingTransfer> there;
            plain.sends(c, step, there);
            mirror.sends(c, step, there);
            ASSERT_EQ(there.size(), 2U);
            EXPECT_EQ(there[0].peer, c ^ (1 << step));
            EXPECT_EQ(there[1].peer, (2 * c - (c ^ (1 << step)) + 16) % 16);
            EXPECT_EQ(there[0].sign, step == 3 ? 1 : -there[1].sign);
        }
    }
}

TEST(OddRing, ScattersOnEverySizeInTheCoresSteps) {
    for (Rank core = 2; core <= 70; ++core) {
        for (const Halving pattern : {Halving::swing, Halving::doubling}) {
            const auto ring =
                std::make_shared<OddRing>(std::make_shared<HalvingRing>(pattern, core));
            EXPECT_EQ(ring->steps(), halving_steps(core));
            ASSERT_NO_FATAL_FAILURE(expect_ring(ring));
        }
    }
}

TEST(SwingRing, ScattersOnEverySizeThatIsNoPowerOfTwo) {
    for (Rank size = 3; size <= 70; ++size) {
        if ((size & (size - 1)) != 0) {
            ASSERT_NO_FATAL_FAILURE(expect_ring(std::make_shared<SwingRing>(size)));
        }
    }
}

TEST(SwingRing, ExchangesOnlyWithSwingPartnersOnEvenSizes) {
    for (const Rank size : {6, 10, 12, 22, 100}) {
        const SwingRing ring(size);
        for (int step = 0; step < ring.steps(); ++step) {
            for (Rank c = 0; c < size; ++c) {
                std::vector<RingTransfer> sends;
                ring.sends(c, step, sends);
                ASSERT_LE(sends.size(), 1U);
                const std::int64_t rho = swing_distance(step);
                const std::int64_t to = c + (c % 2 == 0 ? rho : -rho);
                if (!sends.empty()) {
                    EXPECT_EQ(sends[0].peer, (to % size + size) % size);
                }
            }
        }
    }
}

TEST(ShorterWay, GoesForwardOnTies) {
    EXPECT_EQ(shorter_way(0, 2, 4), 1);
    EXPECT_EQ(shorter_way(3, 1, 4), 1);
    EXPECT_EQ(shorter_way(0, 3, 4), -1);
    EXPECT_EQ(shorter_way(4, 0, 5), 1);
    EXPECT_EQ(shorter_way(0, 1, 2), 1);
}

}  // namespace
}  // namespace trefoil::product_ring_test
