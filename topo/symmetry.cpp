// SPDX-License-Identifier: BSD-3-Clause
// The group of translations and its orbits: by dimension where it is a product, else element by
// element.
#include "topo/symmetry.hpp"

#include <algorithm>
#include <numeric>

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

/// By how much the group moves along each dimension; empty: a generator moves along several.
std::vector<Rank> periods_of(const Torus& torus, std::span<const Rank> generators) {
    std::vector<Rank> periods = torus.sizes();
    for (const Rank generator : generators) {
        int moved = 0;
        for (int j = 0; j < torus.dimensions(); ++j) {
            const Rank by = torus.coordinate(generator, j);
            moved += by != 0 ? 1 : 0;
            periods[j] = std::gcd(periods[j], by);
        }
        if (moved > 1) {
            return {};
        }
    }
    return periods;
}

}  // namespace

Symmetry::Symmetry(const Torus& torus, std::span<const Rank> generators) : Symmetry(torus) {
    periods_ = periods_of(torus, generators);
    if (periods_.empty()) {
        translations_ = group_of(torus, generators);
        sort_into_classes(torus);
        return;
    }
    classes_ = 1;
    Rank stride = 1;
    axes_.resize(periods_.size());
    for (int j = torus.dimensions() - 1; j >= 0; --j) {
        axes_[j] = {torus.size(j), stride, periods_[j], classes_};
        stride *= torus.size(j);
        classes_ *= periods_[j];
    }
}

Symmetry::Symmetry(const Torus& torus, std::span<const Rank> generators,
                   const std::function<bool(Rank)>& holds)
    : Symmetry(torus) {
    translations_ = group_of(torus, generators);
    std::erase_if(translations_, [&](Rank translation) { return !holds(translation); });
    if (translations_.size() > 1) {
        sort_into_classes(torus);
    }
}

void Symmetry::sort_into_classes(const Torus& torus) {
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

Rank Symmetry::classes_by(const Torus& torus, std::span<const Rank> generators) {
    const std::vector<Rank> periods = periods_of(torus, generators);
    if (periods.empty() && generators.size() > 1) {
        return Symmetry(torus, generators).classes();
    }
    std::int64_t classes = 1;
    for (const Rank period : periods) {
        classes *= period;
    }
    if (periods.empty()) {  // as many as the multiples of the translation leave
        std::int64_t multiples = 1;
        for (int j = 0; j < torus.dimensions(); ++j) {
            const Rank size = torus.size(j);
            multiples =
                std::lcm(multiples, std::int64_t{size} /
                                        std::gcd(size, torus.coordinate(generators.front(), j)));
        }
        classes = torus.ranks() / multiples;
    }
    return static_cast<Rank>(classes);
}

Rank Symmetry::class_of(Rank rank) const {
    if (axes_.empty()) {
        return class_of_.empty() ? rank : class_of_[static_cast<std::size_t>(rank)];
    }
    Rank one = 0;
    for (const Axis& axis : axes_) {
        one += rank / axis.stride % axis.size % axis.period * axis.stride_of_class;
    }
    return one;
}

Rank Symmetry::representative(Rank one) const {
    if (axes_.empty()) {
        return class_of_.empty() ? one : representatives_[static_cast<std::size_t>(one)];
    }
    Rank rank = 0;
    for (const Axis& axis : axes_) {
        rank += one / axis.stride_of_class % axis.period * axis.stride;
    }
    return rank;
}

Rank Symmetry::translation(Rank number) const {
    if (axes_.empty()) {
        return translations_[static_cast<std::size_t>(number)];
    }
    Rank rank = 0;
    for (auto axis = axes_.rbegin(); axis != axes_.rend(); ++axis) {
        const Rank there = axis->size / axis->period;
        rank += number % there * axis->period * axis->stride;
        number /= there;
    }
    return rank;
}

}  // namespace trefoil
