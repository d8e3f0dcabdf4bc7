// SPDX-License-Identifier: BSD-3-Clause
// Torus geometry: construction, balanced factorisation and routes.
#include "topo/torus.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "topo/error.hpp"

namespace trefoil {

namespace {

/// Ascending.
std::vector<Rank> divisors_of(Rank number) {
    std::vector<Rank> divisors;
    for (Rank f = 1; static_cast<std::int64_t>(f) * f <= number; ++f) {
        if (number % f == 0) {
            divisors.push_back(f);
            if (f != number / f) {
                divisors.push_back(number / f);
            }
        }
    }
    std::sort(divisors.begin(), divisors.end());
    return divisors;
}

/// Appends `count` descending factors of `product`, each at most `limit`, with the first as small
/// as possible, then the second, and so on. Returns false, and appends nothing, if there are none.
bool factorise(const std::vector<Rank>& divisors, Rank product, int count, Rank limit,
               std::vector<Rank>& factors) {
    if (count == 0) {
        return product == 1;
    }
    for (const Rank f : divisors) {
        if (f > limit) {
            return false;
        }
        if (product % f != 0 || std::pow(f, count) < product) {
            continue;
        }
        factors.push_back(f);
        if (factorise(divisors, product / f, count - 1, f, factors)) {
            return true;
        }
        factors.pop_back();
    }
    return false;
}

}  // namespace

std::string to_string(Port port) {
    return (port.sign() > 0 ? "+" : "-") + std::to_string(port.dimension());
}

Torus::Torus(std::vector<Rank> sizes) : Torus(std::move(sizes), {}) {}

Torus::Torus(std::vector<Rank> sizes, std::vector<bool> lines)
    : sizes_(std::move(sizes)), strides_(sizes_.size()), lines_(std::move(lines)) {
    lines_.resize(sizes_.size());
    if (sizes_.empty()) {
        throw Error(Status::invalid_argument,
                    "a torus needs at least one dimension, e.g. 9 or 3x3");
    }
    std::int64_t ranks = 1;
    for (std::size_t j = sizes_.size(); j-- > 0;) {
        if (sizes_[j] < 1) {
            throw Error(Status::invalid_argument,
                        "dimension " + std::to_string(j) + " of the torus has size " +
                            std::to_string(sizes_[j]) + "; every size must be at least 1");
        }
        strides_[j] = static_cast<Rank>(ranks);
        ranks *= sizes_[j];
        if (ranks > std::numeric_limits<Rank>::max()) {
            throw Error(Status::invalid_argument, "the torus has more than 2147483647 ranks");
        }
    }
    ranks_ = static_cast<Rank>(ranks);
}

Torus Torus::of_nodes(const Torus& nodes, Rank per_node) {
    if (nodes.fabric_ != nullptr) {
        throw Error(Status::unsupported,
                    nodes.name() +
                        " cannot have nodes of several ranks, as missing links and "
                        "nodes are given by single ranks");
    }
    std::vector<Rank> sizes = nodes.sizes_;
    sizes.push_back(per_node);
    return Torus(std::move(sizes), nodes.lines_).with_host_dimension();
}

Torus Torus::with_host_dimension() const {
    Torus torus = *this;
    torus.has_nodes_ = true;
    return torus;
}

Torus Torus::nodes() const {
    if (!has_nodes_) {
        return *this;
    }
    if (dimensions() == 1) {
        return Torus({1});
    }
    return {{sizes_.begin(), sizes_.end() - 1}, {lines_.begin(), lines_.end() - 1}};
}

Torus Torus::balanced(Rank ranks, int dimensions) {
    if (ranks < 1 || dimensions < 1) {
        throw Error(Status::invalid_argument,
                    "a balanced torus needs at least one rank and one dimension");
    }
    std::vector<Rank> sizes;
    factorise(divisors_of(ranks), ranks, dimensions, ranks, sizes);
    return Torus(std::move(sizes));
}

std::vector<Rank> Torus::coordinates(Rank rank) const {
    std::vector<Rank> result(sizes_.size());
    for (int j = 0; j < dimensions(); ++j) {
        result[j] = coordinate(rank, j);
    }
    return result;
}

Rank Torus::rank(const std::vector<Rank>& coordinates) const {
    Rank result = 0;
    for (int j = 0; j < dimensions(); ++j) {
        result += coordinates[j] * strides_[j];
    }
    return result;
}

Rank Torus::shifted(Rank rank, int dimension, std::int64_t offset) const {
    const std::int64_t size = sizes_[dimension];
    std::int64_t target = (coordinate(rank, dimension) + offset) % size;
    if (target < 0) {
        target += size;
    }
    return with_coordinate(rank, dimension, static_cast<Rank>(target));
}

Rank Torus::translated(Rank rank, Rank offset, int sign) const {
    for (int j = 0; j < dimensions(); ++j) {
        rank = shifted(rank, j, std::int64_t{sign} * coordinate(offset, j));
    }
    return rank;
}

std::int64_t Torus::displacement(Rank from, Rank to, int dimension) const {
    const std::int64_t size = sizes_[dimension];
    std::int64_t d =
        static_cast<std::int64_t>(coordinate(to, dimension)) - coordinate(from, dimension);
    if (d < 0) {
        d += size;
    }
    return 2 * d > size ? d - size : d;
}

bool Torus::is_tie(Rank from, Rank to, int dimension) const {
    return 2 * displacement(from, to, dimension) == sizes_[dimension];
}

std::int64_t Torus::hops(Rank from, Rank to) const {
    std::int64_t total = 0;
    for (int j = 0; j < dimensions(); ++j) {
        total += std::abs(displacement(from, to, j));
    }
    return total;
}

Port Torus::first_port(Rank from, Rank to) const {
    for (int j = 0; j < dimensions(); ++j) {
        const std::int64_t step = displacement(from, to, j);
        if (step != 0) {
            return Port::towards(j, step > 0 ? 1 : -1);
        }
    }
    return Port{};  // from == to: no port is used; the caller's contract excludes it
}

std::vector<LinkShare> Torus::route(Rank from, Rank to) const {
    std::vector<LinkShare> links;
    for_each_link(from, to, [&](const LinkShare& l) { links.push_back(l); });
    return links;
}

}  // namespace trefoil
