// SPDX-License-Identifier: BSD-3-Clause
// doubling: scan and exscan in ceil(log2 p) steps, on any torus. Hillis and Steele, "Data parallel
// algorithms", Communications of the ACM 29 (1986), with the operands in the order of the ranks.
//
// Before step k rank r holds the window x(a) op ... op x(r) of up to 2^k ranks, a = r - 2^k + 1 or
// 0. It sends that window to rank r + 2^k, and puts the one that comes from rank r - 2^k, all of
// whose ranks are lower, before its own. A window that begins at rank 0 is complete.
//
//     step 0    0>1>2>3>4>5      each rank to the next
//     step 1    0 -> 2 -> 4      and 1 -> 3 -> 5
//     step 2    0 ----> 4        and 1 ----> 5
//
// One part, the whole vector in each message, so it is for short vectors. Ranks are numbered row by
// row: a message crosses 2^k links of the last dimension while 2^k is below its size, and then few
// of the others. scan builds its window in the vector. exscan builds it in scratch, and all that
// arrives goes into the vector as well, where it takes the place of the own contribution.
#include "algorithms/scans/builders.hpp"
#include "algorithms/schedule/minimal_port.hpp"

namespace trefoil {

namespace {

class Doubling {
  public:
    Doubling(Collective collective, const Torus& torus, Rank rank)
        : exclusive_(traits_of(collective).prefix == Prefix::exclusive),
          torus_(torus),
          rank_(rank),
          writer_(rank) {}

    Schedule write() {
        writer_.part(1, keeps_window_apart() ? 1 : 0);
        for (std::int64_t distance = 1; distance < torus_.ranks(); distance *= 2) {
            writer_.step();
            if (distance == 1 && keeps_window_apart()) {
                writer_.move(Action::replace, vector, scratch.first);
            }
            send(distance);
            receive(distance);
        }
        return writer_.take();
    }

  private:
    static constexpr Extent vector{0, 1}, scratch{1, 1};

    bool is_there(std::int64_t rank) const { return rank >= 0 && rank < torus_.ranks(); }
    /// Rank 0 takes nothing, and the vector of the last one goes to nobody.
    bool keeps_window_apart() const { return exclusive_ && rank_ > 0 && is_there(rank_ + 1); }

    void send(std::int64_t distance) {
        if (is_there(rank_ + distance)) {
            const auto to = static_cast<Rank>(rank_ + distance);
            const Extent window = keeps_window_apart() ? scratch : vector;
            writer_.send(to, minimal_port(torus_, rank_, to, 0), {&window, 1});
        }
    }
    void receive(std::int64_t distance) {
        if (!is_there(rank_ - distance)) {
            return;
        }
        const auto from = static_cast<Rank>(rank_ - distance);
        writer_.receive(from, minimal_port(torus_, from, rank_, 0).opposite());
        const bool first = exclusive_ && distance == 1;
        writer_.apply(first ? Action::replace : Action::prepend, {&vector, 1});
        const bool is_sent_on = is_there(rank_ + 2 * distance);
        if (keeps_window_apart() && is_sent_on) {
            writer_.apply(Action::prepend, {&scratch, 1});
        }
    }

    bool exclusive_;
    const Torus& torus_;
    Rank rank_;
    ScheduleWriter writer_;
};

}  // namespace

Schedule build_scan_doubling(Collective collective, const Torus& torus, Rank rank) {
    return Doubling(collective, torus, rank).write();
}

}  // namespace trefoil
