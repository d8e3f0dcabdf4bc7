// SPDX-License-Identifier: BSD-3-Clause
// Keys that own their lists, and the bound.
#include "comm/plan/plan_cache.hpp"

#include <utility>

#include "comm/plan/hash.hpp"

namespace trefoil {

namespace {

/// A copy of `list` in `owner`, and a span of that.
std::span<const std::size_t> keep(std::span<const std::size_t> list,
                                  std::vector<std::size_t>& owner) {
    owner.assign(list.begin(), list.end());
    return owner;
}

}  // namespace

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

const Plan* PlanCache::find(const Request& request, const Choice& forced) const {
    const auto found = plans_.find(Query{request, forced});
    return found == plans_.end() ? nullptr : found->second.get();
}

const Plan& PlanCache::insert(const Request& request, const Choice& forced,
                              std::unique_ptr<Plan> plan) {
    if (plans_.size() >= limits_.plans || puts_of_alltoallv_ >= limits_.puts_of_alltoallv) {
        plans_.clear();
        puts_of_alltoallv_ = 0;
    }
    for (const auto& program : plan->programs) {
        puts_of_alltoallv_ += request.counts_in_pairs() ? program->puts.size() : 0;
    }
    return *plans_.insert_or_assign(Key(request, forced), std::move(plan)).first->second;
}

}  // namespace trefoil
