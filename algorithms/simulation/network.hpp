// SPDX-License-Identifier: BSD-3-Clause
// A network as the simulator sees it: directed links with rates, and the ways that messages take.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

/// The ways of one message. Where several are equally long each takes a share of the bytes.
class Ways {
  public:
    void clear();
    /// Begins a way; add() then appends its links, in the order in which they are crossed.
    void begin(double share);
    void add(std::int64_t link) { links_.push_back(link); }

    std::size_t count() const { return shares_.size(); }
    double share(std::size_t way) const { return shares_[way]; }
    void set_share(std::size_t way, double share) { shares_[way] = share; }
    std::span<const std::int64_t> links(std::size_t way) const;
    /// Of the longest way.
    int hops() const;

  private:
    std::vector<double> shares_;
    std::vector<std::size_t> starts_;
    std::vector<std::int64_t> links_;
};

/// Immutable and thread-safe. Nodes are the ranks of a torus, whose schedules it carries; links are
/// numbered from 0 and have one direction each.
class Network {
  public:
    explicit Network(Torus torus) : torus_(std::move(torus)) {}
    virtual ~Network() = default;

    const Torus& torus() const { return torus_; }
    std::int64_t links() const { return static_cast<std::int64_t>(rates_.size()); }
    /// Bytes per second; 0: the link is down.
    double rate(std::int64_t link) const { return rates_[static_cast<std::size_t>(link)]; }
    void set_rate(std::int64_t link, double rate) { rates_[static_cast<std::size_t>(link)] = rate; }

    /// The link that leaves `rank` through `port`; nothing where links have no directions.
    virtual std::optional<std::int64_t> link(Rank rank, Port port) const = 0;

    /// The ways of a message from `from` to another rank. `steered`: the port that the schedule
    /// names, for algorithms whose messages go its way even if the other one is as short.
    /// Throws Error(unsupported) when links that are down leave no way.
    virtual void route(Rank from, Rank to, std::optional<Port> steered, Ways& ways) const = 0;

  protected:
    void add_links(std::int64_t count, double rate) {
        rates_.resize(rates_.size() + static_cast<std::size_t>(count), rate);
    }

  private:
    Torus torus_;
    std::vector<double> rates_;
};

}  // namespace trefoil
