// SPDX-License-Identifier: BSD-3-Clause
// What the JSON library has to say, in words for users.
#pragma once

#include <exception>
#include <string>

namespace trefoil {

/// Without the name and the number of the exception, "[json.exception.parse_error.101] ".
inline std::string json_reason(const std::exception& error) {
    const std::string text = error.what();
    const std::size_t end = text.find("] ");
    return text.starts_with("[json.exception") && end != std::string::npos ? text.substr(end + 2)
                                                                           : text;
}

}  // namespace trefoil
