// SPDX-License-Identifier: BSD-3-Clause
// Candidates of a logical shape, and the choice among them.
#include "comm/derived/logical_shape.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "topo/decimals.hpp"

namespace trefoil {

namespace {

/// Above this many dimensions not all orders are tried.
constexpr std::size_t most_permuted = 3;

using Order = std::vector<int>;  ///< of dimensions of the first torus

std::vector<Order> orders_of(const Order& dimensions) {
    std::vector<Order> orders;
    Order order = dimensions;
    if (order.size() <= most_permuted) {
        do {
            orders.push_back(order);
        } while (std::next_permutation(order.begin(), order.end()));
        return orders;
    }
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        orders.push_back(order);
        orders.emplace_back(order.rbegin(), order.rend());
        std::rotate(order.begin(), order.begin() + 1, order.end());
    }
    return orders;
}

/// Without sizes of 1.
std::vector<Rank> cubic_sizes(Rank members, std::size_t dimensions) {
    const Torus cubic = Torus::balanced(members, static_cast<int>(dimensions));
    std::vector<Rank> sizes = cubic.sizes();
    std::erase(sizes, 1);
    return sizes;
}

/// Puts members in an order in which those of a slab, a row ... follow each other.
class Cutter {
  public:
    Cutter(const Geometry& first, const std::vector<Rank>& members,
           const std::vector<Spacing>& spacings)
        : first_(first), members_(members), spacings_(spacings) {}

    /// Own ranks by position in a torus of `sizes`, whose dimension i follows order[i] of the first
    /// torus, the last one also those behind it.
    std::vector<Rank> cut(const Order& order, const std::vector<Rank>& sizes) {
        keyed_.resize(members_.size());
        for (std::size_t r = 0; r < members_.size(); ++r) {
            keyed_[r].rank = static_cast<Rank>(r);
        }
        cut(keyed_, order, sizes);
        std::vector<Rank> rank_at;
        for (const Keyed& member : keyed_) {
            rank_at.push_back(member.rank);
        }
        return rank_at;
    }

  private:
    struct Keyed {
        std::int64_t key = 0;
        Rank rank = 0;
    };

    void cut(std::span<Keyed> members, std::span<const int> order, std::span<const Rank> sizes) {
        const bool last = sizes.size() == 1;
        for (Keyed& member : members) {
            member.key = key_of(member.rank, order, last);
        }
        std::sort(members.begin(), members.end(),
                  [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
        if (last) {
            return;
        }
        const std::size_t slab = members.size() / static_cast<std::size_t>(sizes.front());
        for (std::size_t begin = 0; begin < members.size(); begin += slab) {
            cut(members.subspan(begin, slab), order.subspan(1), sizes.subspan(1));
        }
    }

    /// The member's place along order[0], then order[1] ...; as one number, so all are different.
    /// To and fro: each dimension is walked back where the walk along those before it has come to
    /// an odd place, so that consecutive numbers are neighbours.
    std::int64_t key_of(Rank rank, std::span<const int> order, bool to_and_fro) const {
        const Torus& torus = first_.map.torus;
        const Rank member = members_[rank];
        const Rank position = first_.map.position_of[member];
        std::int64_t key = 0;
        Rank walked = 0;
        for (const int j : order) {
            const Rank size = torus.size(j);
            const Rank begin = spacings_[j].places.front();
            const Rank place = (torus.coordinate(position, j) - begin + size) % size;
            key = key * size + (to_and_fro && walked % 2 != 0 ? size - 1 - place : place);
            walked += place;
        }
        return key;
    }

    const Geometry& first_;
    const std::vector<Rank>& members_;
    const std::vector<Spacing>& spacings_;
    std::vector<Keyed> keyed_;
};

void place(Geometry& geometry, std::vector<Rank> sizes, std::vector<Rank> rank_at, Order ports) {
    geometry.map.torus = Torus(std::move(sizes));
    geometry.map.rank_at = std::move(rank_at);
    geometry.map.position_of.resize(geometry.map.rank_at.size());
    for (std::size_t p = 0; p < geometry.map.rank_at.size(); ++p) {
        geometry.map.position_of[geometry.map.rank_at[p]] = static_cast<Rank>(p);
    }
    geometry.port_dimension = std::move(ports);
}

std::string text_of(const Geometry& first, const Geometry& geometry, std::int64_t hops) {
    const Torus& own = geometry.map.torus;
    const double mean =
        static_cast<double>(hops) / (static_cast<double>(own.ranks()) * own.dimensions());
    return "logical: the members are not a box of the " + first.map.torus.name() +
           " torus; neighbours are " + fixed_decimal(mean, 1) + " hops apart on average";
}

}  // namespace

Geometry logical_shape(const Geometry& first, const std::vector<Rank>& members,
                       const std::vector<Spacing>& spacings) {
    // Members on one node are a row of the host dimension, so those here are on several: its ports
    // would not reach all of them, and are left out.
    Order varied, host;
    for (std::size_t j = 0; j < spacings.size(); ++j) {
        if (spacings[j].places.size() > 1) {
            const int dimension = static_cast<int>(j);
            (first.map.torus.is_host(dimension) ? host : varied).push_back(dimension);
        }
    }
    const std::vector<Rank> sizes = cubic_sizes(static_cast<Rank>(members.size()), varied.size());
    const auto dimensions = static_cast<std::ptrdiff_t>(sizes.size());

    Geometry tried;
    tried.box = false;
    tried.first_rank = members;
    tried.wraps.assign(sizes.size(), true);
    tried.stride.assign(sizes.size(), 0);
    std::vector<Rank> own_order(members.size());
    std::iota(own_order.begin(), own_order.end(), 0);
    place(tried, sizes, own_order, Order(varied.begin(), varied.begin() + dimensions));
    Geometry best = tried;
    std::int64_t fewest = neighbour_hops(first, tried);

    Cutter cutter(first, members, spacings);
    for (Order order : orders_of(varied)) {
        order.insert(order.end(), host.begin(), host.end());
        for (const bool ascending : {false, true}) {
            auto of_order = sizes;
            if (ascending) {
                std::reverse(of_order.begin(), of_order.end());
            }
            place(tried, of_order, cutter.cut(order, of_order),
                  Order(order.begin(), order.begin() + dimensions));
            const std::int64_t hops = neighbour_hops(first, tried);
            if (hops < fewest) {
                fewest = hops;
                best = tried;
            }
        }
    }
    best.map.source = text_of(first, best, fewest);
    return best;
}

}  // namespace trefoil
