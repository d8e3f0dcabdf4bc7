// SPDX-License-Identifier: BSD-3-Clause
// What auto's choice costs beyond the fastest candidate where nobody waits for all others: all of
// them timed by the simulator's flow model, on a machine with the numbers of the price.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "algorithms/analysis/pipeline_pieces.hpp"
#include "algorithms/simulation/grid_network.hpp"
#include "algorithms/simulation/models.hpp"
#include "comm/plan/select.hpp"

namespace trefoil::test::flow_regret_test {
namespace {

constexpr std::size_t kib = 1024, mib = 1024 * kib;
/// The default: what one segment of a vector has.
constexpr std::size_t segment = mib;
/// Pipelines of more pieces go on as they did between the half of these and all of them.
constexpr Block most_simulated_pieces = 256;
/// On tori of more than so many ranks no candidate is simulated whose price is so many times that
/// of the cheapest.
constexpr Rank all_simulated = 64;
constexpr double dearest_simulated = 3;
constexpr double most_regret = 0.05, most_regret_with_nodes = 0.10;

/// A step is complete when its sends are, as in the library, and each further message through a
/// port takes half a step, as to the price. TREFOIL_TEST_PLAIN: neither, as `trefoil sim` has it.
FlowOptions rules() {
    if (std::getenv("TREFOIL_TEST_PLAIN") != nullptr) {
        return {};
    }
    return {.gap = default_cost_model.alpha / 2, .sends_complete = true};
}

/// The messages of one algorithm, for vectors of all sizes.
class Flow {
  public:
    Flow(const Network& network, Algorithm algorithm, const BuildOptions& options)
        : algorithm_(std::move(algorithm)),
          symmetry_(common_symmetry(network, algorithm_, options)),
          folded_(symmetry_->trivial() ? nullptr : network.folded(symmetry_)),
          network_(folded_ ? *folded_ : network),
          traffic_(network.torus(), algorithm_, options, {}, symmetry_) {}
    double seconds(double bytes) const {
        const CostModel machine = default_cost_model;
        return flow_time(network_, traffic_, bytes, {.alpha = machine.alpha, .hop = machine.tau},
                         rules());
    }

  private:
    Algorithm algorithm_;
    std::shared_ptr<const Symmetry> symmetry_;
    std::unique_ptr<Network> folded_;
    const Network& network_;
    Traffic traffic_;
};

std::vector<GridDimension> dimensions_of(const Torus& torus) {
    const CostModel machine = default_cost_model;
    std::vector<GridDimension> all;
    for (int j = 0; j < torus.dimensions(); ++j) {
        const GridDimension links{RowKind::ring, 1 / machine.beta};
        GridDimension memory{RowKind::host, 1 / machine.inside_byte};
        memory.latency = machine.inside_step;
        all.push_back(torus.is_host(j) ? memory : links);
    }
    return all;
}

/// One torus, whose links and memory have the rates of the price.
class FlowTimes {
  public:
    explicit FlowTimes(const Torus& torus) : network_(torus, dimensions_of(torus)) {}

    /// All segments of the vector are one pipeline, as they are to the price; where it returns, for
    /// so many times as long.
    double seconds(const Choice& choice, std::size_t bytes) {
        const std::size_t segments = std::max<std::size_t>(1, (bytes + segment - 1) / segment);
        if (choice.options.pieces == 0 || choice.algorithm->collective != Collective::allreduce) {
            return in_one_pipeline(choice, bytes);
        }
        PipelineCut cut{choice.options.pieces, static_cast<Block>(segments)};
        const int fill =
            choice.algorithm
                ->build(network_.torus(), 0, {.pieces = 1, .by_node = choice.options.by_node})
                .parts.front()
                .steps.count -
            1;
        const double steps = cut.steps(fill);
        cut.returns = true;
        return in_one_pipeline(choice, bytes) * cut.steps(fill) / steps;
    }
    double in_one_pipeline(const Choice& choice, std::size_t bytes) {
        const auto length = static_cast<double>(bytes);
        if (choice.options.pieces == 0) {
            return flow(choice, 0).seconds(length);
        }
        const std::size_t segments = std::max<std::size_t>(1, (bytes + segment - 1) / segment);
        const auto pieces = static_cast<Block>(
            std::min<std::size_t>(most_pieces, choice.options.pieces * segments));
        const double piece = length / pieces;
        const Block most = most_simulated_pieces;
        if (pieces <= most) {
            return flow(choice, pieces).seconds(length);
        }
        const double all = flow(choice, most).seconds(most * piece);
        const double half = flow(choice, most / 2).seconds(most / 2 * piece);
        return all + (pieces - most) * (all - half) / (most / 2);
    }

    /// With those pieces of a segment, a power of two, with which the vector is the fastest.
    Choice with_best_pieces(Choice choice, std::size_t bytes) {
        Choice best = choice;
        double least = INFINITY;
        for (const Block pieces : {1, 2, 4, 8, 16, 32, 64}) {
            choice.options.pieces = pieces;
            const double each = seconds(choice, bytes);
            if (each > least) {
                break;  // and more of them are slower still
            }
            best = choice;
            least = each;
        }
        return best;
    }

