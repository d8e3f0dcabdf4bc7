// SPDX-License-Identifier: BSD-3-Clause
// Torus geometry: coordinates, neighbours, ports, hops and minimal dimension-ordered routes; nodes
// of several ranks. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace trefoil {

class Fabric;

/// A rank of the torus, row-major: the last dimension varies fastest.
using Rank = std::int32_t;

/// One of a rank's 2D ports. Port 2j sends towards larger coordinates of dimension j ('+'), port
/// 2j+1 towards smaller ones ('-').
struct Port {
    int index = 0;

    static constexpr Port plus(int dimension) { return {2 * dimension}; }
    static constexpr Port minus(int dimension) { return {2 * dimension + 1}; }
    /// The port of `dimension` that travels in the sense of `sign` (> 0: '+', otherwise '-').
    static constexpr Port towards(int dimension, int sign) {
        return sign > 0 ? plus(dimension) : minus(dimension);
    }
    constexpr int dimension() const { return index / 2; }
    constexpr int sign() const { return index % 2 == 0 ? 1 : -1; }
    /// The port of the other direction; a message that leaves through p arrives through
    /// p.opposite().
    constexpr Port opposite() const { return {index ^ 1}; }
    friend constexpr bool operator==(Port, Port) = default;
    friend constexpr auto operator<=>(Port, Port) = default;
};

/// "+0", "-0", "+1", ... : the name of a port as users type it in TREFOIL_NICS.
std::string to_string(Port port);

/// A directed link: the one that leaves `from` through `port`. A dimension of size 2 has two
/// parallel links between its nodes, one per port, unless it is a line.
struct Link {
    Rank from = 0;
    Port port;
    friend constexpr bool operator==(Link, Link) = default;
};

/// The share (1, or 1/2 on a tie) of a message that crosses a link.
struct LinkShare {
    Link link;
    double share = 1.0;
};

/// An immutable torus of any number of dimensions >= 1 and any sizes >= 1, at most 2^31-1 ranks.
/// All functions are const, allocate nothing unless they return a container, and are thread-safe.
/// Ranks and dimensions given must be in range; this is asserted, not checked.
class Torus {
  public:
    /// Throws Error(invalid_argument) on no dimension, a size < 1 or more than 2^31-1 ranks.
    explicit Torus(std::vector<Rank> sizes);
    /// Dimensions that are *lines* lack the link that closes the ring, as in a mesh; a line of two
    /// has one link. Schedules are those of the torus; what they cost is not. By dimension.
    Torus(std::vector<Rank> sizes, std::vector<bool> lines);
    /// Nodes of `per_node` ranks at each place of `nodes`, which has none itself: one more
    /// dimension, the last, is the *host dimension*. Ranks of a node differ in it alone, so they
    /// are consecutive; its ports are memory, not links. Throws as above.
    static Torus of_nodes(const Torus& nodes, Rank per_node);
    /// The same torus, whose last dimension is a host dimension.
    Torus with_host_dimension() const;

    /// The torus of a fabric (topo/fabric.hpp): its own, or of as many ranks where nodes are
    /// missing or rows twisted, in which case ports say nothing about links. Schedules are those of
    /// the torus, and what they cost is by the ways that the fabric has.
    static Torus of_fabric(Fabric fabric);

    /// Reads "9", "3x3", "2x3x4"; "4mx4m": lines, as in a mesh; "3x3x2h": nodes of two ranks;
    /// "3x3:cable=+0@4": as Fabric::parse().
    /// Throws Error(invalid_argument) that quotes the text and the mend.
    static Torus parse(std::string_view text);

    /// The most cubic torus of `ranks` ranks and exactly `dimensions` dimensions, sizes descending
    /// (12 in 2 dimensions: 4x3; a prime in 2: px1).
    static Torus balanced(Rank ranks, int dimensions);

    int dimensions() const { return static_cast<int>(sizes_.size()); }
    int ports() const { return 2 * dimensions(); }
    Rank size(int dimension) const { return sizes_[dimension]; }
    const std::vector<Rank>& sizes() const { return sizes_; }
    Rank ranks() const { return ranks_; }
    bool has_lines() const { return std::find(lines_.begin(), lines_.end(), true) != lines_.end(); }
    /// What is unlike a torus of these sizes and lines; null: nothing.
    const Fabric* fabric() const { return fabric_.get(); }
    /// All rows are rings, and nothing is unlike a torus.
    bool is_whole() const { return !has_lines() && fabric_ == nullptr; }
    bool is_line(int dimension) const { return lines_[static_cast<std::size_t>(dimension)]; }
    /// The last dimension is a host dimension.
    bool has_nodes() const { return has_nodes_; }
    bool is_host(int dimension) const { return has_nodes_ && dimension == dimensions() - 1; }
    /// Ranks of a node; 1 where each rank is a node.
    Rank per_node() const { return has_nodes_ ? sizes_.back() : 1; }
    /// A node's place in nodes().
    Rank node_of(Rank rank) const { return rank / per_node(); }
    bool on_one_node(Rank a, Rank b) const { return node_of(a) == node_of(b); }
    /// The torus of the nodes: this one without its host dimension; of one node: "1".
    Torus nodes() const;
    /// "3x3", "4mx2", "3x3x2h", "3x3:cable=+0@4"
    std::string name() const;

