// SPDX-License-Identifier: BSD-3-Clause
// From a request's counts and displacements to the bytes that it uses.
#include "comm/plan/used_bytes.hpp"

#include <algorithm>

namespace trefoil {

namespace {

void add_side(ByteRanges& ranges, const Request& request, const CollectiveSide& side,
              std::size_t blocks, Rank rank, const void* buffer) {
    if (buffer == nullptr || !side.held_by(rank, request.root)) {
        return;
    }
    const auto* const begin = static_cast<const std::byte*>(buffer);
    const std::size_t element = request.element_bytes();
    if (side.data == Data::vector) {
        ranges.add(begin, request.count * element);
        return;
    }
    if (side.data == Data::own_block) {
        ranges.add(begin,
                   request.count_of(request.traits().with_neighbours() ? 0 : rank) * element);
        return;
    }
    if (request.counts.empty() && request.displacements.empty()) {
        ranges.add(begin, blocks * request.count * element);
        return;
    }
    std::size_t next = 0;  // where a block begins that has no displacement of its own
    for (std::size_t b = 0; b < blocks; ++b) {
        const std::size_t count = request.count_of(static_cast<Rank>(b));
        if (count == 0) {
            continue;
        }
        const std::size_t at = request.displacements.empty() ? next : request.displacements[b];
        ranges.add(begin + at * element, count * element);
        next = at + count;
    }
}

ByteRange overlap(const ByteRange& one, const ByteRange& other) {
    const std::byte* const begin = std::max(one.begin, other.begin);
    const std::byte* const end = std::min(one.end(), other.end());
    return begin < end ? ByteRange{begin, static_cast<std::size_t>(end - begin)} : ByteRange{};
}

bool holds(const ByteRange& range, const void* byte) {
    return byte >= range.begin && byte < range.end();
}

}  // namespace

void ByteRanges::add(const std::byte* begin, std::size_t bytes) {
    if (bytes == 0) {
        return;
    }
    ByteRange& last = more_.empty() ? first_ : more_.back();
    if (empty()) {
        first_ = {begin, bytes};
    } else if (last.end() == begin) {
        last.bytes += bytes;
    } else {
        more_.push_back({begin, bytes});
    }
}

ByteRange ByteRanges::hull() const {
    const std::byte* begin = first_.begin;
    const std::byte* end = first_.end();
    for (const ByteRange& range : more_) {
        begin = std::min(begin, range.begin);
        end = std::max(end, range.end());
    }
    return {begin, static_cast<std::size_t>(end - begin)};
}

void UsedBytes::set(const Request& request, const Torus& torus, Rank rank, const void* send,
                    const void* recv) {
    const CollectiveTraits& row = request.traits();
    name = row.name;
    reads.clear();
    writes.clear();
    add_side(reads, request.sending(), row.in, row.sent_blocks(torus), rank, send);
    // The root of a broadcast has its result already, and that of a scatter in place has it among
    // what it sends: they only read.
    const bool only_reads =
        !reads.empty() &&
        (row.in_place == InPlace::always ||
         (row.in_place == InPlace::receive && recv != nullptr && holds(reads.hull(), recv)));
    if (!only_reads) {
        add_side(writes, request, row.out, row.blocks(torus), rank, recv);
    }
}

ByteRange first_overlap(const ByteRanges& one, const ByteRanges& other) {
    if (one.empty() || other.empty() || overlap(one.hull(), other.hull()).bytes == 0) {
        return {};
    }
    for (std::size_t i = 0; i < one.size(); ++i) {
        for (std::size_t j = 0; j < other.size(); ++j) {
            if (const ByteRange both = overlap(one[i], other[j]); both.bytes > 0) {
                return both;
            }
        }
    }
    return {};
}

}  // namespace trefoil
