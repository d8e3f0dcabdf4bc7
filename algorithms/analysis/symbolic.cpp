// SPDX-License-Identifier: BSD-3-Clause
// Symbolic values as flat arrays of 64-bit words: proofs of large rings spend their time here.
#include "algorithms/analysis/symbolic.hpp"

#include <algorithm>
#include <bit>

namespace trefoil {

namespace {

std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 31)) * 0x9fb21c651e98df25ULL;
    x = (x ^ (x >> 29)) * 0xd6e8feb86659fd93ULL;
    x ^= x >> 32;
    return x == 0 ? 1 : x;  // 0 marks undefined values
}

std::uint64_t mix_pair(std::uint64_t a, std::uint64_t b) {
    return mix(mix(std::min(a, b)) * 3 + std::max(a, b));
}

std::uint64_t hash_of_own(Rank rank, std::size_t which) {
    return mix(static_cast<std::uint64_t>(rank) + 1 + (static_cast<std::uint64_t>(which) << 32));
}

}  // namespace

SymbolicValues::SymbolicValues(Rank ranks, std::size_t count, bool contributors)
    : ranks_(ranks), words_(contributors ? (static_cast<std::size_t>(ranks) + 63) / 64 : 0) {
    resize(count);
}

void SymbolicValues::resize(std::size_t count) {
    sets_.resize(count * words_);
    hashes_.resize(count);
    folds_.resize(words_ > 0 ? count : 0);
    orders_.resize(words_ > 0 ? count : 0);
}

void SymbolicValues::set_own(std::size_t at, Rank rank, std::size_t which) {
    hashes_[at] = hash_of_own(rank, which);
    if (words_ > 0) {
        std::fill_n(set(at), words_, 0);
        set(at)[rank / 64] = std::uint64_t{1} << (rank % 64);
        folds_[at] = orders_[at] = {rank, rank + 1};
    }
}

bool SymbolicValues::is_own_of(std::size_t at, Rank rank, std::size_t which) const {
    return hashes_[at] == hash_of_own(rank, which) && (words_ == 0 || contributors(at) == 1);
}

void SymbolicValues::copy(std::size_t at, const SymbolicValues& source, std::size_t from) {
    hashes_[at] = source.hashes_[from];
    if (words_ > 0) {
        std::copy_n(source.set(from), words_, set(at));
        folds_[at] = source.folds_[from];
        orders_[at] = source.orders_[from];
    }
}

bool SymbolicValues::reduce(std::size_t at, const SymbolicValues& source, std::size_t from) {
    return combine(at, source, from, false);
}

bool SymbolicValues::prepend(std::size_t at, const SymbolicValues& source, std::size_t from) {
    return combine(at, source, from, true);
}

bool SymbolicValues::combine(std::size_t at, const SymbolicValues& source, std::size_t from,
                             bool on_the_left) {
    std::uint64_t* target = set(at);
    const std::uint64_t* added = source.set(from);
    std::uint64_t shared = 0;
    for (std::size_t w = 0; w < words_; ++w) {
        shared |= target[w] & added[w];
    }
    if (shared != 0) {
        return false;
    }
    const auto join = [&](Interval& own, Interval other, bool single) {
        const Interval left = on_the_left ? other : own, right = on_the_left ? own : other;
        const bool extends = left.end > 0 && right.end > 0 && left.end == right.first &&
                             (!single || right.end == right.first + 1);
        own = extends ? Interval{left.first, right.end} : Interval{};
    };
    join(folds_[at], source.folds_[from], true);
    join(orders_[at], source.orders_[from], false);
    unite(at, source, from);
    return true;
}

void SymbolicValues::unite(std::size_t at, const SymbolicValues& source, std::size_t from) {
    std::uint64_t* target = set(at);
    const std::uint64_t* added = source.set(from);
    for (std::size_t w = 0; w < words_; ++w) {
        target[w] |= added[w];
    }
    hashes_[at] = mix_pair(hashes_[at], source.hashes_[from]);
}

bool SymbolicValues::holds_all(std::size_t at) const {
    return contributors(at) == ranks_;
}

Rank SymbolicValues::contributors(std::size_t at) const {
    Rank total = 0;
    for (std::size_t w = 0; w < words_; ++w) {
        total += std::popcount(set(at)[w]);
    }
    return total;
}

double SymbolicValues::bytes(Rank ranks, double count, bool contributors) {
    return !contributors ? count * 8.0 : count * 8.0 * ((static_cast<double>(ranks) + 63) / 64 + 3);
}

}  // namespace trefoil
