// SPDX-License-Identifier: BSD-3-Clause
// Breaks correct schedules on purpose, at every rank in turn, and requires that the verifier
// objects for the right reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <ostream>

#include "algorithms/analysis/verify.hpp"
#include "algorithms/registry/registry.hpp"
#include "topo/error.hpp"

namespace trefoil::verify_mutation_test {
namespace {

using Mutate = std::function<void(Schedule&)>;

struct Mutation {
    const char* name;
    const char* algorithm;
    const char* torus;
    Mutate mutate;
    const char* complaint;  // what some error must say
};

Step& step_of(Schedule& s, std::size_t part, std::size_t step) {
    return s.steps[s.parts[part].steps.first + step];
}

/// The first send, receive, ... of the schedule's first part at or after `step`.
Send& send_at(Schedule& s, std::size_t step) {
    return s.sends[step_of(s, 0, step).sends.first];
}
Receive& receive_at(Schedule& s, std::size_t step) {
    return s.receives[step_of(s, 0, step).receives.first];
}
Application& application_at(Schedule& s, std::size_t step) {
    return s.applications[receive_at(s, step).applications.first];
}
Extent& sent_extent(Schedule& s, std::size_t step) {
    return s.extents[send_at(s, step).extents.first];
}
Extent& received_extent(Schedule& s, std::size_t step) {
    return s.extents[application_at(s, step).extents.first];
}

// The ring of 5: reduce-scatter in steps 0..3, allgather in 4..7. Swing on 4x4: four steps.
const Mutation mutations[] = {
    {"dropped_send", "ring", "5", [](Schedule& s) { step_of(s, 1, 2).sends.count = 0; },
     "no matching send"},
    {"dropped_receive", "ring", "5", [](Schedule& s) { step_of(s, 0, 6).receives.count = 0; },
     "no matching receive"},
    {"dropped_exchange", "swing-l", "4x4",
     [](Schedule& s) {
         step_of(s, 0, 3).sends.count = 0;
         step_of(s, 0, 3).receives.count = 0;
     },
     "incomplete"},
    {"send_to_another_rank", "ring", "5",
     [](Schedule& s) { send_at(s, 1).peer = (s.rank + 2) % 5; }, "no matching receive"},
    {"receive_from_another_rank", "ring", "5",
     [](Schedule& s) { receive_at(s, 1).peer = (s.rank + 2) % 5; }, "no matching send"},
    {"send_to_nobody", "ring", "5", [](Schedule& s) { send_at(s, 0).peer = 5; }, "does not exist"},
    {"send_to_a_negative_rank", "ring", "5", [](Schedule& s) { send_at(s, 0).peer = -1; },
     "does not exist"},
    {"receive_from_nobody", "ring", "5", [](Schedule& s) { receive_at(s, 0).peer = 99; },
     "no matching send"},
    {"send_to_itself", "ring", "5", [](Schedule& s) { send_at(s, 0).peer = s.rank; },
     "sends to itself"},
    {"send_the_long_way_round", "ring", "5",
     [](Schedule& s) { send_at(s, 0).port = send_at(s, 0).port.opposite(); }, "wrong port"},
    {"send_in_a_dimension_that_does_not_differ", "swing-l", "4x4",
     [](Schedule& s) { send_at(s, 0).port = Port::plus(1); }, "wrong port"},
    {"send_through_no_port", "ring", "5", [](Schedule& s) { send_at(s, 0).port.index = 2; },
     "which does not exist"},
    {"send_through_the_other_link_of_two", "ring", "2",
     [](Schedule& s) { send_at(s, 0).port = send_at(s, 0).port.opposite(); },
     "no matching receive"},
    {"receive_through_another_port", "ring", "5",
     [](Schedule& s) { receive_at(s, 0).port = receive_at(s, 0).port.opposite(); },
     "no matching send"},
    {"replace_instead_of_reduce", "ring", "5",
     [](Schedule& s) { application_at(s, 1).action = Action::replace; }, "incomplete"},
    {"reduce_instead_of_replace", "ring", "5",
     [](Schedule& s) { application_at(s, 5).action = Action::reduce; },
     "counts a contribution twice"},
    {"another_block_sent", "ring", "5",
     [](Schedule& s) { sent_extent(s, 0).first = (sent_extent(s, 0).first + 1) % 5; },
     "may differ in size"},
    {"another_block_received", "ring", "5",
     [](Schedule& s) { received_extent(s, 0).first = (received_extent(s, 0).first + 1) % 5; },
     "may differ in size"},
    {"more_blocks_sent", "ring", "5",
     [](Schedule& s) {
         sent_extent(s, 0) = {sent_extent(s, 0).first % 4, 2};
     },
     "has 2 blocks but is applied to 1"},
    {"more_blocks_received", "ring", "5",
     [](Schedule& s) {
         received_extent(s, 0) = {received_extent(s, 0).first % 4, 2};
     },
     "has 1 blocks but is applied to 2"},
    {"send_out_of_bounds", "ring", "5", [](Schedule& s) { sent_extent(s, 3).first = 5; },
     "a send reads blocks [5, 6), out of bounds"},
    {"receive_out_of_bounds", "ring", "5", [](Schedule& s) { received_extent(s, 3).first = 5; },
     "a receive writes blocks [5, 6), out of bounds"},
    {"largest_block_number", "ring", "5",
     [](Schedule& s) { received_extent(s, 3).first = 0xffffffff; }, "out of bounds"},
    {"message_applied_nowhere", "ring", "5",
     [](Schedule& s) { receive_at(s, 2).applications.count = 0; }, "is not applied"},
    {"steps_of_a_ring_swapped", "ring", "5",
     [](Schedule& s) { std::swap(step_of(s, 0, 1), step_of(s, 0, 2)); }, "may differ in size"},
    {"steps_of_swing_swapped", "swing-l", "4x4",
     [](Schedule& s) { std::swap(step_of(s, 0, 0), step_of(s, 0, 1)); }, "no matching"},
    {"send_one_step_later", "swing-l", "4x4",
     [](Schedule& s) { std::swap(step_of(s, 0, 0).sends, step_of(s, 0, 1).sends); },
     "no matching receive"},
    {"receive_one_step_later", "swing-l", "4x4",
     [](Schedule& s) { std::swap(step_of(s, 0, 0).receives, step_of(s, 0, 1).receives); },
     "no matching send"},
    {"one_step_repeated", "swing-l", "8", [](Schedule& s) { step_of(s, 0, 2) = step_of(s, 0, 0); },
     "no matching"},
    {"one_step_less", "ring", "5", [](Schedule& s) { s.parts[1].steps.count -= 1; }, "steps"},
    {"another_number_of_blocks", "ring", "5", [](Schedule& s) { s.parts[0].vector_blocks = 6; },
     "other numbers of blocks"},
    {"one_part_less", "ring", "5", [](Schedule& s) { s.parts.pop_back(); }, "parts"},
    {"no_parts", "ring", "5", [](Schedule& s) { s.parts.clear(); }, "parts"},
    {"schedule_of_another_rank", "ring", "5", [](Schedule& s) { s.rank = (s.rank + 1) % 5; },
     "has the schedule of rank"},
    {"steps_outside_the_array", "ring", "5", [](Schedule& s) { s.steps.pop_back(); },
     "outside its array"},
    {"extents_outside_the_array", "ring", "5", [](Schedule& s) { s.extents.pop_back(); },
     "outside its array"},
    {"sends_outside_the_array", "ring", "5",
     [](Schedule& s) { step_of(s, 0, 0).sends.first = 0xffffffff; }, "outside its array"},
    {"signal_dropped", "dissemination", "6", [](Schedule& s) { step_of(s, 0, 2).sends.count = 0; },
     "no matching send"},
    {"silent_rank", "dissemination", "6",
     [](Schedule& s) {
         for (Step& t : s.steps) {
             t.sends.count = 0;
         }
     },
     "no matching send"},
};

bool mentions(const Verification& proof, const std::string& text) {
    return std::any_of(proof.errors.begin(), proof.errors.end(),
                       [&](const std::string& e) { return e.find(text) != std::string::npos; });
}

std::vector<Schedule> build_all(const Torus& torus, const Algorithm& algorithm) {
    std::vector<Schedule> schedules;
    for (Rank r = 0; r < torus.ranks(); ++r) {
        schedules.push_back(algorithm.build(torus, r));
    }
    return schedules;
}

const Algorithm& named(const char* name) {
    const auto found = std::find_if(algorithms().begin(), algorithms().end(),
                                    [&](const Algorithm& a) { return a.name == name; });
    return *found;
}

void PrintTo(const Mutation& mutation, std::ostream* out) {
    *out << mutation.name;
}

std::string mutation_name(const testing::TestParamInfo<Mutation>& tested) {
    return tested.param.name;
}

class VerifyMutation : public testing::TestWithParam<Mutation> {};

TEST_P(VerifyMutation, IsCaughtAtEveryRank) {
    const Mutation& m = GetParam();
    const Torus torus = Torus::parse(m.torus);
    const Algorithm& algorithm = named(m.algorithm);
    const std::vector<Schedule> correct = build_all(torus, algorithm);
    ASSERT_TRUE(verify(torus, algorithm.collective, correct).ok());
    for (Rank r = 0; r < torus.ranks(); ++r) {
        std::vector<Schedule> broken = correct;
        m.mutate(broken[r]);
        const Verification proof = verify(torus, algorithm.collective, broken);
        EXPECT_FALSE(proof.identical_results);
        EXPECT_TRUE(mentions(proof, m.complaint))
            << "rank " << r << ": " << (proof.ok() ? "not caught" : proof.errors[0]);
    }
}

INSTANTIATE_TEST_SUITE_P(Mutations, VerifyMutation, testing::ValuesIn(mutations), mutation_name);

// All ranks stop early together: everything matches, but not everybody has heard from everybody.
TEST(Verify, CatchesABarrierThatEndsTooEarly) {
    const Torus torus = Torus::parse("6");
    const Algorithm& barrier = find_algorithm(Collective::barrier, "dissemination");
    std::vector<Schedule> schedules = build_all(torus, barrier);
    ASSERT_TRUE(verify(torus, Collective::barrier, schedules).ok());
    for (Schedule& s : schedules) {
        s.parts[0].steps.count -= 1;
    }
    const Verification proof = verify(torus, Collective::barrier, schedules);
    EXPECT_TRUE(mentions(proof, "has heard from only 4 of 6 ranks"));
}

TEST(Verify, CatchesAnAllreduceThatEndsTooEarly) {
    const Torus torus = Torus::parse("3x3");
    std::vector<Schedule> schedules = build_all(torus, named("ring"));
    for (Schedule& s : schedules) {
        for (Part& p : s.parts) {
            p.steps.count -= 1;
        }
    }
    EXPECT_TRUE(mentions(verify(torus, Collective::allreduce, schedules), "incomplete"));
}

// What a rank sends to itself is in the schedule like all else.
TEST(Verify, CatchesAnOwnBlockThatIsNotCopied) {
    const Torus torus = Torus::parse("2x3");
    for (const Algorithm& algorithm : algorithms()) {
        if (algorithm.collective != Collective::alltoall || !algorithm.refusal(torus).empty()) {
            continue;
        }
        SCOPED_TRACE(algorithm.name);
        std::vector<Schedule> schedules = build_all(torus, algorithm);
        ASSERT_TRUE(verify(torus, Collective::alltoall, schedules).ok());
        step_of(schedules[4], 0, 0).moves.count = 0;
        EXPECT_TRUE(mentions(verify(torus, Collective::alltoall, schedules),
                             "rank 4: at the end block 10 is not what rank 4 had for this rank"));
        schedules = build_all(torus, algorithm);
        schedules[4].moves[step_of(schedules[4], 0, 0).moves.first].to = 1;
        EXPECT_TRUE(mentions(verify(torus, Collective::alltoall, schedules),
                             "a move overwrites what is to be sent: block 1"));
    }
}

TEST(Verify, TellsWhichSchedulesSynchroniseAllRanks) {
    const Torus torus = Torus::parse("2x3");
    for (const Algorithm& algorithm : algorithms()) {
        if (algorithm.refusal(torus).empty() && traits_of(algorithm.collective).synchronises) {
            EXPECT_TRUE(verify(torus, algorithm).synchronises)
                << to_string(algorithm.collective) << " " << algorithm.name;
        }
    }
    const auto of_bcast = [&](const char* name) {
        return verify(torus, find_algorithm(Collective::bcast, name)).synchronises;
    };
    EXPECT_FALSE(of_bcast("linear"));
    EXPECT_TRUE(of_bcast("bine-large")) << "a scatter, and an allgather of all";
}

TEST(Verify, CatchesAMissingSchedule) {
    const Torus torus = Torus::parse("5");
    std::vector<Schedule> schedules = build_all(torus, named("ring"));
    schedules.pop_back();
    EXPECT_TRUE(
        mentions(verify(torus, Collective::allreduce, schedules), "4 schedules for 5 ranks"));
}

TEST(Verify, NamesPartStepAndRank) {
    const Torus torus = Torus::parse("5");
    std::vector<Schedule> schedules = build_all(torus, named("ring"));
    step_of(schedules[3], 1, 2).sends.count = 0;
    const Verification proof = verify(torus, Collective::allreduce, schedules);
    ASSERT_FALSE(proof.ok());
    EXPECT_EQ(proof.errors[0].substr(0, 24), "part 1, step 2, rank 2: ");
}

TEST(Verify, RefusesProofsThatDoNotFitInMemory) {
    try {
        verify(Torus::parse("128x128"), named("ring"));
        FAIL() << "the proof was attempted";
    } catch (const Error& e) {
        EXPECT_EQ(e.status(), Status::unsupported);
        EXPECT_NE(std::string(e.what()).find("more than the verifier's 4 GiB"), std::string::npos);
    }
}

}  // namespace
}  // namespace trefoil::verify_mutation_test
