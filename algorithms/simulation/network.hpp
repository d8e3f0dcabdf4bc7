// SPDX-License-Identifier: BSD-3-Clause
// A network as the simulator sees it: directed links with rates, and the ways that messages take.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "topo/symmetry.hpp"
#include "topo/torus.hpp"

namespace trefoil {

/// The ways of one message. Where several are equally long each takes a share of the bytes.
class Ways {
  public:
    void clear();
    /// Begins a way; add() then appends its links, in the order in which they are crossed.
    void begin(double share);
    /// A link that costs the time of a hop.
    void add(std::int64_t link) {
        links_.push_back(link);
        ++ways_.back().hops;
    }
    /// A link inside a node, with a latency of its own, in seconds.
    void add(std::int64_t link, double latency) {
        links_.push_back(link);
        ways_.back().latency += latency;
    }

    std::size_t count() const { return ways_.size(); }
    double share(std::size_t way) const { return ways_[way].share; }
    std::span<const std::int64_t> links(std::size_t way) const;
    /// Links that cost a hop: of the way that has most of them.
    int hops() const;
    /// Seconds until the slowest way has its first byte across: its links, and `alpha` before them
    /// where it leaves the node.
    double delay(double alpha, double hop) const;

  private:
    struct Way {
        double share = 0, latency = 0;
        std::size_t start = 0;
        int hops = 0;
    };
    std::vector<Way> ways_;
    std::vector<std::int64_t> links_;
};

/// A message as a network sees it.
struct Journey {
    Rank from = 0, to = 0;  ///< differ
    Port port;              ///< that of the schedule
    bool steered = false;   ///< it goes the port's way round a ring even if the other is as short
};

/// Const functions are thread-safe. Nodes are the ranks of a torus, whose schedules it carries;
/// links are numbered from 0 and have one direction each.
class Network {
  public:
    explicit Network(Torus torus) : torus_(std::move(torus)) {}
    virtual ~Network() = default;

    const Torus& torus() const { return torus_; }
    std::int64_t links() const { return links_; }
    /// Bytes per second; 0: the link is down.
    double rate(std::int64_t link) const;
    /// Changes one link. Where messages cannot go round a link of rate 0, route() throws.
    void change_rate(std::int64_t link, double rate) { changed_[link] = rate; }

    /// The link that leaves `rank` through `port`; nothing where links have no directions.
    virtual std::optional<std::int64_t> link(Rank rank, Port port) const = 0;

    /// The ways of a message. Throws Error(unsupported) when links that are down leave no way.
    virtual void route(const Journey& journey, Ways& ways) const = 0;
    /// The same for messages of no schedule, such as a barrier's.
    void route(Rank from, Rank to, Ways& ways) const {
        route({from, to, torus_.first_port(from, to), false}, ways);
    }

    /// Whether the translation that carries rank 0 to `translation` carries each link over into a
    /// link of the same rate, and each route into a route.
    bool looks_alike(Rank translation) const {
        return translation == 0 || (!changed() && keeps(translation));
    }
    /// This network with one link for all those that `symmetry` carries over into each other; ranks
    /// stay, and a way may cross a link several times. looks_alike() must hold for its
    /// translations.
    virtual std::unique_ptr<Network> folded(std::shared_ptr<const Symmetry> symmetry) const = 0;

  protected:
    void add_links(std::int64_t count, double rate) {
        blocks_.emplace_back(links_, rate);
        links_ += count;
    }
    bool changed() const { return !changed_.empty(); }
    /// Throws Error(unsupported) when a way crosses a link that is down.
    void require_working(const Journey& journey, const Ways& ways) const;
    /// looks_alike() as long as no link was changed.
    virtual bool keeps(Rank translation) const = 0;

  private:
    Torus torus_;
    std::int64_t links_ = 0;
    std::vector<std::pair<std::int64_t, double>>
        blocks_;  ///< first link, rate of all up to the next
    std::unordered_map<std::int64_t, double> changed_;
};

}  // namespace trefoil
