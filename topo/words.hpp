// SPDX-License-Identifier: BSD-3-Clause
// Words in a sentence, for messages.
#pragma once

#include <string>
#include <vector>

namespace trefoil {

/// "one, two, three"
inline std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) {
        text += (text.empty() ? "" : ", ") + word;
    }
    return text;
}

/// "0, 1, 2"
inline std::string joined(const std::vector<int>& numbers) {
    std::string text;
    for (const int number : numbers) {
        text += (text.empty() ? "" : ", ") + std::to_string(number);
    }
    return text;
}

}  // namespace trefoil
