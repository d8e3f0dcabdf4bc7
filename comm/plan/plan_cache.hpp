// SPDX-License-Identifier: BSD-3-Clause
// The plans of a communicator's calls: one look-up per call in the steady state.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "comm/plan/choices.hpp"
#include "comm/plan/plan.hpp"
#include "comm/plan/request.hpp"

namespace trefoil {

/// Plans by what was asked for: the request, and what the user forced at that time. Keys own their
/// lists of counts. Invariant: bounded, in plans and in what the plans of alltoallv, whose lists
/// may differ in every call, hold together. A full cache begins anew: no rank needs to forget when
/// others do, because schedules and channels stay.
class PlanCache {
  public:
    struct Limits {
        std::size_t plans = 4096;
        std::size_t puts_of_alltoallv = std::size_t{1} << 16;
    };
    PlanCache() = default;
    explicit PlanCache(const Limits& limits) : limits_(limits) {}

    /// Null: there is none. Does not allocate.
    const Plan* find(const Request& request, const Choice& forced) const;
    /// Plans found before may be gone afterwards.
    const Plan& insert(const Request& request, const Choice& forced, std::unique_ptr<Plan> plan);
    std::size_t size() const { return plans_.size(); }

  private:
    struct Query {
        const Request& request;
        const Choice& forced;
    };
    struct Key {
        Key(const Request& request, const Choice& forced);
        Key(Key&&) = default;
        operator Query() const { return {request, forced}; }

        std::vector<std::size_t> counts, displacements, send_counts, send_displacements;
        Request request;  ///< its spans are those lists
        Choice forced;
    };
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(const Query& query) const noexcept;
    };
    struct Equal {
        using is_transparent = void;
        bool operator()(const Query& a, const Query& b) const noexcept;
    };

    Limits limits_;
    std::size_t puts_of_alltoallv_ = 0;  ///< of the plans of alltoallv
    std::unordered_map<Key, std::unique_ptr<Plan>, Hash, Equal> plans_;
};

}  // namespace trefoil
