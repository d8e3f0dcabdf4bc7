// SPDX-License-Identifier: BSD-3-Clause
// A schedule of all ranks as compact data for the page that plays it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "comm/plan/choices.hpp"

namespace trefoil::tool {

/// No page is larger, in bytes.
inline constexpr std::size_t largest_page = 5 << 20;

/// All that the page knows of one algorithm: torus, what ranks begin and end with, the largest link
/// load of each step, and under "data" all messages and moves, in base64 (page/decode.js reads it).
/// `proved`: what the verifier said; nothing: not asked.
/// Throws Error(unsupported) when that is more than a page may have, or more blocks than a browser
/// can follow.
nlohmann::ordered_json schedule_data(const Torus& torus, const Choice& choice,
                                     std::optional<bool> proved);

}  // namespace trefoil::tool
