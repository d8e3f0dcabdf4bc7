// SPDX-License-Identifier: BSD-3-Clause
// `trefoil plan --export`: schedules of all ranks in the form of another tool.
#pragma once

#include <optional>
#include <string>

#include "comm/plan/choices.hpp"

namespace trefoil::tool {

struct ExportOptions {
    std::string form;  ///< as typed
    std::string file;
    std::string bytes;  ///< of the vector, as typed; empty: 1M
    bool skip_proof = false;
};

/// Throws Error(invalid_argument) that lists the forms.
void require_form(const std::string& form);

/// Proves what it writes and says where it is. Returns the exit code: exit_wrong, and no file, when
/// the proof fails. Throws Error(invalid_argument) on a bad place for the file, Error(unsupported)
/// on what is too large, in both cases before anything is written.
int write_export(const ExportOptions& options, const Torus& torus, const Choice& choice);

}  // namespace trefoil::tool
