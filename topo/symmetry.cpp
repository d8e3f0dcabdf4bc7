// SPDX-License-Identifier: BSD-3-Clause
// The group of translations, element by element, and its orbits.
#include "topo/symmetry.hpp"

#include <algorithm>

namespace trefoil {

namespace {

/// All sums of the generators. Translations commute, so those of the first generators are closed
/// before the next one comes: it adds its multiples until one of them is there already.
std::vector<Rank> group_of(const Torus& torus, std::span<const Rank> generators) {
    std::vector<Rank> group{0};
    std::vector<bool> there(static_cast<std::size_t>(torus.ranks()), false);
    there[0] = true;
    for (const Rank generator : generators) {
        const std::size_t before = group.size();
        for (Rank sum = generator; !there[static_cast<std::size_t>(sum)];
             sum = torus.translated(sum, generator, +1)) {
            for (std::size_t i = 0; i < before; ++i) {
                group.push_back(torus.translated(sum, group[i], +1));
                there[static_cast<std::size_t>(group.back())] = true;
            }
        }
    }
    return group;
}

}  // namespace

Symmetry::Symmetry(const Torus& torus, std::span<const Rank> generators,
                   const std::function<bool(Rank)>& holds)
    : Symmetry(torus) {
    translations_ = group_of(torus, generators);
    std::erase_if(translations_, [&](Rank translation) { return !holds(translation); });
    if (translations_.size() == 1) {
        return;
    }
    class_of_.assign(static_cast<std::size_t>(ranks_), -1);
    for (Rank r = 0; r < ranks_; ++r) {
        if (class_of_[static_cast<std::size_t>(r)] >= 0) {
            continue;
        }
        for (const Rank translation : translations_) {
            class_of_[static_cast<std::size_t>(torus.translated(r, translation, +1))] =
                static_cast<Rank>(representatives_.size());
        }
        representatives_.push_back(r);
    }
    classes_ = static_cast<Rank>(representatives_.size());
}

}  // namespace trefoil
