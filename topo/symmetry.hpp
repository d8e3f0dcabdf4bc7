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
    /// All translations that can be put together from `generators` (a rank stands for the
    /// translation that carries rank 0 there).
    Symmetry(const Torus& torus, std::span<const Rank> generators);
    /// Those of them that `holds` accepts, which must form a group.
    Symmetry(const Torus& torus, std::span<const Rank> generators,
             const std::function<bool(Rank)>& holds);

    /// How many classes the translations of `generators` sort the ranks into; without sorting them
    /// where they are a product or the multiples of one translation.
    static Rank classes_by(const Torus& torus, std::span<const Rank> generators);

    bool trivial() const { return classes_ == ranks_; }
    Rank classes() const { return classes_; }
    Rank class_of(Rank rank) const;
    /// The first rank of a class.
    Rank representative(Rank one) const;
    /// How many translations there are. Each carries a class over into itself, and all of them one
    /// rank to all ranks of its class.
    Rank translations() const { return ranks_ / classes_; }
    /// As a rank; number 0 is 0, which moves nothing.
    Rank translation(Rank number) const;
    /// By dimension, where there is one along each alone: by how much it moves, 1 to the size.
    /// Classes are then the ranks of a torus of these sizes, in its order. Empty: it is not so.
    const std::vector<Rank>& periods() const { return periods_; }

  private:
    struct Axis {
        Rank size, stride, period, stride_of_class;
    };
    void sort_into_classes(const Torus& torus);

    Rank ranks_, classes_;
    // Either of a product, which needs no table however large the torus is ...
    std::vector<Rank> periods_;
    std::vector<Axis> axes_;  ///< by dimension
    // ... or listed. Neither: every rank is a class of its own.
    std::vector<Rank> class_of_;
    std::vector<Rank> representatives_;
    std::vector<Rank> translations_{0};
};

}  // namespace trefoil
