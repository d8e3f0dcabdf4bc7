// SPDX-License-Identifier: BSD-3-Clause
// The choice of algorithms: names with modifiers, and the number of pieces of pipelines.
#include "comm/plan/select.hpp"

#include <gtest/gtest.h>

#include "algorithms/registry/registry.hpp"
#include "comm/setup/cost_settings.hpp"
#include "tests/comm/communicator/thread_job.hpp"
#include "tests/variable.hpp"
#include "topo/error.hpp"

namespace trefoil::test::select_test {
namespace {

constexpr std::size_t kib = 1024, mib = 1024 * kib;

const Algorithm& trees(Collective collective = Collective::bcast) {
    return find_algorithm(collective, "spanning-trees");
}

double seconds_of(const Torus& torus, const Choice& choice, std::size_t bytes) {
    return modelled(torus, choice, bytes).price->sum();
}

TEST(Choices, AreWrittenAsTheyAreRead) {
    const Torus torus = Torus::parse("4x4");
    for (const auto& [collective, text] : {std::pair{Collective::allreduce, "auto"},
                                           {Collective::allreduce, "ring"},
                                           {Collective::reduce_scatter, "swing:send"},
                                           {Collective::allgather, "bine:permute:single-port"},
                                           {Collective::bcast, "spanning-trees:pieces-12"},
                                           {Collective::alltoall, "sdx:radix-4:class"},
                                           {Collective::alltoall, "sdx:barrier"},
                                           {Collective::alltoall, "t4:signals"}}) {
        EXPECT_EQ(to_string(parse_choice(collective, text, torus)), text);
    }
}

TEST(Choices, RefuseModifiersThatMakeNoSense) {
    for (const auto& [text, says] : {std::pair{"spanning-trees:pieces-0", "a whole number"},
                                     {"spanning-trees:pieces-", "a whole number"},
                                     {"spanning-trees:pieces-8x", "a whole number"},
                                     {"spanning-trees:pieces-99999999999999", "a whole number"},
                                     {"spanning-trees:pieces-65537", "at most 65536"},
                                     {"spanning-trees:send", "no choice of layouts"},
                                     {"bine-dd:pieces-8", "not pipelined"},
                                     {"auto:pieces-8", "auto takes no modifiers"},
                                     {"linear:backwards", "there are block-by-block, permute"}}) {
        try {
            parse_choice(Collective::bcast, text, Torus::parse("4x4"));
            ADD_FAILURE() << text;
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
        }
    }
}

TEST(Pieces, GrowWithTheVectorUpToASegment) {
    const Torus torus = Torus::parse("8x8");
    Block last = 1;
    for (std::size_t bytes = 8; bytes <= mib; bytes *= 2) {
        const Block pieces = pieces_for({&trees(), {}}, torus, bytes);
        EXPECT_GE(pieces, last) << bytes;
        last = pieces;
    }
    EXPECT_EQ(pieces_for({&trees(), {}}, torus, 8), 1U);
    EXPECT_GT(last, 4U);
    EXPECT_LT(pieces_for({&trees(), {}}, torus, mib, {.segment_bytes = 64 * kib}), last);
    EXPECT_LT(pieces_for({&trees(), {}}, torus, mib, {.slot_bytes = 4 * kib}), last);
    const SelectionBasis huge{std::size_t{1} << 40, std::size_t{1} << 40};
    EXPECT_EQ(pieces_for({&trees(), {}}, torus, std::size_t{1} << 40, huge), 4096U)
        << "as many messages as notifications can number";
    EXPECT_EQ(pieces_for({&find_algorithm(Collective::bcast, "linear"), {}}, torus, mib), 0U);
}

TEST(Pieces, OfASegmentAreFewerWhereMoreSegmentsFillThePipelineTogether) {
    const Torus torus = Torus::parse("8x8");
    Block last = pieces_for({&trees(), {}}, torus, mib);
    for (std::size_t segments = 4; segments <= 64; segments *= 4) {
        const Block pieces = pieces_for({&trees(), {}}, torus, segments * mib);
        EXPECT_EQ(pieces, last / 2) << segments << ": together twice as many";
        last = pieces;
    }
    EXPECT_EQ(pieces_for({&trees(), {}}, torus, std::size_t{1} << 40), 1U);
}

TEST(Selection, PricesPipelinesWithTheirPieces) {
    for (const Collective collective : {Collective::bcast, Collective::reduce}) {
        for (const char* shape : {"8x8", "16x16", "4x4x4"}) {
            const Torus torus = Torus::parse(shape);
            const AlgorithmChoice made = choose_algorithm(collective, torus, 64 * mib);
            EXPECT_EQ(made.choice.algorithm->name, "spanning-trees") << shape;
            EXPECT_EQ(made.choice.options.pieces,
                      pieces_for({&trees(collective), {}}, torus, 64 * mib));
            ASSERT_TRUE(made.seconds);
            EXPECT_DOUBLE_EQ(*made.seconds, seconds_of(torus, made.choice, 64 * mib));
            Choice coarse = made.choice;
            coarse.options.pieces = 1;
            EXPECT_LT(*made.seconds, seconds_of(torus, coarse, mib) * 64) << shape;
        }
    }
}

// A pipeline that long takes longer to fill than to run.
TEST(Selection, LeavesMediumVectorsOfLargeToriToFewerSteps) {
    const Torus torus = Torus::parse("64x64");
    for (const std::size_t bytes : {256 * kib, 4 * mib}) {
        const AlgorithmChoice made = choose_algorithm(Collective::bcast, torus, bytes);
        EXPECT_EQ(made.choice.algorithm->name, "bine-large");
        ASSERT_TRUE(made.seconds);
        EXPECT_DOUBLE_EQ(*made.seconds, seconds_of(torus, made.choice, bytes));
        Choice pipeline{&trees(), {.pieces = pieces_for({&trees(), {}}, torus, bytes)}};
        EXPECT_LT(*made.seconds, seconds_of(torus, pipeline, bytes));
    }
}

// What the registry names for tori that are too large to price, unless the call needs more.
TEST(Selection, TakesWhatIsNamedWhereNothingIsPriced) {
    const Torus torus = Torus::parse("65536");
    const auto unpriced = [&](Collective collective, std::size_t bytes, const Needs& needs = {}) {
        const AlgorithmChoice made = choose_algorithm(collective, torus, bytes, needs);
        EXPECT_FALSE(made.seconds);
        return made.choice.algorithm->selection.unpriced;
    };
    EXPECT_EQ(unpriced(Collective::allreduce, 8), Unpriced::small);
    EXPECT_EQ(unpriced(Collective::allreduce, 32 * kib), Unpriced::small);
    EXPECT_EQ(unpriced(Collective::allreduce, 8, {.rank_order = true}), Unpriced::none);
    EXPECT_EQ(unpriced(Collective::alltoall, mib), Unpriced::all);
    EXPECT_EQ(unpriced(Collective::alltoall, mib, {.vector_variant = true}), Unpriced::none);
}

// Where a few ranks tell of all, the size of the torus does not matter. The choice is the best of
// those algorithms, summed up over all ranks.
TEST(Selection, GoesByPricesOnLargeTori) {
    const Torus torus = Torus::parse("40x30");
    for (const std::size_t bytes : {64 * kib, mib, 64 * mib}) {
        const AlgorithmChoice made = choose_algorithm(Collective::allreduce, torus, bytes);
        ASSERT_TRUE(made.seconds && made.next_seconds);
        EXPECT_LE(*made.seconds, *made.next_seconds);
        double best = 1;
        for (const char* name : {"trivance-b", "swing-b", "bucket", "bine-large", "bruck-b"}) {
            const Algorithm& algorithm = find_algorithm(Collective::allreduce, name);
            best = std::min(best, seconds_of(torus, {&algorithm, {}}, bytes));
        }
        EXPECT_DOUBLE_EQ(*made.seconds, best) << bytes;
    }
    EXPECT_TRUE(choose_algorithm(Collective::allreduce, Torus::parse("64x32"), 8).seconds);
    EXPECT_TRUE(choose_algorithm(Collective::alltoall, Torus::parse("20x20"), mib).seconds);
    EXPECT_TRUE(choose_algorithm(Collective::allgather, Torus::parse("128x128"), mib).seconds);
}

// Else what is cheapest might never be looked at.
TEST(Selection, BoundsAreNotAbovePrices) {
    for (const char* const shape : {"9", "4x4", "3x4", "3x3x2h", "4x4h", "2x2x2h"}) {
        const Torus torus = Torus::parse(shape);
        ModelSummaries links(torus, ModelSummaries::Figures::links), all(torus);
        for (const Algorithm& algorithm : algorithms()) {
            for (const bool by_node : {false, true}) {
                Choice choice{&algorithm, {.by_node = by_node}};
                if ((by_node && !torus.has_nodes()) || algorithm.traits.reads_peers ||
                    !refusal(choice, torus).empty()) {
                    continue;
                }
                choice.options.pieces = algorithm.abilities.pieces ? 1 : 0;
                for (ModelSummaries* const summaries : {&links, &all}) {
                    const CostSummary least = summaries->least(algorithm, choice.options);
                    const CostSummary whole = summaries->of(algorithm, choice.options);
                    for (const std::size_t bytes : {std::size_t{64}, 64 * kib, 16 * mib}) {
                        const auto price = [&](const CostSummary& cost) {
                            return price_of(torus, choice, cost, bytes, default_cost_model).sum();
                        };
                        EXPECT_LE(price(least), price(whole) * (1 + 1e-9))
                            << to_string(choice) << " for " << to_string(algorithm.collective)
                            << " of " << bytes << " on " << shape;
                    }
                }
            }
        }
    }
}

// Integers, say: all ranks get the same bits however each of them adds up.
TEST(Selection, TakesAnyAssociationWhereBitsDoNotDependOnIt) {
    for (const char* shape : {"8", "9", "4x4", "8x8", "3x3x3"}) {
        const Torus torus = Torus::parse(shape);
        for (const std::size_t bytes : {8UL, 4 * kib, 64 * kib, mib}) {
            const auto chosen = [&](bool any_order, bool rank_order) {
                return choose_algorithm(Collective::allreduce, torus, bytes,
                                        {.rank_order = rank_order, .any_order = any_order});
            };
            EXPECT_LE(*chosen(true, false).seconds, *chosen(false, false).seconds);
            EXPECT_TRUE(chosen(false, false).choice.algorithm->traits.identical_results);
            EXPECT_TRUE(chosen(true, true).choice.algorithm->traits.order_preserving);
        }
    }
    const auto name = [](bool any_order) {
        return choose_algorithm(Collective::allreduce, Torus::parse("9x9"), 8 * kib,
                                {.any_order = any_order})
            .choice.algorithm->name;
    };
    EXPECT_EQ(name(true), "trivance-l");
    EXPECT_NE(name(false), "trivance-l");
}

TEST(Selection, LeavesOutWhatIsForFewerRanksOrToBeNamed) {
    for (const Collective collective : collectives()) {
        for (const char* shape : {"2", "9", "4x4", "12x12"}) {
            const Torus torus = Torus::parse(shape);
            for (const std::size_t bytes : {8UL, 64 * kib, 64 * mib}) {
                const AlgorithmChoice made = choose_algorithm(collective, torus, bytes);
                for (const Algorithm* a : {made.choice.algorithm, made.next.algorithm}) {
                    EXPECT_TRUE(a == nullptr || torus.ranks() <= a->selection.most_ranks)
                        << a->name << " on " << shape;
                }
            }
        }
    }
}

// Where links are missing or slow, what is made for the network is cheaper for long vectors; short
// ones go in few steps as ever, and whole tori never take it unasked; but few trees are cheaper
// where their sizes differ.
TEST(Selection, TakesPackedOnesWhereTheNetworkIsNoWholeTorus) {
    using enum Collective;
    for (const char* name : {"3x3:cable=+0@4", "4x4:node=5", "3x3:cable=+0@4=0.5", "3mx4m"}) {
        const Torus torus = Torus::parse(name);
        const std::string_view allreduces =
            name == std::string_view("3mx4m") ? "few-trees" : "packed";
        EXPECT_EQ(choose_algorithm(allreduce, torus, 64 * mib).choice.algorithm->name, allreduces)
            << name;
        EXPECT_EQ(choose_algorithm(bcast, torus, 64 * mib).choice.algorithm->name, "packed")
            << name;
        EXPECT_NE(choose_algorithm(allreduce, torus, 64).choice.algorithm->name, "packed") << name;
    }
    for (const Collective collective : {gather, scatter, alltoall}) {
        const Torus torus = Torus::parse("4x4:node=5");
        EXPECT_EQ(choose_algorithm(collective, torus, 64 * mib).choice.algorithm->name, "packed");
    }
    for (const Collective collective : {allreduce, alltoall}) {
        const Torus torus = Torus::parse("3x3");
        EXPECT_NE(choose_algorithm(collective, torus, 64 * mib).choice.algorithm->name, "packed");
    }
    const auto on = [](const char* torus) {
        return choose_algorithm(allreduce, Torus::parse(torus), 64 * mib).choice.algorithm->name;
    };
    EXPECT_EQ(on("2x3x2"), "few-trees");
    EXPECT_NE(on("3x3x3"), "few-trees");
    EXPECT_NE(on("7x1"), "few-trees");
    EXPECT_NE(on("2x3x64"), "few-trees") << "too many nodes to look for trees at once";
}

// On damaged networks each pair's way would be looked for, so the size decides.
TEST(Selection, DoesNotPriceAlltoallsOfManyRanksOnDamagedNetworks) {
    std::vector<Considered> considered;
    (void)choose_algorithm(Collective::alltoall, Torus::parse("20x20:node=5"), mib, {}, {},
                           &considered);
    EXPECT_TRUE(
        std::ranges::none_of(considered, [](const auto& c) { return c.price.has_value(); }));
}

// Few waits are least where ranks take turns on a core, and few messages where these go by TCP;
// elsewhere a chain of messages from and to rank 0 is not.
TEST(Selection, CountsWhatRanksThatShareCoresDo) {
    const Torus torus = Torus::parse("3x3");
    const auto chosen = [&](std::size_t bytes, double ranks_per_core, bool in_memory = true) {
        const SelectionBasis basis{.model = model_of_job({}, in_memory, ranks_per_core)};
        return choose_algorithm(Collective::allreduce, torus, bytes, {}, basis)
            .choice.algorithm->name;
    };
    EXPECT_EQ(chosen(8, 4.5), "direct");
    EXPECT_EQ(chosen(8, 4.5, false), "linear");
    EXPECT_NE(chosen(8, 1), "linear");
    EXPECT_NE(chosen(4 * mib, 4.5), "linear");
    const CostModel told = parse_cost_model("wait=1us");
    EXPECT_EQ(to_string(model_of_job(told, true, 4.5)), to_string(told)) << "asked for";
    EXPECT_EQ(to_string(model_of_job({}, false, 1)), to_string(default_cost_model));
}

// Where nodes forward by the cores that ranks share, a tree of neighbours goes before a root that
// hears from all.
TEST(Selection, CountsMessagesThatNodesForward) {
    const Torus torus = Torus::parse("3x3");
    const auto chosen = [&](const char* numbers) {
        const SelectionBasis basis{.model = model_of_job(parse_cost_model(numbers), false, 4.5)};
        return choose_algorithm(Collective::gather, torus, 36, {}, basis).choice.algorithm->name;
    };
    EXPECT_EQ(chosen("step=3us,hop=1us,rate=50mbit"), "linear");
    EXPECT_EQ(chosen("step=3us,hop=1us,rate=50mbit,forward=10us"), "bine-dd");
}

TEST(Selection, CountsMessagesOfPartsThatHaveData) {
    const Torus two = Torus::parse("2");
    const SelectionBasis memory{.model = memory_cost_model};
    const auto messages = [&](Collective collective, const char* name, std::size_t bytes) {
        const Choice choice{&find_algorithm(collective, name), {}};
        return modelled(two, choice, bytes, memory).price->terms.messages;
    };
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{512}}) {
        EXPECT_DOUBLE_EQ(messages(Collective::allreduce, "recursive-doubling-i", bytes),
                         memory_cost_model.busiest);
    }
    EXPECT_DOUBLE_EQ(messages(Collective::allreduce, "recursive-doubling-i", 513),
                     2 * memory_cost_model.busiest);
    // Each rank's block is cut for itself.
    EXPECT_DOUBLE_EQ(messages(Collective::allgather, "swing", 128), memory_cost_model.busiest);
    EXPECT_DOUBLE_EQ(messages(Collective::allgather, "swing", 192), 2 * memory_cost_model.busiest);
}

