// SPDX-License-Identifier: BSD-3-Clause
// The schedules of a communicator.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>

#include "comm/derived/geometry.hpp"
#include "comm/plan/choices.hpp"
#include "threads/executor/channels.hpp"

namespace trefoil {

/// By the one thread that plans.
class Schedules {
  public:
    /// Smaller schedules are built in a few microseconds, and not kept: there may be hundreds of
    /// communicators.
    static constexpr std::size_t kept_from_bytes = 4096;

    /// `geometry` outlives this; `rank` is its own.
    Schedules(const Geometry& geometry, Rank rank, std::size_t kept_from = kept_from_bytes)
        : geometry_(geometry), rank_(rank), kept_from_(kept_from) {}

    /// This rank's schedule by the choice's algorithm and options, in ranks and with the machine's
    /// ports. Throws what building throws.
    std::shared_ptr<const Schedule> get(const Choice& choice);
    void forget() { schedules_.clear(); }

  private:
    struct Key {
        const Algorithm* algorithm = nullptr;
        BuildOptions options;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const noexcept;
    };

    const Geometry& geometry_;
    const Rank rank_;
    const std::size_t kept_from_;
    std::unordered_map<Key, std::shared_ptr<const Schedule>, Hash> schedules_;
};

}  // namespace trefoil
