// SPDX-License-Identifier: BSD-3-Clause
// Finding the cause behind what was noticed first.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "threads/executor/channels.hpp"
#include "threads/executor/control_messages.hpp"
#include "threads/executor/executor_options.hpp"

namespace trefoil {

/// A broken connection, or a process that has ended, is what one rank notices. But its peer may
/// have gone because of another rank. If so, the report of it is on its way: a rank tells its peers
/// before it goes. So the inquiry listens for a moment before it accuses anybody, and looks at the
/// processes of this host. Runs in one thread, which owns all groups.
class Inquiry {
  public:
    Inquiry(const Channels& channels, const ControlMessages& controls,
            const ExecutorOptions& options, ListenUntil listen_until)
        : channels_(channels),
          controls_(controls),
          options_(options),
          listen_until_(std::move(listen_until)) {}

    /// In the place of a tentative cause; takes half a second at most. `during`: this rank's call.
    Cause cause_of(const Cause& noticed, const std::string& during) const;
    /// Behind an error of set-up. Takes a moment.
    Cause cause_of(const Error& error) const;
    /// Those whose processes have ended, as far as it is known.
    std::vector<Rank> gone() const;

  private:
    std::optional<Cause> told(const std::string& during) const;
    bool has_left(Rank rank) const;
    std::vector<ProcessNews> processes() const;
    Cause accuse(const Cause& noticed, const std::vector<ProcessNews>& processes,
                 const std::string& during) const;

    const Channels& channels_;
    const ControlMessages& controls_;
    const ExecutorOptions& options_;
    ListenUntil listen_until_;
};

}  // namespace trefoil
