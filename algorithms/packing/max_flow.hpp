// SPDX-License-Identifier: BSD-3-Clause
// The largest flow from one vertex to another, and a least cut (Dinic, 1970).
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace trefoil {

/// Capacities are whole numbers, so flows and cuts are exact. Vertices are numbered from 0.
class MaxFlow {
  public:
    explicit MaxFlow(int vertices) : first_(static_cast<std::size_t>(vertices)) {}

    /// An arc from one vertex to another, `back` of them the other way.
    void arc(int from, int to, std::int64_t capacity, std::int64_t back = 0);
    /// No more than `enough` is looked for. May be called once.
    std::int64_t run(int from, int to,
                     std::int64_t enough = std::numeric_limits<std::int64_t>::max());
    /// After a run: what flows through the arc that was added as number `index`, with no `back`.
    std::int64_t through(int index) const {
        return arcs_[2 * static_cast<std::size_t>(index) + 1].left;
    }
    /// After a run that has not stopped early: whether a least cut has the vertex on the side of
    /// `from` (the smallest such side).
    bool on_source_side(int vertex) const { return level_[static_cast<std::size_t>(vertex)] >= 0; }

  private:
    struct Arc {
        int to = 0;
        std::int64_t left = 0;
    };
    bool find_levels(int from, int to);
    std::int64_t push(int at, int to, std::int64_t most);

    std::vector<std::vector<int>> first_;  ///< by vertex: its arcs
    std::vector<Arc> arcs_;                ///< arc a and its reverse a ^ 1
    std::vector<int> level_;
    std::vector<std::size_t> next_;
};

}  // namespace trefoil
