// SPDX-License-Identifier: BSD-3-Clause
// Runs of links as the differences at their ends.
#include "algorithms/analysis/link_loads.hpp"

#include <algorithm>
#include <utility>

#include "topo/fabric.hpp"

namespace trefoil {

namespace {

using Difference = std::pair<std::int64_t, std::int64_t>;  // place, by how much

/// Visits the differences that a run of `count` links makes. A run in the sense of '+' begins at
/// `from`; one in the sense of '-' ends there, counted by place.
template <typename Visit>
void mark_run(const LinkPlaces& places, Rank from, Port port, std::int64_t count, std::int64_t load,
              Visit& visit) {
    if (!places.has_lines()) {
        Rank here = from;
        for (std::int64_t i = 0; i < count; ++i) {
            visit(places.place(here, port), load);
            here = places.torus().neighbour(here, port);
        }
        return;
    }
    const std::int64_t size = places.line_length(port);
    const std::int64_t at = places.torus().coordinate(from, port.dimension()) % size;
    const std::int64_t line = places.place(from, port) - at;
    if (count >= size) {  // of a folded line: over all of it, some times
        visit(line, count / size * load);
        count %= size;
        if (count == 0) {
            return;
        }
    }
    const std::int64_t first = port.sign() > 0 ? at : (at - count + 1 + size) % size;
    const std::int64_t end = first + count;
    visit(line + first, load);
    if (end < size) {
        visit(line + end, -load);
    } else if (end > size) {  // beyond the last link of the line the run goes on with its first
        visit(line, load);
        visit(line + end - size, -load);
    }
}

template <typename Visit>
void mark_route(const LinkPlaces& places, Rank from, Rank to, std::int64_t units,
                std::optional<Port> steered, Visit&& visit) {
    const Torus& torus = places.torus();
    if (const Fabric* const fabric = torus.fabric()) {
        for (const Link& link : fabric->route(from, to, steered)) {
            const std::int64_t rate = fabric->rate(link);  // a slow link counts as more load
            mark_run(places, fabric->rank_of(link.from), link.port, 1,
                     (2 * units * Fabric::whole + rate / 2) / rate, visit);
        }
        return;
    }
    Rank here = from;
    for (int j = 0; j < torus.dimensions(); ++j) {
        const std::int64_t apart = torus.way(here, to, j);
        if (apart == 0) {
            continue;
        }
        const bool tie = 2 * apart == torus.size(j) && !torus.is_line(j);
        if (tie && steered && steered->dimension() == j) {
            mark_run(places, here, *steered, apart, 2 * units, visit);
        } else if (tie) {
            mark_run(places, here, Port::plus(j), apart, units, visit);
            mark_run(places, here, Port::minus(j), apart, units, visit);
        } else {
            mark_run(places, here, Port::towards(j, apart > 0 ? 1 : -1), apart > 0 ? apart : -apart,
                     2 * units, visit);
        }
        here = torus.with_coordinate(here, j, torus.coordinate(to, j));
    }
}

}  // namespace

LinkPlaces::LinkPlaces(const Torus& torus, const Symmetry& symmetry)
    : torus_(torus),
      symmetry_(symmetry),
      folded_(!symmetry.trivial() && torus.is_whole()),
      per_port_(folded_ ? symmetry.classes() : torus.ranks()),
      sizes_(folded_ ? symmetry.periods() : torus.sizes()),
      strides_(sizes_.size(), 1) {
    for (int j = static_cast<int>(sizes_.size()) - 2; j >= 0; --j) {
        strides_[j] = strides_[j + 1] * sizes_[j + 1];
    }
}

std::int64_t LinkPlaces::place(Rank rank, Port port) const {
    const std::int64_t first = std::int64_t{port.index} * per_port_;
    const Rank one = folded_ ? symmetry_.class_of(rank) : rank;
    if (!has_lines()) {
        return first + one;
    }
    const int j = port.dimension();
    const std::int64_t stride = strides_[j];
    const std::int64_t size = sizes_[j];
    const std::int64_t line = one / (stride * size) * stride + one % stride;
    return first + line * size + one / stride % size;
}

std::int64_t LinkPlaces::line_of(std::int64_t place) const {
    const std::int64_t port = place / per_port_;
    const std::int64_t within = place % per_port_;
    return place - within % line_length(Port{static_cast<int>(port)});
}

void LinkLoads::add(Rank from, Rank to, std::int64_t units, std::optional<Port> steered) {
    if (!differences_.empty()) {
        mark_route(*places_, from, to, units, steered,
                   [this](std::int64_t place, std::int64_t load) { differences_[place] += load; });
        return;
    }
    few_.push_back({from, to, units, steered});
    if (std::ssize(few_) > places_->places() / 16) {
        keep_differences();
    }
}

void LinkLoads::keep_differences() {
    differences_.resize(places_->places());
    for (const Message& m : std::exchange(few_, {})) {
        add(m.from, m.to, m.units, m.steered);
    }
}

void LinkLoads::add(const LinkLoads& other, std::int64_t times) {
    for (const Message& m : other.few_) {
        add(m.from, m.to, m.units * times, m.steered);
    }
    if (other.differences_.empty()) {
        return;
    }
    if (differences_.empty()) {
        keep_differences();
    }
    for (std::size_t i = 0; i < differences_.size(); ++i) {
        differences_[i] += other.differences_[i] * times;
    }
}

std::int64_t LinkLoads::largest() const {
    std::int64_t largest = 0;
    std::int64_t load = 0;
    if (differences_.empty()) {
        std::vector<Difference> ends;
        for (const Message& m : few_) {
            mark_route(*places_, m.from, m.to, m.units, m.steered,
                       [&](std::int64_t place, std::int64_t by) { ends.emplace_back(place, by); });
        }
        std::sort(ends.begin(), ends.end());
        std::int64_t line = -1;
        for (std::size_t i = 0; i < ends.size(); ++i) {
            if (places_->line_of(ends[i].first) != line) {
                line = places_->line_of(ends[i].first);
                load = 0;
            }
            load += ends[i].second;
            if (i + 1 == ends.size() || ends[i + 1].first != ends[i].first) {
                largest = std::max(largest, load);
            }
        }
        return largest;
    }
    std::int64_t place = 0;
    for (int p = 0; p < places_->torus().ports(); ++p) {
        const Rank size = places_->line_length(Port{p});
        for (std::int64_t line = 0; line < places_->per_port() / size; ++line) {
            load = 0;
            for (Rank at = 0; at < size; ++at) {
                load += differences_[place++];
                largest = std::max(largest, load);
            }
        }
    }
    return largest;
}

}  // namespace trefoil
