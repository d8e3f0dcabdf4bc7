// SPDX-License-Identifier: BSD-3-Clause
// What Trefoil would choose on this machine, and why: launcher, torus, backend, threads,
// algorithms.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "comm/setup/environment.hpp"
#include "topo/torus.hpp"

namespace trefoil::tool {

/// What `trefoil info` is asked about; empty: what the environment says.
struct InfoRequest {
    std::string torus, backend, provider, nics;
    Rank ranks = 0;
};

/// The environment's settings with those of the command line over them.
struct InfoSettings {
    Settings settings;
    std::vector<std::string> warnings;      ///< variables that are unknown or make no sense
    std::vector<std::string> command_line;  ///< names of the variables that it overrides
};
InfoSettings info_settings(const InfoRequest& request);

/// The torus that a job would have, and who says so.
struct ChosenTorus {
    Torus torus;
    std::string source;
};
/// Nothing when neither the request nor the environment says how many ranks there are. Throws
/// Error(invalid_argument or not_found) on a torus or host file that makes no sense.
std::optional<ChosenTorus> choose_torus(const InfoRequest& request, const Settings& settings);

/// Keys: name, reason; and for pmix why it cannot be used, or empty.
nlohmann::ordered_json launcher_choice(const Settings& settings);

/// Which algorithm `auto` takes, by collective and size of the whole vector, with the modelled
/// times. Above 256 ranks for allreduce only, because pricing takes long.
nlohmann::ordered_json automatic_algorithms(const Torus& torus, const Settings& settings);

}  // namespace trefoil::tool
