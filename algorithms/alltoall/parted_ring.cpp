// SPDX-License-Identifier: BSD-3-Clause
// What is at a coordinate between the steps of the first phase, in closed form.
#include "algorithms/alltoall/parted_ring.hpp"

#include <algorithm>

namespace trefoil {

namespace {

int first_steps_of(Rank ways, bool binary) {
    return binary && ways == 4 ? 2 : ways - 1;
}

}  // namespace

PartedRing::PartedRing(Rank ways, bool binary, std::shared_ptr<const RingAlltoall> part)
    : RingAlltoall(ways * part->size(), first_steps_of(ways, binary) + part->steps()),
      ways_(ways),
      binary_(binary && ways == 4),
      first_steps_(first_steps_of(ways, binary)),
      part_(std::move(part)) {}

RingHandover PartedRing::first_handover(Rank coordinate, int step) const {
    Rank source = coordinate;
    int hop = 1;
    if (!binary_) {
        source = wrapped(std::int64_t{coordinate} - step);
    } else if (step == 0) {
        hop = coordinate % 2 == 0 ? 2 : -2;
    }
    RingHandover handover{coordinate, hop, {}};
    for (Rank target = 0; target < size(); ++target) {
        const Rank apart = (target - source % ways_ + ways_) % ways_;
        if (!binary_ ? apart > step : step == 0 ? apart >= 2 : apart == 1) {
            handover.pairs.push_back({{target, source}, binary_ ? -1 : step - 1});
        }
        if (binary_ && step == 1) {  // three short, and come by the first step
            const Rank other = wrapped(coordinate + (coordinate % 2 == 0 ? -2 : 2));
            if ((target - other % ways_ + ways_) % ways_ == 3) {
                handover.pairs.push_back({{target, other}, 0});
            }
        }
    }
    std::sort(handover.pairs.begin(), handover.pairs.end());
    return handover;
}

std::vector<PartedRing::Gathered> PartedRing::gathered(Rank coordinate) const {
    std::vector<Gathered> all;
    for (Rank by = 0; by < ways_; ++by) {
        std::int64_t source = std::int64_t{coordinate} - by;
        if (binary_ && by >= 2 && source % 2 != 0) {
            source += 4;  // came by -2
        }
        const bool by_two = binary_ && by == 2;
        const bool by_one = binary_ && by % 2 == 1;
        all.push_back({wrapped(source), by_two ? 0 : by_one ? 1 : by - 1});
    }
    return all;
}

RingHandover PartedRing::widened(const RingHandover& handover, Rank residue) const {
    RingHandover wide{handover.holder * ways_ + residue, handover.hop * ways_, {}};
    for (const HeldPair& held : handover.pairs) {
        for (const Gathered& g : gathered(held.pair.source * ways_ + residue)) {
            wide.pairs.push_back({{held.pair.target * ways_ + residue, g.source},
                                  held.since < 0 ? g.since : first_steps_ + held.since});
        }
    }
    std::sort(wide.pairs.begin(), wide.pairs.end());
    return wide;
}

std::vector<RingHandover> PartedRing::sends(Rank coordinate, int step) const {
    if (step < first_steps_) {
        return {first_handover(coordinate, step)};
    }
    std::vector<RingHandover> result;
    for (const RingHandover& h : part_->sends(coordinate / ways_, step - first_steps_)) {
        result.push_back(widened(h, coordinate % ways_));
    }
    return result;
}

std::vector<RingHandover> PartedRing::receives(Rank coordinate, int step) const {
    if (step < first_steps_) {
        int hop = 1;
        if (binary_ && step == 0) {
            hop = coordinate % 2 == 0 ? 2 : -2;
        }
        return {first_handover(wrapped(std::int64_t{coordinate} - hop), step)};
    }
    std::vector<RingHandover> result;
    for (const RingHandover& h : part_->receives(coordinate / ways_, step - first_steps_)) {
        result.push_back(widened(h, coordinate % ways_));
    }
    return result;
}

std::vector<RingSignal> PartedRing::signals(int step) const {
    std::vector<RingSignal> wide;
    if (binary_ && step == 1) {  // the second link of +2 is the next one's
        for (Rank even = 0; even < size(); even += 2) {
            wide.push_back({even, 1});
        }
    }
    if (step > first_steps_) {
        for (const RingSignal& signal : part_->signals(step - first_steps_)) {
            for (Rank residue = 0; residue < ways_; ++residue) {
                wide.push_back({signal.from * ways_ + residue, signal.hop * ways_});
            }
        }
    }
    return wide;
}

}  // namespace trefoil
