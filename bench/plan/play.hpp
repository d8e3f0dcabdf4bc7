// SPDX-License-Identifier: BSD-3-Clause
// `trefoil plan --html`: a page that plays the schedule, and another algorithm's beside it.
#pragma once

#include <optional>
#include <string>

#include "comm/plan/choices.hpp"

namespace trefoil::tool {

struct PlayOptions {
    std::string file;
    std::optional<Choice> beside;  ///< for the same torus
    bool skip_proof = false;
};

/// Proves what it plays, writes the page and says where. Returns the exit code: exit_wrong, and no
/// page, when a proof fails. Throws Error(invalid_argument) on a bad place for the file and
/// Error(unsupported) on what is too large, in both cases before anything is written.
int write_playing_page(const PlayOptions& options, const Torus& torus, const Choice& choice);

}  // namespace trefoil::tool
