// SPDX-License-Identifier: BSD-3-Clause
// Walks through the product in the order of targets, then sources, so that nothing is sorted.
#include "algorithms/exchange_blocks.hpp"

namespace trefoil {

ExchangeBlocks::ExchangeBlocks(const Torus& torus, int classes, int wanted)
    : torus_(torus), classes_(classes), wanted_(wanted), lines_(torus.dimensions()) {}

void ExchangeBlocks::set(int dimension, const std::vector<ExchangePair>& pairs) {
    Line& line = lines_[dimension];
    line.targets.clear();
    line.sources.clear();
    const auto coordinate = [&](Rank c, int offset) {
        return Coordinate{torus_.with_coordinate(0, dimension, c), offset % classes_};
    };
    Rank last = -1;
    for (const ExchangePair& pair : pairs) {
        if (pair.target != last) {
            const std::size_t first = line.sources.size();
            line.targets.push_back({coordinate(pair.target, pair.target), first, first});
            last = pair.target;
        }
        // So much more than a multiple of the classes is -source.
        line.sources.push_back(coordinate(pair.source, classes_ - pair.source % classes_));
        line.targets.back().end = line.sources.size();
    }
}

/// Recursion over the dimensions: their targets, then the sources of the targets chosen.
struct ExchangeBlocks::Walk {
    const ExchangeBlocks& blocks;
    Rank sender;
    MessageBlocks result = {};
    std::vector<const Target*> chosen = {};

    void targets(std::size_t dimension, Coordinate sum) {
        if (dimension == blocks.lines_.size()) {
            sources(0, sum.rank, {0, sum.offset});
            return;
        }
        for (const Target& t : blocks.lines_[dimension].targets) {
            chosen[dimension] = &t;
            targets(dimension + 1, {sum.rank + t.at.rank, sum.offset + t.at.offset});
        }
    }

    void sources(std::size_t dimension, Rank target, Coordinate sum) {
        const Line& line = blocks.lines_[dimension];
        const bool last = dimension + 1 == blocks.lines_.size();
        for (std::size_t i = chosen[dimension]->first; i < chosen[dimension]->end; ++i) {
            const Coordinate to_here{sum.rank + line.sources[i].rank,
                                     sum.offset + line.sources[i].offset};
            if (!last) {
                sources(dimension + 1, target, to_here);
            } else if (to_here.offset % blocks.classes_ == blocks.wanted_) {
                add({target, to_here.rank});
            }
        }
    }

    void add(ExchangePair block) {
        if (block.source == sender) {
            result.own_targets.push_back(block.target);
        } else {
            result.passing.push_back(block);
        }
    }
};

MessageBlocks ExchangeBlocks::of_sender(Rank sender) const {
    Walk walk{*this, sender};
    walk.chosen.resize(lines_.size());
    walk.targets(0, {});
    return std::move(walk.result);
}

}  // namespace trefoil
