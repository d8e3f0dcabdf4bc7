// SPDX-License-Identifier: BSD-3-Clause
// trivance-g: allreduce of tiny vectors as an allgather of contributions, reduced in rank order.
//
// Trivance's pattern (Juerss, Addanki, Schmid) carries contributions instead of sums, so that every
// rank adds them in rank order: results are identical on all ranks and on all torus shapes, and
// operations need not commute. Invariant: a rank holds the contributions of a box of ranks around
// it, all of it in the dimensions that are done, one rank wide in those to come. Each step appends
// the outermost x offsets of the ranks at distance x on either side; none arrives twice.
// ceil(log3 d) steps per dimension, N - 1 contributions received by each rank of N.
//
//     n = 7, step 0: [-1, 1], step 1: [2, 3] from r+2, [-3, -2] from r-2
#include <algorithm>
#include <array>
#include <vector>

#include "algorithms/schedule/long_dimensions.hpp"
#include "algorithms/trivance/builders.hpp"
#include "algorithms/trivance/runs.hpp"

namespace trefoil {

namespace {

/// Offsets appended in one step on each side; the distances are as large.
struct Growth {
    Rank left = 0;
    Rank right = 0;
};

/// Windows grow threefold until the rest is spread evenly over the steps that remain: load grows
/// with the square of the width, so this is the least.
std::vector<Growth> window_growth(Rank size) {
    std::vector<Growth> result;
    Rank width = 1;
    for (int rest = trivance_steps(size); rest > 0; --rest) {
        const std::int64_t even = (static_cast<std::int64_t>(size) - width + rest - 1) / rest;
        const auto added = static_cast<Rank>(std::min<std::int64_t>(2LL * width, even));
        result.push_back({(added + 1) / 2, added / 2});
        width += added;
    }
    return result;
}

class GatherBuilder {
  public:
    GatherBuilder(const Torus& torus, Rank rank) : torus_(torus), rank_(rank), writer_(rank) {
        for (const int j : long_dimensions(torus)) {
            Axis axis;
            axis.dimension = j;
            axis.growth = window_growth(torus.size(j));
            for (const Growth& g : axis.growth) {
                axis.below += g.left;
            }
            axes_.push_back(std::move(axis));
        }
    }

    Schedule build() {
        const std::size_t parts = std::max<std::size_t>(axes_.size(), 1);
        for (std::size_t p = 0; p < parts; ++p) {
            writer_.part(1, axes_.empty() ? 0 : static_cast<Block>(torus_.ranks()));
            if (!axes_.empty()) {
                part();
            }
            std::rotate(axes_.begin(), axes_.begin() + (axes_.empty() ? 0 : 1), axes_.end());
        }
        return writer_.take();
    }

  private:
    /// A dimension as this part sees it: contributions are numbered by their offsets, `below` being
    /// offset 0, the dimension that is done first varying fastest. Then every message is one run.
    struct Axis {
        int dimension = 0;
        std::vector<Growth> growth;
        Rank below = 0;    ///< offsets on the left of the own one
        Block stride = 1;  ///< blocks from one offset to the next
    };

    void part() {
        Block own = 1;
        Block stride = 1;
        for (Axis& axis : axes_) {
            axis.stride = stride;
            own += static_cast<Block>(axis.below) * stride;
            stride *= static_cast<Block>(torus_.size(axis.dimension));
        }
        bool first = true;
        Block base = own;  // offset 0 of the dimensions to come, everything of those done
        for (const Axis& axis : axes_) {
            base -= static_cast<Block>(axis.below) * axis.stride;
            Growth window;
            for (const Growth& g : axis.growth) {
                writer_.step();
                if (first) {
                    writer_.move(Action::replace, {0, 1}, own);
                    first = false;
                }
                exchange(axis, base, window, g);
                window = {window.left + g.left, window.right + g.right};
            }
        }
        reduce_in_rank_order();
    }

    void exchange(const Axis& axis, Block base, Growth window, Growth g) {
        const auto run = [&](Rank first, Rank count) {
            return std::array{Extent{base + static_cast<Block>(axis.below + first) * axis.stride,
                                     static_cast<Block>(count) * axis.stride}};
        };
        const int j = axis.dimension;
        const Rank left_peer = torus_.shifted(rank_, j, -g.left);
        const Rank right_peer = torus_.shifted(rank_, j, g.right);
        // What is appended on the left travels to the right.
        writer_.send(torus_.shifted(rank_, j, g.left), Port::plus(j), run(-window.left, g.left));
        if (g.right > 0) {
            writer_.send(torus_.shifted(rank_, j, -g.right), Port::minus(j),
                         run(window.right - g.right + 1, g.right));
        }
        writer_.receive(left_peer, Port::minus(j), Action::replace,
                        run(-window.left - g.left, g.left));
        if (g.right > 0) {
            writer_.receive(right_peer, Port::plus(j), Action::replace,
                            run(window.right + 1, g.right));
        }
    }

    void reduce_in_rank_order() {
        writer_.step();
        for (Rank contributor = 0; contributor < torus_.ranks(); ++contributor) {
            Block block = 1;
            for (const Axis& axis : axes_) {
                const Rank size = torus_.size(axis.dimension);
                const Rank offset = torus_.coordinate(contributor, axis.dimension) -
                                    torus_.coordinate(rank_, axis.dimension);
                block += static_cast<Block>((offset + axis.below + size) % size) * axis.stride;
            }
            writer_.move(contributor == 0 ? Action::replace : Action::reduce, {block, 1}, 0);
        }
    }

    const Torus& torus_;
    Rank rank_;
    ScheduleWriter writer_;
    std::vector<Axis> axes_;
};

}  // namespace

Schedule build_trivance_g(const Torus& torus, Rank rank) {
    return GatherBuilder(torus, rank).build();
}

}  // namespace trefoil
