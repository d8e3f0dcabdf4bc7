// SPDX-License-Identifier: BSD-3-Clause
// chain: scan and exscan from each rank to the next, in pieces, on any torus. The linear pipeline
// of Sanders and Traeff, "Parallel prefix (scan) algorithms for MPI", EuroPVM/MPI 2006.
//
// Rank r gets what ranks 0 ... r-1 add up to, puts it before its own contribution, and passes that
// on: ((x0 op x1) op x2) op ..., the same bits on every shape. Each piece of the vector is a part
// with p-1 steps of its own, and piece i begins in step i. So there are p - 2 + pieces steps, in
// each of which a rank sends and receives a piece at most, and every element is sent once.
//
//     piece 0   0>1 1>2 2>3  .   .
//     piece 1    .  0>1 1>2 2>3  .
//     piece 2    .   .  0>1 1>2 2>3
//
// Ranks are numbered row by row. The next rank is a neighbour, but at the end of a row, whose next
// rank is a hop further for each dimension that ends there. One port per rank sends: the order of
// the ranks leaves no choice. exscan keeps what it passes on in scratch.
#include <algorithm>

#include "algorithms/scans/builders.hpp"
#include "algorithms/schedule/minimal_port.hpp"

namespace trefoil {

namespace {

/// Where nobody says, filling the pipeline of a few ranks costs half as much as running it.
int pieces_of(const BuildOptions& options, Rank ranks) {
    return options.pieces != 0 ? static_cast<int>(options.pieces)
                               : std::clamp(2 * (ranks - 1), 4, 32);
}

class Chain {
  public:
    Chain(Collective collective, const Torus& torus, Rank rank, const BuildOptions& options)
        : exclusive_(traits_of(collective).prefix == Prefix::exclusive),
          torus_(torus),
          rank_(rank),
          last_(rank + 1 == torus.ranks()),
          pieces_(pieces_of(options, torus.ranks())),
          writer_(rank) {}

    Schedule write() {
        if (torus_.ranks() == 1) {
            writer_.part(1);
            return writer_.take();
        }
        const int steps = torus_.ranks() - 2 + pieces_;
        for (int piece = 0; piece < pieces_; ++piece) {
            writer_.part(1, keeps_sum_apart() ? 1 : 0);
            for (int s = 0; s < steps; ++s) {
                writer_.step();
                write_step(s - piece);
            }
        }
        return writer_.take();
    }

  private:
    static constexpr Extent vector{0, 1}, scratch{1, 1};

    /// Rank 0 takes nothing, and the last one passes nothing on.
    bool keeps_sum_apart() const { return exclusive_ && rank_ > 0 && !last_; }

    /// In step s of a piece rank s sends it to the next one.
    void write_step(int s) {
        if (s == rank_ && !last_) {
            const Extent sum = keeps_sum_apart() ? scratch : vector;
            writer_.send(rank_ + 1, minimal_port(torus_, rank_, rank_ + 1, 0), {&sum, 1});
        }
        if (s != rank_ - 1 || rank_ == 0) {
            return;
        }
        if (keeps_sum_apart()) {
            writer_.move(Action::replace, vector, scratch.first);
        }
        writer_.receive(rank_ - 1, minimal_port(torus_, rank_ - 1, rank_, 0).opposite());
        writer_.apply(exclusive_ ? Action::replace : Action::prepend, {&vector, 1});
        if (keeps_sum_apart()) {
            writer_.apply(Action::prepend, {&scratch, 1});
        }
    }

    bool exclusive_;
    const Torus& torus_;
    Rank rank_;
    bool last_;
    int pieces_;
    ScheduleWriter writer_;
};

}  // namespace

Schedule build_scan_chain(Collective collective, const Torus& torus, Rank rank,
                          const BuildOptions& options) {
    return Chain(collective, torus, rank, options).write();
}

}  // namespace trefoil