TEST(Selection, CountsWhatIsReducedAndStoredForIt) {
    const Torus two = Torus::parse("2");
    const SelectionBasis memory{.model = memory_cost_model};
    const auto taken = [&](std::size_t bytes) {
        return to_string(choose_algorithm(Collective::allreduce, two, bytes, {}, memory).choice);
    };
    EXPECT_EQ(taken(8), "recursive-doubling-i");
    EXPECT_EQ(taken(8 * kib), "recursive-doubling-i");
    EXPECT_EQ(taken(64 * kib), "trivance-b");
    const auto reductions = [&](const char* name) {
        const Choice choice{&find_algorithm(Collective::allreduce, name), {}};
        return modelled(two, choice, mib, memory).price->reductions / mib;
    };
    EXPECT_NEAR(reductions("recursive-doubling-i"), memory_cost_model.reduce, 1e-15);
    EXPECT_NEAR(reductions("trivance-b"), memory_cost_model.reduce / 2, 1e-15);
    EXPECT_NEAR(reductions("direct"), memory_cost_model.reduce + memory_cost_model.copy, 1e-13);
}

TEST(Selection, TellsThePiecesThatRun) {
    const char* const told = "step=2us,rate=25gbit,wait=1ns";
    const Variable model("TREFOIL_MODEL", told);
    const SelectionBasis basis{.model = parse_cost_model(told)};
    JobOptions options;
    options.torus = "3x3";
    run_ranks(9, options, [&basis](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        for (const char* forced : {"spanning-trees", "spanning-trees:pieces-3"}) {
            ASSERT_EQ(trefoil_comm_set_algorithm(comm, "bcast", forced), TREFOIL_SUCCESS);
            for (const std::size_t count : {1U, 5'000U, 100'000U, 700'001U}) {
                const char* name = nullptr;
                ASSERT_EQ(trefoil_comm_algorithm(comm, "bcast", count, TREFOIL_INT32, &name),
                          TREFOIL_SUCCESS);
                const Block pieces =
                    pieces_for({&trees(), {}}, Torus::parse("3x3"), 4 * count, basis);
                EXPECT_EQ(name, forced == std::string("spanning-trees")
                                    ? "spanning-trees:pieces-" + std::to_string(pieces)
                                    : forced);
                std::vector<std::int32_t> data(count, rank == 4 ? 7 : rank);
                ASSERT_EQ(trefoil_bcast(data.data(), count, TREFOIL_INT32, 4, comm),
                          TREFOIL_SUCCESS)
                    << trefoil_last_error(comm);
                EXPECT_EQ(data, std::vector<std::int32_t>(count, 7));
            }
        }
    });
}

// Different modifiers are different calls.
TEST(Selection, RanksWithDifferentPiecesDisagree) {
    JobOptions options;
    options.torus = "3";
    run_ranks(3, options, [](int rank, trefoil_comm_t comm) {
        ASSERT_NE(comm, nullptr);
        const char* const name = rank == 1 ? "spanning-trees:pieces-2" : "spanning-trees:pieces-4";
        ASSERT_EQ(trefoil_comm_set_algorithm(comm, "bcast", name), TREFOIL_SUCCESS);
        std::vector<float> data(1000);
        const trefoil_status_t status =
            trefoil_bcast(data.data(), data.size(), TREFOIL_FLOAT, 0, comm);
        if (rank != 1 && status == TREFOIL_SUCCESS) {
            return;  // all that it has to do with is right
        }
        EXPECT_EQ(status, TREFOIL_ERROR_MISMATCH);
        const std::string text = trefoil_last_error(comm);
        EXPECT_NE(text.find(rank == 1 ? "pieces-2" : "pieces-"), std::string::npos) << text;
    });
}

/// The block size decides alltoall: few steps that forward, then straight without a copy.
TEST(Selection, SendsLongBlocksStraight) {
    for (const char* shape : {"3x3", "4x4", "8x8", "4x4x4"}) {
        const Torus torus = Torus::parse(shape);
        const auto name = [&](std::size_t block) {
            return choose_algorithm(Collective::alltoall, torus,
                                    block * static_cast<std::size_t>(torus.ranks()))
                .choice.algorithm->name;
        };
        const auto is_straight = [](std::string_view one) {
            return one == "orbit" || one == "linear";
        };
        if (torus.ranks() > 9) {  // of nine ranks, two messages per port are as good as two steps
            EXPECT_FALSE(is_straight(name(8))) << shape;
        }
        EXPECT_TRUE(is_straight(name(64 * kib))) << shape;
        EXPECT_TRUE(is_straight(name(mib))) << shape;
    }
}

TEST(Selection, KeepsCountsKnownInPairsFromForwarding) {
    for (const char* shape : {"2", "5", "3x3", "2x3", "4x4x4", "64x64x64"}) {
        const Torus torus = Torus::parse(shape);
        for (const Collective collective :
             {Collective::alltoall, Collective::gather, Collective::scatter}) {
            for (const std::size_t bytes : {8UL, mib}) {
                const auto made =
                    choose_algorithm(collective, torus, bytes, {.vector_variant = true});
                EXPECT_TRUE(made.choice.algorithm->traits.vector_variant) << shape;
            }
        }
    }
}

}  // namespace
}  // namespace trefoil::test::select_test
