// SPDX-License-Identifier: BSD-3-Clause
// What auto's choice costs beyond the cheapest of all algorithms, found by trying each of them:
// with a price that is stated here anew, over the schedules of all ranks and all numbers of pieces.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "algorithms/registry/registry.hpp"
#include "comm/plan/select.hpp"

namespace trefoil::test::regret_test {
namespace {

constexpr std::size_t kib = 1024, mib = 1024 * kib;
/// The default: what one segment of a vector has.
constexpr std::size_t segment = mib;

struct Tried {
    std::string name;
    double seconds = INFINITY;
};

/// Of all ranks' schedules; the size of the vector does not matter.
const CostSummary& summary_of(const Torus& torus, const Algorithm& algorithm, Block pieces) {
    static std::map<std::tuple<std::string, const Algorithm*, Block>, CostSummary> known;
    const auto [place, added] = known.try_emplace({torus.name(), &algorithm, pieces});
    if (added) {
        Algorithm steered = algorithm;
        steered.traits.steered = true;
        place->second = summarize(torus, steered, {.pieces = pieces});
    }
    return place->second;
}

/// docs/cost-model.md. Nothing of the selection is used. Steps take `longer` times as long.
double price(const Torus& torus, const Algorithm& algorithm, Block pieces, std::size_t bytes,
             double longer = 1) {
    const CostSummary& cost = summary_of(torus, algorithm, pieces);
    const CostModel machine = default_cost_model;
    const auto length = static_cast<double>(bytes);
    double seconds = 0, on_links = 0;
    for (std::size_t step = 0; step < cost.step_max_link_load.size(); ++step) {
        seconds += machine.alpha + cost.step_max_hops[step] * machine.tau;
        on_links += cost.step_max_link_load[step] * length * machine.beta;
    }
    // Where all messages leave at once, they are no steps, but messages that the root takes in.
    seconds -= machine.alpha * static_cast<double>(cost.steps_at_once) +
               machine.tau * static_cast<double>(cost.hops_at_once);
    on_links -= cost.load_at_once * length * machine.beta;
    seconds *= longer;
    on_links *= longer;
    seconds += on_links;
    seconds += cost.packed * length * machine.copy + cost.pulled * length * machine.pull;
    // Further messages through a port wait for each other, unless the links keep them waiting.
    const double steps = static_cast<double>(cost.step_max_link_load.size()) - cost.steps_at_once;
    const int further = cost.steps_at_once + std::max(0, cost.max_sends_per_port_per_step - 1);
    seconds += std::max(0.0, machine.alpha * 0.5 * further - on_links / std::max(1.0, steps));
    if (algorithm.selection.gathers_contributions) {
        const bool whole_vectors = algorithm.collective == Collective::allreduce;
        const double stored = whole_vectors ? length * machine.copy : 0;
        seconds += (machine.alpha * 0.05 + stored) * (torus.ranks() - 1);
    }
    if (algorithm.selection.stores_sums) {
        seconds += (machine.alpha * 0.05 + length * machine.copy) * cost.sent;
    }
    // Links wait for a message that is late, unless others can go.
    const bool always_others = pieces > 0 || algorithm.sends_at_once ||
                               algorithm.collective == Collective::alltoall ||
                               traits_of(algorithm.collective).rooted();
    if (!always_others) {
        seconds += 0.04 * on_links / std::max(1, cost.max_sends_per_port_per_step);
    }
    return seconds;
}

/// Who may run without being named, where a floating-point sum must have the same bits on all
/// ranks.
bool may_run(const Algorithm& algorithm, const Torus& torus, std::size_t bytes) {
    const std::size_t vectors =
        algorithm.collective == Collective::reduce_scatter ? 1 : torus.ranks();
    const bool stores_all = algorithm.selection.gathers_contributions && bytes * vectors > 16 * kib;
    return algorithm.traits.identical_results && !algorithm.traits.reads_peers && !stores_all &&
           bytes <= algorithm.selection.most_bytes && !algorithm.selection.only_by_name_on(torus) &&
           algorithm.refusal(torus).empty();
}

/// All segments together are one pipeline; but two of those of an allreduce are open at a time, and
/// each takes all its steps.
double price_in_segments(const Torus& torus, const Choice& choice, std::size_t bytes) {
    const std::size_t segments = std::max<std::size_t>(1, (bytes + segment - 1) / segment);
    const auto pieces = static_cast<Block>(choice.options.pieces * segments);
    double longer = 1;
    if (pieces > 0 && choice.algorithm->collective == Collective::allreduce && segments > 2) {
        const double fill = summary_of(torus, *choice.algorithm, 1).steps - 1;
        const double each = (fill + choice.options.pieces) / 2;
        longer = (fill + std::max<double>(pieces, each * static_cast<double>(segments))) /
                 (fill + pieces);
    }
    return price(torus, *choice.algorithm, pieces, bytes, longer);
}

/// Of a pipeline: into how many pieces to cut a segment, a power of two, to be fastest. 0: it is
/// none.
Block pieces_of_segment(const Torus& torus, const Algorithm& algorithm, std::size_t bytes) {
    if (!algorithm.abilities.pieces) {
        return 0;
    }
    Block best = 1;
    for (const Block pieces : {2, 4, 8, 16, 32, 64}) {
        const auto seconds = [&](Block n) {
            return price_in_segments(torus, {&algorithm, {.pieces = n}}, bytes);
        };
        best = seconds(pieces) < seconds(best) ? pieces : best;
    }
    return best;
}

Tried cheapest(Collective collective, const Torus& torus, std::size_t bytes) {
    Tried best;
    for (const Algorithm& algorithm : algorithms()) {
        if (algorithm.collective != collective || !may_run(algorithm, torus, bytes)) {
            continue;
        }
        const Block pieces = pieces_of_segment(torus, algorithm, bytes);
        const double seconds = price_in_segments(torus, {&algorithm, {.pieces = pieces}}, bytes);
        if (seconds < best.seconds) {
            best = {std::string(algorithm.name), seconds};
        }
    }
    return best;
}

void compare(const std::vector<const char*>& shapes, const std::vector<std::size_t>& sizes) {
    for (const Collective collective :
         {Collective::allreduce, Collective::reduce_scatter, Collective::allgather,
          Collective::bcast, Collective::reduce, Collective::gather, Collective::scatter,
          Collective::alltoall}) {
        for (const char* const shape : shapes) {
            const Torus torus = Torus::parse(shape);
            if (collective == Collective::alltoall && torus.ranks() > 256) {
                continue;  // p messages of each of p ranks
            }
            for (const std::size_t bytes : sizes) {
                const AlgorithmChoice made = choose_algorithm(collective, torus, bytes);
                const double seconds = price_in_segments(torus, made.choice, bytes);
                const Tried best = cheapest(collective, torus, bytes);
                const double regret = seconds / best.seconds - 1;
                EXPECT_LE(regret, 1e-9)
                    << to_string(collective) << " " << shape << " " << bytes << ": "
                    << to_string(made.choice) << " takes " << 1e6 * seconds << " us, " << best.name
                    << " " << 1e6 * best.seconds;
                if (std::getenv("TREFOIL_TEST_TABLE") != nullptr) {
                    std::printf("| %s | %s | %zu | %s | %.2f | %s | %.2f | %.3f %% |\n",
                                std::string(to_string(collective)).c_str(), shape, bytes,
                                to_string(made.choice).c_str(), 1e6 * seconds, best.name.c_str(),
                                1e6 * best.seconds, 100 * std::max(0.0, regret));
                }
            }
        }
    }
}

TEST(Regret, IsNoneOnSmallShapes) {
    compare({"8", "3x3"}, {8, 32 * kib, mib});
}

TEST(Regret, IsNoneWhereTheNetworkIsNoWholeTorus) {
    compare({"3x3:cable=+0@4", "3x3:node=4", "3mx3"}, {8, mib, 16 * mib});
}

const std::vector<std::size_t> grid{8,         64,  512,     4 * kib,  32 * kib,
                                    256 * kib, mib, 4 * mib, 16 * mib, 64 * mib};

TEST(Regret, IsNoneOnTheGridLong) {
    compare({"8", "9", "3x3", "4x4", "2x4", "3x3x3", "8x8"}, grid);
}

// TREFOIL_TEST_SHAPE=27x27, say, in a release build: a minute or two.
TEST(Regret, IsNoneOnTheShapeAskedFor) {
    const char* const shape = std::getenv("TREFOIL_TEST_SHAPE");
    if (shape == nullptr) {
        GTEST_SKIP() << "no shape is asked for";
    }
    compare({shape}, grid);
}

}  // namespace
}  // namespace trefoil::test::regret_test
