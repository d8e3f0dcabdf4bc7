// SPDX-License-Identifier: BSD-3-Clause
// The gaps between members along one dimension.
#include "comm/derived/spacing.hpp"

#include <algorithm>
#include <iterator>

namespace trefoil {

namespace {

using Places = std::vector<Rank>;

/// Places from each member to the next, around a ring of `size`.
Places gaps_of(const Places& sorted, Rank size) {
    Places gaps;
    for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
        gaps.push_back(sorted[i + 1] - sorted[i]);
    }
    gaps.push_back(sorted.front() + size - sorted.back());
    return gaps;
}

/// The last gap, which closes the ring, does not count.
bool is_even(const Places& gaps) {
    return std::equal(gaps.begin() + 1, gaps.end() - 1, gaps.begin());
}

/// Turns the ring so that the last one of the gaps of this length comes last: one whose gaps are
/// all equal is not turned.
void put_last(Rank gap, Places& gaps, Places& places) {
    const auto behind = std::find(gaps.rbegin(), gaps.rend(), gap).base() - gaps.begin();
    const auto first = behind % static_cast<std::ptrdiff_t>(gaps.size());
    std::rotate(gaps.begin(), gaps.begin() + first, gaps.end());
    std::rotate(places.begin(), places.begin() + first, places.end());
}

}  // namespace

Spacing spacing_of(std::vector<Rank> places, Rank size, bool ring) {
    Spacing spacing;
    std::sort(places.begin(), places.end());
    spacing.places = std::move(places);
    if (spacing.places.size() == 1) {
        return spacing;
    }
    Places gaps = gaps_of(spacing.places, size);
    if (ring) {
        const auto [shortest, longest] = std::minmax_element(gaps.begin(), gaps.end());
        const Rank least = *shortest, most = *longest;
        put_last(most, gaps, spacing.places);
        if (!is_even(gaps)) {  // every second place of a ring of 5
            put_last(least, gaps, spacing.places);
            if (!is_even(gaps)) {
                put_last(most, gaps, spacing.places);
            }
        }
    }
    spacing.stride = is_even(gaps) ? gaps.front() : 0;
    spacing.wraps = ring && gaps.back() <= *std::max_element(gaps.begin(), gaps.end() - 1);
    return spacing;
}

std::string to_string(const Spacing& spacing, Rank size) {
    const auto members = static_cast<Rank>(spacing.places.size());
    const std::string line = spacing.wraps ? "" : ", a line";
    if (members == size) {
        return "whole" + line;
    }
    const std::string ends = "from " + std::to_string(spacing.places.front()) + " to " +
                             std::to_string(spacing.places.back());
    if (!spacing.even()) {
        return std::to_string(members) + " places " + ends + ", not evenly spaced" + line;
    }
    if (members == 1) {
        return "at " + std::to_string(spacing.places.front());
    }
    const std::string every =
        spacing.stride == 1 ? "" : "one in " + std::to_string(spacing.stride) + " ";
    return every + ends + line;
}

}  // namespace trefoil
