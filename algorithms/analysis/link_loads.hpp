// SPDX-License-Identifier: BSD-3-Clause
// What crosses each directed link of a torus under minimal dimension-ordered routing;
// along dimensions that are lines, there is one way.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

/// The directed links of a torus in the order of its lines: the links of one port along one ring of
/// one dimension have consecutive places.
class TorusLines {
  public:
    /// `torus` outlives it.
    explicit TorusLines(const Torus& torus);

    const Torus& torus() const { return torus_; }
    std::int64_t links() const { return std::int64_t{torus_.ranks()} * torus_.ports(); }
    /// The place of the link that leaves `rank` through `port`.
    std::int64_t place(Rank rank, Port port) const;
    /// Where the line of a place begins; lines of a port are as long as its dimension.
    std::int64_t line_of(std::int64_t place) const;

  private:
    const Torus& torus_;
    std::vector<std::int64_t> strides_;
};

/// Sums of messages per link, exact. A message crosses a run of links of one line per dimension:
/// the run's ends are noted, and the sums are taken once in the end, so that far messages cost as
/// little as near ones. As long as there are few messages only they are kept.
class LinkLoads {
  public:
    /// `lines` outlives it and its copies.
    explicit LinkLoads(const TorusLines& lines) : lines_(&lines) {}

    /// Each link of the route is loaded with 2 * units; where both ways round a dimension are
    /// equally long, each link of either way with units (as Torus::for_each_link tells); but with
    /// `steered`, a port of that dimension, all go its way.
    void add(Rank from, Rank to, std::int64_t units, std::optional<Port> steered = std::nullopt);
    /// The largest load of a link.
    std::int64_t largest() const;

  private:
    struct Message {
        Rank from = 0;
        Rank to = 0;
        std::int64_t units = 0;
        std::optional<Port> steered;
    };

    const TorusLines* lines_;
    std::vector<Message> few_;
    /// By place: by how much the load differs from that of the place before in the line. Empty
    /// while the messages are few.
    std::vector<std::int64_t> differences_;
};

}  // namespace trefoil
