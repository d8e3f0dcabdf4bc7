// SPDX-License-Identifier: BSD-3-Clause
// Ranks that a translation of the torus carries over into each other, and that fare alike.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

/// Translations of a torus under which something stays as it is (schedules, a network) form a
/// group. It sorts the ranks into classes of equal size, and one rank of each class tells of all:
/// what happens to it happens to the others at the same time. Immutable and thread-safe.
class Symmetry {
  public:
    /// Every rank is a class of its own.
    explicit Symmetry(const Torus& torus) : ranks_(torus.ranks()), classes_(torus.ranks()) {}
    /// Those translations that can be put together from `generators` (a rank stands for the
    /// translation that carries rank 0 there) and that `holds` accepts; these must form a group.
    Symmetry(const Torus& torus, std::span<const Rank> generators,
             const std::function<bool(Rank)>& holds);

    bool trivial() const { return classes_ == ranks_; }
    Rank classes() const { return classes_; }
    Rank class_of(Rank rank) const {
        return class_of_.empty() ? rank : class_of_[static_cast<std::size_t>(rank)];
    }
    /// The first rank of a class.
    Rank representative(Rank one) const {
        return class_of_.empty() ? one : representatives_[static_cast<std::size_t>(one)];
    }
    /// As ranks; the first is 0, which moves nothing. Each carries a class over into itself, and
    /// all of them one rank to all ranks of its class.
    std::span<const Rank> translations() const { return translations_; }

  private:
    Rank ranks_, classes_;
    std::vector<Rank> class_of_;  ///< empty: of itself
    std::vector<Rank> representatives_;
    std::vector<Rank> translations_{0};
};

}  // namespace trefoil
