// SPDX-License-Identifier: BSD-3-Clause
// Nodes of several ranks: every algorithm proved on them as it is and by node, and what it costs.
#include "algorithms/schedule/by_node.hpp"

#include <gtest/gtest.h>

#include "algorithms/analysis/cost.hpp"
#include "algorithms/registry/registry.hpp"
#include "tests/algorithms/registry/proof.hpp"
#include "topo/error.hpp"

namespace trefoil {
namespace {

const std::vector<std::string> nodes = {"1", "3", "4", "2x2", "3x3", "2x3", "2x2x2"};

Torus of_nodes(const std::string& shape, Rank per_node) {
    return Torus::of_nodes(Torus::parse(shape), per_node);
}

enum class Range { some, all };

/// Every shape of `nodes` with all these numbers of ranks per node or, of the range `some`, with
/// one of them in turn.
std::vector<Torus> tori(const std::vector<Rank>& per_node, Range range) {
    std::vector<Torus> found;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        for (std::size_t j = 0; j < per_node.size(); ++j) {
            if (range == Range::all || j == i % per_node.size()) {
                found.push_back(of_nodes(nodes[i], per_node[j]));
            }
        }
    }
    return found;
}

class Nodes : public testing::TestWithParam<Algorithm> {
  protected:
    static void prove_as_it_is(Range range) {
        for (const Torus& torus : tori({2, 3, 4}, range)) {
            for (const BuildOptions& options : proof_options(torus, GetParam())) {
                prove(torus, options);
            }
        }
    }

    static void prove_by_node(Range range) {
        int proved = 0;
        for (const Torus& torus : tori({1, 2, 4}, range)) {
            for (BuildOptions options : proof_options(torus.nodes(), GetParam())) {
                options.by_node = true;
                for (const Rank root : proof_roots(torus, GetParam())) {
                    options.root = root;
                    if (GetParam().refusal(torus, options).empty()) {
                        ++proved;
                        prove(torus, options);
                    }
                }
            }
        }
        EXPECT_EQ(suits_nodes(GetParam()), GetParam().abilities.by_node);
        EXPECT_EQ(GetParam().abilities.by_node, proved > 0);
    }

    static void prove(const Torus& torus, const BuildOptions& options) {
        SCOPED_TRACE(torus.name() + ", root " + std::to_string(options.root) + ", layout " +
                     std::string(to_string(options.layout)));
        const Algorithm& algorithm = GetParam();
        const Verification proof = verify(torus, algorithm, options);
        ASSERT_TRUE(proof.ok()) << proof.errors[0];
        const Traits traits = algorithm.traits_with(options);
        EXPECT_LE(traits.identical_results, proof.identical_results);
        if (traits.order_preserving && traits_of(algorithm.collective).reduces) {
            EXPECT_TRUE(proof.order_preserving);
        }
        EXPECT_LE(largest_landing(torus, algorithm, options),
                  algorithm.landing(torus, options) * (1 + 1e-9));
    }
};

TEST_P(Nodes, AreServedByEveryAlgorithmAsItIs) {
    prove_as_it_is(Range::some);
}
TEST_P(Nodes, AreServedByEveryAlgorithmAsItIsLong) {
    prove_as_it_is(Range::all);
}
TEST_P(Nodes, AreServedByNode) {
    prove_by_node(Range::some);
}
TEST_P(Nodes, AreServedByNodeLong) {
    prove_by_node(Range::all);
}

// The links of a node carry what they would with one rank per node, whoever of its ranks sends it.
TEST_P(Nodes, LoadTheirLinksByNodeAsOneRankWould) {
    for (const char* const shape : {"3", "4", "2x2", "3x3", "2x3"}) {
        for (const Rank per_node : {2, 4}) {
            const Torus torus = of_nodes(shape, per_node);
            const BuildOptions by_node{.by_node = true};
            if (!GetParam().refusal(torus, by_node).empty()) {
                continue;
            }
            const CostSummary whole = summarize(torus, GetParam(), by_node);
            const CostSummary one_each = summarize(torus.nodes(), GetParam());
            EXPECT_EQ(one_each.step_max_hops, whole.step_max_hops) << torus.name();
            EXPECT_NEAR(one_each.sum_link_load, whole.sum_link_load, 1e-9) << torus.name();
            EXPECT_NEAR(one_each.bytes_sent_total, whole.bytes_sent_total, 1e-9) << torus.name();
            const CostSummary folded = ModelSummaries(torus).of(GetParam(), by_node);
            Algorithm steered = GetParam();  // as the model takes it
            steered.traits.steered = true;
            EXPECT_EQ(summarize(torus, steered, by_node).sum_link_load, folded.sum_link_load)
                << torus.name();
            EXPECT_EQ(whole.inside, folded.inside) << torus.name();
            EXPECT_EQ(whole.steps_inside, folded.steps_inside) << torus.name();
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Table, Nodes, testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         algorithm_name);

TEST(NodesOfATorus, AreItsLastDimension) {
    const Torus torus = Torus::parse("2x3x4h");
    EXPECT_EQ("2x3x4h", torus.name());
    EXPECT_EQ(4, torus.per_node());
    EXPECT_EQ("2x3", torus.nodes().name());
    EXPECT_EQ(5, torus.node_of(23));
    EXPECT_TRUE(torus.on_one_node(20, 23));
    EXPECT_FALSE(torus.on_one_node(19, 20));
    EXPECT_FALSE(torus == Torus::parse("2x3x4"));
    EXPECT_EQ("1", Torus::parse("4h").nodes().name());
    EXPECT_EQ(torus, Torus::of_nodes(Torus::parse("2x3"), 4));
    EXPECT_EQ("4mx2h", Torus::of_nodes(Torus::parse("4m"), 2).name());
}

TEST(NodesOfATorus, AreRefusedElsewhere) {
    for (const char* text : {"4hx3", "3x3xh", "h", "3x3x2hm", "3x3x2hh", "3x0h"}) {
        EXPECT_THROW((void)Torus::parse(text), Error) << text;
    }
}

TEST(ByNode, IsRefusedWithoutNodes) {
    const Algorithm& swing = find_algorithm(Collective::allreduce, "swing-b");
    EXPECT_NE(std::string::npos, swing.refusal(Torus({3, 3}), {.by_node = true}).find("3x3x2h"));
    const Algorithm& linear = find_algorithm(Collective::alltoall, "linear");
    EXPECT_NE(std::string::npos,
              linear.refusal(of_nodes("3x3", 2), {.by_node = true}).find("by-node"));
}

}  // namespace
}  // namespace trefoil
