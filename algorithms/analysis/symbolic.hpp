// SPDX-License-Identifier: BSD-3-Clause
// Symbolic values: what the verifier keeps in place of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "topo/torus.hpp"

namespace trefoil {

/// An array of symbolic values. A value is the set of ranks that contributed to it and a hash of
/// the expression that made it; operands of one reduction may be swapped without changing the hash.
/// A value without contributors is undefined. Indices given must be in range.
class SymbolicValues {
  public:
    /// Without `contributors`, values are only moved: nothing is known of them but what they are,
    /// and reduce(), unite(), holds_all(), contributors() and is_left_fold() must not be used.
    SymbolicValues(Rank ranks, std::size_t count, bool contributors = true);

    /// Makes room for `count` values; what was stored below `count` stays.
    void resize(std::size_t count);
    std::size_t size() const { return hashes_.size(); }

    /// The untouched contribution of one rank; its block `which`, where it has several.
    void set_own(std::size_t at, Rank rank, std::size_t which = 0);
    void copy(std::size_t at, const SymbolicValues& source, std::size_t from);
    /// Reduces source[from] into [at], on the right or, of prepend(), on the left; returns false,
    /// and changes nothing, when the two share a contributor.
    bool reduce(std::size_t at, const SymbolicValues& source, std::size_t from);
    bool prepend(std::size_t at, const SymbolicValues& source, std::size_t from);
    /// Adds the contributors of source[from], shared or not.
    void unite(std::size_t at, const SymbolicValues& source, std::size_t from);

    bool is_defined(std::size_t at) const { return hashes_[at] != 0; }
    bool holds_all(std::size_t at) const;
    /// Number of contributors.
    Rank contributors(std::size_t at) const;
    std::uint64_t hash(std::size_t at) const { return hashes_[at]; }
    /// What set_own(at, rank, which) made, copied at most.
    bool is_own_of(std::size_t at, Rank rank, std::size_t which = 0) const;
    /// ((rank 0 op rank 1) op rank 2) op ... of `ranks` ranks.
    bool is_left_fold(std::size_t at, Rank ranks) const { return folds_[at] == Interval{0, ranks}; }
    /// Rank 0 op rank 1 op ... of `ranks` ranks, in this order, associated in any way.
    bool is_in_order(std::size_t at, Rank ranks) const { return orders_[at] == Interval{0, ranks}; }

    /// Bytes that `count` values take.
    static double bytes(Rank ranks, double count, bool contributors = true);

  private:
    /// The ranks first ... end-1; end 0: it is not so.
    struct Interval {
        Rank first = 0, end = 0;
        friend bool operator==(const Interval&, const Interval&) = default;
    };
    bool combine(std::size_t at, const SymbolicValues& source, std::size_t from, bool on_the_left);
    std::uint64_t* set(std::size_t at) { return sets_.data() + at * words_; }
    const std::uint64_t* set(std::size_t at) const { return sets_.data() + at * words_; }

    Rank ranks_;
    std::size_t words_;  // per set, one bit for each rank; 0: without contributors
    std::vector<std::uint64_t> sets_;
    std::vector<std::uint64_t> hashes_;  // 0: undefined
    std::vector<Interval> folds_;        // reduced one after the other from the left
    std::vector<Interval> orders_;       // in the order of the ranks
};

}  // namespace trefoil
