// SPDX-License-Identifier: BSD-3-Clause
// Butterflies of whole vectors on a torus. Correct in any order of the dimensions' steps: while
// dimension i is folded, the ranks at its centres hold the sums of their groups and all others
// wait.
#include "algorithms/latency/butterfly_allreduce.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>

#include "algorithms/latency/butterfly_mirror.hpp"
#include "algorithms/rings/folded_ring.hpp"
#include "algorithms/schedule/by_size.hpp"
#include "algorithms/schedule/interleave.hpp"
#include "algorithms/schedule/single_port.hpp"

namespace trefoil {

namespace {

constexpr Extent whole{0, 1};

class ButterflyPart {
  public:
    enum class Ports { all, one };
    ButterflyPart(const Torus& torus, Rank rank, ButterflyPartner partner, bool mirrored,
                  ScheduleWriter& writer, Ports ports);

    /// Writes the steps of all dimensions, interleaved from the `first` active dimension.
    void write(std::size_t first);

  private:
    /// One dimension of more than one coordinate.
    struct Dimension {
        int index;
        FoldedRing ring;
        Rank at;       // this rank's coordinate, as the mirror shows it
        int done = 0;  // steps
        bool unfinished() const { return done < ring.steps(); }
        /// False while this rank's data is with its group's centre.
        bool is_active() const {
            const bool folded = ring.folded() && done > 0 && unfinished();
            return !folded || ring.is_centre(at);
        }
    };

    Rank mirror(const Dimension& d, Rank coordinate) const {
        return mirrored_ ? d.ring.reflected(coordinate) : coordinate;
    }
    Rank rank_at(const Dimension& d, Rank coordinate) const {
        return torus_.with_coordinate(rank_, d.index, mirror(d, coordinate));
    }
    Port port(const Dimension& d, Rank from, Rank to) const;
    void send(const Dimension& d, Rank to);
    void receive(const Dimension& d, Rank from, Action action);
    void write_step(const Dimension& d);
    void write_exchange(const Dimension& d);
    void write_fold(const Dimension& d);
    void write_restore(const Dimension& d);

    const Torus& torus_;
    Rank rank_;
    ButterflyPartner partner_;
    bool mirrored_;
    ScheduleWriter& writer_;
    std::vector<Dimension> dimensions_;
};

ButterflyPart::ButterflyPart(const Torus& torus, Rank rank, ButterflyPartner partner, bool mirrored,
                             ScheduleWriter& writer, Ports ports)
    : torus_(torus), rank_(rank), partner_(partner), mirrored_(mirrored), writer_(writer) {
    for (int j = 0; j < torus.dimensions(); ++j) {
        if (torus.size(j) > 1) {
            const Rank size = torus.size(j);
            dimensions_.push_back(
                {j, ports == Ports::all ? butterfly_ring(size, partner) : FoldedRing(size, 2), 0});
            dimensions_.back().at = mirror(dimensions_.back(), torus.coordinate(rank, j));
        }
    }
}

void ButterflyPart::write(std::size_t first) {
    writer_.part(1);
    const std::size_t count = dimensions_.size();
    int steps = 0;
    for (const Dimension& d : dimensions_) {
        steps += d.ring.steps();
    }
    for (int i = 0; i < steps; ++i) {
        std::size_t j = (first + i) % count;
        while (!dimensions_[j].unfinished()) {
            j = (j + 1) % count;
        }
        writer_.step();
        bool active = true;
        for (const Dimension& other : dimensions_) {
            active = active && (&other == &dimensions_[j] || other.is_active());
        }
        if (active) {
            write_step(dimensions_[j]);
        }
        ++dimensions_[j].done;
    }
}

// The shorter way. Where both are equally long the mirrored parts take the other one.
Port ButterflyPart::port(const Dimension& d, Rank from, Rank to) const {
    const int sign = torus_.displacement(from, to, d.index) > 0 ? 1 : -1;
    const bool turned = mirrored_ && torus_.is_tie(from, to, d.index);
    return Port::towards(d.index, turned ? -sign : sign);
}

void ButterflyPart::send(const Dimension& d, Rank to) {
    const Rank peer = rank_at(d, to);
    writer_.send(peer, port(d, rank_, peer), {&whole, 1});
}

void ButterflyPart::receive(const Dimension& d, Rank from, Action action) {
    const Rank peer = rank_at(d, from);
    writer_.receive(peer, port(d, peer, rank_).opposite(), action, {&whole, 1});
}

void ButterflyPart::write_step(const Dimension& d) {
    if (d.ring.is_fold(d.done)) {
        write_fold(d);
    } else if (d.ring.is_restore(d.done)) {
        write_restore(d);
    } else if (d.ring.is_centre(d.at)) {
        write_exchange(d);
    }
}

void ButterflyPart::write_exchange(const Dimension& d) {
    const int step = d.ring.exchange(d.done);
    const Rank group = d.ring.group_of(d.at);
    const Rank peer = d.ring.centre(partner_(group, step, d.ring.groups(), mirrored_));
    send(d, peer);
    receive(d, peer, Action::reduce);
}

void ButterflyPart::write_fold(const Dimension& d) {
    const Rank group = d.ring.group_of(d.at);
    const Rank centre = d.ring.centre(group);
    if (d.at != centre) {
        send(d, centre);
        return;
    }
    for (Rank member = d.ring.first(group); member < d.ring.first(group + 1); ++member) {
        if (member != centre) {
            receive(d, member, Action::reduce);
        }
    }
}

void ButterflyPart::write_restore(const Dimension& d) {
    const Rank group = d.ring.group_of(d.at);
    const Rank centre = d.ring.centre(group);
    if (d.at != centre) {
        receive(d, centre, Action::replace);
        return;
    }
    for (Rank member = d.ring.first(group); member < d.ring.first(group + 1); ++member) {
        if (member != centre) {
            send(d, member);
        }
    }
}

/// One dimension of a part, as ButterflyPart has it.
class ButterflyFlow final : public RingFlow {
  public:
    ButterflyFlow(const FoldedRing& ring, ButterflyPartner partner, bool mirrored)
        : RingFlow(ring.size(), ring.size() > 1 ? ring.steps() : 0),
          ring_(ring),
          partner_(partner),
          mirrored_(mirrored) {}

