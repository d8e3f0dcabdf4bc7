// SPDX-License-Identifier: BSD-3-Clause
// Walks through the product in the order of targets, then sources, so that nothing is sorted.
#include "algorithms/alltoall/product_blocks.hpp"

#include <algorithm>

namespace trefoil {

ProductBlocks::ProductBlocks(const Torus& torus, int classes, int wanted)
    : torus_(torus), classes_(classes), wanted_(wanted), lines_(torus.dimensions()) {}

void ProductBlocks::set(int dimension, const std::vector<HeldPair>& pairs,
                        const std::vector<int>& steps) {
    Line& line = lines_[dimension];
    line.targets.clear();
    line.sources.clear();
    Rank last = -1;
    for (const auto& [pair, since] : pairs) {
        if (pair.target != last) {
            const std::size_t first = line.sources.size();
            line.targets.push_back(
                {{torus_.with_coordinate(0, dimension, pair.target), pair.target % classes_},
                 first,
                 first});
            last = pair.target;
        }
        // By a multiple of the classes more than -source.
        line.sources.push_back(
            {{torus_.with_coordinate(0, dimension, pair.source), classes_ - pair.source % classes_},
             since < 0 ? -1 : steps[since]});
        line.targets.back().end = line.sources.size();
    }
}

/// Recursion over the dimensions: their targets, then the sources of the targets chosen.
struct ProductBlocks::Walk {
    const ProductBlocks& product;
    std::vector<const Target*> chosen;
    std::vector<std::vector<AlltoallPair>> by_since = {};  // from -1 on

    void targets(std::size_t dimension, Coordinate sum) {
        if (dimension == chosen.size()) {
            sources(0, sum.rank, {{0, sum.offset}, -1});
            return;
        }
        for (const Target& t : product.lines_[dimension].targets) {
            chosen[dimension] = &t;
            targets(dimension + 1, {sum.rank + t.rank, sum.offset + t.offset});
        }
    }

    void sources(std::size_t dimension, Rank target, Source sum) {
        const std::vector<Source>& all = product.lines_[dimension].sources;
        for (std::size_t i = chosen[dimension]->first; i < chosen[dimension]->end; ++i) {
            // A block is here since its last move, whichever dimension that was in.
            const Source next{{sum.rank + all[i].rank, sum.offset + all[i].offset},
                              std::max(sum.since, all[i].since)};
            if (dimension + 1 < chosen.size()) {
                sources(dimension + 1, target, next);
            } else if (product.classes_ == 1 || next.offset % product.classes_ == product.wanted_) {
                add({target, next.rank}, static_cast<std::size_t>(next.since + 1));
            }
        }
    }

    void add(AlltoallPair block, std::size_t group) {
        if (group >= by_since.size()) {
            by_since.resize(group + 1);
        }
        by_since[group].push_back(block);
    }
};

MessageBlocks ProductBlocks::blocks() const {
    Walk walk{*this, std::vector<const Target*>(lines_.size())};
    walk.targets(0, {});
    MessageBlocks result;
    for (std::size_t group = 0; group < walk.by_since.size(); ++group) {
        if (!walk.by_since[group].empty()) {
            result.push_back({static_cast<int>(group) - 1, std::move(walk.by_since[group])});
        }
    }
    return result;
}

}  // namespace trefoil
