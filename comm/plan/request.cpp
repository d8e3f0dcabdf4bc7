// SPDX-License-Identifier: BSD-3-Clause
// Requests: sizes, comparison, words.
#include "comm/plan/request.hpp"

#include <algorithm>
#include <numeric>

#include "comm/plan/hash.hpp"

namespace trefoil {

std::size_t Request::element_bytes() const {
    if (!traits().has_data()) {
        return 1;
    }
    return user != nullptr ? user->element_bytes : size_of(type);
}

std::size_t Request::vector_elements(const Torus& torus) const {
    if (!traits().has_blocks()) {
        return count;
    }
    return counts.empty() ? count * traits().blocks(torus)
                          : std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

std::size_t Request::longest() const {
    std::size_t most = counts.empty() ? count : 0;
    for (const auto list : {counts, send_counts}) {
        for (const std::size_t n : list) {
            most = std::max(most, n);
        }
    }
    return most;
}

Request Request::sending() const {
    Request request = *this;
    if (!in_place && (traits().blocks_both_ways() || counts_in_pairs())) {
        request.counts = send_counts;
        request.displacements = send_displacements;
    }
    return request;
}

std::size_t Request::displacement_of(Rank rank) const {
    if (!displacements.empty()) {
        return count_of(rank) == 0 ? 0
                                   : displacements[rank];  // which is any number for no elements
    }
    return counts.empty() ? count * static_cast<std::size_t>(rank)
                          : std::accumulate(counts.begin(), counts.begin() + rank, std::size_t{0});
}

std::string Request::text() const {
    std::string text(traits().name);
    if (!traits().has_data()) {
        return text;
    }
    if (counts_in_pairs()) {
        text = std::string(traits().vector_variant) + " of";
    } else if (counts.empty()) {
        text += " of " + std::to_string(count);
    } else {
        text += " of blocks of";
        for (std::size_t i = 0; i < std::min<std::size_t>(counts.size(), 4); ++i) {
            text += " " + std::to_string(counts[i]);
        }
        // Long lists are told apart by a number made of all of them.
        std::uint64_t hash = counts.size();
        for (const std::size_t n : counts) {
            hash = (hash ^ n) * 0x100000001b3ULL;
        }
        text += counts.size() > 4 ? " ... (" + std::to_string(hash % 1000000) + ")" : "";
    }
    text += user != nullptr ? " elements of " + std::to_string(user->element_bytes) + " bytes"
                            : " " + std::string(to_string(type));
    if (traits().reduces) {
        text +=
            user != nullptr ? " (the user's operation)" : " (" + std::string(to_string(op)) + ")";
    }
    if (traits().rooted()) {
        text += traits().out.holders == Holders::root ? " to root " : " from root ";
        text += std::to_string(root);
    }
    return text;
}

std::uint64_t Request::hash() const {
    std::uint64_t h = static_cast<std::uint64_t>(collective) |
                      static_cast<std::uint64_t>(type) << 8 | static_cast<std::uint64_t>(op) << 16 |
                      static_cast<std::uint64_t>(root) << 32;
    h = mix_hash(h, count);
    h = mix_hash(h, in_place ? 1 : 0);
    for (const auto list : {counts, displacements, send_counts, send_displacements}) {
        for (const std::size_t n : list) {
            h = mix_hash(h, n);
        }
    }
    return h;
}

namespace {

std::size_t side_bytes(const Request& request, const CollectiveSide& side, std::size_t blocks,
                       Rank rank) {
    if (!side.held_by(rank, request.root) || side.data == Data::none) {
        return 0;
    }
    std::size_t elements = 0;
    if (side.data == Data::vector) {
        elements = request.count;
    } else if (side.data == Data::own_block) {
        elements = request.count_of(request.traits().with_neighbours() ? 0 : rank);
    } else {
        for (std::size_t b = 0; b < blocks; ++b) {
            const auto owner = static_cast<Rank>(b);
            elements = std::max(elements, request.displacement_of(owner) + request.count_of(owner));
        }
    }
    return elements * request.element_bytes();
}

}  // namespace

BufferBytes buffer_bytes(const Request& request, const Torus& torus, Rank rank) {
    const CollectiveTraits& row = request.traits();
    return {side_bytes(request.sending(), row.in, row.sent_blocks(torus), rank),
            side_bytes(request, row.out, row.blocks(torus), rank)};
}

bool operator==(const Request& a, const Request& b) {
    return a.collective == b.collective && a.type == b.type && a.op == b.op && a.count == b.count &&
           a.root == b.root && a.user == b.user && a.in_place == b.in_place &&
           std::ranges::equal(a.counts, b.counts) &&
           std::ranges::equal(a.displacements, b.displacements) &&
           std::ranges::equal(a.send_counts, b.send_counts) &&
           std::ranges::equal(a.send_displacements, b.send_displacements);
}

}  // namespace trefoil
