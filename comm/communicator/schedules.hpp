// SPDX-License-Identifier: BSD-3-Clause
// The schedules of a communicator, each built once, with the channels that they need.
#pragma once

#include <string>
#include <unordered_map>

#include "comm/derived/geometry.hpp"
#include "comm/plan/choices.hpp"
#include "threads/executor/channels.hpp"

namespace trefoil {

/// By the one thread that plans. Nothing here waits for another rank: channels are added at this
/// end, and the port groups' owners make them while calls run.
class Schedules {
  public:
    /// All outlive this. `geometry` has the torus and the place of this rank in it.
    Schedules(const Geometry& geometry, Channels& channels)
        : geometry_(geometry), channels_(channels) {}

    /// This rank's schedule by the choice's algorithm and options, in ranks and with the machine's
    /// ports. All its channels are in `channels`; with opposites if it is `acknowledged`. Throws
    /// what building throws.
    const Schedule& get(const Choice& choice, bool acknowledged);

  private:
    struct Key {
        const Algorithm* algorithm = nullptr;
        BuildOptions options;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const noexcept;
    };
    struct Built {
        Schedule schedule;
        bool complete = false;      ///< its channels are there
        bool acknowledged = false;  ///< and have opposites
    };
    void add_channels(const Schedule& schedule, bool acknowledged);

    const Geometry& geometry_;
    Channels& channels_;
    std::unordered_map<Key, Built, Hash> schedules_;
};

}  // namespace trefoil
