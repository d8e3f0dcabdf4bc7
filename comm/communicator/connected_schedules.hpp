// SPDX-License-Identifier: BSD-3-Clause
// The schedules that can run: those whose channels exist at both ends.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <utility>

#include "comm/plan/choices.hpp"
#include "comm/setup/agreement.hpp"
#include "comm/setup/channel_setup.hpp"
#include "comm/setup/torus_map.hpp"
#include "threads/executor/executor.hpp"
#include "topo/error.hpp"

namespace trefoil {

/// An error after which ranks may be out of step: this communicator cannot go on.
class OutOfStep : public Error {
  public:
    OutOfStep(Status status, const std::string& message, std::string found_here)
        : Error(status, message), found_here_(std::move(found_here)) {}
    /// What this rank has found itself, so far; may be "".
    const std::string& found_here() const noexcept { return found_here_; }

  private:
    std::string found_here_;
};

/// Invariant: every channel that a schedule in here needs has been connected and greeted. Schedules
/// are never forgotten, so that no rank sets up what another one takes for there.
class ConnectedSchedules {
  public:
    /// All outlive this. `map` has the torus and the place of rank `rank` in it.
    ConnectedSchedules(const TorusMap& map, Rank rank, Agreement& agreement, ChannelSetup& channels,
                       Executor& executor)
        : map_(map), rank_(rank), agreement_(agreement), channels_(channels), executor_(executor) {}

    /// What else is made of a schedule before its first call can run.
    using Prepare = std::function<void(const Schedule&)>;

    /// This rank's schedule by the choice's algorithm and options, in ranks, after `prepare` of it.
    /// Collective the first time, and the first time that it is to be acknowledged: then `call` is
    /// the call in words, which all ranks must give alike, and all throw OutOfStep when one of them
    /// fails, also in `prepare`. But Error(unsupported) of `prepare`, which all ranks find alike,
    /// is thrown as it is; and so is all that it throws when the schedule is connected already.
    const Schedule& get(const Choice& choice, bool acknowledged, const std::string& call,
                        const Prepare& prepare = {});

  private:
    struct Key {
        const Algorithm* algorithm = nullptr;
        BuildOptions options;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const noexcept;
    };
    struct Connected {
        Schedule schedule;
        bool complete = false;      ///< its channels are connected
        bool acknowledged = false;  ///< and have opposites
    };
    void connect(Connected& connected, const Choice& choice, bool acknowledged,
                 const std::string& call, const Prepare& prepare);

    const TorusMap& map_;
    Rank rank_;
    Agreement& agreement_;
    ChannelSetup& channels_;
    Executor& executor_;
    std::unordered_map<Key, Connected, Hash> schedules_;
};

}  // namespace trefoil
