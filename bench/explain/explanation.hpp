// SPDX-License-Identifier: BSD-3-Clause
// The choice for one call with all that led to it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bench/explain/question.hpp"

namespace trefoil::tool {

/// The communicator's own chooser decides; what the model finds of the others stands beside it.
nlohmann::ordered_json explanation(const ExplainedJob& job, const Request& request);

/// For people.
std::string explanation_text(const nlohmann::ordered_json& explanation);

}  // namespace trefoil::tool