  private:
    const Flow& flow(const Choice& choice, Block pieces) {
        const bool by_node = choice.options.by_node;
        std::unique_ptr<Flow>& known = flows_[{choice.algorithm, by_node, pieces}];
        if (known == nullptr) {
            Algorithm steered = *choice.algorithm;
            steered.traits.steered = true;  // as to the price: each port has a link of its own
            known = std::make_unique<Flow>(network_, steered,
                                           BuildOptions{.pieces = pieces, .by_node = by_node});
        }
        return *known;
    }

    GridNetwork network_;
    std::map<std::tuple<const Algorithm*, bool, Block>, std::unique_ptr<Flow>> flows_;
};

/// What auto may take: its candidates, pipelines with the pieces that suit them best. On large tori
/// without the dearest.
std::vector<Considered> candidates(FlowTimes& times, Collective collective, const Torus& torus,
                                   std::size_t bytes) {
    std::vector<Considered> considered, all;
    (void)choose_algorithm(collective, torus, bytes, {}, {}, &considered);
    std::erase_if(considered, [](const Considered& one) { return !one.price; });
    double most = INFINITY;
    for (const Considered& one : considered) {
        most = torus.ranks() <= all_simulated
                   ? most
                   : std::min(most, dearest_simulated * one.price->sum());
    }
    for (const Considered& one : considered) {
        if (one.price->sum() > most) {
            continue;
        }
        all.push_back(one.choice.options.pieces == 0
                          ? one
                          : modelled(torus, times.with_best_pieces(one.choice, bytes), bytes));
    }
    return all;
}

/// What no link and no port does is as the price has it: gathering blocks for messages of alltoall,
/// and contributions that each rank reduces itself.
double beside(const Considered& one) {
    return one.price->terms.copies + one.price->reductions;
}

struct Cell {
    Collective collective;
    std::string shape;
    std::size_t bytes;
    Choice chosen, fastest;
    double seconds, least;
    double regret() const { return seconds / least - 1; }
    std::string text() const {
        char figures[64];
        std::snprintf(figures, sizeof figures, "%.2f us", 1e6 * seconds);
        std::string all = std::string(to_string(collective)) + " of " + std::to_string(bytes) +
                          " bytes on " + shape + ": " + to_string(chosen) + " takes " + figures;
        std::snprintf(figures, sizeof figures, " %.2f us, regret %.1f %%", 1e6 * least,
                      100 * regret());
        return all + ", " + to_string(fastest) + figures;
    }
};

Cell simulate(FlowTimes& times, Collective collective, const Torus& torus, std::size_t bytes) {
    const Choice chosen = choose_algorithm(collective, torus, bytes).choice;
    const double seconds = times.seconds(chosen, bytes) + beside(modelled(torus, chosen, bytes));
    Cell cell{collective, torus.name(), bytes, chosen, chosen, seconds, seconds};
    for (const Considered& one : candidates(times, collective, torus, bytes)) {
        const double each = times.seconds(one.choice, bytes) + beside(one);
        if (each < cell.least) {
            cell.fastest = one.choice;
            cell.least = each;
        }
    }
    return cell;
}

/// Where more than that is lost, and why (docs/choice-records.md, "And in the simulator?"): a sum
/// over steps does not see that steps of some parts or ranks pass while others wait.
struct Known {
    Collective collective;
    const char* shape;
    std::size_t bytes;
    double regret;
};
const std::vector<Known> known{
    {Collective::reduce, "8", 4 * kib, 0.07},
    {Collective::reduce, "9", 32 * kib, 0.22},
    {Collective::reduce, "3x3", 32 * kib, 0.08},
    {Collective::gather, "9", 256 * kib, 0.06},
    {Collective::gather, "3x3x3", 256 * kib, 0.12},
    {Collective::alltoall, "4x4", 4 * kib, 0.11},
    {Collective::allreduce, "2x2x2h", 256 * kib, 0.27},
    {Collective::allreduce, "3x3x2h", 32 * kib, 0.16},
    {Collective::allreduce, "3x3x2h", 256 * kib, 0.31},
    {Collective::reduce_scatter, "2x2x2h", 32 * kib, 0.28},
    {Collective::reduce_scatter, "3x3x2h", 32 * kib, 0.15},
    {Collective::reduce_scatter, "2x2x2x2h", 32 * kib, 0.22},
    {Collective::allgather, "2x2x2h", 32 * kib, 0.33},
    {Collective::allgather, "3x3x2h", 32 * kib, 0.17},
    {Collective::allgather, "2x2x2x2h", 32 * kib, 0.17},
};

const Known* known_of(const Cell& cell) {
    const auto found = std::ranges::find_if(known, [&](const Known& each) {
        return each.collective == cell.collective && each.shape == cell.shape &&
               each.bytes == cell.bytes;
    });
    return found == known.end() ? nullptr : &*found;
}

const std::vector<Collective> collectives{
    Collective::allreduce, Collective::reduce_scatter, Collective::allgather, Collective::bcast,
    Collective::reduce,    Collective::gather,         Collective::scatter,   Collective::alltoall};
const std::vector<std::size_t> grid{8,         64,  512,     4 * kib,  32 * kib,
                                    256 * kib, mib, 4 * mib, 16 * mib, 64 * mib};

/// By collective and shape: how many cells, their median and worst.
void print_table(std::vector<Cell> cells) {
    std::printf("| Collective | Torus | Cells | Median | Worst | Where |\n");
    std::printf("| --- | --- | --- | --- | --- | --- |\n");
    for (auto first = cells.begin(); first != cells.end();) {
        const auto last = std::find_if(first, cells.end(), [&](const Cell& cell) {
            return cell.collective != first->collective || cell.shape != first->shape;
        });
        std::sort(first, last,
                  [](const Cell& a, const Cell& b) { return a.regret() < b.regret(); });
        const Cell& median = *(first + (last - first - 1) / 2);
        const Cell& worst = *(last - 1);
        std::printf("| %s | %s | %d | %.1f %% | %.1f %% | %s |\n",
                    std::string(to_string(first->collective)).c_str(), first->shape.c_str(),
                    static_cast<int>(last - first), 100 * median.regret(), 100 * worst.regret(),
                    worst.regret() < 0.0005 ? "" : worst.text().c_str());
        first = last;
    }
    std::fflush(stdout);
}

std::vector<Cell> cells_of(const std::string& shape) {
    const Torus torus = Torus::parse(shape);
    std::vector<Cell> cells;
    for (const Collective collective : collectives) {
        if (collective == Collective::alltoall && torus.ranks() > 256) {
            continue;  // p messages of each of p ranks
        }
        FlowTimes times(torus);
        for (const std::size_t bytes : grid) {
            cells.push_back(simulate(times, collective, torus, bytes));
        }
    }
    return cells;
}

const std::vector<const char*> shapes{"8", "9", "3x3", "4x4", "2x4", "3x3x3", "8x8"};

// Cells drawn by a seed, which is printed where one fails.
TEST(FlowRegret, IsSmallInCellsThatAreDrawn) {
    const auto seed = static_cast<unsigned>(std::random_device{}());
    std::mt19937 draw(seed);
    const auto one_of = [&](const auto& list) { return list[draw() % list.size()]; };
    for (int i = 0; i < 20; ++i) {
        const Torus torus = Torus::parse(one_of(shapes));
        FlowTimes times(torus);
        const Cell cell = simulate(times, one_of(collectives), torus, one_of(grid));
        const Known* const more = known_of(cell);
        EXPECT_LE(cell.regret(), more == nullptr ? most_regret : more->regret)
            << cell.text() << " (seed " << seed << ")";
    }
}

TEST(FlowRegret, IsSmallOnTheGridLong) {
    std::vector<Cell> all;
    for (const char* const shape : shapes) {
        const std::vector<Cell> cells = cells_of(shape);
        all.insert(all.end(), cells.begin(), cells.end());
    }
    for (const Cell& cell : all) {
        const Known* const more = known_of(cell);
        EXPECT_LE(cell.regret(), more == nullptr ? most_regret : more->regret) << cell.text();
        EXPECT_TRUE(more == nullptr || cell.regret() > most_regret)
            << cell.text() << ": strike it off the list";
    }
    std::ranges::stable_sort(all, {}, &Cell::collective);
    print_table(std::move(all));
}

// Flat or by node, among all else.
TEST(FlowRegret, IsSmallWithSeveralRanksOnANode) {
    for (const char* const shape : {"2x2x2h", "3x3x2h", "4x4h", "2x2x2x2h"}) {
        for (const Collective collective : {Collective::allreduce, Collective::reduce_scatter,
                                            Collective::allgather, Collective::alltoall}) {
            const Torus torus = Torus::parse(shape);
            FlowTimes times(torus);
            for (const std::size_t bytes : grid) {
                const Cell cell = simulate(times, collective, torus, bytes);
                const Known* const more = known_of(cell);
                EXPECT_LE(cell.regret(), more == nullptr ? most_regret_with_nodes : more->regret)
                    << cell.text();
            }
        }
    }
}

// TREFOIL_TEST_SHAPE=27x27, say, in a release build: a minute.
TEST(FlowRegret, OnTheShapeAskedFor) {
    const char* const shape = std::getenv("TREFOIL_TEST_SHAPE");
    if (shape == nullptr) {
        GTEST_SKIP() << "no shape is asked for";
    }
    const std::vector<Cell> cells = cells_of(shape);
    for (const Cell& cell : cells) {
        if (cell.regret() > most_regret) {
            std::printf("%s\n", cell.text().c_str());
        }
    }
    print_table(cells);
}

}  // namespace
}  // namespace trefoil::test::flow_regret_test
