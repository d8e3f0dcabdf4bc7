// SPDX-License-Identifier: BSD-3-Clause
// linear, pairwise, orbit, bruck: alltoalls by messages that the network routes through
// several dimensions, on any torus (orbit: equal sizes).
//
// linear: every rank sends to all others, the nearest first, in as few steps as may be. pairwise: a
// step for each, and on powers of two ranks r and r xor o exchange in step o. orbit: in a step all
// ranks send to the same offsets, which load every direction alike
// (algorithms/alltoall/orbits.hpp). Blocks go straight to their targets in all three. bruck: the
// offset (target - source) mod p is taken by its digits in base r; blocks with digit v of weight w
// go w * v ranks further together.
#include <algorithm>
#include <vector>

#include "algorithms/alltoall/orbits.hpp"
#include "algorithms/alltoall/own_block.hpp"
#include "algorithms/alltoall/shifts.hpp"
#include "algorithms/schedule/straight_offsets.hpp"

namespace trefoil {

namespace {

class ShiftWriter {
  public:
    ShiftWriter(const Torus& torus, Rank rank)
        : torus_(torus),
          ranks_(torus.ranks()),
          rank_(rank),
          writer_(rank),
          own_(rank, torus.ranks()) {
        writer_.part(static_cast<Block>(2 * ranks_));
    }

    void step() { own_.step(writer_); }

    /// Sends the block of `to`, and receives that of `from`.
    void exchange(Rank to, Rank from, int first_dimension = 0, bool other_way = false) {
        const Extent sent{static_cast<Block>(to), 1};
        const Extent received{static_cast<Block>(ranks_ + from), 1};
        const Port out = straight_port(torus_, rank_, to, first_dimension, other_way);
        const Port back = straight_port(torus_, from, rank_, first_dimension, other_way).opposite();
        writer_.send(to, out, {&sent, 1});
        writer_.receive(from, back, Action::replace, {&received, 1});
    }

    Schedule take() {
        own_.finish(writer_);
        return writer_.take();
    }

  private:
    const Torus& torus_;
    Rank ranks_;
    Rank rank_;
    ScheduleWriter writer_;
    OwnBlock own_;
};

Rank ahead(Rank rank, std::int64_t by, Rank ranks) {
    return static_cast<Rank>((rank + by) % ranks);
}

Rank behind(Rank rank, std::int64_t by, Rank ranks) {
    return static_cast<Rank>((rank + ranks - by % ranks) % ranks);
}

/// One digit of the offsets of a Bruck alltoall.
struct Digit {
    std::int64_t weight = 1;
    int radix = 2;
    std::int64_t of(std::int64_t offset) const { return offset / weight % radix; }
};

int radix_of(const BuildOptions& options) {
    return std::max(2, options.radix);
}

/// Where a rank has the blocks of a message. A block is known by its offset: those that are under
/// way, of all sources, have one place each. Digits below that of the message are done.
class BruckBlocks {
  public:
    BruckBlocks(Rank ranks, Rank rank) : p_(ranks), rank_(rank) {}

    std::vector<Extent> sent(Digit digit, int value) const {
        return blocks(digit, value, [&](std::int64_t offset) {
            return offset % digit.weight == 0 ? static_cast<Block>(ahead(rank_, offset, p_))
                                              : scratch(offset);
        });
    }

    std::vector<Extent> received(Digit digit, int value) const {
        const std::int64_t next = digit.weight * digit.radix;
        return blocks(digit, value, [&](std::int64_t offset) {
            return offset < next ? static_cast<Block>(p_ + behind(rank_, offset, p_))
                                 : scratch(offset);
        });
    }

  private:
    Block scratch(std::int64_t offset) const { return static_cast<Block>(2 * p_ + offset - 1); }

    template <typename Place>
    std::vector<Extent> blocks(Digit digit, int value, Place&& place) const {
        std::vector<Extent> list;
        for (std::int64_t o = 1; o < p_; ++o) {
            if (digit.of(o) == value) {
                list.push_back({place(o), 1});
            }
        }
        return list;
    }

    Rank p_;
    Rank rank_;
};

}  // namespace

Schedule build_linear_alltoall(const Torus& torus, Rank rank) {
    ShiftWriter writer(torus, rank);
    Rank under_way = 0;
    for (const StraightOffset& offset : straight_offsets(torus)) {
        if (under_way++ % straight_peers_per_step == 0) {
            writer.step();
        }
        writer.exchange(torus.translated(rank, offset.rank, 1),
                        torus.translated(rank, offset.rank, -1), offset.first);
    }
    return writer.take();
}

Schedule build_pairwise_alltoall(const Torus& torus, Rank rank) {
    const Rank p = torus.ranks();
    const bool pairs = (p & (p - 1)) == 0;
    ShiftWriter writer(torus, rank);
    for (Rank o = 1; o < p; ++o) {
        writer.step();
        writer.exchange(pairs ? rank ^ o : ahead(rank, o, p),
                        pairs ? rank ^ o : behind(rank, o, p));
    }
    return writer.take();
}

Schedule build_orbit_alltoall(const Torus& torus, Rank rank) {
    ShiftWriter writer(torus, rank);
    for (const std::vector<OrbitShift>& shifts : orbit_steps(torus)) {
        writer.step();
        for (const OrbitShift& shift : shifts) {
            writer.exchange(torus.translated(rank, shift.offset, 1),
                            torus.translated(rank, shift.offset, -1), shift.first, shift.other_way);
        }
    }
    return writer.take();
}

Schedule build_bruck_alltoall(const Torus& torus, Rank rank, const BuildOptions& options) {
    const Rank p = torus.ranks();
    const int radix = radix_of(options);
    const int ports = std::max(1, options.ports);
    const BruckBlocks blocks(p, rank);
    ScheduleWriter writer(rank);
    OwnBlock own(rank, p);
    writer.part(static_cast<Block>(2 * p), static_cast<Block>(p - 1));
    for (Digit digit{1, radix}; digit.weight < p; digit.weight *= radix) {
        const int values =
            static_cast<int>(std::min<std::int64_t>(radix - 1, (p - 1) / digit.weight));
        for (int begin = 1; begin <= values; begin += ports) {
            own.step(writer);
            for (int v = begin; v < std::min(begin + ports, values + 1); ++v) {
                const Rank to = ahead(rank, v * digit.weight, p);
                const Rank from = behind(rank, v * digit.weight, p);
                writer.send(to, straight_port(torus, rank, to), blocks.sent(digit, v));
                writer.receive(from, straight_port(torus, from, rank).opposite(), Action::replace,
                               blocks.received(digit, v));
            }
        }
    }
    own.finish(writer);
    return writer.take();
}

double bruck_alltoall_message(const Torus& torus, const BuildOptions& options) {
    const Rank p = torus.ranks();
    const int radix = radix_of(options);
    std::int64_t most = 0;
    for (Digit digit{1, radix}; digit.weight < p; digit.weight *= radix) {
        // Of the full periods of the digit, and what is left of the last one; value 1 is met first.
        const std::int64_t period = digit.weight * radix;
        most = std::max(most,
                        p / period * digit.weight +
                            std::clamp<std::int64_t>(p % period - digit.weight, 0, digit.weight));
    }
    return static_cast<double>(most) / p;
}

}  // namespace trefoil
