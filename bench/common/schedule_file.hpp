// SPDX-License-Identifier: BSD-3-Clause
// A schedule of the user's in a file.
#pragma once

#include <memory>
#include <string>

#include "algorithms/json/user_schedule.hpp"

namespace trefoil::tool {

/// Throws Error(not_found) when the file cannot be read.
std::string read_text_file(const std::string& file);

/// The schedule in the text of `file`, which messages name; the second form reads the file. Throws
/// what UserSchedule and read_text_file() throw.
std::shared_ptr<const UserSchedule> read_schedule(Collective collective, const std::string& file,
                                                  const std::string& text);
std::shared_ptr<const UserSchedule> read_schedule(Collective collective, const std::string& file);

}  // namespace trefoil::tool
