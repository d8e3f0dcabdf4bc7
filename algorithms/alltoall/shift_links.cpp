// SPDX-License-Identifier: BSD-3-Clause
// What linear, pairwise, orbit and bruck do to links, without a schedule.
//
// Linear and orbit: in a step all ranks send to the same offsets, so all links of a dimension and a
// direction are loaded alike, but for ties: there even and odd coordinates go opposite ways, and
// links that leave even and odd coordinates may differ.
//
// The ranks of a node send alike, and share its links.
//
// Pairwise and bruck: some lines of each dimension have no carry from the faster ones. There all
// ranks send equally far, and so all the same way round.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "algorithms/alltoall/orbits.hpp"
#include "algorithms/alltoall/shifts.hpp"
#include "algorithms/schedule/minimal_port.hpp"
#include "algorithms/schedule/straight_offsets.hpp"

namespace trefoil {

namespace {

/// Of one dimension, by direction ('+', '-') and parity of the coordinate.
using ByDirection = std::array<std::array<std::int64_t, 2>, 2>;

class ShiftStep {
  public:
    explicit ShiftStep(const Torus& torus)
        : torus_(torus), loads_(torus.dimensions()), messages_(torus.dimensions()) {}

    void add(const OrbitShift& shift) {
        const int first = minimal_port(torus_, 0, shift.offset, shift.first).dimension();
        if (torus_.is_host(first)) {
            messages_inside_ += torus_.ranks();
            return;
        }
        std::int64_t hops = 0;
        for (int j = 0; j < torus_.dimensions(); ++j) {
            if (torus_.is_host(j)) {
                continue;
            }
            const Rank size = torus_.size(j);
            const Rank ahead = torus_.coordinate(shift.offset, j);
            const Rank apart = std::min(ahead, size - ahead);
            hops += apart;
            const bool tie = 2 * std::int64_t{apart} == size;
            if (!tie) {
                add_all(j, ahead == apart ? 0 : 1, 2 * apart, j == first);
            } else if (j != first) {  // half of each message either way
                add_all(j, 0, apart, false);
                add_all(j, 1, apart, false);
            } else {
                add_turns(j, apart, shift.other_way ? 1 : 0);
            }
        }
        hops_ = std::max(hops_, hops);
    }

    std::int64_t messages_inside() const { return messages_inside_; }
    LinkStep figures() const {
        LinkStep step{0, hops_, 0, messages_inside_, messages_inside_ / torus_.ranks()};
        for (int j = 0; j < torus_.dimensions(); ++j) {
            for (int way = 0; way < 2; ++way) {
                step.load =
                    std::max(step.load, torus_.per_node() * std::ranges::max(loads_[j][way]));
                step.through_port = std::max(step.through_port,
                                             static_cast<int>(std::ranges::max(messages_[j][way])));
            }
        }
        return step;
    }

  private:
    /// `load`: of each link, in halves of a block. `leaves`: the message begins there.
    void add_all(int dimension, int way, std::int64_t load, bool leaves) {
        for (int parity = 0; parity < 2; ++parity) {
            loads_[dimension][way][parity] += load;
            messages_[dimension][way][parity] += leaves && load > 0 ? 1 : 0;
        }
    }

    /// Coordinates of parity `up` go up, the others down. A link carries those of as many
    /// coordinates as the way is long, up to its own: every second one's.
    void add_turns(int dimension, std::int64_t length, int up) {
        for (int parity = 0; parity < 2; ++parity) {
            for (int way = 0; way < 2; ++way) {
                const bool its_own = (parity == up) == (way == 0);
                loads_[dimension][way][parity] += 2 * ((length + (its_own ? 1 : 0)) / 2);
                messages_[dimension][way][parity] += its_own ? 1 : 0;
            }
        }
    }

    const Torus& torus_;
    std::vector<ByDirection> loads_, messages_;
    std::int64_t hops_ = 0, messages_inside_ = 0;
};

void append(LinkSteps& steps, const ShiftStep& step) {
    steps.steps.push_back(step.figures());
    steps.messages_inside += step.messages_inside();
}

/// What crosses a link of a line, if all on it send a block so far ahead. In a tie either half of
/// them goes either way, or half of each block.
double load_of_shift(Rank size, Rank ahead) {
    const Rank apart = std::min(ahead, size - ahead);
    return 2 * std::int64_t{apart} == size ? apart / 2.0 : apart;
}

/// The largest of the dimensions, each of which is gone through with every distance as often.
template <typename Sum>
double most_of_dimensions(const Torus& torus, Sum&& sum) {
    const Torus nodes = torus.nodes();
    double most = 0;
    for (const Rank size : nodes.sizes()) {
        most = std::max(most, sum(size) / size);
    }
    return most * torus.per_node();
}

double sum_of_shifts(Rank size) {
    double sum = 0;
    for (Rank ahead = 1; ahead < size; ++ahead) {
        sum += load_of_shift(size, ahead);
    }
    return sum;
}

/// Coordinates that differ by x, whose highest bit is 2^k: 2^k pairs meet across the middle of 2^(k
/// + 1) neighbours; where that is half of the ring, all of them in four places.
double sum_of_exchanges(Rank size) {
    const double half = size / 2;
    return size == 1 ? 0 : (half * half - 1) / 3 + half * size / 4;
}

}  // namespace

double linear_alltoall_load(const Torus& torus) {
    return most_of_dimensions(torus, sum_of_shifts) / 2;  // both ways round in one step
}

double pairwise_alltoall_load(const Torus& torus) {
    if (std::has_single_bit(static_cast<std::uint32_t>(torus.ranks()))) {
        return most_of_dimensions(torus, sum_of_exchanges);
    }
    // Of a node, at least one rank has no carry.
    return most_of_dimensions(torus, sum_of_shifts) / torus.per_node();
}

double bruck_alltoall_load(const Torus& torus) {
    const std::int64_t p = torus.ranks();
    double sum = 0;
    for (std::int64_t weight = 1; weight < p; weight *= 2) {
        const std::int64_t blocks =
            p / (2 * weight) * weight + std::max<std::int64_t>(0, p % (2 * weight) - weight);
        double most = 0;
        for (int j = 0; j < torus.dimensions(); ++j) {
            const Rank ahead = torus.coordinate(static_cast<Rank>(weight), j);
            most = std::max(most, torus.is_host(j) ? 0 : load_of_shift(torus.size(j), ahead));
        }
        // Of a node, the ranks without a carry.
        most *= static_cast<double>(torus.per_node() - weight % torus.per_node());
        sum += most * static_cast<double>(blocks);
    }
    return sum / static_cast<double>(p);
}

LinkSteps linear_link_steps(const Torus& torus) {
    LinkSteps result{1, {}, 0};
    const std::vector<StraightOffset> offsets = straight_offsets(torus);
    for (std::size_t first = 0; first < offsets.size(); first += straight_peers_per_step) {
        ShiftStep step(torus);
        const std::size_t end = std::min(first + straight_peers_per_step, offsets.size());
        for (std::size_t i = first; i < end; ++i) {
            step.add({offsets[i].rank, offsets[i].first});
        }
        append(result, step);
    }
    return result;
}

LinkSteps orbit_link_steps(const Torus& torus) {
    LinkSteps result{1, {}, 0};
    for (const std::vector<OrbitShift>& shifts : orbit_steps(torus)) {
        ShiftStep step(torus);
        for (const OrbitShift& shift : shifts) {
            step.add(shift);
        }
        append(result, step);
    }
    return result;
}

}  // namespace trefoil
