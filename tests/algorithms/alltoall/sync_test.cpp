// SPDX-License-Identifier: BSD-3-Clause
// What keeps the phases of an alltoall apart: the signals are the published ones, no message can
// meet one of another phase on a link, and everything is delivered as without.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "algorithms/alltoall/ring_alltoall.hpp"
#include "algorithms/alltoall/ring_kinds.hpp"
#include "algorithms/analysis/cost.hpp"
#include "algorithms/analysis/verify.hpp"
#include "algorithms/registry/registry.hpp"

namespace trefoil::sync_test {
namespace {

const Algorithm& named(std::string_view name) {
    return find_algorithm(Collective::alltoall, name);
}

std::vector<Schedule> build_all(const Torus& torus, std::string_view name,
                                const BuildOptions& options) {
    std::vector<Schedule> all;
    for (Rank r = 0; r < torus.ranks(); ++r) {
        all.push_back(named(name).build(torus, r, options));
    }
    return all;
}

using Signals = std::set<std::pair<Rank, Rank>>;  // from, to

Signals signals_before(const RingAlltoall& ring, int step, int sign) {
    Signals found;
    for (const RingSignal& signal : ring.signals(step)) {
        if (signal.hop * sign > 0) {
            EXPECT_TRUE(found.insert({signal.from, ring.wrapped(signal.from + signal.hop)}).second);
        }
    }
    return found;
}

// Section 7.2, of the positive tree; d = 4. Signals of its gather phases travel down.
TEST(RingSignals, AreThoseOfThePaper) {
    for (const RingKind kind : {RingKind::tree, RingKind::tree_one_port}) {
        const std::shared_ptr<const RingAlltoall> ring = ring_alltoall(kind, 16);
        ASSERT_EQ(ring->steps(), 6);
        EXPECT_TRUE(ring->signals(0).empty());
        EXPECT_EQ(signals_before(*ring, 1, -1),
                  (Signals{{2, 0}, {4, 2}, {6, 4}, {8, 6}, {10, 8}, {12, 10}, {14, 12}, {0, 14}}));
        EXPECT_EQ(signals_before(*ring, 2, -1), (Signals{{4, 0}, {8, 4}, {12, 8}, {0, 12}}));
        EXPECT_TRUE(ring->signals(3).empty());
        EXPECT_EQ(signals_before(*ring, 4, 1), (Signals{{0, 2}, {4, 6}, {8, 10}, {12, 14}}));
        const Signals last = kind == RingKind::tree ? Signals{{0, 1}, {2, 3},   {4, 5},   {6, 7},
                                                              {8, 9}, {10, 11}, {12, 13}, {14, 15}}
                                                    : Signals{};
        EXPECT_EQ(signals_before(*ring, 5, 1), last);
        // The mirrored tree has as many, the other way: c -> 1 - c.
        EXPECT_EQ(signals_before(*ring, 2, 1), (Signals{{13, 1}, {9, 13}, {5, 9}, {1, 5}}));
    }
}

// Scatter phase d - 2 has nothing to carry here; what would follow it is still told.
TEST(RingSignals, OfAnEmptyPhaseAreStillSent) {
    const std::shared_ptr<const RingAlltoall> ring = ring_alltoall(RingKind::tree_one_port, 18);
    ASSERT_EQ(ring->steps(), 7);  // of 8: d = 5
    EXPECT_EQ(signals_before(*ring, 4, 1), (Signals{{0, 4}, {8, 12}}));
}

struct Message {
    Rank from;
    int step;
    std::set<std::pair<Rank, int>> links;  // rank and port
};

/// Which messages a rank knows to be over when it begins a step: its own of earlier steps, those it
/// has received, and all that their senders knew then. Empty when each message's sender knows so of
/// all that share a link with it; signals have no length.
std::string meeting(const Torus& torus, const std::vector<Schedule>& all) {
    std::vector<Message> messages;
    std::vector<std::set<std::size_t>> known(torus.ranks());
    const std::size_t steps = all[0].parts[0].steps.count;
    for (std::size_t s = 0; s < steps; ++s) {
        std::vector<std::set<std::size_t>> then = known;
        for (Rank r = 0; r < torus.ranks(); ++r) {
            const Step& step = all[r].of(all[r].parts[0])[s];
            for (const Send& send : all[r].sends_of(step)) {
                std::set<std::size_t>& peer = then[send.peer];
                peer.insert(known[r].begin(), known[r].end());
                if (send.extents.count == 0) {
                    continue;
                }
                Message message{r, static_cast<int>(s), {}};
                for (Rank at = r; at != send.peer; at = torus.neighbour(at, send.port)) {
                    message.links.insert({at, send.port.index});
                }
                for (std::size_t m = 0; m < messages.size(); ++m) {
                    const bool shared = std::ranges::any_of(message.links, [&](const auto& link) {
                        return messages[m].links.contains(link);
                    });
                    if (shared && messages[m].step < message.step && !known[r].contains(m)) {
                        return "rank " + std::to_string(r) + " in step " + std::to_string(s) +
                               " may meet rank " + std::to_string(messages[m].from) + " of step " +
                               std::to_string(messages[m].step);
                    }
                }
                peer.insert(messages.size());
                then[r].insert(messages.size());
                messages.push_back(std::move(message));
            }
        }
        known = std::move(then);
    }
    return {};
}

TEST(PhaseSync, KeepsPhasesOfRingsApart) {
    int met = 0;
    for (Rank n = 4; n <= 34; ++n) {
        const Torus torus({n});
        for (const bool one_port : {false, true}) {
            BuildOptions options{.single_port = one_port};
            met += meeting(torus, build_all(torus, "gather-scatter-tree", options)).empty() ? 0 : 1;
            for (const PhaseSync sync : {PhaseSync::signals, PhaseSync::barrier}) {
                options.sync = sync;
                EXPECT_EQ(meeting(torus, build_all(torus, "gather-scatter-tree", options)), "")
                    << n << (one_port ? " one-port" : "") << ", " << to_string(sync);
            }
        }
    }
    EXPECT_GT(met, 30);  // so there is something to prevent
}

TEST(PhaseSync, KeepsPhasesOfToriApart) {
    for (const auto& [name, shape] :
         {std::pair{"t1", "8x6"}, {"t4", "8x8"}, {"t4", "12x8"}, {"c8", "4x4x4"}}) {
        const Torus torus = Torus::parse(shape);
        EXPECT_NE(meeting(torus, build_all(torus, name, {})), "") << name << " on " << shape;
        for (const PhaseSync sync : {PhaseSync::signals, PhaseSync::barrier}) {
            EXPECT_EQ(meeting(torus, build_all(torus, name, {.sync = sync})), "")
                << name << " on " << shape << ", " << to_string(sync);
        }
    }
    const Torus cube({4, 8, 4});
    EXPECT_NE(meeting(cube, build_all(cube, "c64", {.binary = true})), "");
    EXPECT_EQ(meeting(cube, build_all(cube, "c64", {.binary = true, .sync = PhaseSync::signals})),
              "");
    const Torus torus({8, 8});  // whole blocks, so that there is one part
    const BuildOptions options{.rotation = Rotation::whole, .sync = PhaseSync::signals};
    EXPECT_EQ(meeting(torus, build_all(torus, "gather-scatter-tree", options)), "");
    const Torus passed_on({9, 5});
    EXPECT_EQ(meeting(passed_on, build_all(passed_on, "gather-scatter-tree", options)), "");
}

TEST(PhaseSync, ChangesNothingThatIsDelivered) {
    for (const char* const shape : {"1", "2", "5", "18", "2x3", "8x8", "6x10", "4x4x4"}) {
        const Torus torus = Torus::parse(shape);
        for (const char* const name : {"sdx", "direct", "gather-scatter-tree", "t1", "t4", "c1",
                                       "c8", "c64", "partition", "bine"}) {
            if (!named(name).refusal(torus).empty()) {
                continue;
            }
            const CostSummary without = summarize(torus, named(name));
            for (const PhaseSync sync : {PhaseSync::signals, PhaseSync::barrier}) {
                const BuildOptions options{.sync = sync};
                if (!named(name).refusal(torus, options).empty()) {
                    continue;
                }
                SCOPED_TRACE(std::string(name) + " on " + shape + ", " +
                             std::string(to_string(sync)));
                const Verification proof = verify(torus, named(name), options);
                ASSERT_TRUE(proof.ok()) << proof.errors[0];
                const CostSummary with = summarize(torus, named(name), options);
                EXPECT_DOUBLE_EQ(with.block_times, without.block_times);
                if (sync == PhaseSync::barrier && torus.ranks() > 1) {
                    int rounds = 0;
                    while ((Rank{1} << rounds) < torus.ranks()) {
                        ++rounds;
                    }
                    EXPECT_EQ(with.steps, without.steps + (without.steps - 1) * rounds);
                }
            }
        }
    }
}

TEST(PhaseSync, IsRefusedWhereThereIsNone) {
    const Torus torus({8});
    EXPECT_NE(named("sdx").refusal(torus, {.sync = PhaseSync::signals}).find("take barrier"),
              std::string::npos);
    EXPECT_EQ(named("sdx").refusal(torus, {.sync = PhaseSync::barrier}), "");
    EXPECT_NE(named("linear").refusal(torus, {.sync = PhaseSync::barrier}), "");
    EXPECT_EQ(named("partition").refusal(torus, {.sync = PhaseSync::signals}), "");
}

}  // namespace
}  // namespace trefoil::sync_test
