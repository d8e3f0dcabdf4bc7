// SPDX-License-Identifier: BSD-3-Clause
// The registry of transports: the way from a name to all that may be asked of a transport.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/ports/transport.hpp"

namespace trefoil {

/// In the order of preference; those that are not in this build are listed, too.
const std::deque<Transport>& transports();

/// Throws Error(not_found) for a name that does not exist (naming those that do), or is not in this
/// build (saying why).
const Transport& find_transport(std::string_view name);

/// The same, absent or not; null for a name that does not exist.
const Transport* registered_transport(std::string_view name);

/// What a job takes that asks for nothing: the first one that reaches all its ranks and that the
/// machine has, in this build or not, so that all ranks take the same.
const Transport& default_transport(bool one_host);

/// The one that is asked for; an empty name asks for nothing.
const Transport& transport_for(std::string_view name, bool one_host);

/// Adds one to those of this build, for a program that brings its own. Before the registry is used
/// by another thread. Throws Error(invalid_argument) if the name is taken.
void register_transport(Transport transport);

/// find_transport(name).open(config). Signal handlers stay the program's, and threads that the
/// library starts meanwhile get none of its signals.
std::vector<std::unique_ptr<PortGroup>> open_backend(std::string_view name,
                                                     const BackendConfig& config);

}  // namespace trefoil
