// SPDX-License-Identifier: BSD-3-Clause
// A communicator's timeline: begun with its settings, written when it ends.
#pragma once

#include <cstdint>
#include <memory>

#include "comm/setup/environment.hpp"
#include "comm/setup/placement.hpp"
#include "threads/timeline/trace.hpp"

namespace trefoil {

/// With all memory that it will ever need; null: none is asked for. Throws what Trace throws.
std::unique_ptr<Trace> begin_timeline(const Settings& settings, const PortGroups& groups,
                                      Rank rank);

/// Warns of what went wrong, and which events are missing.
void write_timeline(Trace& timeline, Rank rank, std::size_t most_events) noexcept;

}  // namespace trefoil
