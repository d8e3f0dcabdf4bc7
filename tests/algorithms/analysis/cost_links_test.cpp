// SPDX-License-Identifier: BSD-3-Clause
// What few ranks, formulas and bounds tell of a cost, against the summary of all ranks.
#include "algorithms/analysis/cost.hpp"
#include "algorithms/registry/registry.hpp"
#include "algorithms/schedule/options.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace trefoil {
namespace {

/// Algorithms as the choice asks for them.
BuildOptions one_piece(const Algorithm& algorithm) {
    return {.pieces = algorithm.abilities.pieces ? 1U : 0U};
}

void expect_links(const CostSummary& links, const CostSummary& whole) {
    EXPECT_EQ(links.parts, whole.parts);
    EXPECT_EQ(links.steps, whole.steps);
    EXPECT_EQ(links.steps_at_once, whole.steps_at_once);
    EXPECT_EQ(links.hops_at_once, whole.hops_at_once);
    EXPECT_EQ(links.load_at_once, whole.load_at_once);
    EXPECT_EQ(links.step_max_hops, whole.step_max_hops);
    EXPECT_EQ(links.step_max_link_load, whole.step_max_link_load);
    EXPECT_EQ(links.sum_link_load, whole.sum_link_load);
    EXPECT_EQ(links.packed, whole.packed);
    EXPECT_EQ(std::max(1, links.max_sends_per_port_per_step),
              std::max(1, whole.max_sends_per_port_per_step));
    EXPECT_EQ(links.inside, whole.inside);
    EXPECT_EQ(links.messages_inside, whole.messages_inside);
    EXPECT_EQ(links.steps_inside, whole.steps_inside);
    EXPECT_DOUBLE_EQ(links.inside_alone, whole.inside_alone);
    EXPECT_DOUBLE_EQ(links.inside_beside_links, whole.inside_beside_links);
}

// Where links alone count, fewer ranks tell of all: those on the axes, or the root; or nobody.
TEST(Cost, OfLinksFromFewRanks) {
    int axes = 0, roots = 0, formulas = 0, flows = 0;
    for (const char* shape :
         {"1",      "2",   "4",    "5",   "8",   "10",    "13",      "16",    "31",    "2x2",
          "3x3",    "4x4", "2x3",  "6x3", "8x4", "2x2x2", "3x4x5",   "1x5",   "4mx3",  "3x4m",
          "16x2x4", "6x6", "6x10", "7x9", "5x5", "4x4x4", "2x2x2x2", "4x1x4", "3x5x7", "5mx7m"}) {
        const Torus torus = Torus::parse(shape);
        ModelSummaries some(torus, ModelSummaries::Figures::links);
        ModelSummaries all(torus);
        for (const Algorithm& algorithm : algorithms()) {
            if ((algorithm.witnesses == nullptr && algorithm.flows == nullptr) ||
                !algorithm.refusal(torus).empty()) {
                continue;
            }
            SCOPED_TRACE(std::string(algorithm.name) + " for " +
                         std::string(to_string(algorithm.collective)) + " on " + shape);
            const Witnesses told =
                algorithm.witnesses == nullptr ? Witnesses::alike : algorithm.witnesses(torus);
            axes += told == Witnesses::axes ? 1 : 0;
            roots += told == Witnesses::root_of_links ? 1 : 0;
            formulas += told == Witnesses::formula ? 1 : 0;
            flows += algorithm.flows != nullptr ? 1 : 0;
            expect_links(some.of(algorithm, one_piece(algorithm)),
                         all.of(algorithm, one_piece(algorithm)));
        }
    }
    EXPECT_GT(axes, 150);
    EXPECT_GT(roots, 80);
    EXPECT_GT(formulas, 100);
    EXPECT_GT(flows, 800);
}

// On nodes of several ranks: what their ranks do to the links that they share, and by node what is
// done between nodes.
TEST(Cost, OfLinksOfNodes) {
    int flat = 0, by_node = 0;
    for (const char* shape : {"2h", "3h", "1x3h", "3x2h", "4x4h", "5x3h", "6x2h", "3x3x2h",
                              "2x3x4h", "4x4x2h", "4mx3x2h", "8x4h", "9x3h"}) {
        const Torus torus = Torus::parse(shape);
        ModelSummaries some(torus, ModelSummaries::Figures::links);
        ModelSummaries all(torus);
        for (const Algorithm& algorithm : algorithms()) {
            for (const bool by : {false, true}) {
                BuildOptions options = one_piece(algorithm);
                options.by_node = by;
                if (!algorithm.refusal(torus, options).empty()) {
                    continue;
                }
                SCOPED_TRACE(std::string(algorithm.name) + modifiers_text(options) + " for " +
                             std::string(to_string(algorithm.collective)) + " on " + shape);
                (options.by_node ? by_node : flat) += 1;
                const CostSummary links = some.of(algorithm, options);
                const CostSummary whole = all.of(algorithm, options);
                expect_links(links, whole);
                if (algorithm.abilities.pieces && !by) {
                    EXPECT_EQ(links.busiest_link, whole.busiest_link);
                }
            }
        }
    }
    EXPECT_GT(flat, 300);
    EXPECT_GT(by_node, 300);
}

// What a formula tells of the links of an alltoall's trees is exact; they may gather more.
TEST(Cost, OfLinksOfTreesByFormula) {
    int gather_less = 0;
    for (const char* shape :
         {"2", "3", "4", "7", "12", "16", "4x4", "5x3", "6x6", "10x6", "2x2x2", "2x4x3", "5x5"}) {
        SCOPED_TRACE(shape);
        const Torus torus = Torus::parse(shape);
        const Algorithm& trees = find_algorithm(Collective::alltoall, "gather-scatter-tree");
        const CostSummary all = ModelSummaries(torus).of(trees);
        const CostSummary least =
            ModelSummaries(torus, ModelSummaries::Figures::links).least(trees);
        EXPECT_EQ(least.step_max_hops, all.step_max_hops);
        EXPECT_EQ(least.step_max_link_load, all.step_max_link_load);
        EXPECT_EQ(least.sum_link_load, all.sum_link_load);
        EXPECT_EQ(least.max_sends_per_port_per_step, all.max_sends_per_port_per_step);
        EXPECT_LE(least.packed, all.packed);
        EXPECT_GE(least.packed, 0.5 * all.packed);
        gather_less += least.packed < all.packed ? 1 : 0;
    }
    EXPECT_GT(gather_less, 0);
}

// What one rank tells is never more than what all do, term by term.
TEST(Cost, OfOneRankIsABound) {
    for (const char* shape : {"2", "5", "8", "9", "3x3", "4x4", "2x3", "5x6", "2x2x2", "3x3x3",
                              "4mx3", "3x3x2h", "4x4h", "5x3h"}) {
        const Torus torus = Torus::parse(shape);
        ModelSummaries summaries(torus);
        for (const Algorithm& algorithm : algorithms()) {
            if (!algorithm.refusal(torus).empty()) {
                continue;
            }
            SCOPED_TRACE(std::string(algorithm.name) + " for " +
                         std::string(to_string(algorithm.collective)) + " on " + shape);
            const BuildOptions options = one_piece(algorithm);
            const CostSummary least = summaries.least(algorithm, options);
            const CostSummary all = summaries.of(algorithm, options);
            EXPECT_LE(least.steps, all.steps);
            EXPECT_LE(least.sum_hops, all.sum_hops);
            EXPECT_LE(least.sum_link_load, all.sum_link_load);
            EXPECT_LE(least.max_sends_per_port_per_step,
                      std::max(1, all.max_sends_per_port_per_step));
            EXPECT_LE(least.waits, all.waits);
            EXPECT_LE(least.messages, all.messages);
            EXPECT_LE(least.forwards, all.forwards);
            EXPECT_LE(least.messages_per_rank, all.messages_per_rank);
            EXPECT_LE(least.sent, all.sent);
            EXPECT_LE(least.packed, all.packed);
            EXPECT_LE(least.inside, all.inside);
            const CostSummary formula = least_by_formula(algorithm, torus);
            EXPECT_LE(formula.steps, all.steps);
            EXPECT_LE(formula.steps - formula.steps_at_once, all.steps - all.steps_at_once);
            EXPECT_LE(formula.sum_hops, all.sum_hops);
            EXPECT_LE(formula.sum_hops - formula.hops_at_once, all.sum_hops - all.hops_at_once);
            EXPECT_LE(formula.sum_link_load, all.sum_link_load);
            EXPECT_LE(formula.sum_link_load - formula.load_at_once,
                      all.sum_link_load - all.load_at_once);
        }
    }
}

}  // namespace
}  // namespace trefoil
