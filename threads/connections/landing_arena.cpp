// SPDX-License-Identifier: BSD-3-Clause
// Gaps of landing memory, by place and by size.
#include "threads/connections/landing_arena.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "topo/error.hpp"

namespace trefoil {

ArenaSlice LandingArena::take(std::size_t bytes) {
    constexpr std::size_t most = ~std::size_t{0} / 4;
    if (bytes == 0 || bytes > most) {
        throw Error(Status::out_of_memory,
                    "landing memory of " + std::to_string(bytes) + " bytes cannot be had");
    }
    bytes = aligned(bytes);
    if (bytes <= small) {
        return take_small(bytes);
    }
    auto fit = gaps_by_bytes_.lower_bound({bytes, Gap{0, 0}});
    if (fit == gaps_by_bytes_.end()) {
        grow(bytes);
        fit = gaps_by_bytes_.lower_bound({bytes, Gap{0, 0}});
    }
    const auto [room, at] = *fit;
    remove_gap(gaps_.find(at));
    if (room > bytes) {
        add_gap({at.first, at.second + bytes}, room - bytes);
    }
    return slice_at(at, bytes, false);
}

ArenaSlice LandingArena::slice_at(Gap at, std::size_t bytes, bool at_end) {
    const auto [chunk, offset] = at;
    auto& [first, end] = untouched_[chunk];
    const bool untouched = offset >= first && offset + bytes <= end;
    if (at_end) {
        end = std::min(end, offset);
    } else {
        first = std::max(first, offset + bytes);
    }
    used_ += bytes;
    return {chunks_[chunk].data + offset, chunk, offset, bytes, untouched};
}

ArenaSlice LandingArena::take_small(std::size_t bytes) {
    const auto fits = [bytes](const auto& gap) { return gap.second >= bytes; };
    auto gap = std::find_if(gaps_.rbegin(), gaps_.rend(), fits);
    if (gap == gaps_.rend()) {
        grow(bytes);
        gap = gaps_.rbegin();
    }
    const auto [at, room] = *gap;
    remove_gap(std::prev(gap.base()));
    if (room > bytes) {
        add_gap(at, room - bytes);
    }
    return slice_at({at.first, at.second + room - bytes}, bytes, true);
}

void LandingArena::give_back(const ArenaSlice& slice) {
    Gap at{slice.chunk, slice.offset};
    std::size_t bytes = slice.bytes;
    used_ -= bytes;
    auto next = gaps_.lower_bound(at);
    if (next != gaps_.begin()) {
        const auto before = std::prev(next);
        if (before->first.first == at.first && before->first.second + before->second == at.second) {
            at = before->first;
            bytes += before->second;
            remove_gap(before);
        }
    }
    if (next != gaps_.end() && next->first == Gap{at.first, at.second + bytes}) {
        bytes += next->second;
        remove_gap(next);
    }
    add_gap(at, bytes);
}

void LandingArena::grow(std::size_t bytes) {
    const std::size_t wanted = std::clamp(held_, first_chunk, largest_chunk);
    const std::size_t size = std::max(bytes, wanted);
    chunks_.reserve(chunks_.size() + 1);
    untouched_.reserve(chunks_.size() + 1);
    LocalMemory memory = allocate_(size);
    memory.bytes = size;
    chunks_.push_back(memory);
    untouched_.emplace_back(0, size);
    held_ += size;
    add_gap({static_cast<std::uint32_t>(chunks_.size() - 1), 0}, size);
}

void LandingArena::add_gap(Gap at, std::size_t bytes) {
    gaps_[at] = bytes;
    gaps_by_bytes_.insert({bytes, at});
}

void LandingArena::remove_gap(std::map<Gap, std::size_t>::iterator gap) {
    gaps_by_bytes_.erase({gap->second, gap->first});
    gaps_.erase(gap);
}

}  // namespace trefoil
