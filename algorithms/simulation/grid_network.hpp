// SPDX-License-Identifier: BSD-3-Clause
// Networks whose links lie along the dimensions of the ranks' torus: tori, meshes, HyperX,
// HammingMesh, and nodes of several ranks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/simulation/network.hpp"

namespace trefoil {

/// How the ranks of one row of a dimension are linked.
enum class RowKind : std::uint8_t {
    ring,    ///< each to its two neighbours, around
    line,    ///< the same without the link that closes the ring
    full,    ///< each to all others of the row (HyperX)
    boards,  ///< lines of GridDimension::board ranks, whose ends are linked to the row's switch
             ///< (HammingMesh)
    host     ///< the ranks of one node: each has a link out and one in, and nothing limits between
};

struct GridDimension {
    RowKind kind = RowKind::ring;
    double rate = 0;     ///< bytes per second of each link and direction
    int links = 2;       ///< of a pair in a ring of size 2: one each way through each port, or one
    Rank board = 2;      ///< of boards: ranks of a line, 2 and more; divides the size
    double latency = 0;  ///< of a host: seconds between two of its ranks, and no start-up
};

/// Messages go by dimension, the first one first, the shortest way; the bytes are shared out evenly
/// among equally long ways. Between nodes of several ranks (Torus::has_nodes) they cross links
/// alone: NICs put them into the memory of any rank.
///
/// - Ring: the shorter way round. A message that is steered goes the port's way if both are equally
///   long. Where a link of the shorter way is down, the other way is taken. In a ring of size 2
///   with two links per pair the two ways are two links.
/// - Boards: within a board along its line, or out at an end, over the switch and in at an end
/// where
///   that is shorter or as short; to another board out at the nearer end and in at the end nearer
///   to the target. The switch blocks nobody, and crossing it is two links.
class GridNetwork final : public Network {
  public:
    /// One entry per dimension of `torus`. Throws Error(invalid_argument) for boards that do not
    /// divide a dimension.
    GridNetwork(Torus torus, std::vector<GridDimension> dimensions);

    /// On boards the link through a port at the board's end leads to the switch. Nothing in
    /// dimensions that are linked fully or lie in a host.
    std::optional<std::int64_t> link(Rank rank, Port port) const override;
    using Network::route;
    void route(const Journey& journey, Ways& ways) const override;
    std::unique_ptr<Network> folded(std::shared_ptr<const Symmetry> symmetry) const override;

  protected:
    bool keeps(Rank translation) const override;

  private:
    struct Run {  ///< links in a row through one port
        Port port;
        Rank count = 0;
    };
    /// A way along one dimension: a run, links outside the lines, another run.
    struct RowWay {
        Run out;
        int crossed = 0;  ///< how many of `across` there are
        std::int64_t across[2] = {0, 0};
        Rank entry = 0;  ///< where the second run begins
        Run in;
        Rank length() const { return out.count + crossed + in.count; }
    };
    struct RowWays {  ///< those that are equally long
        std::size_t count = 0;
        RowWay ways[5];
        void add(const RowWay& way);
        void keep_shortest();
    };

    GridNetwork(const GridNetwork& other, std::shared_ptr<const Symmetry> symmetry);
    void lay_links();
    std::int64_t node(Rank rank) const { return symmetry_ ? symmetry_->class_of(rank) : rank; }
    /// The ranks of a node share its links.
    std::int64_t place(Rank rank, int dimension, std::int64_t index) const {
        const Rank owner = torus().is_host(dimension) ? rank : rank - rank % torus().per_node();
        return first_link_[static_cast<std::size_t>(dimension)] +
               node(owner) * per_rank_[static_cast<std::size_t>(dimension)] + index;
    }
    std::int64_t port_link(Rank rank, Port port) const;
    bool works(Rank from, const Run& run) const;
    void row_ways(const Journey& journey, Rank from, Rank to, int dimension, RowWays& ways) const;
    void ring_ways(const Journey& journey, Rank from, Rank to, int dimension, RowWays& ways) const;
    void board_ways(Rank from, Rank to, int dimension, RowWays& ways) const;
    void walk(Rank from, const Run& run, Ways& ways) const;

    std::vector<GridDimension> dimensions_;
    std::vector<std::int64_t> first_link_;  ///< by dimension: of rank 0
    std::vector<std::int64_t> per_rank_;    ///< by dimension: links that leave a rank
    std::shared_ptr<const Symmetry> symmetry_;
};

}  // namespace trefoil