    void messages(int step, std::vector<RingMessage>& out) const override {
        for (Rank group = 0; group < ring_.groups(); ++group) {
            const Rank centre = ring_.centre(group);
            if (!ring_.is_fold(step) && !ring_.is_restore(step)) {
                const Rank peer = partner_(group, ring_.exchange(step), ring_.groups(), mirrored_);
                add(centre, ring_.centre(peer), out);
                continue;
            }
            for (Rank member = ring_.first(group); member < ring_.first(group + 1); ++member) {
                if (member != centre) {
                    add(ring_.is_fold(step) ? member : centre,
                        ring_.is_fold(step) ? centre : member, out);
                }
            }
        }
    }

    void held(int step, std::vector<std::int64_t>& out) const override {
        const std::size_t first = out.size();
        const bool folded = ring_.folded() && step > 0 && step < steps();
        out.resize(first + static_cast<std::size_t>(size()), folded ? 0 : 1);
        for (Rank group = 0; folded && group < ring_.groups(); ++group) {
            out[first + static_cast<std::size_t>(place(ring_.centre(group)))] = 1;
        }
    }

  private:
    Rank place(Rank coordinate) const {
        return mirrored_ ? ring_.reflected(coordinate) : coordinate;
    }
    void add(Rank from, Rank to, std::vector<RingMessage>& out) const {
        const Rank here = place(from), there = place(to);
        const std::int64_t twice =
            2 * (std::int64_t{there} - here + (there < here ? std::int64_t{size()} : 0));
        const bool up = twice < size() || (twice == size() && !mirrored_);
        out.push_back({here, there, up ? 1 : -1, 1});
    }

    FoldedRing ring_;
    ButterflyPartner partner_;
    bool mirrored_;
};

}  // namespace

Schedule butterfly_allreduce(const Torus& torus, Rank rank, ButterflyPartner partner) {
    ScheduleWriter writer(rank);
    std::size_t active = 0;
    for (const Rank size : torus.sizes()) {
        active += size > 1 ? 1 : 0;
    }
    if (active == 0) {
        writer.part(1);
    }
    for (const bool mirrored : {false, true}) {
        for (std::size_t p = 0; p < active; ++p) {
            ButterflyPart(torus, rank, partner, mirrored, writer, ButterflyPart::Ports::all)
                .write(p);
        }
    }
    return writer.take();
}

ProductFlows butterfly_flows(const Torus& torus, ButterflyPartner partner) {
    ProductFlows flows;
    for (const bool mirrored : {false, true}) {
        const auto rings = by_size(torus, [&](Rank size) -> std::shared_ptr<const RingFlow> {
            return std::make_shared<ButterflyFlow>(butterfly_ring(size, partner), partner,
                                                   mirrored);
        });
        std::vector<int> steps;
        for (const auto& ring : rings) {
            steps.push_back(ring->steps());
        }
        const auto moving = std::ranges::count_if(steps, [](int s) { return s > 0; });
        for (int p = 0; p < moving; ++p) {
            flows.parts.push_back({{rings, interleaved(steps, p), false}});
        }
        if (moving == 0 && !mirrored) {
            flows.parts.push_back({{rings, {}, false}});
        }
    }
    return flows;
}

Schedule butterfly_allreduce_single_port(const Torus& torus, Rank rank, ButterflyPartner partner) {
    ScheduleWriter writer(rank);
    ButterflyPart(torus, rank, partner, false, writer, ButterflyPart::Ports::one).write(0);
    return writer.take();
}

Schedule butterfly_allreduce_in_line(const Torus& torus, Rank rank, ButterflyPartner partner) {
    return through_first_ports(torus,
                               butterfly_allreduce_single_port(line_of(torus), rank, partner));
}

}  // namespace trefoil
