// SPDX-License-Identifier: BSD-3-Clause
// The cost summary against known figures, against a plain computation without short cuts, and on a
// schedule written by hand; the time model.
#include "algorithms/analysis/cost.hpp"
#include "algorithms/registry/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace trefoil {
namespace {

CostSummary summary_of(std::string_view algorithm, const char* shape) {
    return summarize(Torus::parse(shape), find_algorithm(Collective::allreduce, algorithm));
}

TEST(Cost, OfTheRing) {
    for (const Rank n : {2, 3, 8, 25}) {
        const CostSummary cost = summary_of("ring", std::to_string(n).c_str());
        const double share = (n - 1.0) / n;
        EXPECT_EQ(cost.parts, 2);
        EXPECT_EQ(cost.steps, 2 * (n - 1));
        EXPECT_DOUBLE_EQ(cost.bytes_sent_max, 2 * share);
        EXPECT_DOUBLE_EQ(cost.bytes_sent_min, 2 * share);
        EXPECT_DOUBLE_EQ(cost.bytes_sent_total, 2 * share * n);
        EXPECT_NEAR(cost.sum_link_load, share, 1e-12);
        EXPECT_EQ(cost.sum_hops, 2 * (n - 1));
        EXPECT_EQ(cost.max_sends_per_port_per_step, 1);
        EXPECT_EQ(cost.max_extents_per_message, 1);
        for (const double load : cost.step_max_link_load) {
            EXPECT_DOUBLE_EQ(load, 1.0 / (2 * n));
        }
    }
}

// One rank of those that do the same tells of all, in every figure that the model reads.
TEST(Cost, OfRanksThatAreAlike) {
    int fewer = 0;
    for (const char* shape : {"1", "2", "5", "7", "8", "9", "12", "2x2", "3x3", "4x4", "2x3", "6x3",
                              "8x4", "2x2x2", "3x3x3", "1x5", "4mx3", "18x16", "6x6x5"}) {
        const Torus torus = Torus::parse(shape);
        const bool large = torus.ranks() > 100;
        ModelSummaries summaries(torus);  // one for all: what they share must not mix them up
        for (const Algorithm& algorithm : algorithms()) {
            if (!algorithm.refusal(torus).empty() ||
                (large && (algorithm.collective == Collective::alltoall ||
                           summaries.schedules(algorithm) > 64))) {
                continue;
            }
            SCOPED_TRACE(std::string(algorithm.name) + " for " +
                         std::string(to_string(algorithm.collective)) + " on " + shape);
            fewer += algorithm.alike != nullptr && !algorithm.alike(torus).empty() ? 1 : 0;
            Algorithm steered = algorithm;  // as the model takes it
            steered.traits.steered = true;
            const CostSummary all = summarize(torus, steered);
            const CostSummary some = summaries.of(algorithm);
            EXPECT_EQ(some.parts, all.parts);
            EXPECT_EQ(some.steps, all.steps);
            EXPECT_EQ(some.sum_hops, all.sum_hops);
            EXPECT_EQ(some.steps_at_once, all.steps_at_once);
            EXPECT_EQ(some.hops_at_once, all.hops_at_once);
            EXPECT_EQ(some.load_at_once, all.load_at_once);
            EXPECT_EQ(some.sum_link_load, all.sum_link_load);
            EXPECT_EQ(some.step_max_link_load, all.step_max_link_load);
            EXPECT_EQ(some.step_max_hops, all.step_max_hops);
            EXPECT_EQ(some.max_sends_per_port_per_step, all.max_sends_per_port_per_step);
            EXPECT_EQ(some.bytes_sent_max, all.bytes_sent_max);
            EXPECT_EQ(some.bytes_sent_min, all.bytes_sent_min);
            EXPECT_EQ(some.sent, all.sent);
            EXPECT_EQ(some.messages, all.messages);
            EXPECT_EQ(some.waits, all.waits);
            EXPECT_EQ(some.forwards, all.forwards);
            EXPECT_EQ(some.packed, all.packed);
            EXPECT_EQ(some.pulled, all.pulled);
            EXPECT_EQ(some.peak_blocks_held, all.peak_blocks_held);
            EXPECT_EQ(some.acknowledgements, all.acknowledgements);
        }
    }
    EXPECT_GT(fewer, 300);
}

/// A rank sends that has sent or received in a step before.
bool somebody_goes_on(const Torus& torus, const Algorithm& algorithm) {
    for (Rank r = 0; r < torus.ranks(); ++r) {
        const Schedule schedule = algorithm.build(torus, r);
        for (const Part& part : schedule.parts) {
            bool busy = false;
            for (const Step& step : schedule.of(part)) {
                if (busy && step.sends.count > 0) {
                    return true;
                }
                busy = busy || step.sends.count > 0 || step.receives.count > 0;
            }
        }
    }
    return false;
}

// Steps after the first one cost less where all messages leave at once, which no other algorithm's
// do.
TEST(Cost, OfMessagesThatLeaveAtOnce) {
    int found = 0;
    for (const char* shape : {"5", "8", "3x3", "2x4", "2x3x3"}) {
        const Torus torus = Torus::parse(shape);
        for (const Algorithm& algorithm : algorithms()) {
            if (!algorithm.refusal(torus).empty()) {
                continue;
            }
            SCOPED_TRACE(std::string(algorithm.name) + " for " +
                         std::string(to_string(algorithm.collective)) + " on " + shape);
            const CostSummary cost = summarize(torus, algorithm);
            EXPECT_EQ(algorithm.sends_at_once && cost.steps > 1,
                      !somebody_goes_on(torus, algorithm) && cost.steps > 1);
            EXPECT_EQ(cost.steps_at_once, algorithm.sends_at_once ? cost.steps - 1 : 0);
            found += cost.steps_at_once > 0 ? 1 : 0;
        }
    }
    EXPECT_EQ(found, 10);
    const CostModel model{.alpha = 8, .tau = 1, .beta = 0};
    const CostSummary gather =
        summarize(Torus::parse("8"), find_algorithm(Collective::gather, "linear"));
    EXPECT_EQ(gather.sum_hops, 10);
    EXPECT_DOUBLE_EQ(model.time(gather, 0), 8 + 4) << "one step, and the longest way";
    const CostSummary links =
        summarize(Torus::parse("3x3x3"), find_algorithm(Collective::gather, "linear"));
    EXPECT_DOUBLE_EQ(links.sum_link_load - links.load_at_once, 9.0 / 27)
        << "a third of all comes through one link";
}

TEST(Cost, OfProcessors) {
    const CostSummary ring = summary_of("ring", "5");  // both ways round at once
    EXPECT_DOUBLE_EQ(ring.messages, 16);
    EXPECT_DOUBLE_EQ(ring.waits, 8);
    EXPECT_DOUBLE_EQ(ring.sent, 1.6);
    // 4 messages to rank 0 and back; it takes two steps, as it has two ports.
    const CostSummary linear = summary_of("linear", "5");
    EXPECT_DOUBLE_EQ(linear.messages, 8.0 / 5);
    EXPECT_DOUBLE_EQ(linear.waits, (2 + 4) / 5.0);
    EXPECT_DOUBLE_EQ(linear.sent, 8.0 / 5);
    const CostModel model{.alpha = 0, .tau = 0, .beta = 0, .wait = 1, .message = 10, .byte = 100};
    EXPECT_DOUBLE_EQ(model.time(linear, 3), 1.2 + 16 + 480);
    const CostModel busiest{.alpha = 0, .tau = 0, .beta = 0, .busiest = 10};
    EXPECT_DOUBLE_EQ(busiest.time(linear, 3), 40) << "rank 0 sends 4";
    // Two of four ranks are two hops away, both ways.
    EXPECT_DOUBLE_EQ(linear.forwards, 4.0 / 5);
    EXPECT_DOUBLE_EQ(ring.forwards, 0);
    const CostModel forward{.alpha = 0, .tau = 0, .beta = 0, .message = 1, .forward = 10};
    EXPECT_DOUBLE_EQ(forward.time(linear, 3), 8.0 / 5 + 8);
    const CostSummary gather =
        summarize(Torus::parse("3x3"), find_algorithm(Collective::gather, "linear"));
    EXPECT_DOUBLE_EQ(gather.forwards, 4.0 / 9) << "four ranks at the corners";
    // Eight ranks hear from four parts. Of Bine trees they do so in three steps; in arc-disjoint
    // ones they wait for each other, and each part counts.
    const auto waits_of_bcast = [](const char* name) {
        return summarize(Torus::parse("3x3"), find_algorithm(Collective::bcast, name),
                         {.pieces = 1})
            .waits;
    };
    EXPECT_DOUBLE_EQ(waits_of_bcast("bine-dd"), 24.0 / 9);
    EXPECT_DOUBLE_EQ(waits_of_bcast("spanning-trees"), 32.0 / 9);
}

// Each rank reads its share of all others' vectors, and then all others' shares.
TEST(Cost, OfPulls) {
    const CostSummary cost = summary_of("single-copy", "5");
    EXPECT_DOUBLE_EQ(cost.pulled, 2 * 4.0 / 5);
    EXPECT_DOUBLE_EQ(cost.pulled_max, 2 * 4.0 / 5);
    EXPECT_EQ(cost.steps, 3);
    EXPECT_DOUBLE_EQ(cost.messages, 12);
    EXPECT_DOUBLE_EQ(cost.sent, 0);
    const CostModel model{.alpha = 0, .tau = 0, .beta = 0, .pull = 10};
    EXPECT_DOUBLE_EQ(model.time(cost, 3), 48);
    EXPECT_DOUBLE_EQ(summary_of("ring", "5").pulled_max, 0);
}

// A rooted call is acknowledged by all who receive, once for each sender and port.
TEST(Cost, OfAcknowledgements) {
    const auto of = [](Collective collective, std::string_view name, const char* torus) {
        return summarize(Torus::parse(torus), find_algorithm(collective, name));
    };
    const CostSummary bcast = of(Collective::bcast, "binomial-dd", "8");
    EXPECT_DOUBLE_EQ(bcast.acknowledgements, 7 * 2 / 8.0) << "two parts, mirrored";
    EXPECT_EQ(bcast.acknowledgements_max, 2);
    EXPECT_EQ(of(Collective::gather, "linear", "5").acknowledgements_max, 4);
    EXPECT_EQ(of(Collective::allreduce, "ring", "5").acknowledgements_max, 0);
    EXPECT_EQ(of(Collective::barrier, "dissemination", "5").acknowledgements_max, 0);
}

// With D times the vector's time on one link as the unit these are the figures of the papers.
TEST(Cost, MatchesKnownTransmissionDeficiencies) {
    EXPECT_DOUBLE_EQ(2 * summary_of("swing-l", "64x64").sum_link_load, 42);
    EXPECT_LE(2 * summary_of("trivance-l", "64x64").sum_link_load, 72);
    EXPECT_DOUBLE_EQ(2 * summary_of("trivance-l", "27x27").sum_link_load, 26);
    EXPECT_NEAR(2 * summary_of("swing-b", "64x64").sum_link_load, 1.184, 5e-4);
    EXPECT_NEAR(2 * summary_of("trivance-b", "27x27").sum_link_load, 1.284, 5e-4);
    EXPECT_NEAR(2 * summary_of("recursive-doubling-b", "64x64").sum_link_load, 1.477, 5e-4);
    EXPECT_NEAR(2 * summary_of("bucket", "27x27").sum_link_load, 728.0 / 729, 1e-9);
}

TEST(Cost, OfSwingOnARing) {
    const CostSummary cost = summary_of("swing-l", "64");
    EXPECT_EQ(cost.step_max_link_load, (std::vector<double>{0.5, 0.5, 1.5, 2.5, 5.5, 10.5}));
    EXPECT_EQ(cost.step_max_hops, (std::vector<int>{1, 1, 3, 5, 11, 21}));
    EXPECT_EQ(cost.sum_hops, 42);
    EXPECT_DOUBLE_EQ(cost.bytes_sent_max, 6);
}

// Both parts of a pair send half a vector, and either message is split over the two links.
TEST(Cost, SplitsTheMessagesOfASizeTwoDimension) {
    const CostSummary cost = summary_of("swing-l", "2");
    EXPECT_EQ(cost.steps, 1);
    EXPECT_DOUBLE_EQ(cost.sum_link_load, 0.5);
    EXPECT_EQ(cost.max_sends_per_port_per_step, 1);
}

TEST(Cost, OfALineIsThatOfItsOnlyLinks) {
    EXPECT_DOUBLE_EQ(summary_of("swing-l", "2m").sum_link_load, 1);
    // The messages that close the ring go all the way back.
    EXPECT_EQ(summary_of("ring", "8m").sum_hops, 7 * summary_of("ring", "8").sum_hops);
    EXPECT_DOUBLE_EQ(summary_of("ring", "8m").sum_link_load,
                     2 * summary_of("ring", "8").sum_link_load);
}

TEST(Cost, OfOneRankIsNothing) {
    for (const Algorithm& a : algorithms()) {
        if (!a.refusal(Torus({1, 1})).empty()) {
            continue;
        }
        const CostSummary cost = summarize(Torus({1, 1}), a);
        EXPECT_EQ(cost.steps, 0) << a.name;
        EXPECT_EQ(cost.bytes_sent_total, 0) << a.name;
        EXPECT_EQ(cost.sum_link_load, 0) << a.name;
        EXPECT_TRUE(cost.step_max_hops.empty()) << a.name;
    }
}

TEST(Cost, OfABarrierIsStepsAndHopsOnly) {
    const CostSummary cost =
        summarize(Torus({6}), find_algorithm(Collective::barrier, "dissemination"));
    EXPECT_EQ(cost.step_max_hops, (std::vector<int>{1, 2, 2}));
    EXPECT_EQ(cost.steps, 3);
    EXPECT_EQ(cost.bytes_sent_total, 0);
    EXPECT_EQ(cost.max_extents_per_message, 0);
}

/// Rank 0 sends two messages to rank 1 through one port, of three blocks in two extents and of one
/// block, after a step of which only a local copy is left; the other ranks do nothing.
Schedule uneven(const Torus&, Rank rank, const BuildOptions&) {
    const Extent three[] = {{0, 2}, {3, 1}};
    const Extent one[] = {{5, 1}};
    ScheduleWriter writer(rank);
    writer.part(8);
    writer.step();
    writer.step();
    if (rank == 0) {
        writer.send(1, Port::plus(0), three);
        writer.send(1, Port::plus(0), one);
    }
    return writer.take();
}

TEST(Cost, CountsMessagesExtentsAndUnevenRanks) {
    Algorithm algorithm;
    algorithm.builder = uneven;
    const CostSummary cost = summarize(Torus({4}), algorithm);
    EXPECT_EQ(cost.steps, 1);  // nobody sends in the first
    EXPECT_EQ(cost.max_sends_per_port_per_step, 2);
    EXPECT_EQ(cost.max_extents_per_message, 2);
    EXPECT_DOUBLE_EQ(cost.bytes_sent_max, 0.5);
    EXPECT_DOUBLE_EQ(cost.bytes_sent_min, 0);
    EXPECT_DOUBLE_EQ(cost.bytes_sent_total, 0.5);
    EXPECT_DOUBLE_EQ(cost.sum_link_load, 0.5);
}

/// Loads and hops by step, straight from the definition.
struct Plain {
    std::vector<double> loads;
    std::vector<int> hops;
};

Plain plain_summary(const Torus& torus, const Algorithm& algorithm, const BuildOptions& options) {
    std::map<std::size_t, std::map<std::pair<Rank, Port>, double>> loads;
    std::map<std::size_t, std::int64_t> hops;
    for (Rank r = 0; r < torus.ranks(); ++r) {
        const Schedule schedule = algorithm.build(torus, r, options);
        for (const Part& part : schedule.parts) {
            const auto steps = schedule.of(part);
            for (std::size_t s = 0; s < steps.size(); ++s) {
                for (const Send& m : schedule.sends_of(steps[s])) {
                    // A vector is what a rank ends with.
                    const double vectors =
                        static_cast<double>(block_count(schedule.extents_of(m))) /
                        traits_of(algorithm.collective).received_of(part.vector_blocks) /
                        static_cast<double>(schedule.parts.size());
                    for (const LinkShare& l : torus.route(r, m.peer)) {
                        const bool may_steer = algorithm.traits.steered && l.share < 1 &&
                                               l.link.port.dimension() == m.port.dimension();
                        const double share = !may_steer ? l.share : l.link.port == m.port ? 1 : 0;
                        loads[s][{l.link.from, l.link.port}] += share * vectors;
                    }
                    hops[s] = std::max(hops[s], torus.route_length(r, m.peer));
                }
            }
        }
    }
    Plain plain;
    for (const auto& [step, links] : loads) {
        double largest = 0;
        for (const auto& [link, load] : links) {
            largest = std::max(largest, load);
        }
        plain.loads.push_back(largest);
        plain.hops.push_back(static_cast<int>(hops[step]));
    }
    return plain;
}

void expect_plain(const CostSummary& cost, const Plain& plain) {
    EXPECT_EQ(cost.step_max_hops, plain.hops);
    ASSERT_EQ(cost.step_max_link_load.size(), plain.loads.size());
    double sum = 0;
    for (std::size_t s = 0; s < plain.loads.size(); ++s) {
        EXPECT_NEAR(cost.step_max_link_load[s], plain.loads[s], 1e-12) << "step " << s;
        sum += plain.loads[s];
    }
    EXPECT_NEAR(cost.sum_link_load, sum, 1e-9);
    EXPECT_EQ(cost.steps, static_cast<int>(plain.loads.size()));
}

// Far and near messages, few and many in a step, one and both ways round.
TEST(Cost, AgreesWithThePlainComputation) {
    for (const Algorithm& a : algorithms()) {
        for (const char* shape : {"2", "5", "8", "12", "64", "2x2", "3x3", "2x6", "3x5", "4x8",
                                  "2x3x4", "2m", "5m", "8m", "4mx3", "2mx3x2m"}) {
            SCOPED_TRACE(std::string(a.name) + " on " + shape);
            const Torus torus = Torus::parse(shape);
            for (const bool single_port : {false, true}) {
                const BuildOptions options{.single_port = single_port};
                if (a.refusal(torus, options).empty()) {
                    expect_plain(summarize(torus, a, options), plain_summary(torus, a, options));
                }
            }
        }
    }
}

TEST(CostModel, AddsStepsHopsAndLoad) {
    CostSummary cost;
    cost.steps = 3;
    cost.sum_hops = 7;
    cost.sum_link_load = 1.5;
    const CostModel model{.alpha = 1e-6, .tau = 1e-7, .beta = 1e-9};
    EXPECT_DOUBLE_EQ(model.time(cost, 0), 3e-6 + 7e-7);
    EXPECT_DOUBLE_EQ(model.time(cost, 1000), 3e-6 + 7e-7 + 1.5e-6);
}

// 8x8 with the default machine: three windows win for small vectors, less load for large ones.
TEST(CostModel, OrdersAlgorithmsBySize) {
    const CostModel model;
    const auto time = [&](const char* algorithm, double bytes) {
        return model.time(summary_of(algorithm, "8x8"), bytes);
    };
    EXPECT_LT(time("trivance-l", 64), time("swing-l", 64));
    EXPECT_LT(time("swing-l", 64), time("swing-b", 64));
    EXPECT_LT(time("swing-b", 1 << 20), time("ring", 1 << 20));
    EXPECT_LT(time("bucket", 1 << 30), time("swing-b", 1 << 30));
    EXPECT_LT(time("swing-b", 1 << 30), time("trivance-l", 1 << 30));
}

}  // namespace
}  // namespace trefoil
