// SPDX-License-Identifier: BSD-3-Clause
// What all ranks' schedules send, in one flat table: all that a simulator needs of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "algorithms/schedule/algorithm.hpp"

namespace trefoil {

/// One message. `share` is its part of the vector: sizes are real numbers, never rounded.
struct TrafficMessage {
    Rank to = 0;
    Port port;
    double share = 0;
};

/// Memory: about 24 bytes per message and 12 per rank, part and step.
class Traffic {
  public:
    /// Builds the schedules of all ranks, one after the other. Throws Error(unsupported) with the
    /// figures when the table would need more than `most_bytes`.
    Traffic(const Torus& torus, const Algorithm& algorithm, const BuildOptions& options,
            std::size_t most_bytes);

    Rank ranks() const { return ranks_; }
    std::size_t parts() const { return parts_; }
    std::size_t steps() const { return steps_; }
    /// Where (rank, part, step) stands in lists of all of them.
    std::size_t place(Rank rank, std::size_t part, std::size_t step) const {
        return (static_cast<std::size_t>(rank) * parts_ + part) * steps_ + step;
    }
    std::size_t places() const { return receives_.size(); }
    std::span<const TrafficMessage> sends(std::size_t place) const {
        return std::span(messages_).subspan(starts_[place], starts_[place + 1] - starts_[place]);
    }
    std::uint32_t receives(std::size_t place) const { return receives_[place]; }
    /// The port of a message, where messages go the way of their ports.
    std::optional<Port> steered(const TrafficMessage& message) const {
        return steered_ ? std::optional(message.port) : std::nullopt;
    }

  private:
    void add(const Schedule& schedule, bool alltoall);

    Rank ranks_ = 0;
    std::size_t parts_ = 0, steps_ = 0;
    bool steered_ = false;
    std::vector<TrafficMessage> messages_;
    std::vector<std::size_t> starts_;  ///< by place, and the end
    std::vector<std::uint32_t> receives_;
};

}  // namespace trefoil
