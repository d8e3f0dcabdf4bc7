// SPDX-License-Identifier: BSD-3-Clause
// A schedule of all ranks as compact data for the page that plays it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "comm/plan/choices.hpp"

namespace trefoil::tool {

/// No page is larger, in bytes.
inline constexpr std::size_t largest_page = 5 << 20;

/// A message as its sender knows it.
struct SentAs {
    Rank from = 0;
    std::size_t part = 0, step = 0;
    std::size_t index = 0;  ///< among the rank's sends of that step
};

/// All that the page knows of one algorithm: torus, what ranks begin and end with, the largest link
/// load of each step, and under "data" all messages and moves, in base64 (page/decode.js reads it).
/// `proved`: what the verifier said; nothing: not asked.
/// `order`: null, or takes the messages in the order of the data.
/// Throws Error(unsupported) when that is more than a page may have, or more blocks than a browser
/// can follow.
nlohmann::ordered_json schedule_data(const Torus& torus, const Choice& choice,
                                     std::optional<bool> proved,
                                     std::vector<SentAs>* order = nullptr);

}  // namespace trefoil::tool
