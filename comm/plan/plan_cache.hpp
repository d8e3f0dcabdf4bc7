// SPDX-License-Identifier: BSD-3-Clause
// The plans of a communicator's calls: one look-up per call in the steady state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "comm/plan/choices.hpp"
#include "comm/plan/plan.hpp"
#include "comm/plan/request.hpp"

namespace trefoil {

/// What a plan holds, in bytes; about what the allocator gives for it.
std::size_t bytes_of(const Plan& plan);

/// Plans by what was asked for: the request, and what the user forced at that time. Keys own their
/// lists of counts. Invariant: all but the newest plan hold less than the bound together. Those
/// that were not used for longest go first. No rank needs to forget when others do, because
/// schedules and channels stay.
class PlanCache {
  public:
    static constexpr std::size_t default_bytes = std::size_t{16} << 20;
    explicit PlanCache(std::size_t most_bytes = default_bytes) : most_bytes_(most_bytes) {}

    /// Null: there is none. Does not allocate. Makes it the one that was used last.
    const Plan* find(const Request& request, const Choice& forced);
    /// Plans found before may be gone afterwards, unless somebody shares them; the plan that is
    /// returned stays until the next one comes.
    const Plan& insert(const Request& request, const Choice& forced, std::unique_ptr<Plan> plan);
    std::size_t size() const { return plans_.size(); }
    /// Grows whenever a plan that was found may be gone or be replaced.
    std::uint64_t version() const { return version_; }
    /// What the plans and their keys hold.
    std::size_t bytes() const { return bytes_; }

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
    struct Entry;
    using Kept = std::pair<const Key, Entry>;
    using Order = std::list<const Kept*>;  ///< the one used last at the front
    struct Entry {
        std::shared_ptr<const Plan> plan;
        std::size_t bytes = 0;  ///< with its key and its places here
        Order::iterator place;
    };

    void forget(const Query& query);
    void make_room(std::size_t bytes);

    std::size_t most_bytes_;
    std::size_t bytes_ = 0;
    std::uint64_t version_ = 0;
    std::unordered_map<Key, Entry, Hash, Equal> plans_;
    Order order_;
};

}  // namespace trefoil
