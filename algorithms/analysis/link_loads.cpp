// SPDX-License-Identifier: BSD-3-Clause
// Runs of links as the differences at their ends.
#include "algorithms/analysis/link_loads.hpp"

#include <algorithm>

namespace trefoil {

namespace {

using Difference = std::pair<std::int64_t, std::int64_t>;  // place, by how much

/// Visits the differences that a run of `count` links makes. A run in the sense of '+' begins at
/// `from`; one in the sense of '-' ends there, counted by place.
template <typename Visit>
void mark_run(const TorusLines& lines, Rank from, Port port, std::int64_t count, std::int64_t load,
              Visit& visit) {
    const std::int64_t size = lines.torus().size(port.dimension());
    const std::int64_t at = lines.torus().coordinate(from, port.dimension());
    const std::int64_t line = lines.place(from, port) - at;
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
void mark_route(const TorusLines& lines, Rank from, Rank to, std::int64_t units,
                std::optional<Port> steered, Visit&& visit) {
    const Torus& torus = lines.torus();
    Rank here = from;
    for (int j = 0; j < torus.dimensions(); ++j) {
        const std::int64_t apart = torus.way(here, to, j);
        if (apart == 0) {
            continue;
        }
        const bool tie = 2 * apart == torus.size(j) && !torus.is_line(j);
        if (tie && steered && steered->dimension() == j) {
            mark_run(lines, here, *steered, apart, 2 * units, visit);
        } else if (tie) {
            mark_run(lines, here, Port::plus(j), apart, units, visit);
            mark_run(lines, here, Port::minus(j), apart, units, visit);
        } else {
            mark_run(lines, here, Port::towards(j, apart > 0 ? 1 : -1), apart > 0 ? apart : -apart,
                     2 * units, visit);
        }
        here = torus.with_coordinate(here, j, torus.coordinate(to, j));
    }
}

}  // namespace

TorusLines::TorusLines(const Torus& torus) : torus_(torus), strides_(torus.dimensions(), 1) {
    for (int j = torus.dimensions() - 2; j >= 0; --j) {
        strides_[j] = strides_[j + 1] * torus.size(j + 1);
    }
}

std::int64_t TorusLines::place(Rank rank, Port port) const {
    const int j = port.dimension();
    const std::int64_t stride = strides_[j];
    const std::int64_t size = torus_.size(j);
    const std::int64_t line = rank / (stride * size) * stride + rank % stride;
    return std::int64_t{port.index} * torus_.ranks() + line * size + torus_.coordinate(rank, j);
}

std::int64_t TorusLines::line_of(std::int64_t place) const {
    const std::int64_t port = place / torus_.ranks();
    const std::int64_t within = place % torus_.ranks();
    return place - within % torus_.size(Port{static_cast<int>(port)}.dimension());
}

void LinkLoads::add(Rank from, Rank to, std::int64_t units, std::optional<Port> steered) {
    const auto note = [this](std::int64_t place, std::int64_t load) {
        differences_[place] += load;
    };
    if (!differences_.empty()) {
        mark_route(*lines_, from, to, units, steered, note);
        return;
    }
    few_.push_back({from, to, units, steered});
    if (std::ssize(few_) > lines_->links() / 16) {
        differences_.resize(lines_->links());
        for (const Message& m : few_) {
            mark_route(*lines_, m.from, m.to, m.units, m.steered, note);
        }
        few_ = {};
    }
}

std::int64_t LinkLoads::largest() const {
    std::int64_t largest = 0;
    std::int64_t load = 0;
    if (differences_.empty()) {
        std::vector<Difference> ends;
        for (const Message& m : few_) {
            mark_route(*lines_, m.from, m.to, m.units, m.steered,
                       [&](std::int64_t place, std::int64_t by) { ends.emplace_back(place, by); });
        }
        std::sort(ends.begin(), ends.end());
        std::int64_t line = -1;
        for (std::size_t i = 0; i < ends.size(); ++i) {
            if (lines_->line_of(ends[i].first) != line) {
                line = lines_->line_of(ends[i].first);
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
    for (int p = 0; p < lines_->torus().ports(); ++p) {
        const Rank size = lines_->torus().size(Port{p}.dimension());
        for (Rank line = 0; line < lines_->torus().ranks() / size; ++line) {
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
