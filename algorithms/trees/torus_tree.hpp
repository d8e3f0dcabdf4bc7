// SPDX-License-Identifier: BSD-3-Clause
// Broadcast trees on a torus: the product of a tree per dimension.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "algorithms/schedule/schedule.hpp"
#include "algorithms/trees/tree_ring.hpp"

namespace trefoil {

/// A message of a tree, root to leaves: to a child or from the parent.
struct TreeMessage {
    int step = 0;
    Rank peer = 0;  ///< the other end
    Port port;      ///< the direction in which it travels: the upper end's port
    Extent blocks;  ///< of everybody below the lower end, that one's own first
    /// The same as a product: a branch of each dimension's ring, in the part's coordinates.
    std::vector<TreeBranch> below;
};

/// One rank's place in one tree. Blocks are numbered by the tree: what is below a rank is one
/// extent, in every step.
struct TreePlace {
    Block own = 0;                      ///< the rank's own block
    std::optional<TreeMessage> parent;  ///< none for the root
    std::vector<TreeMessage> children;  ///< by step
};

/// Which ports a tree's messages use.
enum class TreePorts : std::uint8_t {
    all,       ///< a part for each port
    one,       ///< one part, the ranks in linear order as on a ring
    one_torus  ///< one part, the dimensions of the torus in turn
};

/// One tree for each part. Multiport: 2D parts (one for a torus of one rank), D plain and D seen in
/// a mirror (x -> -x from the root), part p of each in the interleaved order p
/// (algorithms/schedule/interleave.hpp); halving trees go through that order backwards (De Sensi et
/// al., Bine trees, SC 2025, figure 16). In a step of dimension j everyone reached tells whom the
/// tree of that ring says. Any root: coordinates count from it.
///
/// Single-port: one part, one tree over the ranks in linear order, as on a ring; or the first one
/// of the multiport parts alone.
/// Thread-safe.
class TorusTree {
  public:
    /// `torus` outlives the tree.
    TorusTree(const Torus& torus, TreeKind kind, Rank root, TreePorts ports);

    int parts() const { return static_cast<int>(orders_.size()); }
    int steps() const { return static_cast<int>(orders_[0].size()); }
    /// Of the rings.
    int dimensions() const { return static_cast<int>(rings_.size()); }
    /// The dimension of each step of a part.
    const std::vector<int>& order(int part) const {
        return orders_[static_cast<std::size_t>(part)];
    }
    bool is_mirrored(int part) const { return 2 * part >= parts() && parts() > 1; }
    TreePlace place(Rank rank, int part) const;
    /// The rings of the part's coordinates; one for the single-port tree.
    const TreeRing& ring(int dimension) const { return *rings_[dimension]; }
    /// Where `coordinate` of the part's trees lies in `dimension`, counted from the root.
    Rank offset(Rank coordinate, int dimension, int part) const;

  private:
    /// Coordinates as the part's trees count them, from the root; `rank_at` is the way back.
    std::vector<Rank> coordinates(Rank rank, int part) const;
    Rank rank_at(const std::vector<Rank>& coordinates, int part) const;
    Port port(Rank from, Rank to, int part) const;

    const Torus& torus_;
    Rank root_;
    bool in_line_;
    std::vector<std::shared_ptr<const TreeRing>> rings_;  // by dimension
    std::vector<std::vector<int>> orders_;                // by part: the dimension of each step
};

}  // namespace trefoil
