// SPDX-License-Identifier: BSD-3-Clause
// What crosses each directed link of a torus under minimal dimension-ordered routing;
// along dimensions that are lines, there is one way.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "topo/symmetry.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// The places of the directed links of a torus, port by port. Those of one port are in lines: one
/// ring of the port's dimension after the other. Under a symmetry, links that a translation carries
/// over into each other are loaded alike, and all of them have one place. Where the translations
/// are those of a product (Symmetry::periods()) the lines are shorter; else each place is a line.
class LinkPlaces {
  public:
    /// Both outlive it. Lines of a torus that are no rings have no translations: there every link
    /// has a place.
    LinkPlaces(const Torus& torus, const Symmetry& symmetry);

    const Torus& torus() const { return torus_; }
    /// One message stands for all that translations make of it.
    bool folded() const { return folded_; }
    std::int64_t places() const { return std::int64_t{per_port_} * torus_.ports(); }
    std::int64_t per_port() const { return per_port_; }
    /// Runs of links are runs of places.
    bool has_lines() const { return !folded_ || !symmetry_.periods().empty(); }
    Rank line_length(Port port) const {
        return folded_ ? (has_lines() ? symmetry_.periods()[port.dimension()] : 1)
                       : torus_.size(port.dimension());
    }
    /// The place of the link that leaves `rank` through `port`.
    std::int64_t place(Rank rank, Port port) const;
    /// Where the line of a place begins.
    std::int64_t line_of(std::int64_t place) const;

  private:
    const Torus& torus_;
    const Symmetry& symmetry_;
    bool folded_;
    Rank per_port_;
    std::vector<Rank> sizes_;  // of the lines, by dimension
    std::vector<std::int64_t> strides_;
};

/// Sums of messages per link, exact. A message crosses a run of links of one line per dimension:
/// the run's ends are noted, and the sums are taken once in the end, so that far messages cost as
/// little as near ones. As long as there are few messages only they are kept.
class LinkLoads {
  public:
    /// `places` outlives it and its copies.
    explicit LinkLoads(const LinkPlaces& places) : places_(&places) {}

    /// Each link of the route is loaded with 2 * units; where both ways round a dimension are
    /// equally long, each link of either way with units (as Torus::for_each_link tells); but with
    /// `steered`, a port of that dimension, all go its way.
    void add(Rank from, Rank to, std::int64_t units, std::optional<Port> steered = std::nullopt);
    /// So many times what `other` carries; of the same places.
    void add(const LinkLoads& other, std::int64_t times);
    /// The largest load of a link.
    std::int64_t largest() const;

  private:
    struct Message {
        Rank from = 0;
        Rank to = 0;
        std::int64_t units = 0;
        std::optional<Port> steered;
    };

    void keep_differences();

    const LinkPlaces* places_;
    std::vector<Message> few_;
    /// By place: by how much the load differs from that of the place before in the line. Empty
    /// while the messages are few.
    std::vector<std::int64_t> differences_;
};

}  // namespace trefoil
