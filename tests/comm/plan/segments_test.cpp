// SPDX-License-Identifier: BSD-3-Clause
// Segments: every element is in exactly one, all fit the landing slots, and ranks agree on them.
#include "comm/plan/segments.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "algorithms/registry/registry.hpp"
#include "comm/plan/lower.hpp"
#include "tests/threads/executor/recording_group.hpp"
#include "topo/error.hpp"

namespace trefoil::test::segments_test {
namespace {

constexpr std::size_t kib = 1024;

struct Case {
    const char* torus;
    Collective collective;
    const char* algorithm;
};

Choice choice_of(const Case& c) {
    return {&find_algorithm(c.collective, c.algorithm), {}};
}

/// Requests of all kinds of lengths, short ones and several segments long ones.
const std::size_t counts[] = {1, 2, 3, 63, 64, 65, 1000, 4096, 65'537, 300'000};

class EveryElement : public testing::TestWithParam<Case> {};

TEST_P(EveryElement, IsInOneSegmentThatFitsTheSlots) {
    const Torus torus = Torus::parse(GetParam().torus);
    const Choice choice = choice_of(GetParam());
    const Schedule schedule = choice.algorithm->build(torus, 0, choice.options);
    for (const std::size_t slot_bytes : {16 * kib, 1024 * kib}) {
        for (const std::size_t segment_bytes : {4 * kib, 1024 * kib}) {
            for (const std::size_t count : counts) {
                const Request request{
                    .collective = GetParam().collective, .type = DataType::int32, .count = count};
                const Cut made =
                    cut(request, choice, torus, schedule, {slot_bytes, segment_bytes, 0});
                std::vector<std::size_t> covered;
                for (std::size_t s = 0; s < made.segments; ++s) {
                    const auto elements = segment_elements(request, torus, s, made.per_segment);
                    covered.resize(elements.size());
                    EXPECT_GT(std::accumulate(elements.begin(), elements.end(), std::size_t{0}), 0U)
                        << "segment " << s << " of " << made.segments << " is empty";
                    for (std::size_t i = 0; i < elements.size(); ++i) {
                        EXPECT_LE(elements[i], made.per_segment);
                        EXPECT_TRUE(elements[i] == 0 || covered[i] == s * made.per_segment)
                            << "does not begin where the segment before ended";
                        covered[i] += elements[i];
                    }
                }
                for (const std::size_t n : covered) {
                    EXPECT_EQ(n, count);
                }
                const double bytes = 4.0 * static_cast<double>(made.per_segment) *
                                     (request.traits().has_blocks() ? torus.ranks() : 1);
                EXPECT_LE(choice.algorithm->landing_vectors(torus, choice.options) * bytes,
                          static_cast<double>(slot_bytes));
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Collectives, EveryElement,
                         testing::Values(Case{"3x3", Collective::allreduce, "swing-b"},
                                         Case{"5", Collective::allreduce, "trivance-l"},
                                         Case{"4x2", Collective::bcast, "spanning-trees"},
                                         Case{"3x3", Collective::reduce_scatter, "swing"},
                                         Case{"2x3", Collective::allgather, "ring"},
                                         Case{"3x3", Collective::gather, "linear"},
                                         Case{"3x3", Collective::alltoall, "pairwise"},
                                         Case{"4x4", Collective::alltoall, "sdx"}));

const SegmentLimits usual{1024 * kib, 1024 * kib, 4096 * kib};

Cut usual_cut(const Request& request, const Case& c) {
    const Torus torus = Torus::parse(c.torus);
    const Choice choice = choice_of(c);
    return cut(request, choice, torus, choice.algorithm->build(torus, 0, {}), usual);
}

TEST(Cut, NothingAndBarriers) {
    EXPECT_EQ(usual_cut({.count = 0}, {"3", Collective::allreduce, "ring"}).segments, 0U);
    EXPECT_EQ(
        usual_cut({.collective = Collective::barrier}, {"3", Collective::barrier, "dissemination"})
            .segments,
        1U);
}

TEST(Cut, LargeVectorsThatWouldFitOverlapWithThemselves) {
    const Case ring{"3", Collective::allreduce, "ring"};
    EXPECT_EQ(usual_cut({.type = DataType::int32, .count = 65'535}, ring).segments, 1U);
    EXPECT_EQ(usual_cut({.type = DataType::int32, .count = 65'536}, ring).segments, 2U);
    const Case pipeline{"3", Collective::bcast, "spanning-trees"};
    EXPECT_EQ(usual_cut({.collective = Collective::bcast, .type = DataType::int32, .count = 65'536},
                        pipeline)
                  .segments,
              1U)
        << "a pipeline overlaps by itself";
}

TEST(Cut, RefusesWhatNeverFits) {
    const Torus torus = Torus::parse("3x3");
    const Choice choice = choice_of({"3x3", Collective::allreduce, "ring"});
    try {
        cut({.count = 1}, choice, torus, choice.algorithm->build(torus, 0, {}), {64, 64, 256});
        ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::unsupported);
        EXPECT_NE(std::string(error.what()).find("TREFOIL_LANDING_BYTES=256"), std::string::npos)
            << error.what();
    }
}

/// Lowers the first segment on every rank.
void lower_all(const Request& request, const Choice& choice, const TorusMap& map) {
    std::vector<Port> ports;
    for (int p = 0; p < map.torus.ports(); ++p) {
        ports.push_back(Port{p});
    }
    for (Rank r = 0; r < map.torus.ranks(); ++r) {
        Channels channels({std::make_shared<RecordingGroup>(ports)}, {});
        channels.rank = r;
        channels.rings = LandingRings(usual.slot_bytes, 0);
        const Schedule schedule = choice.algorithm->build(map.torus, r, choice.options);
        const Cut made = cut(request, choice, map.torus, schedule, usual);
        SegmentShape shape = segment_shape(request, choice, map, schedule);
        shape.elements = segment_elements(request, map.torus, 0, made.per_segment);
        (void)lower(schedule, VectorMap(schedule, shape), channels);
    }
}

// Blocks that go the same way in one step are messages each, and each begins with a cache line.
TEST(Cut, HasRoomForManyBlocksInOneStep) {
    for (const char* torus : {"8:cable=+0@3", "24m", "8x8:node=9"}) {
        const TorusMap map = make_torus_map({"test", torus, {}}, Torus::parse(torus).ranks());
        const Choice choice = choice_of({torus, Collective::alltoall, "packed"});
        for (const std::size_t count : {1000, 99'999, 1'000'000}) {
            const Request request{
                .collective = Collective::alltoall, .type = DataType::int32, .count = count};
            EXPECT_NO_THROW(lower_all(request, choice, map)) << torus << ", " << count;
        }
    }
}

/// Each rank knows the counts of its own blocks only.
TEST(Cut, TheTwoRanksOfABlockOfAlltoallvFindTheSameSegments) {
    constexpr Rank ranks = 3;
    const Torus torus = Torus::parse("3");
    const Choice choice = choice_of({"3", Collective::alltoall, "pairwise"});
    // sent[from][to]
    const std::size_t sent[ranks][ranks] = {{5, 100'000, 0}, {1, 70'000, 33'000}, {400'000, 0, 9}};
    const SegmentLimits limits{128 * kib, 64 * kib, 0};
    std::vector<Cut> cuts;
    std::vector<std::vector<std::vector<std::size_t>>> elements(ranks);
    for (Rank r = 0; r < ranks; ++r) {
        std::vector<std::size_t> sending(sent[r], sent[r] + ranks), receiving;
        for (Rank from = 0; from < ranks; ++from) {
            receiving.push_back(sent[from][r]);
        }
        const Request request{.collective = Collective::alltoall,
                              .type = DataType::int32,
                              .counts = receiving,
                              .send_counts = sending};
        cuts.push_back(cut(request, choice, torus, choice.algorithm->build(torus, r, {}), limits));
        EXPECT_EQ(cuts[r].per_segment, cuts[0].per_segment) << "depends on counts";
        for (std::size_t s = 0; s < cuts[r].segments; ++s) {
            elements[r].push_back(segment_elements(request, torus, s, cuts[r].per_segment));
        }
    }
    EXPECT_NE(cuts[0].segments, cuts[1].segments) << "the test wants ranks that differ";
    const auto at = [&](Rank r, std::size_t s, std::size_t entry) {
        return s < elements[r].size() ? elements[r][s][entry] : 0;
    };
    for (Rank from = 0; from < ranks; ++from) {
        for (Rank to = 0; to < ranks; ++to) {
            std::size_t total = 0;
            for (std::size_t s = 0; s < 100; ++s) {
                EXPECT_EQ(at(from, s, to), at(to, s, ranks + from)) << from << " to " << to;
                total += at(from, s, to);
            }
            EXPECT_EQ(total, sent[from][to]);
        }
    }
}

TEST(SegmentShape, SpeaksOfRanksNotOfPlaces) {
    const TorusMap map = make_torus_map({"test", "3", {{2}, {0}, {1}}}, 3);
    const Choice choice = choice_of({"3", Collective::allgather, "ring"});
    const std::size_t sizes[] = {7, 8, 9};
    const Request request{
        .collective = Collective::allgather, .type = DataType::int32, .counts = sizes};
    const Schedule schedule = choice.algorithm->build(map.torus, 0, {});
    const SegmentShape shape = segment_shape(request, choice, map, schedule);
    ASSERT_EQ(shape.owners.size(), schedule.parts.size());
    const auto places = choice.algorithm->block_owners(map.torus, {}, 0);
    for (std::size_t b = 0; b < places.size(); ++b) {
        EXPECT_EQ(shape.owners[0][b], map.rank_at[places[b]]);
    }
    EXPECT_EQ(shape.displacements, (std::vector<std::size_t>{0, 28, 60}));
}

}  // namespace
}  // namespace trefoil::test::segments_test
