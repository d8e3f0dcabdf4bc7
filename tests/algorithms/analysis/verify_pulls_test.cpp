// SPDX-License-Identifier: BSD-3-Clause
// Pulls: the verifier proves that a vector is opened, read, released and only then overwritten,
// and finds each of these missing.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "algorithms/analysis/access_order.hpp"
#include "algorithms/analysis/verify.hpp"
#include "algorithms/single_copy/builders.hpp"

namespace trefoil::verify_pulls_test {
namespace {

std::vector<Schedule> single_copy(const Torus& torus) {
    std::vector<Schedule> schedules;
    for (Rank r = 0; r < torus.ranks(); ++r) {
        schedules.push_back(build_single_copy<Collective::allreduce>(torus, r, {}));
    }
    return schedules;
}

void expect_error(const Verification& proof, const std::string& text) {
    const bool found = std::ranges::any_of(
        proof.errors, [&](const std::string& e) { return e.find(text) != std::string::npos; });
    EXPECT_TRUE(found) << text
                       << " is not found, but: " << (proof.ok() ? "nothing" : proof.errors.front());
}

Step& step_of(Schedule& s, std::size_t step) {
    return s.steps[s.parts[0].steps.first + step];
}

/// Takes the message from one rank to another out of a step, at both ends.
void drop_message(std::vector<Schedule>& all, std::size_t step, Rank from, Rank to) {
    const auto drop = [](auto& list, Slice& slice, Rank peer) {
        const auto first = list.begin() + slice.first;
        const auto end = first + slice.count;
        const auto found = std::find_if(first, end, [&](const auto& m) { return m.peer == peer; });
        ASSERT_NE(found, end);
        std::rotate(found, found + 1, end);
        slice.count -= 1;
    };
    drop(all[from].sends, step_of(all[from], step).sends, to);
    drop(all[to].receives, step_of(all[to], step).receives, from);
}

TEST(VerifyPulls, ProvesSingleCopy) {
    for (const char* shape : {"1", "2", "3", "9", "4x4", "3x5", "2x2x3"}) {
        const Torus torus = Torus::parse(shape);
        const Verification proof = verify(torus, Collective::allreduce, single_copy(torus));
        ASSERT_TRUE(proof.ok()) << shape << ": " << proof.errors.front();
        EXPECT_TRUE(proof.identical_results);
        EXPECT_TRUE(proof.order_preserving);
    }
}

TEST(VerifyPulls, FindsAnOpeningSignalThatIsMissing) {
    const Torus torus = Torus::parse("4");
    std::vector<Schedule> all = single_copy(torus);
    drop_message(all, 0, 2, 3);
    expect_error(verify(torus, Collective::allreduce, all),
                 "part 0, step 1, rank 3: pulls block 3 of rank 2, which has not opened its "
                 "vector to it");
}

TEST(VerifyPulls, FindsASignalThatDoesNotOpen) {
    const Torus torus = Torus::parse("4");
    std::vector<Schedule> all = single_copy(torus);
    all[2].sends[step_of(all[2], 0).sends.first].opens = false;
    expect_error(verify(torus, Collective::allreduce, all),
                 "does not open the sender's vector, other than the receive says");
}

// Nobody but the reader knows that its pull is over.
TEST(VerifyPulls, FindsAReleaseThatIsMissing) {
    const Torus torus = Torus::parse("4");
    std::vector<Schedule> all = single_copy(torus);
    drop_message(all, 2, 1, 3);
    expect_error(verify(torus, Collective::allreduce, all),
                 "part 0, step 2, rank 3: completes while rank 1 may still pull block 3 in step 2");
}

// Rank 2 has heard of rank 1's pull and tells rank 0 of it.
TEST(VerifyPulls, KnowsOfAReleaseThatComesByAThirdRank) {
    for (const bool told : {true, false}) {
        Findings findings;
        AccessOrder order(3, 1, 0, findings);
        order.begin_step(0);
        order.hear(1, 0, true);
        order.begin_step(1);
        order.read(1, 0, 0, true);
        order.begin_step(2);
        order.hear(2, 1, false);
        order.begin_step(3);
        if (told) {
            order.hear(0, 2, false);
        }
        order.finish();
        EXPECT_EQ(findings.none(), told);
    }
}

TEST(VerifyPulls, FindsASumThatIsReadBeforeItIsThere) {
    const Torus torus = Torus::parse("4");
    std::vector<Schedule> all = single_copy(torus);
    drop_message(all, 1, 3, 0);
    expect_error(verify(torus, Collective::allreduce, all),
                 "part 0, step 2, rank 0: pulls block 3 of rank 3, which that rank writes in step "
                 "1, with no message in between");
}

// Where input and output are the same memory, rank 3 has not read its share of rank 0's yet.
TEST(VerifyPulls, FindsAnInputThatIsOverwrittenBeforeItIsRead) {
    const Torus torus = Torus::parse("4");
    std::vector<Schedule> all = single_copy(torus);
    drop_message(all, 1, 3, 0);
    expect_error(verify(torus, Collective::allreduce, all),
                 "part 0, step 2, rank 0: overwrites block 3, which rank 3 pulls in step 1 and has "
                 "not released");
}

/// Rank 0's only block goes to rank 1 by a pull; rank 1's goes back, and overwrites it. Rank 1 has
/// a copy of its own in scratch. `write_in` is the step whose message overwrites; 3 is right.
std::vector<Schedule> pull_then_overwrite(std::size_t write_in) {
    const Extent own{0, 1};
    const Extent scratch{1, 1};
    ScheduleWriter zero(0), one(1);
    zero.part(1, 0);
    one.part(1, 1);
    for (std::size_t step = 0; step < 4; ++step) {
        zero.step();
        one.step();
        if (step == 0) {
            zero.open(1, Port::plus(0));
            one.receive_opening(0, Port::minus(0));
        }
        if (step == 1) {
            one.move(Action::replace, own, scratch.first);
            one.pull(Action::reduce, 0, own, 0);
        }
        if (step == 2) {
            one.send(0, Port::minus(0), {});
            zero.receive(1, Port::plus(0));
        }
        if (step == write_in) {
            one.send(0, Port::minus(0), {&own, 1});
            zero.receive(1, Port::plus(0), Action::replace, {&own, 1});
        }
    }
    return {zero.take(), one.take()};
}

TEST(VerifyPulls, FindsAnOverwriteThatComesTooEarly) {
    const Torus torus = Torus::parse("2");
    const Verification right = verify(torus, Collective::allreduce, pull_then_overwrite(3));
    EXPECT_TRUE(right.ok()) << right.errors.front();
    // In step 0 rank 1's message leaves before it has pulled.
    expect_error(verify(torus, Collective::allreduce, pull_then_overwrite(0)),
                 "part 0, step 1, rank 1: pulls block 0 of rank 0, which that rank writes in step "
                 "0, with no message in between");
    std::vector<Schedule> own_write = pull_then_overwrite(3);
    own_write[0].moves.push_back({Action::replace, false, Move::self, {1, 1}, 0});
    own_write[0].parts[0].scratch_blocks = 1;
    own_write[0].moves.insert(own_write[0].moves.begin(),
                              {Action::replace, false, Move::self, {0, 1}, 1});
    step_of(own_write[0], 0).moves = {0, 1};
    step_of(own_write[0], 2).moves = {1, 1};  // before the release of step 2 is here
    expect_error(verify(torus, Collective::allreduce, own_write),
                 "part 0, step 2, rank 0: overwrites block 0, which rank 1 pulls in step 1 and has "
                 "not released");
}

TEST(VerifyPulls, FindsWhatCannotBePulled) {
    const Torus torus = Torus::parse("4");
    const auto error_of = [&](const std::function<void(Move&)>& change, const char* text) {
        std::vector<Schedule> all = single_copy(torus);
        change(all[1].moves[step_of(all[1], 1).moves.first]);
        expect_error(verify(torus, Collective::allreduce, all), text);
    };
    error_of([](Move& m) { m.peer = 4; }, "rank 1: pulls from rank 4, which is not a peer");
    error_of([](Move& m) { m.peer = 1; }, "rank 1: pulls from rank 1, which is not a peer");
    error_of([](Move& m) { m.from = {4, 1}; }, "reads blocks [4, 5), which are none of the vector");
    error_of([](Move& m) { m.from = {2, 1}; }, "may differ in size");
    error_of([](Move& m) { m.peer = 2; }, "counts a contribution twice");
    error_of([](Move& m) { m.initial = false; }, "a pull reads block 1, which is undefined");
    std::vector<Schedule> all = single_copy(torus);
    for (Schedule& s : all) {
        s.parts[0].input_apart = false;
    }
    expect_error(verify(torus, Collective::allreduce, all), "in a part that overwrites it");
    all[1].parts[0].input_apart = true;
    expect_error(verify(torus, Collective::allreduce, all), "keeps its input apart other than");
}

}  // namespace
}  // namespace trefoil::verify_pulls_test