    Rank coordinate(Rank rank, int dimension) const {
        return rank / strides_[dimension] % sizes_[dimension];
    }
    std::vector<Rank> coordinates(Rank rank) const;
    Rank rank(const std::vector<Rank>& coordinates) const;
    /// The rank whose coordinate of `dimension` is replaced.
    Rank with_coordinate(Rank rank, int dimension, Rank coordinate) const {
        return rank + (coordinate - this->coordinate(rank, dimension)) * strides_[dimension];
    }
    /// The rank `offset` (any sign, any magnitude) further along `dimension`, around the ring.
    Rank shifted(Rank rank, int dimension, std::int64_t offset) const;
    /// The rank that is as far from `rank`, in every dimension, as `offset` is from rank 0; with
    /// sign -1 the other way.
    Rank translated(Rank rank, Rank offset, int sign) const;
    /// The rank at the other end of the link behind `port`.
    Rank neighbour(Rank rank, Port port) const {
        return shifted(rank, port.dimension(), port.sign());
    }

    /// Signed minimal displacement from `from` to `to` along `dimension`, in (-d/2, d/2]: a tie is
    /// +d/2.
    std::int64_t displacement(Rank from, Rank to, int dimension) const;
    /// True when both ways around `dimension` are equally long (distance exactly d/2).
    bool is_tie(Rank from, Rank to, int dimension) const;
    /// Length of a minimal route, as if there were no lines.
    std::int64_t hops(Rank from, Rank to) const;
    /// The way that a message takes along `dimension`, signed, and its length over all of them:
    /// as above, but along a line there is one way only.
    std::int64_t way(Rank from, Rank to, int dimension) const {
        return is_line(dimension) ? coordinate(to, dimension) - coordinate(from, dimension)
                                  : displacement(from, to, dimension);
    }
    std::int64_t route_length(Rank from, Rank to) const;
    /// The port through which the minimal dimension-ordered (ascending) route leaves `from`: the
    /// first dimension in which the two differ; on a tie the '+' port. `from` and `to` must differ.
    Port first_port(Rank from, Rank to) const;

    /// Calls visit(LinkShare) for each directed link that a message crosses under minimal
    /// dimension-ordered (ascending) routing; in a dimension where the distance is a tie, half of
    /// it goes either way (a dimension of size 2 always is one).
    template <typename Visit>
    void for_each_link(Rank from, Rank to, Visit&& visit) const;
    std::vector<LinkShare> route(Rank from, Rank to) const;

    friend bool operator==(const Torus& a, const Torus& b) {
        return a.sizes_ == b.sizes_ && a.lines_ == b.lines_ && a.has_nodes_ == b.has_nodes_ &&
               a.same_fabric(b);
    }

  private:
    bool same_fabric(const Torus& other) const;

    template <typename Visit>
    void walk(Rank from, int dimension, int sign, std::int64_t steps, double share,
              Visit& visit) const {
        Rank here = from;
        for (std::int64_t i = 0; i < steps; ++i) {
            const Port port = Port::towards(dimension, sign);
            visit(LinkShare{{here, port}, share});
            here = neighbour(here, port);
        }
    }

    std::vector<Rank> sizes_;
    std::vector<Rank> strides_;
    std::vector<bool> lines_;
    bool has_nodes_ = false;
    Rank ranks_ = 1;
    std::shared_ptr<const Fabric> fabric_;
};

template <typename Visit>
void Torus::for_each_link(Rank from, Rank to, Visit&& visit) const {
    Rank here = from;
    for (int j = 0; j < dimensions(); ++j) {
        const std::int64_t step = way(here, to, j);
        if (step == 0) {
            continue;
        }
        if (2 * step == size(j) && !is_line(j)) {
            walk(here, j, +1, step, 0.5, visit);
            walk(here, j, -1, step, 0.5, visit);
        } else {
            walk(here, j, step > 0 ? 1 : -1, step > 0 ? step : -step, 1.0, visit);
        }
        here = with_coordinate(here, j, coordinate(to, j));
    }
}

}  // namespace trefoil
