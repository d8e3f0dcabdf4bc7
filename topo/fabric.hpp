// SPDX-License-Identifier: BSD-3-Clause
// A torus as machines hand it out: nodes that are missing, links that are down or slow, rows that
// do not close or close further along another dimension. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

/// A directed link between two ranks of a fabric, numbered as in Fabric::rank_of().
struct FabricLink {
    Rank from = 0, to = 0;
    Port port;     ///< through which it leaves `from`
    int rate = 0;  ///< in thousandths of a whole link's; above 0
};

/// Nodes lie at the *places* of a torus; those that are there are the ranks, in the order of their
/// places. A link works at the lowest of its own rate and its two nodes'.
class Fabric {
  public:
    static constexpr int whole = 1000;  ///< rates are thousandths of it

    static constexpr Rank most_places = 1 << 24;

    /// All there, at full rate, but for what the torus' own fabric says. Throws Error(unsupported)
    /// for nodes of several ranks, and for more than `most_places`.
    explicit Fabric(Torus torus);

    /// Reads a torus and what is unlike it, each behind a colon:
    ///
    ///     node=5            the node at place 5 is missing; node=5=0.5: all its links at half rate
    ///     cable=+0@4        both links between place 4 and its neighbour in direction +0 are down;
    ///                       cable=+0@4=0.5: at half rate
    ///     link=+0@4         the same of the link alone that leaves place 4
    ///     twist=0=2+4       the rows of dimension 0 close 4 further along dimension 2
    ///
    /// Rates go from 0 to 1 in thousandths. Throws Error(invalid_argument) that quotes what is
    /// wrong and says what may stand there.
    static Fabric parse(std::string_view text);
    /// What parse() reads, in one spelling for each fabric.
    std::string name() const;

    struct Twist {
        int along = 0;
        Rank shift = 0;
    };
    struct SlowLink {
        Link link;
        int rate = 0;
        bool is_cable = false;  ///< the same both ways; named by the end that it leaves as '+'
    };
    // What is unlike the torus: by dimension; rates below `whole` by place; links in that order,
    // whatever rates their nodes have.
    const std::map<int, Twist>& twists() const { return twists_; }
    const std::map<Rank, int>& node_rates() const { return node_rates_; }
    std::vector<SlowLink> slow_links() const;

    // Rates are thousandths. All throw Error(invalid_argument) for what does not exist.
    void set_node(Rank place, int rate);  ///< 0: it is missing
    /// Those with a flag, by place, are missing.
    void remove_nodes(const std::vector<bool>& places);
    void set_link(Link link, int rate);
    void set_cable(Link link, int rate);
    void set_twist(int dimension, int along, Rank shift);

    const Torus& torus() const { return torus_; }
    bool is_whole() const { return node_rates_.empty() && link_rates_.empty() && !has_twists(); }
    bool has_twists() const { return !twists_.empty(); }
    bool has_missing_nodes() const { return ranks() < torus_.ranks(); }
    Rank ranks() const { return static_cast<Rank>(places_.size()); }
    Rank place_of(Rank rank) const { return places_[static_cast<std::size_t>(rank)]; }
    /// The rank at a place; -1: nobody.
    Rank rank_of(Rank place) const { return ranks_[static_cast<std::size_t>(place)]; }

    /// Whether a port has a link at all, and the place where that arrives.
    bool has_link(Link link) const;
    Rank neighbour(Link link) const;
    /// 0: down, or one of its nodes is missing.
    int rate(Link link) const;
    /// All that work, by rank and port.
    std::vector<FabricLink> links() const;
    /// Nodes and rows are those of a torus: its ports are the ones behind which links lie.
    bool is_torus() const { return !has_missing_nodes() && !has_twists(); }
    /// The link behind a port works, and leads to that rank.
    bool joins(Rank from, Rank to, Port port) const {
        const Link link{place_of(from), port};
        return rate(link) > 0 && neighbour(link) == place_of(to);
    }
    /// The links of a message from one rank to another, which go from place to place: the one
    /// behind the `port` that the message leaves through, if that leads there; else dimension by
    /// dimension, the shorter way round, or the other one where that is down; half round by
    /// `port`, where is_torus(). Where no such way works, over the fewest links. Throws
    /// Error(unsupported) where there is no way.
    std::vector<Link> route(Rank from, Rank to, std::optional<Port> port) const;
    /// The port through which such a message leaves; `from` and `to` differ.
    Port first_port(Rank from, Rank to, std::optional<Port> port) const {
        return route(from, to, port).front().port;
    }
    /// Every rank reaches every other one.
    bool is_connected() const;

    friend bool operator==(const Fabric& a, const Fabric& b) { return a.name() == b.name(); }

  private:
    bool walk(Rank& here, Port port, std::int64_t count, std::vector<Link>& links) const;
    bool walk_rows(Rank from, Rank to, std::optional<Port> port, std::vector<Link>& links) const;
    std::vector<Link> fewest_links(Rank from, Rank to) const;
    void parse_clause(std::string_view clause);
    Link parse_link(std::string_view text, std::string_view clause) const;
    int rate_of_node(Rank place) const;
    void note_node(Rank place, int rate);
    void require_link(Link link) const;
    void number_ranks();

    Torus torus_;
    std::map<Rank, int> node_rates_;                  ///< those below `whole`
    std::map<std::pair<Rank, int>, int> link_rates_;  ///< the same, by place and port
    std::map<int, Twist> twists_;                     ///< by dimension
    std::vector<Rank> places_, ranks_;
};

/// The torus behind whose ports the links lie: a fabric's own, or this one.
inline const Torus& wired(const Torus& torus) {
    return torus.fabric() != nullptr ? torus.fabric()->torus() : torus;
}

/// Hops from a rank to all of so many along `links`; -1: no way.
std::vector<int> hops_along(const std::vector<FabricLink>& links, Rank ranks, Rank from);

/// "0.5" for 500 thousandths.
std::string rate_text(int thousandths);

}  // namespace trefoil
