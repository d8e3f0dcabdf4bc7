// SPDX-License-Identifier: BSD-3-Clause
// Keys that own their lists, what plans hold, and the bound.
#include "comm/plan/plan_cache.hpp"

#include <utility>

#include "comm/plan/hash.hpp"
#include "topo/log/log.hpp"

namespace trefoil {

namespace {

/// A copy of `list` in `owner`, and a span of that.
std::span<const std::size_t> keep(std::span<const std::size_t> list,
                                  std::vector<std::size_t>& owner) {
    owner.assign(list.begin(), list.end());
    return owner;
}

/// What the allocator keeps beside each piece.
constexpr std::size_t per_piece = 2 * sizeof(void*);

template <typename... Lists>
std::size_t bytes_of_lists(const Lists&... lists) {
    return ((lists.capacity() == 0
                 ? 0
                 : lists.capacity() * sizeof(typename Lists::value_type) + per_piece) +
            ... + 0);
}

}  // namespace

std::size_t bytes_of(const Plan& plan) {
    std::size_t bytes =
        sizeof plan + per_piece + bytes_of_lists(plan.programs, plan.segments, plan.text);
    for (const auto& program : plan.programs) {
        const Program& p = *program;
        bytes += sizeof p + per_piece +
                 bytes_of_lists(p.parts, p.used_in, p.used_out, p.in_bytes, p.out_bytes, p.steps,
                                p.puts, p.ops, p.arrivals, p.arrival_steps, p.arrival_bytes,
                                p.arrival_offsets, p.arrival_copies, p.peers, p.reads, p.told,
                                p.pack_bytes, p.order, p.awaited, p.awaited_by_step);
    }
    return bytes;
}

PlanCache::Key::Key(const Request& asked, const Choice& choice) : request(asked), forced(choice) {
    request.counts = keep(asked.counts, counts);
    request.displacements = keep(asked.displacements, displacements);
    request.send_counts = keep(asked.send_counts, send_counts);
    request.send_displacements = keep(asked.send_displacements, send_displacements);
}

std::size_t PlanCache::Hash::operator()(const Query& query) const noexcept {
    return mix_hash(query.request.hash(), reinterpret_cast<std::uintptr_t>(query.forced.algorithm));
}

bool PlanCache::Equal::operator()(const Query& a, const Query& b) const noexcept {
    return a.forced == b.forced && a.request == b.request;
}

const Plan* PlanCache::find(const Request& request, const Choice& forced) {
    const Query query{request, forced};
    if (!order_.empty() && Equal()(order_.front()->first, query)) {
        return order_.front()->second.plan.get();  // the call before was alike: often so
    }
    const auto found = plans_.find(query);
    if (found == plans_.end()) {
        return nullptr;
    }
    if (const auto place = found->second.place; place != order_.begin()) {
        order_.splice(order_.begin(), order_, place);
    }
    return found->second.plan.get();
}

const Plan& PlanCache::insert(const Request& request, const Choice& forced,
                              std::unique_ptr<Plan> plan) {
    ++version_;
    Key key(request, forced);
    const std::size_t bytes =
        bytes_of(*plan) + sizeof(Key) + sizeof(Entry) + 3 * per_piece + 4 * sizeof(void*) +
        bytes_of_lists(key.counts, key.displacements, key.send_counts, key.send_displacements);
    forget({request, forced});
    make_room(bytes);
    order_.push_front(nullptr);
    try {
        const auto [made, is_new] =
            plans_.emplace(std::move(key), Entry{std::move(plan), bytes, order_.begin()});
        order_.front() = &*made;
        bytes_ += bytes;
        return *made->second.plan;
    } catch (...) {  // no memory
        order_.pop_front();
        throw;
    }
}

void PlanCache::forget(const Query& query) {
    const auto found = plans_.find(query);
    if (found != plans_.end()) {
        bytes_ -= found->second.bytes;
        order_.erase(found->second.place);
        plans_.erase(found);
    }
}

/// So that `bytes` more stay within the bound; if they alone exceed it, nothing else is kept.
void PlanCache::make_room(std::size_t bytes) {
    const std::size_t before = size();
    while (!order_.empty() && (bytes > most_bytes_ || bytes_ > most_bytes_ - bytes)) {
        forget(order_.back()->first);
    }
    if (size() < before) {
        log_debug(LogTopic::memory, [&] {
            return "gives up " + std::to_string(before - size()) +
                   " plans of earlier calls for a newer one; TREFOIL_PLAN_BYTES (" +
                   std::to_string(most_bytes_) + ") says what all plans may hold";
        });
    }
}

}  // namespace trefoil
