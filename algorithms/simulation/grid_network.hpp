// SPDX-License-Identifier: BSD-3-Clause
// Networks whose links lie along the dimensions of the ranks' torus: tori, meshes, HyperX.
#pragma once

#include <string>
#include <vector>

#include "algorithms/simulation/network.hpp"

namespace trefoil {

/// How the nodes of one row of a dimension are linked.
enum class RowKind : std::uint8_t {
    ring,  ///< each to its two neighbours, around
    line,  ///< the same without the link that closes the ring
    full   ///< each to all others of the row (HyperX)
};

struct GridDimension {
    RowKind kind = RowKind::ring;
    double rate = 0;  ///< bytes per second of each link and direction
};

/// Messages go by dimension, the first one first, the shorter way round a ring; where both are
/// equally long, half of the bytes each way, unless the message is steered. In a ring of size 2 the
/// two ways are two links. Where a link of the shorter way is down, the other way is taken.
class GridNetwork final : public Network {
  public:
    /// One entry per dimension of `torus`.
    GridNetwork(Torus torus, std::vector<GridDimension> dimensions);

    void route(Rank from, Rank to, std::optional<Port> steered, Ways& ways) const override;

    /// Nothing where rows are linked fully.
    std::optional<std::int64_t> link(Rank rank, Port port) const override;

  private:
    struct Run {  ///< of one dimension: how many links through which port
        Port port;
        Rank count = 0;
    };
    std::int64_t port_link(Rank rank, Port port) const;
    std::int64_t full_link(Rank rank, int dimension, Rank distance) const;
    bool works(Rank from, const Run& run) const;
    /// One run, or two of equal length. Throws Error(unsupported): there is none.
    std::vector<Run> runs(Rank from, Rank to, int dimension, std::optional<Port> steered) const;

    std::vector<GridDimension> dimensions_;
    std::vector<std::int64_t> first_link_;  ///< by dimension: of rank 0
    std::vector<std::int64_t> per_rank_;    ///< by dimension: links that leave a rank
};

}  // namespace trefoil
