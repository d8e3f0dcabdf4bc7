// SPDX-License-Identifier: BSD-3-Clause
// Tori as text, and those that have a fabric.
#include <charconv>
#include <cstdlib>
#include <iterator>

#include "topo/error.hpp"
#include "topo/fabric.hpp"
#include "topo/torus.hpp"

namespace trefoil {

Torus Torus::of_fabric(Fabric fabric) {
    Torus torus =
        fabric.is_torus() ? fabric.torus() : balanced(fabric.ranks(), fabric.torus().dimensions());
    if (!fabric.is_whole()) {
        torus.fabric_ = std::make_shared<const Fabric>(std::move(fabric));
    }
    return torus;
}

bool Torus::same_fabric(const Torus& other) const {
    return fabric_ == other.fabric_ ||
           (fabric_ != nullptr && other.fabric_ != nullptr && *fabric_ == *other.fabric_);
}

Torus Torus::parse(std::string_view text) {
    if (text.find(':') != std::string_view::npos) {
        return of_fabric(Fabric::parse(text));
    }
    std::vector<Rank> sizes;
    std::vector<bool> lines;
    const char* at = text.data();
    const char* end = at + text.size();
    while (true) {
        Rank size = 0;
        auto [next, error] = std::from_chars(at, end, size);
        const char mark = error == std::errc() && next != end ? *next : ' ';
        lines.push_back(mark == 'm');
        next += mark == 'm' || mark == 'h' ? 1 : 0;
        const bool ends_well = next == end || (*next == 'x' && mark != 'h' && next + 1 != end);
        if (error != std::errc() || !ends_well || size < 1) {
            throw Error(Status::invalid_argument,
                        "\"" + std::string(text) +
                            "\" is not a torus; write its sizes, each at least 1, joined by x: 9, "
                            "3x3 or 2x3x4; m behind one for a line, as in a mesh: 4mx4m; h behind "
                            "the last one for the ranks of a node: 3x3x2h; and what is missing or "
                            "slow behind a colon: 3x3:cable=+0@4");
        }
        sizes.push_back(size);
        if (next == end) {
            const Torus torus(std::move(sizes), std::move(lines));
            return mark == 'h' ? torus.with_host_dimension() : torus;
        }
        at = next + 1;
    }
}

std::string Torus::name() const {
    if (fabric_ != nullptr) {
        return fabric_->name();
    }
    std::string name;
    for (int j = 0; j < dimensions(); ++j) {
        name += (name.empty() ? "" : "x") + std::to_string(sizes_[j]);
        name += is_line(j) ? "m" : is_host(j) ? "h" : "";
    }
    return name;
}

std::int64_t Torus::route_length(Rank from, Rank to) const {
    if (fabric_ != nullptr) {
        return std::ssize(fabric_->route(from, to, std::nullopt));
    }
    std::int64_t total = 0;
    for (int j = 0; j < dimensions(); ++j) {
        total += std::abs(way(from, to, j));
    }
    return total;
}

}  // namespace trefoil
