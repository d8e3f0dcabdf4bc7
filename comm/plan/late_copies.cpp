// SPDX-License-Identifier: BSD-3-Clause
// Copies that are pending, by their targets, cut where a part of one is taken.
#include "comm/plan/late_copies.hpp"

#include <algorithm>
#include <iterator>

#include "comm/plan/fusion.hpp"

namespace trefoil {

namespace {

void append(std::vector<Run>& runs, Location at, std::size_t bytes) {
    if (!runs.empty() && runs.back().at.space == at.space &&
        runs.back().at.offset + runs.back().bytes == at.offset) {
        runs.back().bytes += bytes;
    } else {
        runs.push_back({at, bytes});
    }
}

/// Copies from `source` what `op` reduces into, and reduces.
void append_by_chunks(const ProgramOp& op, Location source, std::size_t element_bytes,
                      std::vector<ProgramOp>& ops) {
    const std::size_t most = std::max<std::size_t>(1, late_chunk_bytes / element_bytes);
    for (std::size_t done = 0; done < op.elements; done += most) {
        const auto further = [&](Location at) {
            return Location{at.space, at.offset + done * element_bytes};
        };
        ProgramOp chunk = op;
        chunk.elements = std::min(most, op.elements - done);
        chunk.target = further(op.target);
        chunk.source = further(op.source);
        chunk.second = further(op.second);
        ops.push_back({ProgramOp::Kind::copy,
                       chunk.target,
                       further(source),
                       {},
                       chunk.elements * element_bytes});
        ops.push_back(chunk);
    }
}

/// The first that ends behind `offset`.
template <typename Map>
auto first_behind(Map& pending, std::size_t offset) {
    auto next = pending.upper_bound(offset);
    if (next != pending.begin()) {
        const auto before = std::prev(next);
        if (before->first + before->second.bytes > offset) {
            return before;
        }
    }
    return next;
}

}  // namespace

LateCopies::LateCopies(const std::vector<Transfer>& copies) {
    for (const Transfer& copy : copies) {
        if (copy.bytes > 0) {
            space_ = copy.target.space;
            pending_[copy.target.offset] = {copy.source, copy.bytes};
        }
    }
}

void LateCopies::take(const Run& run, std::vector<Transfer>& taken) {
    if (run.at.space != space_) {
        return;
    }
    const std::size_t end = run.at.offset + run.bytes;
    for (auto next = first_behind(pending_, run.at.offset);
         next != pending_.end() && next->first < end;) {
        const std::size_t begin = next->first;
        const Copy copy = next->second;
        next = pending_.erase(next);
        const std::size_t from = std::max(begin, run.at.offset);
        const std::size_t to = std::min(begin + copy.bytes, end);
        const auto source = [&](std::size_t offset) {
            return Location{copy.source.space, copy.source.offset + (offset - begin)};
        };
        if (begin < from) {
            pending_[begin] = {copy.source, from - begin};
        }
        if (to < begin + copy.bytes) {
            pending_[to] = {source(to), begin + copy.bytes - to};
        }
        taken.push_back({{space_, from}, source(from), to - from});
    }
}

void LateCopies::copy(const Run& run, std::vector<ProgramOp>& ops) {
    std::vector<Transfer> copies;
    take(run, copies);
    for (const Transfer& one : copies) {
        ops.push_back({ProgramOp::Kind::copy, one.target, one.source, {}, one.bytes});
    }
}

std::vector<ProgramOp> LateCopies::with_copies(std::vector<ProgramOp> ops,
                                               std::size_t element_bytes) {
    if (empty()) {
        return ops;
    }
    std::vector<ProgramOp> all;
    for (const ProgramOp& op : ops) {
        const bool replaces = op.kind == ProgramOp::Kind::copy;
        const std::size_t bytes = target_bytes(op, element_bytes);
        std::vector<Transfer> copies;
        take({op.target, bytes}, copies);
        if (replaces) {
            all.push_back(op);
        } else if (copies.size() == 1 && copies[0].bytes == bytes) {
            append_by_chunks(op, copies[0].source, element_bytes, all);
        } else {
            for (const Transfer& one : copies) {
                all.push_back({ProgramOp::Kind::copy, one.target, one.source, {}, one.bytes});
            }
            all.push_back(op);
        }
    }
    return all;
}

bool LateCopies::has_any_of(const Run& run) const {
    const auto next = first_behind(pending_, run.at.offset);
    return run.at.space == space_ && next != pending_.end() &&
           next->first < run.at.offset + run.bytes;
}

bool LateCopies::is_mixed(const Run& run) const {
    std::vector<Run> sources;
    append_sources(run, sources);
    const auto is_copied = [&](const Run& one) { return one.at.space == space_; };
    return std::ranges::any_of(sources, is_copied) && !std::ranges::all_of(sources, is_copied);
}

void LateCopies::append_sources(const Run& run, std::vector<Run>& sources) const {
    const std::size_t end = run.at.offset + run.bytes;
    std::size_t at = run.at.offset;
    if (run.at.space == space_) {
        for (auto next = first_behind(pending_, at); next != pending_.end() && next->first < end;
             ++next) {
            const auto& [begin, copy] = *next;
            if (begin > at) {
                append(sources, {space_, at}, begin - at);
                at = begin;
            }
            const std::size_t bytes = std::min(begin + copy.bytes, end) - at;
            append(sources, {copy.source.space, copy.source.offset + (at - begin)}, bytes);
            at += bytes;
        }
    }
    if (at < end) {
        append(sources, {run.at.space, at}, end - at);
    }
}

}  // namespace trefoil
