// SPDX-License-Identifier: BSD-3-Clause
// bruck-l, bruck-l-one-way: allreduce in ceil(log3 d) steps per dimension, the whole share in every
// message.
//
// The census pattern of Bar-Noy, Kipnis and Schieber (Parallel Processing Letters 3(1), 1993), with
// two messages per step as Bruck and Ho have it (ibid. 3(4), 1993). Before a step a rank holds two
// sums: F over a window of w ranks that begins with itself, X over the same without itself. The
// windows grow from 1 to w' = 3w - j, j = 0, 1 or 2, up to the ring's size d; F grows by what
// arrives from two ranks ahead,
//     j = 0:  F from w     F from 2w
//     j = 1:  F from w     X from 2w - 1
//     j = 2:  X from w - 1 X from 2w - 2
// and X by the same. 2D parts: D look ahead, D behind; part p goes through dimension p, then p + 1,
// and so on, because X is of use only while no other dimension moves. Windows of neighbours
// overlap: ranks associate sums in different ways.
//
// One way: the D parts that look behind, alone, as it was published: messages go to larger
// coordinates, until the way back is shorter.
//
//     d = 7:   w = 1 -> 3 (j = 0)    r <- r+1, r+2 (F)
//              w = 3 -> 7 (j = 2)    r <- r+2, r+4 (X)
#include <algorithm>
#include <array>
#include <initializer_list>
#include <vector>

#include "algorithms/latency/builders.hpp"
#include "algorithms/schedule/long_dimensions.hpp"

namespace trefoil {

namespace {

struct CensusMessage {
    Rank distance = 0;
    bool without_self = false;  ///< X, not F
};

struct CensusStep {
    std::vector<CensusMessage> messages;
    bool keeps_x = false;  ///< X is needed later: arrivals go there, too
};

std::vector<CensusStep> census(Rank size) {
    std::vector<Rank> widths;  // descending
    for (Rank width = size; width > 1; width = (width + 2) / 3) {
        widths.push_back(width);
    }
    std::vector<CensusStep> steps(widths.size());
    Rank width = 1;
    for (std::size_t k = 0; k < steps.size(); ++k) {
        const Rank next = widths[widths.size() - 1 - k];
        const Rank excess = 3 * width - next;
        const Rank first = excess == 2 ? 1 : 0;
        steps[k].messages.push_back({width - first, first > 0});
        if (next > 2) {  // else X from next door is empty
            steps[k].messages.push_back({2 * width - excess, excess > 0});
        }
        width = next;
    }
    bool needed = false;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
        step->keeps_x = needed;
        needed = needed || std::ranges::any_of(step->messages, &CensusMessage::without_self);
    }
    return steps;
}

class CensusBuilder {
  public:
    CensusBuilder(const Torus& torus, Rank rank) : torus_(torus), rank_(rank), writer_(rank) {}

    Schedule build(std::initializer_list<int> senses) {
        const std::vector<int> dimensions = long_dimensions(torus_);
        const std::size_t moving = dimensions.size();
        bool keeps_x = false;
        for (const int j : dimensions) {
            steps_.push_back(census(torus_.size(j)));
            keeps_x = keeps_x || steps_.back()[0].keeps_x;
        }
        for (const int sense : senses) {
            for (std::size_t p = 0; p < moving; ++p) {
                writer_.part(1, keeps_x ? 1 : 0);
                for (std::size_t i = 0; i < moving; ++i) {
                    const std::size_t at = (p + i) % moving;
                    dimension(dimensions[at], steps_[at], sense);
                }
            }
        }
        if (moving == 0) {
            writer_.part(1);
        }
        return writer_.take();
    }

  private:
    void dimension(int j, const std::vector<CensusStep>& steps, int sense) {
        bool x_is_empty = true;
        for (const CensusStep& step : steps) {
            writer_.step();
            for (const CensusMessage& m : step.messages) {
                writer_.send(torus_.shifted(rank_, j, -sense * m.distance), port(j, m, sense),
                             std::array{m.without_self ? x_ : f_});
            }
            for (const CensusMessage& m : step.messages) {
                writer_.receive(torus_.shifted(rank_, j, sense * m.distance),
                                port(j, m, sense).opposite(), Action::reduce, std::array{f_});
                if (step.keeps_x) {
                    writer_.apply(x_is_empty ? Action::replace : Action::reduce, std::array{x_});
                    x_is_empty = false;
                }
            }
        }
    }

    /// By the shorter way; on a tie against the sense in which the part looks.
    Port port(int j, const CensusMessage& m, int sense) const {
        const bool the_other_way = 2 * static_cast<std::int64_t>(m.distance) > torus_.size(j);
        return Port::towards(j, the_other_way ? sense : -sense);
    }

    static constexpr Extent f_{0, 1};
    static constexpr Extent x_{1, 1};

    const Torus& torus_;
    Rank rank_;
    ScheduleWriter writer_;
    std::vector<std::vector<CensusStep>> steps_;  ///< of each long dimension
};

}  // namespace

Schedule build_bruck_l(const Torus& torus, Rank rank) {
    return CensusBuilder(torus, rank).build({1, -1});
}

Schedule build_bruck_l_one_way(const Torus& torus, Rank rank) {
    return CensusBuilder(torus, rank).build({-1});
}

}  // namespace trefoil
