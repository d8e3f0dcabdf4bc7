// SPDX-License-Identifier: BSD-3-Clause
// What of the log is asked for, and where it is to go.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "topo/log/levels.hpp"

namespace trefoil {

/// The caller's function, which several threads may call at a time. `text` lives during the call
/// only.
using LogFunction = std::function<void(LogLevel level, const char* topic, const char* text)>;

struct LogRequest {
    LogMask wanted = LogMask::up_to(LogLevel::warning);
    /// Empty: stderr. %r stands for the rank, %p for the process, %h for the host, %% for %.
    std::string file;
    LogFunction function;  ///< goes before `file`
};

/// "setup, choice, ...": all there are.
std::string log_topics_text();

/// "LEVEL[,TOPIC...]": the topics up to this level, all where none is named. What is not named
/// keeps its warnings; LEVEL "error" alone silences these. Throws Error(invalid_argument) that
/// names what there is.
LogMask parse_log(std::string_view text);

/// Throws Error(invalid_argument) for a % that stands for nothing.
void check_log_file(std::string_view pattern);

/// TREFOIL_LOG and TREFOIL_LOG_FILE. Throws what the two above throw, with the variable's name.
LogRequest log_request_from_environment();

}  // namespace trefoil
